/** Markdown as data: what models write, cut anywhere, and what they should not write. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseInline, safeHref } from "../../../../adapters/web/static/js/inline.js";
import { parseBlocks } from "../../../../adapters/web/static/js/markdown.js";

const bare = (blocks) => JSON.parse(JSON.stringify(blocks, (key, value) => (key === "start" || key === "end" ? undefined : value)));
const text = (nodes) => nodes.map((node) => node.text ?? text(node.children ?? [])).join("");

test("blocks", () => {
  const source = "# A\n\ntext\nmore\n\n- a\n  - b\n- c\n\n```py\nx = 1\n\n  y\n```\n> quoted\n\n---\n| a | b |\n|:--|--:|\n| 1 | 2 |\n";
  assert.deepEqual(bare(parseBlocks(source)), [
    { type: "heading", level: 1, text: "A" },
    { type: "paragraph", text: "text\nmore" },
    {
      type: "list",
      ordered: false,
      first: 1,
      items: [
        [{ type: "paragraph", text: "a" }, { type: "list", ordered: false, first: 1, items: [[{ type: "paragraph", text: "b" }]] }],
        [{ type: "paragraph", text: "c" }],
      ],
    },
    { type: "code", language: "py", text: "x = 1\n\n  y" },
    { type: "quote", blocks: [{ type: "paragraph", text: "quoted" }] },
    { type: "rule" },
    { type: "table", align: ["left", "right"], head: ["a", "b"], rows: [["1", "2"]] },
  ]);
});

test("items with code and paragraphs of their own stay one list", () => {
  const [list, ...others] = parseBlocks("1. one\n\n   ```sql\n   SELECT\n     1\n   ```\n\n2. two\n   lazy\n\n3. three");
  assert.equal(others.length, 0);
  assert.deepEqual(bare(list.items[0][1]), { type: "code", language: "sql", text: "SELECT\n  1" });
  assert.equal(list.items.length, 3);
  assert.equal(parseBlocks("7. seven")[0].first, 7);
});

test("a number in a text begins no list, and a fence that is still open is code", () => {
  assert.equal(parseBlocks("It was in\n2026. A good year.").length, 1);
  assert.deepEqual(bare(parseBlocks("```\nhalf")), [{ type: "code", language: "", text: "half" }]);
});

test("every block says where it stands in the text", () => {
  const source = "# A\n\npara\n- x\n\n```\ncode\n```\n\nend";
  for (const { start, end } of parseBlocks(source)) assert.ok(start >= 0 && end > start && end <= source.length);
  assert.deepEqual(parseBlocks(source).map(({ start, end }) => source.slice(start, end).trim()), ["# A", "para", "- x", "```\ncode\n```", "end"]);
});

test("inline", () => {
  assert.deepEqual(parseInline("a **b *c*** `x*y`\\* ~~d~~"), [
    { type: "text", text: "a " },
    { type: "strong", children: [{ type: "text", text: "b " }, { type: "em", children: [{ type: "text", text: "c" }] }] },
    { type: "text", text: " " },
    { type: "code", text: "x*y" },
    { type: "text", text: "* " },
    { type: "del", children: [{ type: "text", text: "d" }] },
  ]);
  assert.deepEqual(parseInline("snake_case 2 * 3 * 4 **open `tick [x] ]"), [{ type: "text", text: "snake_case 2 * 3 * 4 **open `tick [x] ]" }]);
});

test("what is bold so far is bold while more may come", () => {
  assert.deepEqual(parseInline("a **bo", { open: true })[1], { type: "strong", children: [{ type: "text", text: "bo" }] });
});

test("links lead to the web or to mail, or are text", () => {
  assert.equal(parseInline("[a](https://e.org/x_(y))")[0].href, "https://e.org/x_(y)");
  assert.equal(parseInline("see https://e.org/a.")[1].href, "https://e.org/a");
  const evil = ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)", "data:text/html,x", "vbscript:x", "//e.org", "/x", "file:///etc/passwd", "blob:x", "&#106;avascript:x"];
  for (const target of evil) {
    assert.equal(safeHref(target), null, target);
    const nodes = parseInline(`[a](${target}) ![i](${target})`);
    assert.ok(!JSON.stringify(nodes).includes('"link"'), target);
    assert.ok(text(nodes).includes("a]("), target);
  }
  assert.equal(parseInline("![i](https://e.org/i.png)")[0].type, "link"); // nothing is loaded
});

test("HTML is text", () => {
  for (const source of ["<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "&lt;b&gt;"]) {
    assert.equal(text(parseInline(source)), source);
    assert.deepEqual(bare(parseBlocks(source)), [{ type: "paragraph", text: source }]);
  }
});

/** How much longer a text of eight times the size takes; the time is the process's own. */
function growth(work, make) {
  const time = (input) =>
    Math.min(
      ...Array.from({ length: 3 }, () => {
        const before = process.cpuUsage();
        work(input);
        const { user, system } = process.cpuUsage(before);
        return user + system;
      }),
    );
  const [small, large] = [make(8_000), make(64_000)];
  work(small);
  // a busy machine or a collection of garbage can make one measurement bad, but not five: the best one counts
  let ratio = Infinity;
  for (let attempt = 0; attempt < 5 && ratio > 24; attempt += 1) ratio = Math.min(ratio, time(large) / Math.max(time(small), 200));
  return ratio;
}

const HOSTILE = {
  inline: ["*a", " *a", "**a *b ", "[", "](", "[a](http://", "[a](http://b(", "https://a", "`", "``` ` ", "_", "~~", "\\", "![", "[[a](x)"],
  blocks: [">", "> \n", "- ", "- a\n", "    - a\n", "- \n\n", "a\n\n", "|", "|-", "#", "* ", "```\n", "1. ", "\n", "- a\n\n\n\n", ">- "],
};
for (const [name, work] of [["inline", parseInline], ["blocks", parseBlocks]]) {
  for (const piece of HOSTILE[name]) {
    test(`eight times ${JSON.stringify(piece)} takes about eight times as long (${name})`, () => {
      const ratio = growth(work, (times) => piece.repeat(times));
      assert.ok(ratio < 32, `${ratio}`); // quadratic would be 64
    });
  }
}

test("no nesting is too deep", () => {
  for (const piece of ["> ", "- ", "*a ", "**a *b "]) {
    const depth = (nodes) => 1 + Math.max(0, ...nodes.map((node) => depth([...(node.blocks ?? []), ...(node.children ?? []), ...(node.items ?? []).flat()])));
    assert.ok(depth(parseBlocks(piece.repeat(5000))) < 20);
    assert.ok(depth(parseInline(piece.repeat(5000) + "*".repeat(5000))) < 40);
  }
});
