/**
 * One generation on the page: its message, its raw stream, how it stands.
 *
 * In:  what the server says of it (`about`), and the Generation of client.js that follows it.
 * Out: `element`; `onover(text)` is called with a sentence when it has ended.
 */

import { copyOf } from "./element.js";
import { Frames } from "./frames.js";
import { MessageView } from "./message_view.js";
import { RawView } from "./raw_view.js";
import { counted } from "./region_views.js";

const NEAR = 48; // pixels from its end within which a pane follows what is written
const COMPARED = {
  true: ["The same message as when the file was saved.", "good"],
  false: ["Not the message that came out when the file was saved.", "bad"],
};
const WORDS = { waiting: "waiting", running: "writing", complete: "complete", stopped: "stopped", failed: "failed", refused: "lost" };

const PAUSED = "paused · space to go on";

export class Card {
  element = copyOf("card");
  onover = () => {};
  #events = [];
  #frames = new Frames(() => this.#draw());
  #over = false;
  #paused = false;

  constructor(about, generation) {
    this.about = about;
    this.generation = generation;
    this.#fill();
    this.message = new MessageView(this.#part(".message"));
    this.raw = new RawView(this.#part(".raw pre"), about.prompt_end);
    this.#linkRegions();
    generation.onchange = (_, events) => {
      this.#events.push(...events);
      this.#frames.ask();
    };
    this.#frames.ask();
  }

  leave() {
    if (!this.generation.done) this.generation.leave();
    this.element.remove();
  }

  get large() {
    return this.element.classList.contains("large");
  }

  /** Whether all generations are paused; shown until this one is over. */
  pause(paused) {
    this.#paused = paused && !this.about.live;
    this.#frames.ask();
  }

  enlarge() {
    const large = this.element.classList.toggle("large");
    this.#part(".enlarge").setAttribute("aria-pressed", large);
    this.element.scrollIntoView({ block: "nearest" });
  }

  #part(selector) {
    return this.element.querySelector(selector);
  }

  #fill() {
    const { key, title, template, origin, prompt } = this.about;
    const heading = this.#part("h2");
    heading.textContent = heading.title = title;
    heading.id = `title-${key}`;
    this.element.dataset.key = key;
    this.element.setAttribute("aria-labelledby", heading.id);
    this.#part(".stop").addEventListener("click", () => this.generation.stop());
    this.#part(".template").textContent = template;
    this.#part(".origin").textContent = origin;
    this.#part(".prompt").textContent = this.#part(".prompt").title = prompt;
    for (const pane of [".message", ".raw"]) this.#part(pane).setAttribute("aria-label", `${pane === ".raw" ? "Raw stream" : "Message"}: ${title}`);
  }

  #draw() {
    const panes = [this.#part(".message"), this.#part(".raw")];
    const following = panes.map((pane) => pane.scrollHeight - pane.scrollTop - pane.clientHeight < NEAR);
    const { state } = this.generation;
    const events = this.#events.splice(0);
    for (const event of events) this.raw.take(event);
    this.message.write(state);
    for (const event of events) if (event.type === "compared") this.message.say(...COMPARED[event.same]);
    this.#showState(state);
    panes.forEach((pane, at) => following[at] && (pane.scrollTop = pane.scrollHeight));
  }

  #showState(state) {
    const { status, done, error } = this.generation;
    const faulty = state.regions.filter((region) => region.status === "malformed").length;
    const repaired = state.regions.filter((region) => region.repaired).length;
    const calls = state.message?.tool_calls?.length ?? 0;
    this.element.dataset.state = status;
    this.element.toggleAttribute("data-paused", this.#paused && !done);
    this.#part(".stop").hidden = done || !this.about.live;
    this.element.toggleAttribute("data-faulty", faulty > 0);
    this.element.toggleAttribute("data-repaired", repaired > 0);
    const counts = [calls && counted(calls, "call"), repaired && `${repaired} repaired`, faulty && `${faulty} malformed`].filter(Boolean);
    const words = [this.#paused && !done ? PAUSED : WORDS[status], ...(done ? counts : [])];
    this.#part(".word").textContent = words.join(" · ");
    const share = done ? 1 : this.about.live ? 0 : Math.min(this.raw.characters / Math.max(this.about.length, 1), 1);
    this.#part(".progress span").style.transform = `scaleX(${share})`;
    if (done) this.#end(status, error, state, words);
  }

  #end(status, error, state, words) {
    if (this.#over) return;
    this.#over = true;
    if (error !== null) this.message.say(this.about.failure ?? error, "bad");
    for (const problem of state.problems) if (problem.type !== "region_malformed") this.message.say(problem.error, "bad");
    this.onover(`${this.about.title}: ${words.join(", ")}`);
  }

  /** Marks a region in one pane while the pointer is on it in the other. */
  #linkRegions() {
    const light = (number) => {
      for (const lit of this.element.querySelectorAll(".lit")) lit.classList.remove("lit");
      if (number !== undefined) for (const part of this.element.querySelectorAll(`[data-region="${CSS.escape(number)}"]`)) part.classList.add("lit");
    };
    this.element.addEventListener("pointerover", ({ target }) => light(target.closest("[data-region]")?.dataset.region));
    this.element.addEventListener("pointerleave", () => light());
  }
}
