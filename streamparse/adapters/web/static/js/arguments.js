/**
 * Reads the arguments of a tool call while their JSON text is being written.
 *
 * In:  pieces of the JSON text of an object, as `region_delta` events have them, cut anywhere.
 * Out: `entries`, one for each argument so far: `name`, `kind` ("string", "number", "literal" or "nested"), `text`
 *      (a string's own characters, anything else as JSON with its digits as they are), and `done`.
 *
 * One table: for each state, what becomes of the next character. What is no JSON ends up in an entry's text.
 */

const ESCAPES = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const SPACE = /\s/;

export class Arguments {
  entries = [];
  #state = "start";
  #key = "";
  #depth = 0;
  #escape = ""; // what there is of an escape, from its backslash on

  feed(text) {
    for (const character of text) STATES[this.#state].call(this, character);
  }

  static {
    this.states = {
      start(character) {
        if (character === "{") this.#state = "key";
        else if (!SPACE.test(character)) this.#begin(character); // arguments that are no object: one entry without a name
      },
      key(character) {
        if (character === '"') [this.#state, this.#key] = ["in key", '"'];
        else if (character === "}") this.#state = "after";
      },
      "in key"(character) {
        this.#key += character;
        if (this.#escape) this.#escape = "";
        else if (character === "\\") this.#escape = character;
        else if (character === '"') this.#state = "colon";
      },
      colon(character) {
        if (character === ":") this.#state = "value";
      },
      value(character) {
        if (!SPACE.test(character)) this.#begin(character);
      },
      string(character) {
        if (this.#escape) this.#unescape(character);
        else if (character === "\\") this.#escape = character;
        else if (character === '"') this.#end();
        else this.#entry.text += character;
      },
      scalar(character) {
        if (character === "," || character === "}") this.#end(character);
        else if (!SPACE.test(character)) this.#entry.text += character;
      },
      nested(character) {
        this.#entry.text += character === "," || character === ":" ? `${character} ` : SPACE.test(character) ? "" : character;
        if (character === '"') this.#state = "nested string";
        else if (character === "{" || character === "[") this.#depth += 1;
        else if ((character === "}" || character === "]") && --this.#depth === 0) this.#end();
      },
      "nested string"(character) {
        this.#entry.text += character;
        if (this.#escape) this.#escape = "";
        else if (character === "\\") this.#escape = character;
        else if (character === '"') this.#state = "nested";
      },
      after(character) {
        if (character === ",") this.#state = "key";
      },
    };
  }

  get #entry() {
    return this.entries.at(-1);
  }

  #begin(character) {
    const name = this.#key === "" ? null : keyOf(this.#key);
    const nested = character === "{" || character === "[";
    const kind = character === '"' ? "string" : nested ? "nested" : /[-\d]/.test(character) ? "number" : "literal";
    this.entries.push({ name, kind, text: kind === "string" ? "" : character, done: false });
    this.#depth = nested ? 1 : 0;
    this.#state = kind === "string" ? "string" : nested ? "nested" : "scalar";
  }

  #end(character = "") {
    this.#entry.done = true;
    this.#state = character === "," ? "key" : "after";
  }

  #unescape(character) {
    this.#escape += character;
    if (this.#escape[1] !== "u") this.#entry.text += ESCAPES[character] ?? character;
    else if (this.#escape.length === 6) this.#entry.text += String.fromCharCode(parseInt(this.#escape.slice(2), 16));
    else return;
    this.#escape = "";
  }
}

const STATES = Arguments.states;

function keyOf(quoted) {
  try {
    return JSON.parse(quoted);
  } catch {
    return quoted;
  }
}
