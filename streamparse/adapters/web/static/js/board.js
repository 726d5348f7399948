/**
 * The cards on the page, in step with the generations that the server has.
 *
 * In:  the server's list of generations (`show(list)`), and a Connection of client.js to follow them with.
 * Out: cards in `main`; `onaction(action, card)` for the buttons of a card ("edit", "save", "remove"), `onnews(text)`.
 */

import { Card } from "./card.js";

export class Board {
  onaction = () => {};
  onnews = () => {};
  #cards = new Map();
  #wanted = null; // the key of a card that is to have the focus when it comes
  #paused = false;

  constructor(main, connection) {
    this.main = main;
    this.connection = connection;
  }

  show(list) {
    const keys = new Set(list.map(({ key }) => key));
    for (const [key, card] of this.#cards) {
      if (keys.has(key)) continue;
      card.leave();
      this.#cards.delete(key);
    }
    list.forEach((about, at) => {
      if (!this.#cards.has(about.key)) this.#cards.set(about.key, this.#make(about));
      const { element } = this.#cards.get(about.key);
      if (this.main.children[at] !== element) this.main.insertBefore(element, this.main.children[at] ?? null);
    });
    if (this.#wanted !== null && keys.has(this.#wanted)) this.focus(this.#wanted);
  }

  /** The card that has the focus, or the focus inside it. */
  get current() {
    return this.#cards.get(document.activeElement?.closest(".card")?.dataset.key);
  }

  /** Moves the focus to a card, now or when it comes. */
  focus(key) {
    const card = this.#cards.get(key);
    this.#wanted = card ? null : key;
    card?.element.focus({ preventScroll: true });
    card?.element.scrollIntoView({ block: "nearest" });
  }

  /** Moves the focus to a new card, now or when it comes, and says so where nothing will happen on it. */
  present(key) {
    this.focus(key);
    if (this.#paused) this.onnews("All is paused: press space to go on.");
  }

  /** Says on each card that is not over whether all are paused. */
  pause(paused) {
    this.#paused = paused;
    for (const card of this.#cards.values()) card.pause(paused);
  }

  /** Makes enlarged cards small again. */
  shrink() {
    for (const card of this.#cards.values()) if (card.large) card.enlarge();
  }

  /** Moves the focus on by so many cards. */
  move(steps) {
    const cards = [...this.main.children];
    const at = cards.indexOf(this.current?.element);
    const next = at < 0 ? (steps > 0 ? 0 : cards.length - 1) : Math.min(Math.max(at + steps, 0), cards.length - 1);
    if (cards[next]) this.focus(cards[next].dataset.key);
  }

  #make(about) {
    const card = new Card(about, this.connection.subscribe(about.key));
    card.pause(this.#paused);
    card.onover = (text) => this.onnews(text);
    card.element.querySelector(".enlarge").addEventListener("click", () => card.enlarge());
    for (const action of ["edit", "save", "remove"]) {
      card.element.querySelector(`.${action}`).addEventListener("click", () => this.onaction(action, card));
    }
    return card;
  }
}
