/** A call's arguments while they are written: the same however they are cut. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Arguments } from "../../../../adapters/web/static/js/arguments.js";

function read(pieces) {
  const reader = new Arguments();
  for (const piece of pieces) reader.feed(piece);
  return reader.entries;
}

const TEXT = '{"city":"S\\u00e3o \\"Paulo\\"\\n","n":12345678901234567890,"ok":true,"list":[1,{"a":"b,}"}],"none":null,"é\\n":"","f":-1.5e3}';

test("every kind of value, with its digits", () => {
  assert.deepEqual(read([TEXT]), [
    { name: "city", kind: "string", text: 'São "Paulo"\n', done: true },
    { name: "n", kind: "number", text: "12345678901234567890", done: true },
    { name: "ok", kind: "literal", text: "true", done: true },
    { name: "list", kind: "nested", text: '[1, {"a": "b,}"}]', done: true },
    { name: "none", kind: "literal", text: "null", done: true },
    { name: "é\n", kind: "string", text: "", done: true },
    { name: "f", kind: "number", text: "-1.5e3", done: true },
  ]);
});

test("cutting makes no difference", () => {
  for (const size of [1, 2, 3, 5, 8]) assert.deepEqual(read(TEXT.match(new RegExp(`.{1,${size}}`, "gsu"))), read([TEXT]));
});

test("what is there so far is there", () => {
  assert.deepEqual(read(['{"a":"x\\']), [{ name: "a", kind: "string", text: "x", done: false }]);
  assert.deepEqual(read(['{"a":[1,']), [{ name: "a", kind: "nested", text: "[1, ", done: false }]);
  assert.deepEqual(read(["{"]), []);
});

test("arguments that are no object are one entry without a name", () => {
  assert.deepEqual(read(['"all"']), [{ name: null, kind: "string", text: "all", done: true }]);
  assert.equal(read(["[1,2]"])[0].text, "[1, 2]");
});

test("what is no JSON does no harm", () => {
  for (const text of ["}{", "{]", '{"a" "b"}', '{"a":]}', '{"a":"\\u12"}', "\\", '{"\\', '{"a":tru e,"b":', "{".repeat(1000)]) read([...text]);
});
