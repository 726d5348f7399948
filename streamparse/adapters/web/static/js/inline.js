/**
 * Markdown inside a line of text, as plain data.
 *
 * In:  the text of a paragraph, heading, item or cell, as a model wrote it; whether more of it may follow.
 * Out: nodes `{type, …}`: `text` (text), `code` (text), `break`, `strong`, `em`, `del` (children), and `link` (href, children).
 *
 * Time is linear in the text: no more than DEEPEST marks are open at a time, and what an end mark passes over on its way to
 * its beginning is passed over for good. `href` is always http, https or mailto; any other target leaves its text as it stands.
 */

const DEEPEST = 16;
const MARKS = { "**": "strong", __: "strong", "*": "em", _: "em", "~~": "del" };
const TOKEN = /\\[!-/:-@[-`{-~]|`+|\*\*|\*|__|_|~~|!?\[|\]\(|\]|https?:\/\/[^\s<>"'`|\\]{1,2000}|[ \t]{2,}\n|\\\n|\n/g;
const TARGET = /^\]\(\s*<?([^\s()<>]{1,2000}(?:\([^\s()<>]{0,500}\)[^\s()<>]{0,500})?)>?(?:\s+"[^"\n]{0,500}")?\s*\)/;
const PROTOCOLS = new Set(["http:", "https:", "mailto:"]);
const WORD = /[\p{L}\p{N}_]/u;

export function parseInline(text, { open = false } = {}) {
  return new Inline(text).parse(open);
}

/** The address if it is one that may be followed, or null. */
export function safeHref(target) {
  try {
    const url = new URL(target);
    return PROTOCOLS.has(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

class Inline {
  constructor(text) {
    this.text = text;
    this.stack = [{ mark: null, children: [] }]; // the innermost open mark is last; the first is the whole
    this.depths = new Map(); // for each mark, where in the stack it is open
    this.ticks = null; // for each length of a run of backquotes, where such runs begin
  }

  parse(open) {
    const { text } = this;
    let at = 0;
    TOKEN.lastIndex = 0;
    for (let match; (match = TOKEN.exec(text)); ) {
      this.put(text.slice(at, match.index));
      at = this.take(match[0], match.index);
      TOKEN.lastIndex = at;
    }
    this.put(text.slice(at));
    while (this.stack.length > 1) this.unwind(open && MARKS[this.stack.at(-1).mark] === "strong");
    return this.stack[0].children;
  }

  /** Takes the token at a place in; gives the place where reading goes on. */
  take(token, start) {
    const end = start + token.length;
    if (token === "\n") this.push({ type: "text", text: " " });
    else if (token.endsWith("\n")) this.push({ type: "break" });
    else if (token[0] === "\\") this.put(token.slice(1));
    else if (token[0] === "`") return this.code(token, end);
    else if (token.startsWith("http")) return this.bare(token, start);
    else if (token === "[" || token === "![") this.begin(token);
    else if (token[0] === "]") return this.link(start);
    else return this.emphasis(token, start);
    return end;
  }

  code(run, end) {
    this.ticks ??= runsOfBackquotes(this.text);
    const close = next(this.ticks.get(run.length), end);
    if (close === undefined) {
      this.put(run);
      return end;
    }
    const text = this.text.slice(end, close).replaceAll("\n", " ");
    this.push({ type: "code", text: /^ .*[^ ].* $/.test(text) ? text.slice(1, -1) : text });
    return close + run.length;
  }

  bare(token, start) {
    const address = token.replace(/[.,:;!?*_~)\]]+$/, "");
    const href = safeHref(address);
    if (href === null || this.depths.get("[")?.length) this.put(address);
    else this.push({ type: "link", href, children: [{ type: "text", text: address }] });
    return start + address.length;
  }

  emphasis(run, start) {
    // of three marks in a row the first one ends what was begun with one
    const single = run.length === 2 && this.text[start + 2] === run[0] && this.stack.at(-1).mark === run[0];
    const mark = single ? run[0] : run;
    const end = start + mark.length;
    const before = this.text[start - 1] ?? " ";
    const after = this.text[end] ?? " ";
    const inWord = mark[0] === "_" && WORD.test(before) && WORD.test(after);
    if (!inWord && !/\s/.test(before) && this.depths.get(mark)?.length) this.close(mark);
    else if (!inWord && !/\s/.test(after)) this.begin(mark);
    else this.put(mark);
    return end;
  }

  begin(mark) {
    if (this.stack.length > DEEPEST) {
      this.put(mark);
      return;
    }
    if (!this.depths.has(mark)) this.depths.set(mark, []);
    this.depths.get(mark).push(this.stack.length);
    this.stack.push({ mark, children: [] });
  }

  /** Ends the innermost open mark of this kind; what is open inside it was no mark. */
  close(mark) {
    this.unwindTo(this.depths.get(mark).at(-1));
    this.unwind(true);
  }

  link(start) {
    const open = Math.max(...["[", "!["].map((mark) => this.depths.get(mark)?.at(-1) ?? 0));
    const target = open && this.text.startsWith("](", start) ? TARGET.exec(this.text.slice(start, start + 4000)) : null;
    const href = target && safeHref(target[1]);
    if (open) this.unwindTo(open);
    if (!href) {
      if (open) this.unwind(false);
      this.put("]");
      return start + 1;
    }
    const { mark, children } = this.stack.pop();
    this.depths.get(mark).pop();
    const label = children.length ? children : [{ type: "text", text: target[1] }];
    this.push({ type: "link", href, children: mark === "![" ? [{ type: "text", text: "image: " }, ...label] : label });
    return start + target[0].length;
  }

  unwindTo(depth) {
    while (this.stack.length - 1 > depth) this.unwind(false);
  }

  /** Takes the innermost open mark off the stack: as what it marks, or as the text that it turned out to be. */
  unwind(marks) {
    const { mark, children } = this.stack.pop();
    this.depths.get(mark).pop();
    if (marks && children.length) this.push({ type: MARKS[mark], children });
    else {
      this.put(mark);
      children.forEach((child) => (child.type === "text" ? this.put(child.text) : this.push(child)));
    }
  }

  put(text) {
    if (text === "") return;
    const last = this.stack.at(-1).children.at(-1);
    if (last?.type === "text") last.text += text;
    else this.push({ type: "text", text });
  }

  push(node) {
    this.stack.at(-1).children.push(node);
  }
}

function runsOfBackquotes(text) {
  const runs = new Map();
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    if (!runs.has(run.length)) runs.set(run.length, []);
    runs.get(run.length).push(index);
  }
  for (const starts of runs.values()) starts.reverse();
  return runs;
}

/** The first of the places that is not before `end`; those before it are taken off for good. */
function next(places, end) {
  while (places?.length && places.at(-1) < end) places.pop();
  return places?.at(-1);
}
