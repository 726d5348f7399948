/**
 * The message of one generation, as far as it has been written.
 *
 * In:  the state that client.js folds. Out: children of `element`, one for each region, of which only those that have not
 *      ended are written again.
 */

import { element } from "./element.js";
import { viewOf } from "./region_views.js";

export class MessageView {
  #views = [];
  #ended = 0;

  constructor(pane) {
    this.element = pane;
  }

  write(state) {
    for (let number = this.#ended; number < state.regions.length; number += 1) {
      const region = state.regions[number];
      if (number >= this.#views.length) this.#begin(region, number);
      const view = this.#views[number];
      view?.write(region);
      view?.element.classList.toggle("writing", region.status === "open");
      if (region.status !== "open" && number === this.#ended) this.#ended += 1;
    }
  }

  /** A line under the message: how it ended, or what came of a comparison. */
  say(text, kind, more = "") {
    this.element.append(element("div", { class: `verdict ${kind}` }, text, more && element("pre", {}, more)));
  }

  #begin(region, number) {
    const view = viewOf(region);
    this.#views.push(view);
    if (!view) return;
    view.element.dataset.region = number;
    this.element.append(view.element);
  }
}
