/**
 * Follows generations of a streamparse server over a websocket: reconnects, and folds events into what a UI shows.
 *
 * In:  messages as docs/websockets.md describes them.
 * Out: a Generation for each generation followed, with its state; a callback at each change.
 *
 *     import { Connection } from "./client.js";
 *     const connection = new Connection("wss://example.org/events");
 *     const generation = connection.start({ question: "…" });
 *     generation.onchange = () => draw(generation.state);
 *
 * An ES module without dependencies; `fold` is that of fold.py, name by name.
 */

export const VERSION = 1;

/** Close codes after which trying again would end the same way. */
const FINAL_CODES = new Set([1002, 1003, 1007, 1008, 1009, 4400, 4401]);

const FIRST_DELAY = 250; // milliseconds
const LONGEST_DELAY = 15_000;
const SILENT_HEARTBEATS = 2.5; // a connection that is silent for so many heartbeats is taken to be dead

/** The state before the first event; docs/websockets.md says what is in it. */
export function newState() {
  return { regions: [], open: null, message: null, problems: [], finish_reason: null };
}

/** Takes an event into a state, which is changed in place and returned; events of unknown types say nothing. */
export function fold(state, event) {
  if (Object.hasOwn(STEPS, event.type)) STEPS[event.type](state, event);
  return state;
}

const STEPS = {
  region_open(state, event) {
    Object.assign(beginRegion(state, event.field), without(event, "type", "field", "end", "token_end"));
  },
  region_chunk(state, event) {
    const region = openRegion(state, event.field);
    region.text += event.text;
    region.dirty ||= event.dirty;
  },
  region_delta(state, event) {
    const { calls } = openRegion(state, event.field);
    if (calls.at(-1)?.index !== event.index) calls.push({ index: event.index, id: null, name: null, arguments: "" });
    const call = calls.at(-1);
    call.id = event.id ?? call.id;
    call.name = event.name ?? call.name;
    call.arguments += event.arguments ?? "";
  },
  region_close(state, event) {
    endRegion(state, event, "closed");
  },
  region_malformed(state, event) {
    endRegion(state, event, "malformed");
  },
  region_unclaimed(state, event) {
    state.regions.push(Object.assign(newRegion(null), without(event, "type"), { status: "unclaimed" }));
  },
  message(state, { message, problems, finish_reason }) {
    Object.assign(state, { message, problems, finish_reason });
  },
};

function newRegion(field) {
  return { field, status: "open", text: "", dirty: false, calls: [] };
}

function beginRegion(state, field) {
  state.open = state.regions.push(newRegion(field)) - 1;
  return state.regions[state.open];
}

/** The open region if it is of this field, or else a new one: a fold may begin in the middle. */
function openRegion(state, field) {
  const region = state.regions[state.open];
  return region?.field === field ? region : beginRegion(state, field);
}

function endRegion(state, event, status) {
  Object.assign(openRegion(state, event.field), without(event, "type", "field", "start", "token_start"), { status });
  state.open = null;
}

function without(event, ...keys) {
  return Object.fromEntries(Object.entries(event).filter(([key]) => !keys.includes(key)));
}

/** One generation as this client knows it; made by `Connection.start` and `Connection.subscribe`. */
export class Generation {
  /** What its events have said so far. */
  state = newState();
  /** The number of the last event that was taken in. */
  last = 0;
  /** "waiting" for the first event, "running", "complete", "stopped", "failed", or "refused" (see `error`). */
  status = "waiting";
  /** What went wrong, as text, where the status is "failed" or "refused". */
  error = null;
  /** Called after each change, with this generation and the events that came, if any. */
  onchange = () => {};

  constructor(connection, name, request) {
    this.connection = connection;
    this.name = name;
    this.request = request; // the start message, until an event has shown that it arrived
    this.stopping = false;
    /** Resolves when the generation is over, to itself. */
    this.over = new Promise((resolve) => (this.resolve = resolve));
  }

  /** Whether nothing more comes. */
  get done() {
    return this.status !== "waiting" && this.status !== "running";
  }

  /** Ends the generation, for everybody; its `end` still comes. */
  stop() {
    if (this.done) return;
    this.stopping = true;
    this.connection.send({ type: "stop", generation: this.name });
  }

  /** Follows it no more; it goes on for others. */
  leave() {
    this.connection.forget(this);
    this.connection.send({ type: "unsubscribe", generation: this.name });
  }

  /** What is to be sent on a new connection. */
  requests() {
    const follow = this.request ?? { type: "subscribe", generation: this.name, after: this.last };
    return this.stopping ? [follow, { type: "stop", generation: this.name }] : [follow];
  }

