/**
 * Markdown as blocks, as plain data: the part of it that models write.
 *
 * In:  text, as a model wrote it.
 * Out: blocks `{type, start, end, …}`, `start` and `end` in the text (of the outermost blocks): `paragraph` (text),
 *      `heading` (level, text), `code` (language, text), `list` (ordered, first, items), `quote` (blocks),
 *      `table` (align, head, rows), `rule`. Items are lists of blocks.
 *
 * HTML is text like any other. Time is linear in the text for a nesting no deeper than DEEPEST; what is nested deeper is
 * a paragraph.
 */

const DEEPEST = 6;
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const ITEM = /^( {0,3})([-*+]|(\d{1,9})[.)])(?:( {1,4})(?=\S)|\s*$)/;
const QUOTE = /^ {0,3}> ?/;
const ALIGNMENTS = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const BLANK = /^\s*$/;

export function parseBlocks(text) {
  return blocksOf(linesOf(text), 0);
}

function linesOf(text) {
  let start = 0;
  return text.split("\n").map((line) => {
    const made = { text: line.replace(/\r$/, ""), start, end: start + line.length };
    start = made.end + 1;
    return made;
  });
}

function blocksOf(lines, depth) {
  const blocks = [];
  for (let at = 0; at < lines.length; ) {
    if (BLANK.test(lines[at].text)) {
      at += 1;
      continue;
    }
    const read = depth > DEEPEST ? paragraph : READERS.find(([begins]) => begins(lines, at))[1];
    const [block, after] = read(lines, at, depth);
    blocks.push({ ...block, start: lines[at].start, end: lines[after - 1].end });
    at = after;
  }
  return blocks;
}

/** What a line begins, in order of preference, and what reads it: gives the block and the line after it. */
const READERS = [
  [(lines, at) => FENCE.test(lines[at].text), code],
  [(lines, at) => HEADING.test(lines[at].text), heading],
  [(lines, at) => RULE.test(lines[at].text), (lines, at) => [{ type: "rule" }, at + 1]],
  [(lines, at) => QUOTE.test(lines[at].text), quote],
  [(lines, at) => ITEM.test(lines[at].text), list],
  [beginsTable, table],
  [() => true, paragraph],
];

function code(lines, at) {
  const [, fence, language] = FENCE.exec(lines[at].text);
  const indent = /^ */.exec(lines[at].text)[0].length;
  const text = [];
  let end = at + 1;
  for (; end < lines.length; end += 1) {
    const line = lines[end].text;
    const mark = line.trim();
    if (mark.length >= fence.length && mark[0] === fence[0] && mark === fence[0].repeat(mark.length)) break;
    text.push(line.slice(Math.min(indent, /^ */.exec(line)[0].length)));
  }
  return [{ type: "code", language, text: text.join("\n") }, Math.min(end + 1, lines.length)];
}

function heading(lines, at) {
  const [, marks, text = ""] = HEADING.exec(lines[at].text);
  return [{ type: "heading", level: marks.length, text }, at + 1];
}

function quote(lines, at, depth) {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end].text)) end += 1;
  const inner = lines.slice(at, end).map((line) => ({ ...line, text: line.text.replace(QUOTE, "") }));
  return [{ type: "quote", blocks: blocksOf(inner, depth + 1) }, end];
}

function list(lines, at, depth) {
  const [, , marker, number] = ITEM.exec(lines[at].text);
  const kind = number === undefined ? marker : marker.at(-1);
  const items = [];
  let end = at;
  while (end < lines.length) {
    const begin = ITEM.exec(lines[end].text);
    if (!begin || begin[2].at(-1) !== kind || RULE.test(lines[end].text)) break;
    const width = begin[4] === undefined ? begin[1].length + begin[2].length + 1 : begin[0].length;
    const [inner, after] = itemLines(lines, end, width);
    items.push(blocksOf(inner, depth + 1));
    end = after;
  }
  return [{ type: "list", ordered: number !== undefined, first: Number(number ?? 1), items }, end];
}

/** The lines of an item without its indentation, and the line after it: what is indented, and what goes on lazily. */
function itemLines(lines, at, width) {
  const inner = [{ ...lines[at], text: lines[at].text.slice(width) }];
  let end = at + 1;
  for (; end < lines.length; end += 1) {
    const line = lines[end].text;
    const indent = /^ */.exec(line)[0].length;
    const afterBlank = BLANK.test(lines[end - 1].text);
    if (BLANK.test(line)) inner.push({ ...lines[end], text: "" });
    else if (indent >= width || (indent >= 2 && ITEM.test(line.slice(2)))) inner.push({ ...lines[end], text: line.slice(Math.min(width, indent)) });
    else if (!afterBlank && !beginsBlock(lines, end)) inner.push(lines[end]);
    else break;
  }
  while (BLANK.test(lines[end - 1].text) && end - 1 > at) end -= 1;
  const blankFollows = end < lines.length && BLANK.test(lines[end].text);
  let after = end;
  if (blankFollows) while (after < lines.length && BLANK.test(lines[after].text)) after += 1;
  return [inner, after < lines.length && ITEM.test(lines[after].text) ? after : end];
}

function beginsTable(lines, at) {
  return lines[at].text.includes("|") && at + 1 < lines.length && lines[at + 1].text.includes("-") && ALIGNMENTS.test(lines[at + 1].text);
}

function table(lines, at) {
  const head = cells(lines[at].text);
  const align = cells(lines[at + 1].text).map((cell) => {
    const [left, right] = [cell.startsWith(":"), cell.endsWith(":")];
    return left && right ? "center" : right ? "right" : "left";
  });
  const rows = [];
  let end = at + 2;
  for (; end < lines.length && lines[end].text.includes("|"); end += 1) rows.push(cells(lines[end].text).slice(0, head.length));
  return [{ type: "table", align, head, rows }, end];
}

function cells(line) {
  const trimmed = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return trimmed.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function paragraph(lines, at) {
  let end = at + 1;
  while (end < lines.length && !BLANK.test(lines[end].text) && !beginsBlock(lines, end)) end += 1;
  const text = lines.slice(at, end).map((line) => line.text.trimStart());
  return [{ type: "paragraph", text: text.join("\n").trimEnd() }, end];
}

/** Whether a line ends the paragraph before it: a list counts only from 1, so that a number may stand in a text. */
function beginsBlock(lines, at) {
  const line = lines[at].text;
  const item = ITEM.exec(line);
  const interrupts = item !== null && (item[3] === undefined || item[3] === "1") && !BLANK.test(line.slice(item[0].length));
  return interrupts || FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line);
}
