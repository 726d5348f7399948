/**
 * Single keys as shortcuts, and the list of them. They can be turned off, for those whose software types for them.
 *
 * In:  a table of shortcuts: key, what it does in words, and the function. Out: calls of these functions.
 */

import { element } from "./element.js";

const STORED = "streamparse-keys";

export class Keys {
  #dialog = document.getElementById("keys-dialog");
  #on = document.getElementById("keys-on");

  constructor(shortcuts) {
    this.shortcuts = shortcuts;
    this.#on.checked = localStorage.getItem(STORED) !== "off";
    this.#on.addEventListener("change", () => localStorage.setItem(STORED, this.#on.checked ? "on" : "off"));
    this.#dialog.querySelector(".dismiss").addEventListener("click", () => this.#dialog.close());
    const rows = shortcuts.map(([keys, words]) => [element("dt", {}, ...keys.map((key) => element("kbd", {}, NAMES[key] ?? key))), element("dd", {}, words)]);
    this.#dialog.querySelector(".keys").append(...rows.flat());
    document.addEventListener("keydown", (event) => this.#press(event));
  }

  open() {
    this.#dialog.showModal();
  }

  #press(event) {
    if (!(this.#on.checked || ALWAYS.has(event.key)) || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (!ALWAYS.has(event.key) && event.target.closest("input, textarea, select")) return;
    if (event.key === " " && event.target.closest("button, summary, a")) return; // the key is theirs
    const act = this.shortcuts.find(([keys]) => keys.includes(event.key))?.[2];
    if (!act) return;
    event.preventDefault();
    act();
  }
}

const NAMES = { " ": "space", Escape: "Esc" };
const ALWAYS = new Set(["Escape"]); // no character, so nothing that is typed has it
