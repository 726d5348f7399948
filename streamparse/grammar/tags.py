"""Arguments with a mark around each, such as tags or lines: their values as raw text.

In: how one argument is written (what stands before the key, between key and value, and behind the value), and the
schema of all arguments. Out: a node for the arguments. A value is text as it is where its schema takes any string;
anything else is JSON, or a text that the schema describes. What ends a value is the mark behind it and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from streamparse.grammar.characters import ANY_CHARACTER, difference, of
from streamparse.grammar.dialects import ANY_LENGTH, other_word
from streamparse.grammar.forms import ArgumentText, Parts, Slot, Space, leading_text, node_of, usual_text
from streamparse.grammar.members import Member
from streamparse.grammar.nodes import (
    Chars,
    Choice,
    FreeText,
    Node,
    Repeat,
    Sequence,
    Text,
    choice,
    optional,
    sequence,
)
from streamparse.grammar.schemas import SchemaWriter, is_of_type

JSON_TYPES = ("string", "number", "boolean", "null", "object", "array")
"""What formats that name a value's type call it."""


def json_type(name: Any) -> str:
    """The JSON type of a schema's type; ``any`` where it has none, or several.

    >>> json_type("integer"), json_type("array"), json_type(None)
    ('number', 'array', 'any')
    """
    if name == "integer":
        return "number"
    return name if name in JSON_TYPES and name != "string" else "any"


def type_of(value: Any) -> str:
    """The JSON type of a value.

    >>> type_of(True), type_of(2), type_of([])
    ('boolean', 'number', 'array')
    """
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, int | float):
        return "number"
    return "string" if isinstance(value, str) else "object" if isinstance(value, dict) else "array"


@dataclass(frozen=True, slots=True)
class ArgumentForm:
    """How one argument is written: ``before`` the value, ``behind`` it, and what stands between two arguments.

    ``strips_lines``: a line break on either side of the value is none of it; ``trimmed``: no white space at its edges
    is. ``never`` are texts that no value may have in it.
    """

    before: Parts
    behind: Parts
    separator: Node
    strips_lines: bool = False
    trimmed: bool = False
    never: tuple[str, ...] = ()

    @classmethod
    def of(cls, argument: ArgumentText, never: tuple[str, ...] = ()) -> ArgumentForm:
        """Make it of what a form says."""
        before, behind = argument.before, argument.behind
        strips = bool(before) and isinstance(before[-1], Space)
        return cls(
            before[:-1] if strips else before,
            tuple(part for part in behind if not isinstance(part, Space)) if strips else behind,
            node_of(argument.separator, {}),
            strips_lines=strips,
            trimmed=argument.trimmed,
            never=never,
        )

    @property
    def says_kind(self) -> bool:
        """Whether the format says of a value that it is a text."""
        return any(isinstance(part, Slot) and part.kind in ("kind", "type") for part in self.before)

    @property
    def repeats_key(self) -> bool:
        """Whether the key stands behind the value too."""
        return any(isinstance(part, Slot) for part in self.behind)

    def opening(self, key: Node, kind: str) -> Node:
        """All that stands before a value of a JSON type; ``any`` is every type but a text."""
        is_text = Text("true" if kind == "string" else "false")
        types = [kind] if kind != "any" else [name for name in JSON_TYPES if name != "string"]
        return node_of(self.before, {"key": key, "kind": is_text, "type": choice(map(Text, types))})

    def closing(self, key: str) -> str:
        """All that stands behind a value."""
        return usual_text(self.behind, key=key)


def arguments_node(writer: SchemaWriter, form: ArgumentForm, schema: Any, where: str) -> Node | None:
    """All arguments of a call; None where no call can keep the schema."""
    schema = writer.whole(schema, where)
    properties = schema.get("properties") if isinstance(schema.get("properties"), dict) else {}
    required = {str(key) for key in schema.get("required") or ()}
    members: list[Member] = []
    for key in [*properties, *sorted(required - properties.keys())]:
        node = argument_node(writer, form, key, properties.get(key, True), f"{where}/properties/{key}")
        if node is None:
            if key in required:
                return None
            continue
        members.append(Member(node, key in required))
    extra = writer.extra(schema)
    other = None if extra is False else other_argument(writer, form, [*properties], extra, where)
    return writer.arranged(members, form.separator, other, where)


def argument_node(writer: SchemaWriter, form: ArgumentForm, key: str, schema: Any, where: str) -> Node | None:
    """One argument, marks and all; None where it has no value, or the format can't write its key."""
    if not key or any(mark in key for mark in _key_ends(form)) or key != key.strip():
        writer.rules.relax(where, "properties", "the format can't write this key")
        return None
    branches = [
        sequence(form.opening(Text(key), kind), node) for kind, node in values(writer, form, key, schema, where)
    ]
    if not branches:
        return None
    return writer.rules.define(f"{writer.name}-{key}", choice(branches))


