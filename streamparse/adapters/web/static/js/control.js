/**
 * Asks the server for things: pace, new generations, files.
 *
 * In:  `ask(action, fields)`. Out: a promise of the answer, rejected with what the server says is wrong; `onstate(state)`
 *      is called whenever the pace or the list of generations has changed, whoever changed it.
 *
 * The socket is opened again when it is lost; what was asked meanwhile fails.
 */

const AGAIN = 500; // milliseconds

export class Control {
  onstate = () => {};
  #waiting = new Map();
  #number = 0;
  #socket;

  constructor(url) {
    this.url = url;
    this.#open();
  }

  ask(action, fields = {}) {
    if (this.#socket.readyState !== WebSocket.OPEN) return Promise.reject(new Error("The server can't be reached."));
    const number = ++this.#number;
    this.#socket.send(JSON.stringify({ ...fields, number, action }));
    return new Promise((resolve, reject) => this.#waiting.set(number, { resolve, reject }));
  }

  #open() {
    this.#socket = new WebSocket(this.url);
    this.#socket.onmessage = ({ data }) => this.#take(JSON.parse(data));
    this.#socket.onclose = () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("The connection to the server was lost."));
      this.#waiting.clear();
      setTimeout(() => this.#open(), AGAIN);
    };
  }

  #take(message) {
    if (message.state) {
      this.onstate(message.state);
      return;
    }
    const { resolve, reject } = this.#waiting.get(message.number) ?? {};
    this.#waiting.delete(message.number);
    if (message.problem) reject?.(new Error(message.problem));
    else resolve?.(message.answer);
  }
}
