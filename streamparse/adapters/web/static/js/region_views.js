/**
 * How a region looks in the message: reasoning folds away, content is Markdown, calls fill in, other fields have a label.
 *
 * In:  a region as the fold of client.js has it. Out: a view with `element` and `write(region)`.
 */

import { CallView } from "./call_view.js";
import { element } from "./element.js";
import { kindOf } from "./kinds.js";
import { MarkdownView } from "./markdown_view.js";

/** The view of a region; null for one that the message doesn't show, such as the mark that ends the turn. */
export function viewOf(region) {
  if (region.status === "unclaimed") return region.ends_turn || region.text.trim() === "" ? null : new UnclaimedView();
  return new VIEWS[kindOf(region.field)](region);
}

class ReasoningView {
  #words = element("span");
  #text = new MarkdownView();
  element = element("details", { class: "reasoning kind-reasoning", open: true }, element("summary", {}, "Reasoning ", this.#words), this.#text.element);
  #touched = false; // somebody has folded or unfolded it, and so decides

  constructor() {
    this.element.querySelector("summary").addEventListener("click", () => (this.#touched = true));
  }

  write(region) {
    const open = region.status === "open";
    this.#text.write(region.text, { open });
    this.#words.textContent = open ? "" : `· ${counted(region.text.match(/\S+/g)?.length ?? 0, "word")}`;
    if (!open && !this.#touched) this.element.open = false;
    fault(this.element, region);
  }
}

class ContentView {
  #text = new MarkdownView();
  element = element("div", { class: "content kind-content" }, this.#text.element);

  write(region) {
    this.#text.write(region.text, { open: region.status === "open" });
    fault(this.element, region);
  }
}

class CallsView {
  element = element("div", { class: "calls kind-calls" });
  #begun = element("div", { class: "call" }, element("div", { class: "call-head" }, element("span", { class: "name" }, "…"), element("span", { class: "note" }, "being written")));
  #calls = new Map();

  constructor() {
    this.element.append(this.#begun);
  }

  write(region) {
    const calls = region.calls.length || region.status === "open" ? region.calls : callsIn(region.value);
    if (calls.length || region.status !== "open") this.#begun.remove();
    for (const call of calls) {
      const writing = region.status === "open" && call === calls.at(-1);
      const standing = writing ? "writing" : region.status === "malformed" ? "malformed" : region.repaired ? "repaired" : "complete";
      if (!this.#calls.has(call.index)) {
        this.#calls.set(call.index, new CallView());
        this.element.append(this.#calls.get(call.index).element);
      }
      this.#calls.get(call.index).write(call, standing);
    }
    fault(calls.length ? this.#calls.get(calls.at(-1).index).element : this.element, region);
  }
}

class OtherView {
  #value = element("span", { class: "plain" });
  element = element("div", { class: "other kind-other" });

  constructor({ field }) {
    this.element.append(element("span", { class: "label" }, field), " ", this.#value);
  }

  write(region) {
    const shown = region.status === "closed" && region.dirty ? JSON.stringify(region.value) : region.text;
    this.#value.textContent = shown;
    fault(this.element, region);
  }
}

class UnclaimedView {
  element = element("p", { class: "verdict plain" });

  write({ text }) {
    this.element.textContent = `Claimed by no field: ${text}`;
  }
}

const VIEWS = { reasoning: ReasoningView, content: ContentView, calls: CallsView, other: OtherView };

export function counted(number, thing) {
  return `${number} ${thing}${number === 1 ? "" : "s"}`;
}

/** Calls of a region whose deltas said nothing: they are in its value. */
function callsIn(value) {
  const found = [value].flat().filter((call) => typeof call?.function?.name === "string");
  return found.map(({ id = null, function: made }, index) => ({ index, id, name: made.name, arguments: JSON.stringify(made.arguments ?? {}) }));
}

/** Says under a region that has ended what was mended in it, or what is wrong with it and where. */
function fault(parent, region) {
  if (region.status === "closed" && region.repaired) parent.append(element("p", { class: "mended" }, `Mended: ${region.repaired.join(", ")}`));
  if (region.status !== "malformed") return;
  parent.append(element("p", { class: "fault malformed" }, `${region.incomplete ? "Cut off" : "Malformed"}: ${region.error}`, excerpt(region)));
}

const AROUND = 60;

/** The text around the place where reading failed, with that character marked. */
function excerpt({ text, fault_at: place }) {
  const characters = [...text];
  if (place === null || place >= characters.length) return element("code", {}, characters.slice(0, 2 * AROUND).join(""));
  const before = characters.slice(Math.max(0, place - AROUND), place).join("");
  const after = characters.slice(place + 1, place + AROUND).join("");
  return element("code", {}, place > AROUND ? "…" : "", before, element("mark", {}, characters[place] === "\n" ? "⏎\n" : characters[place]), after);
}
