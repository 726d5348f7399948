/**
 * A tool call that fills in, argument by argument.
 *
 * In:  a call as the fold has it (`name`, `id`, `arguments` as JSON text so far), and how its region stands.
 * Out: `element`.
 */

import { Arguments } from "./arguments.js";
import { element } from "./element.js";

const NOTES = { writing: "being written", complete: "complete", repaired: "repaired", malformed: "malformed, not a call" };

export class CallView {
  #name = element("span", { class: "name" });
  #note = element("span", { class: "note" });
  #list = element("dl", { class: "arguments" });
  element = element("div", { class: "call" }, element("div", { class: "call-head" }, this.#name, this.#note), this.#list);
  #read = 0; // so much of the arguments' text has been read
  #arguments = new Arguments();
  #rows = []; // for each entry: its element, and how much of its text is there

  write(call, standing) {
    this.#name.textContent = call.name ?? "…";
    this.#note.textContent = NOTES[standing];
    this.element.className = `call ${standing}`;
    this.#arguments.feed(call.arguments.slice(this.#read));
    this.#read = call.arguments.length;
    this.#arguments.entries.forEach((entry, at) => this.#writeEntry(entry, at));
  }

  #writeEntry(entry, at) {
    const row = (this.#rows[at] ??= this.#begin(entry));
    if (row.done) return;
    row.text.appendData(entry.text.slice(row.length));
    row.length = entry.text.length;
    row.done = entry.done;
    const block = entry.kind === "string" && entry.text.includes("\n");
    row.value.classList.toggle("block", block);
    row.term.classList.toggle("wide", block);
    row.detail.classList.toggle("wide", block);
  }

  #begin({ name, kind }) {
    const text = document.createTextNode("");
    const value = element("span", { class: `value ${kind}` }, text);
    const term = element("dt", {}, name ?? "arguments");
    const detail = element("dd", {}, value);
    this.#list.append(term, detail);
    return { text, value, term, detail, length: 0, done: false };
  }
}
