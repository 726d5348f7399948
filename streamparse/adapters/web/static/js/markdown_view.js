/**
 * Markdown on the page, while it is being written.
 *
 * In:  the whole text so far, again and again; whether more of it is to come.
 * Out: `element`, in which only the last few blocks are ever made anew; what stands before them is settled.
 */

import { element } from "./element.js";
import { parseBlocks } from "./markdown.js";
import { parseInline } from "./inline.js";

const UNSETTLED = 3; // blocks at the end that more text may still change

export class MarkdownView {
  element = element("div", { class: "prose" });
  #settled = 0; // so much of the text has become blocks for good
  #drawn = []; // the blocks after it: {source, block, node}

  write(text, { open }) {
    const tail = text.slice(this.#settled);
    const blocks = parseBlocks(tail);
    const old = this.#drawn;
    this.#drawn = blocks.map((block, at) => this.#draw(old[at], block, tail.slice(block.start, block.end), open && at === blocks.length - 1));
    old.slice(blocks.length).forEach(({ node }) => node.remove());
    const settling = blocks.length - UNSETTLED;
    if (settling > 0) {
      this.#settled += blocks[settling].start;
      this.#drawn.splice(0, settling);
    }
  }

  #draw(old, block, source, open) {
    if (old && old.source === source && old.open === open) return old;
    if (old && grows(old.block, block)) {
      old.node.querySelector("code").firstChild.appendData(block.text.slice(old.block.text.length));
      return { source, block, open, node: old.node };
    }
    const node = MAKERS[block.type](block, open);
    if (old) old.node.replaceWith(node);
    else this.element.append(node);
    return { source, block, open, node };
  }
}

/** Whether a block of code has only had text added. */
function grows(old, block) {
  return old.type === "code" && block.type === "code" && old.language === block.language && block.text.startsWith(old.text);
}

const MAKERS = {
  paragraph: ({ text }, open) => element("p", {}, ...inline(text, open)),
  heading: ({ level, text }, open) => element(`h${Math.min(Math.max(level + 1, 3), 5)}`, {}, ...inline(text, open)),
  code: ({ language, text }) => element("pre", { "data-language": language || null, tabindex: "0" }, element("code", {}, document.createTextNode(text))),
  rule: () => element("hr"),
  quote: ({ blocks }, open) => element("blockquote", {}, ...nodes(blocks, open)),
  list: ({ ordered, first, items }, open) =>
    element(ordered ? "ol" : "ul", { start: ordered && first !== 1 ? first : null }, ...items.map((item, at) => element("li", {}, ...nodes(item, open && at === items.length - 1)))),
  table: ({ align, head, rows }) =>
    element(
      "div",
      { class: "table", tabindex: "0" },
      element("table", {}, element("thead", {}, row("th", head, align)), element("tbody", {}, ...rows.map((cells) => row("td", cells, align)))),
    ),
};

function nodes(blocks, open) {
  return blocks.map((block, at) => MAKERS[block.type](block, open && at === blocks.length - 1));
}

function row(tag, cells, align) {
  return element("tr", {}, ...cells.map((cell, at) => element(tag, { class: align[at] === "left" ? null : align[at] }, ...inline(cell, false))));
}

function inline(text, open) {
  return parseInline(text, { open }).map(inlineNode);
}

function inlineNode(node) {
  if (node.type === "text") return document.createTextNode(node.text);
  if (node.type === "break") return element("br");
  if (node.type === "code") return element("code", {}, node.text);
  const attributes = node.type === "link" ? { href: node.href, title: node.href, target: "_blank", rel: "noopener noreferrer nofollow" } : {};
  return element(node.type === "link" ? "a" : node.type, attributes, ...node.children.map(inlineNode));
}