  /** Takes a message of the server in. */
  take(message) {
    if (message.type === "events") this.takeEvents(message);
    else if (message.type === "end") this.finish(message.reason, message.error ?? null);
    else if (message.type === "error") this.finish("refused", `${message.code}: ${message.message}`);
  }

  takeEvents({ first, last, events }) {
    if (last <= this.last) return; // seen before
    if (first !== this.last + 1) {
      this.connection.send({ type: "subscribe", generation: this.name, after: this.last });
      return;
    }
    this.request = null;
    this.last = last;
    this.status = "running";
    for (const event of events) fold(this.state, event);
    this.onchange(this, events);
  }

  finish(status, error) {
    if (this.done) return;
    this.status = status;
    this.error = error;
    this.connection.forget(this);
    this.onchange(this, []);
    this.resolve(this);
  }
}

/** A connection that is opened again whenever it is lost, without an event lost or repeated. */
export class Connection {
  /** "connecting", "open", "waiting" (to try again), or "closed" (for good; see `closed`). */
  status = "connecting";
  /** The close event after which nothing was tried any more. */
  closed = null;

  /**
   * `token` is a string, or a function that gives one (or a promise of one) each time a connection is opened.
   * `onstatus` is called with this connection when its status changes. `WebSocket` is the class to use where the
   * platform has none of its own.
   */
  constructor(url, { token = null, onstatus = () => {}, WebSocket = globalThis.WebSocket } = {}) {
    this.url = url;
    this.token = token;
    this.onstatus = onstatus;
    this.WebSocket = WebSocket;
    this.generations = new Map();
    this.failures = 0;
    this.open();
  }

  /** Starts a generation, under a name that nobody can guess unless one is given, and follows it. */
  start(parameters = {}, name = crypto.randomUUID()) {
    return this.follow(new Generation(this, name, { type: "start", generation: name, parameters }));
  }

  /** Follows a generation that has been started elsewhere. */
  subscribe(name) {
    return this.follow(this.generations.get(name) ?? new Generation(this, name, null));
  }

  /** Ends the connection for good. */
  close() {
    const { socket } = this;
    this.end(null);
    socket?.close(1000);
  }

  follow(generation) {
    if (this.generations.has(generation.name)) return generation;
    this.generations.set(generation.name, generation);
    for (const request of generation.requests()) this.send(request);
    return generation;
  }

  forget(generation) {
    if (this.generations.get(generation.name) === generation) this.generations.delete(generation.name);
  }

  /** Sends a message if the server is listening; if not, what must not be lost is sent with the next connection. */
  send(message) {
    if (this.status === "open") this.socket.send(JSON.stringify(message));
  }

  open() {
    this.setStatus("connecting");
    const socket = new this.WebSocket(this.url);
    this.socket = socket;
    this.watch(LONGEST_DELAY);
    socket.onopen = async () => {
      const hello = { type: "hello", version: VERSION };
      try {
        const token = typeof this.token === "function" ? await this.token() : this.token;
        socket.send(JSON.stringify(token === null ? hello : { ...hello, token }));
      } catch {
        socket.close(); // without a token there is nothing to say; the next connection asks again
      }
    };
    socket.onmessage = ({ data }) => socket === this.socket && this.take(JSON.parse(data));
    socket.onclose = (event) => socket === this.socket && this.lost(event);
    socket.onerror = () => {}; // a close event follows
  }

  take(message) {
    if (message.type === "welcome") {
      this.silence = message.heartbeat * 1000 * SILENT_HEARTBEATS;
      this.failures = 0;
      this.setStatus("open");
      for (const generation of this.generations.values()) generation.requests().forEach((request) => this.send(request));
    } else {
      this.generations.get(message.generation)?.take(message);
    }
    this.watch(this.silence);
  }

  /** Takes the connection to be lost unless something arrives in time. */
  watch(milliseconds) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const { socket } = this;
      this.lost({ code: 1006, reason: "the server is silent" });
      socket.close();
    }, milliseconds);
  }

  lost(event) {
    clearTimeout(this.timer);
    this.socket = null;
    if (FINAL_CODES.has(event.code)) {
      this.end(event);
      return;
    }
    const longest = Math.min(FIRST_DELAY * 2 ** this.failures++, LONGEST_DELAY);
    this.setStatus("waiting");
    this.timer = setTimeout(() => this.open(), longest * (0.5 + Math.random() / 2));
  }

  end(event) {
    clearTimeout(this.timer);
    this.socket = null;
    this.closed = event;
    this.setStatus("closed");
    if (event === null) return;
    const reason = `the server closed the connection: ${event.code} ${event.reason}`;
    for (const generation of [...this.generations.values()]) generation.finish("refused", reason);
  }

  setStatus(status) {
    if (status === this.status) return;
    this.status = status;
    this.onstatus(this);
  }
}
