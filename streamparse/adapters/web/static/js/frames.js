/**
 * Draws when something has changed, at most once a frame, and never most of the time.
 *
 * In:  `ask()` at each change. Out: calls of `draw`, of which a slow one is followed by a rest three times as long.
 */

const REST = 3;

export class Frames {
  #draw;
  #asked = false;
  #rest = 0;

  constructor(draw) {
    this.#draw = draw;
  }

  ask() {
    if (this.#asked) return;
    this.#asked = true;
    const frame = () => requestAnimationFrame(() => this.#now());
    if (this.#rest > 20) setTimeout(frame, this.#rest);
    else frame();
  }

  #now() {
    this.#asked = false;
    const start = performance.now();
    this.#draw();
    this.#rest = REST * (performance.now() - start);
  }
}
