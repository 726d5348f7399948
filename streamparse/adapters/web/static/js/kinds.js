/**
 * What kind of field a region is of: the one thing that its colour and its look depend on.
 *
 * In:  a field's name (null for text that no field claims), and whether its chunks are dirty.
 * Out: "reasoning", "content", "calls", "other", or null.
 */

const KINDS = [
  [/^(reasoning|thinking|thought|analysis)/, "reasoning"],
  [/^content$/, "content"],
  [/tool|call|function/, "calls"],
  [/./, "other"],
];

export function kindOf(field) {
  return field === null ? null : KINDS.find(([pattern]) => pattern.test(field))?.[1] ?? "other";
}