def other_argument(writer: SchemaWriter, form: ArgumentForm, names: list[str], schema: Any, where: str) -> Node | None:
    """An argument that nobody named."""
    if form.repeats_key:
        writer.rules.relax(where, "additionalProperties", "the format names the key twice: others are left out")
        return None
    branches: list[Node] = []
    for kind, node in values(writer, form, "", schema, where):
        branches.append(sequence(form.opening(other_word(names), kind), node))
    return writer.rules.define(f"{writer.name}-other", choice(branches)) if branches else None


def values(writer: SchemaWriter, form: ArgumentForm, key: str, schema: Any, where: str) -> Iterator[tuple[str, Node]]:
    """The values of an argument with what closes it, and for each its JSON type: ``string`` is raw text."""
    leaves = list(_leaves(writer, schema, where))
    closing = form.closing(key)
    takes_any_text = any(_takes_any_text(writer, leaf, where) for leaf in leaves)
    if takes_any_text:
        yield "string", FreeText(closing, tuple(mark for mark in form.never if mark not in closing))
    for leaf in leaves:
        if leaf.get("type") == "string" and not _fixed(leaf):
            if not takes_any_text:
                yield "string", described_text(writer, form, closing, leaf, where)
        elif _fixed(leaf):
            yield from _fixed_values(form, closing, leaf, takes_any_text)
        elif not takes_any_text or form.says_kind:
            node = writer.value(leaf, where)
            if node is not None:
                yield json_type(leaf.get("type")), sequence(_edge(form), node, _edge(form), closing)


def _leaves(writer: SchemaWriter, schema: Any, where: str, depth: int = 0) -> Iterator[dict[str, Any]]:
    for leaf in writer.leaves(schema, where):
        if "$ref" in leaf and depth < 10:
            yield from _leaves(writer, writer.target(leaf["$ref"], where), where, depth + 1)
        else:
            yield leaf


def _fixed(leaf: dict[str, Any]) -> bool:
    return "const" in leaf or isinstance(leaf.get("enum"), list)


def _takes_any_text(writer: SchemaWriter, leaf: dict[str, Any], where: str) -> bool:
    if _fixed(leaf):
        return False
    if leaf.get("type") == "string":
        return writer.text_of(leaf, where) == (None, ANY_LENGTH)
    return "type" not in leaf and writer.kind_of(leaf) is None


def _fixed_values(form: ArgumentForm, closing: str, leaf: dict[str, Any], any_text: bool) -> Iterator[tuple[str, Node]]:
    members = [leaf["const"]] if "const" in leaf else leaf["enum"]
    for member in members:
        if not is_of_type(member, leaf.get("type")):
            continue
        if isinstance(member, str):
            if not any_text and closing not in member + closing[:-1] and member == member.strip():
                yield "string", sequence(_edge(form), member, _edge(form), closing)
        elif not any_text or form.says_kind:
            written = json.dumps(member, ensure_ascii=False)
            yield type_of(member), sequence(_edge(form), written, _edge(form), closing)


def _edge(form: ArgumentForm) -> Node:
    return optional(Text("\n")) if form.strips_lines else sequence()


def described_text(writer: SchemaWriter, form: ArgumentForm, closing: str, leaf: dict[str, Any], where: str) -> Node:
    """A text of which a schema says something, with its close.

    Where a line break at an edge is none of the value, a value with line breaks stands between two of them.
    """
    pattern, length = writer.text_of(leaf, where)
    keywords = [
        *(["pattern"] if "pattern" in leaf else []),
        *(["format"] if "format" in leaf and "pattern" not in leaf else []),
        *(["minLength, maxLength"] if length != ANY_LENGTH else []),
    ]

    def text(stop: str, matching: Node | None) -> Node:
        never = tuple(mark for mark in (closing, *form.never) if mark != stop and mark not in stop)
        return FreeText(stop, never, matching, length.minimum, length.maximum, where, tuple(keywords))

    if not form.strips_lines and not form.trimmed:
        return text(closing, pattern)
    inner = Repeat(ANY_CHARACTER, 0, None) if pattern is None else pattern
    one_line = text(closing, _without(inner, "\n" if form.strips_lines else " \t\n\r\x0b\x0c"))
    if form.trimmed:
        return one_line
    return choice([one_line, sequence("\n", text(f"\n{closing}", pattern))])


def _without(node: Node, excluded: str) -> Node:
    """The same texts but for those with one of the characters in them."""
    match node:
        case Chars(ranges):
            return Chars(difference(ranges, of(excluded)) or ranges)
        case Repeat(body, minimum, maximum):
            return Repeat(_without(body, excluded), minimum, maximum)
        case Sequence(items):
            return sequence(*(_without(item, excluded) for item in items))
        case Choice(branches):
            return choice(_without(branch, excluded) for branch in branches)
    return node


def _key_ends(form: ArgumentForm) -> tuple[str, ...]:
    """What a key can't have in it: quotes, brackets, line breaks, and what stands behind it."""
    at = next((at for at, part in enumerate(form.before) if isinstance(part, Slot) and part.kind == "key"), None)
    following = "" if at is None else leading_text(form.before[at + 1 :])
    return tuple({"\n", "<", ">", '"', *following[:1]})
