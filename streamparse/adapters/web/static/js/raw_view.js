/**
 * The raw stream of one generation, coloured as its regions are decided.
 *
 * In:  events, which have the raw text that they stand for: chunks as their `text`, all others as `source`; and `held`
 *      events with what the parser has read but not decided.
 * Out: spans in a <pre>, in the order of the text; `characters` says how much has been decided.
 *
 * The spans stand in blocks of whole lines. The browser lays out only those blocks that are in sight.
 */

import { element } from "./element.js";
import { kindOf } from "./kinds.js";

const BLOCK = 4000; // characters after which the next line begins another block

export class RawView {
  characters = 0;
  #region = -1;
  #field = null;
  #last = null; // the span that chunks go into
  #texts = []; // the spans of the region's text, which may turn out to be faulty
  #held = element("span", { class: "held", hidden: true }, document.createTextNode(""));
  #inBlock = 0; // characters of the last block

  constructor(pre, promptEnd) {
    this.element = pre;
    this.#beginBlock();
    if (promptEnd) this.#held.before(element("span", { class: "prompt-end", title: "The end of the prompt" }, promptEnd));
  }

  take(event) {
    STEPS[event.type]?.call(this, event);
  }

  static {
    this.steps = {
      region_open({ field, source = "" }) {
        this.#begin(field);
        this.#put(source, "mark");
      },
      region_chunk({ text }) {
        this.#put(text, "text");
      },
      region_close({ source = "", repaired }) {
        if (repaired) this.#texts.forEach((span) => span.classList.add("repaired"));
        this.#put(source, "mark");
      },
      region_malformed({ source = "" }) {
        this.#texts.forEach((span) => span.classList.add("malformed"));
        this.#put(source, "mark malformed");
      },
      region_unclaimed({ source, ends_turn: endsTurn }) {
        this.#begin(null);
        this.#put(source, endsTurn ? "unclaimed ends-turn" : "unclaimed");
      },
      dropped({ source }) {
        const field = this.#field;
        this.#field = null;
        this.#put(source, "unclaimed");
        this.#field = field;
      },
      message() {
        STEPS.held.call(this, { text: "" });
      },
      held({ text }) {
        this.#held.firstChild.data = text;
        this.#held.hidden = text === "";
      },
    };
  }

  #begin(field) {
    this.#region += 1;
    this.#field = field;
    this.#last = null;
    this.#texts = [];
  }

  #put(text, part) {
    this.characters += text.length;
    let at = 0;
    while (at < text.length) {
      const lineEnd = text.indexOf("\n", at + Math.max(BLOCK - this.#inBlock, 0)) + 1;
      const end = lineEnd || text.length;
      if (this.#last?.part !== part) this.#last = { part, text: this.#span(part) };
      this.#last.text.appendData(text.slice(at, end));
      this.#inBlock += end - at;
      if (lineEnd) this.#beginBlock();
      at = end;
    }
  }

  #beginBlock() {
    const block = element("div", { class: "lines" }, this.#held);
    this.element.append(block);
    this.#inBlock = 0;
    this.#last = null;
  }

  #span(part) {
    const kind = kindOf(this.#field);
    const text = document.createTextNode("");
    const span = element("span", { class: `${part}${kind ? ` kind-${kind}` : ""}`, "data-region": this.#region }, text);
    this.#held.before(span);
    if (part === "text") this.#texts.push(span);
    return text;
  }
}

const STEPS = RawView.steps;
