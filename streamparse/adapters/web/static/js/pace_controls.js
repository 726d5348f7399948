/**
 * The buttons for the pace.
 *
 * In:  the server's pace (`show`), clicks. Out: requests to the server; the pace is the same for every page.
 */

const SPEEDS = [1, 2, 4, 8, 15, 30, 60, 120, 250, 500, 1000, 2000];

export class PaceControls {
  #pace = { rate: 30, paused: false };

  constructor(ask) {
    this.ask = ask;
    const actions = { again: this.again, pause: this.togglePause, step: this.step, slower: this.slower, faster: this.faster };
    for (const [id, act] of Object.entries(actions)) document.getElementById(id).addEventListener("click", act);
  }

  show(pace) {
    this.#pace = pace;
    const pause = document.getElementById("pause");
    pause.dataset.paused = pace.paused;
    pause.querySelector("span").textContent = pace.paused ? "Go on" : "Pause";
    pause.setAttribute("aria-label", pace.paused ? "Go on" : "Pause");
    document.getElementById("rate").textContent = `${pace.rate}/s`;
    document.getElementById("slower").disabled = pace.rate <= SPEEDS[0];
    document.getElementById("faster").disabled = pace.rate >= SPEEDS.at(-1);
  }

  again = () => this.ask("again");
  togglePause = () => this.ask(this.#pace.paused ? "go_on" : "pause");
  step = () => this.ask("step");
  slower = () => this.ask("rate", { rate: SPEEDS.findLast((speed) => speed < this.#pace.rate) ?? SPEEDS[0] });
  faster = () => this.ask("rate", { rate: SPEEDS.find((speed) => speed > this.#pace.rate) ?? SPEEDS.at(-1) });
}
