"""JSON Schema to nodes: which values a schema allows, in one dialect.

In: a schema, and the schema that its ``$ref``s point into. Out: a node for the values, and, in ``Rules.relaxed``, every
keyword that a grammar can't keep. Such a keyword is left out: the grammar allows more, never less.

An object that lists its ``properties`` and says nothing of others has no others, as in every engine's grammars; with
``open_objects`` it is read to the letter, and others are allowed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from streamparse.grammar import numbers
from streamparse.grammar.dialects import ANY_LENGTH, WHITE_SPACE_RULE, Json, Length
from streamparse.grammar.members import Member, in_any_order, in_order
from streamparse.grammar.nodes import EMPTY, Node, Repeat, Rule, Rules, Text, choice, optional, sequence, walk
from streamparse.grammar.patterns import FORMATS, MOST_REPEATS, Inexpressible, texts_matching

Schema = Any

TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")
UNKEPT = {
    "not": "a grammar has no complement",
    "if": "a grammar has no conditions",
    "dependentRequired": "a grammar has no conditions",
    "dependentSchemas": "a grammar has no conditions",
    "dependencies": "a grammar has no conditions",
    "patternProperties": "keys are not matched against patterns",
    "propertyNames": "keys are not matched against patterns",
    "minProperties": "members are not counted",
    "maxProperties": "members are not counted",
    "uniqueItems": "a grammar can't compare two items",
    "contains": "items are not counted by kind",
    "multipleOf": "a grammar can't divide",
    "unevaluatedProperties": "a grammar has no conditions",
    "unevaluatedItems": "a grammar has no conditions",
}
_TRIVIAL: dict[str, tuple[Any, ...]] = {
    "uniqueItems": (False,),
    "minProperties": (0,),
    "multipleOf": (1,),
    "patternProperties": ({},),
    "unevaluatedProperties": (True, False),
}
_IMPLIED_TYPE = {
    "properties": "object", "required": "object", "additionalProperties": "object",
    "items": "array", "prefixItems": "array", "minItems": "array", "maxItems": "array",
    "pattern": "string", "minLength": "string", "maxLength": "string", "format": "string",
    "minimum": "number", "maximum": "number", "exclusiveMinimum": "number", "exclusiveMaximum": "number",
}  # fmt: skip
MOST_BRANCHES = 200
"""Branches that unions within unions may come to before they are no longer told apart."""


@dataclass(slots=True)
class SchemaWriter:
    """Writes the values of one root schema in one dialect."""

    rules: Rules
    dialect: Json
    root: Schema
    any_order: bool = False
    open_objects: bool = False
    name: str = "value"
    _refs: dict[str, str] = field(default_factory=dict)
    _entering: list[str] = field(default_factory=list)

    def value(self, schema: Schema, where: str) -> Node | None:
        """The values of a schema; None where there are none."""
        nodes = [self._leaf(leaf, where) for leaf in self.leaves(schema, where)]
        found = [node for node in nodes if node is not None]
        return choice(found) if found else None

    def leaves(self, schema: Schema, where: str) -> Iterator[dict[str, Any]]:
        """The schemas, each of at most one type, that together allow what this one allows.

        ``$ref`` (but for one that stands alone), ``allOf``, ``anyOf``, ``oneOf``, lists of types and ``nullable`` are
        taken apart.
        """
        yield from _limited(self._apart(schema, where, ()))

    def _apart(self, schema: Schema, where: str, seen: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        if schema is True or schema is None:
            schema = {}
        if not isinstance(schema, dict):
            return
        if isinstance(reference := schema.get("$ref", schema.get("$dynamicRef")), str):
            siblings = {key: value for key, value in schema.items() if key not in ("$ref", "$dynamicRef", *_SILENT)}
            if not siblings and reference.startswith("#"):
                if reference not in seen:
                    yield {"$ref": reference}
                return
            if reference in seen:
                return
            seen = (*seen, reference)
            schema = merged(self.target(reference, where), siblings)
            if not isinstance(schema, dict):
                return
        if schema.get("nullable") is True and "type" in schema:
            plain = {key: value for key, value in schema.items() if key != "nullable"}
            yield from self._apart(plain, where, seen)
            yield {"type": "null"}
            return
        if isinstance(parts := schema.get("allOf"), list):
            together: Schema = {key: value for key, value in schema.items() if key != "allOf"}
            for part in parts:
                together = merged(together, self._resolved(part, where))
            yield from self._apart(together, where, seen)
            return
        for keyword in ("anyOf", "oneOf"):
            if isinstance(branches := schema.get(keyword), list):
                if keyword == "oneOf" and not disjoint([self._resolved(branch, where) for branch in branches]):
                    self.rules.relax(where, "oneOf", "a value that fits several branches is allowed")
                rest = {key: value for key, value in schema.items() if key != keyword}
                silent = not (rest.keys() - _SILENT)
                for branch in branches:
                    both = branch if silent else merged(rest, self._resolved(branch, where))
                    yield from self._apart(both, where, seen)
                return
        kinds = schema.get("type")
        if isinstance(kinds, list):
            for kind in kinds:
                if not (kind == "integer" and "number" in kinds):
                    yield from self._apart({**schema, "type": kind}, where, seen)
            return
        yield schema

    def whole(self, schema: Schema, where: str) -> dict[str, Any]:
        """The one schema of a call's arguments: its references and ``allOf`` put in place, the rest as it is."""
        schema = self._resolved(schema, where)
        if not isinstance(schema, dict):
            return {}
        for part in schema.get("allOf") or ():
            schema = merged(schema, self.whole(part, where))
        for keyword in ("anyOf", "oneOf"):
            if schema.get(keyword):
                self.rules.relax(where, keyword, "arguments that stand one by one have no branches")
        return {key: value for key, value in schema.items() if key != "allOf"}

    def _resolved(self, schema: Schema, where: str) -> Schema:
        """A schema with the ``$ref`` that it is put in its place."""
        for _ in range(20):
            if not isinstance(schema, dict) or not isinstance(reference := schema.get("$ref"), str):
                return schema
            siblings = {key: value for key, value in schema.items() if key != "$ref"}
            schema = merged(self.target(reference, where), siblings)
        return {}

    def target(self, reference: str, where: str) -> Schema:
        """What a ``$ref`` points at."""
        target = pointed_at(self.root, reference)
        if target is _NOWHERE:
            self.rules.relax(where, "$ref", f"{reference} is not in the schema")
            return {}
        return target

    def _leaf(self, schema: dict[str, Any], where: str) -> Node | None:
        if "$ref" in schema:
            return self._reference(schema["$ref"], where)
        for keyword, reason in UNKEPT.items():
            if keyword in schema and schema[keyword] not in _TRIVIAL.get(keyword, ()):
                self.rules.relax(where, keyword, reason)
        kind = self.kind_of(schema)
        if "const" in schema or isinstance(schema.get("enum"), list):
            members = [schema["const"]] if "const" in schema else schema["enum"]
            nodes = [self.fixed(member) for member in members if is_of_type(member, kind)]
            found = [node for node in nodes if node is not None]
            return choice(found) if found else None
        if kind is None:
            return self.anything()
        if kind == "string":
            return self.string(schema, where)
        if kind in ("integer", "number"):
            return self._number(schema)
        if kind == "boolean":
            return choice([Text(self.dialect.words[True]), Text(self.dialect.words[False])])
        if kind == "null":
            return Text(self.dialect.words[None])
        if kind in ("array", "object"):
            return self._array(schema, where) if kind == "array" else self._object(schema, where)
        self.rules.relax(where, "type", f"{kind!r} is no type of JSON Schema")
        return self.anything()

    def kind_of(self, schema: dict[str, Any]) -> Any:
        """The type of a schema, which may show in its keywords alone; None where it has none."""
        return schema.get("type") or next((kind for key, kind in _IMPLIED_TYPE.items() if key in schema), None)

    def _reference(self, reference: str, where: str) -> Node | None:
        if reference in self._refs:
            if reference in self._entering:
                return None  # nothing but itself, again
            return Rule(self._refs[reference])
        target = self.target(reference, where)
        label = reference.rsplit("/", 1)[-1].lstrip("#") or self.name
        rule = self.rules.define(f"{self.name}-{label}", EMPTY)
        self._refs[reference] = rule.name
        self._entering.append(reference)
        node = self.value(target, f"{where}/$ref")
        if self._entering and self._entering[-1] == reference:
            self._entering.pop()
        if node is None:
            return None
        self.rules.nodes[rule.name] = node
        return rule

    def fixed(self, value: Any) -> Node | None:
        """Exactly this value; None where the dialect can't write it."""
        if isinstance(value, str):
            return self.dialect.fixed(value)
        if value is None or isinstance(value, bool):
            return Text(self.dialect.words[value])
        if isinstance(value, int | float):
            return Text(json.dumps(value))
        if isinstance(value, list):
            items = [self.fixed(item) for item in value]
            return None if None in items else sequence("[", *_between(items, sequence(",", WHITE_SPACE_RULE)), "]")
        pairs = [(self.dialect.key(str(key)), self.fixed(member)) for key, member in value.items()]
        if any(key is None or member is None for key, member in pairs):
            return None
        members = [sequence(key, member) for key, member in pairs if key is not None and member is not None]
        return sequence("{", *_between([*members], sequence(",", WHITE_SPACE_RULE)), "}")

    def anything(self) -> Node:
        """Any value at all."""
        name = f"{self.dialect.name}-any"
        if name not in self.rules.nodes:
            rule = self.rules.once(name, EMPTY)
            words = [Text(word) for word in self.dialect.words.values()]
            scalars = [self._any_string(), self._any_number(), *words]
            self.rules.nodes[name] = choice([*scalars, self._list(rule, 0, None), self.any_object()])
        return Rule(name)

    def any_object(self) -> Node:
        """Any object."""
        name = f"{self.dialect.name}-any-object"
        if name not in self.rules.nodes:
            self.rules.once(name, EMPTY)
            member = sequence(self.dialect.other_key(()), self.anything())
            separator = sequence(WHITE_SPACE_RULE, ",", WHITE_SPACE_RULE)
            members = optional(sequence(member, Repeat(sequence(separator, member), 0, None)))
            self.rules.nodes[name] = sequence("{", WHITE_SPACE_RULE, members, WHITE_SPACE_RULE, "}")
        return Rule(name)

    def _any_string(self) -> Node:
        return self.rules.once(f"{self.dialect.name}-string", self.dialect.any_text())

    def _any_number(self) -> Node:
        return self.rules.once(f"{self.dialect.name}-number", self.dialect.number(numbers.NUMBER))

    def string(self, schema: dict[str, Any], where: str) -> Node | None:
        """A string of a schema."""
        pattern, length = self.text_of(schema, where)
        if pattern is None and length == ANY_LENGTH:
            return self._any_string()
        return self.dialect.described(pattern, length, where)

    def text_of(self, schema: dict[str, Any], where: str) -> tuple[Node | None, Length]:
        """What a schema of strings says of their text: what it matches, and its length."""
        patterns: list[Node] = []
        for keyword in ("pattern", "format"):
            written = schema.get(keyword)
            if not isinstance(written, str):
                continue
            if keyword == "format" and written not in FORMATS:
                self.rules.relax(where, f"format: {written}", "no grammar is known for this format")
                continue
            try:
                patterns.append(texts_matching(written if keyword == "pattern" else FORMATS[written]))
            except Inexpressible as error:
                self.rules.relax(where, keyword, str(error))
        if len(patterns) > 1:
            self.rules.relax(where, f"format: {schema['format']}", "it is beside a pattern, which is kept")
        minimum, maximum = _count(schema.get("minLength")) or 0, _count(schema.get("maxLength"))
        if minimum > MOST_REPEATS or (maximum or 0) > MOST_REPEATS:
            self.rules.relax(where, "minLength, maxLength", f"more than {MOST_REPEATS} characters")
            minimum, maximum = min(minimum, MOST_REPEATS), None
        return patterns[0] if patterns else None, Length(minimum, maximum)

    def _number(self, schema: dict[str, Any]) -> Node | None:
        whole = schema.get("type") == "integer"
        low, low_open = _bound(schema, "minimum", "exclusiveMinimum", greater=True)
        high, high_open = _bound(schema, "maximum", "exclusiveMaximum", greater=False)
        if low is None and high is None:
            if not whole:
                return self._any_number()
            return self.rules.once(f"{self.dialect.name}-integer", self.dialect.number(numbers.INTEGER))
        if whole:
            least = None if low is None else int(low.to_integral_value("ROUND_CEILING"))
            most = None if high is None else int(high.to_integral_value("ROUND_FLOOR"))
            least = least + 1 if least is not None and low_open and least == low else least
            most = most - 1 if most is not None and high_open and most == high else most
            return numbers.integers(least, most)
        return numbers.decimals(low, high, low_open=low_open, high_open=high_open)

    def _array(self, schema: dict[str, Any], where: str) -> Node | None:
        self._entering.clear()
        items = schema.get("items", True)
        first = schema.get("prefixItems") or (items if isinstance(items, list) else [])
        if isinstance(items, list):
            items = schema.get("additionalItems", True)
        minimum, maximum = _count(schema.get("minItems")) or 0, _count(schema.get("maxItems"))
        if minimum > MOST_REPEATS or (maximum or 0) > MOST_REPEATS:
            self.rules.relax(where, "minItems, maxItems", f"more than {MOST_REPEATS} items")
            minimum, maximum = min(minimum, MOST_REPEATS), None
        item = self._member_value(items, f"{where}/items")
        if not first:
            if item is None:
                return None if minimum else sequence("[", WHITE_SPACE_RULE, "]")
            return self._list(item, minimum, maximum)
        nodes = [self._member_value(each, f"{where}/prefixItems/{at}") for at, each in enumerate(first)]
        return self._tuple(nodes, item, minimum, maximum)

    def _tuple(self, first: list[Node | None], item: Node | None, minimum: int, maximum: int | None) -> Node | None:
        separator = sequence(WHITE_SPACE_RULE, ",", WHITE_SPACE_RULE)
        behind: Node = EMPTY
        if item is not None and (maximum is None or maximum > len(first)):
            most = None if maximum is None else maximum - len(first)
            behind = Repeat(sequence(separator, item), max(0, minimum - len(first)), most)
        for at in reversed(range(len(first))):
            node = first[at]
            if node is None or (maximum is not None and at >= maximum):
                behind = EMPTY
                if at < minimum:
                    return None
                continue
            behind = sequence(EMPTY if at == 0 else separator, node, behind)
            if at >= minimum:
                behind = optional(behind)
        return sequence("[", WHITE_SPACE_RULE, behind, WHITE_SPACE_RULE, "]")

    def _list(self, item: Node, minimum: int, maximum: int | None) -> Node:
        if maximum == 0:
            return sequence("[", WHITE_SPACE_RULE, "]")
        separator = sequence(WHITE_SPACE_RULE, ",", WHITE_SPACE_RULE)
        more = Repeat(sequence(separator, item), max(0, minimum - 1), None if maximum is None else maximum - 1)
        items = item if maximum == 1 else sequence(item, more)
        return sequence("[", WHITE_SPACE_RULE, items if minimum else optional(items), WHITE_SPACE_RULE, "]")

    def _object(self, schema: dict[str, Any], where: str) -> Node | None:
        self._entering.clear()
        found = self.members(schema, where)
        if found is None:
            return None
        members, other = found
        if not members and other is not None and other == self.anything():
            return self.any_object()
        keyed: list[Member] = []
        for key, node, required in members:
            written = self.dialect.key(key)
            if written is None:
                if required:
                    return None
                self.rules.relax(f"{where}/properties/{key}", "properties", "the format can't write this key")
                continue
            keyed.append(Member(sequence(written, node), required))
        names = [key for key, _, _ in members]
        extra = None if other is None else sequence(self.dialect.other_key(names), other)
        separator = sequence(WHITE_SPACE_RULE, ",", WHITE_SPACE_RULE)
        return sequence("{", WHITE_SPACE_RULE, self.arranged(keyed, separator, extra, where), WHITE_SPACE_RULE, "}")

    def arranged(
        self, members: list[Member], separator: Node, extra: Node | None, where: str, *, once: bool = False
    ) -> Node:
        """Members in the order that was asked for."""
        if self.any_order and len(members) > 1:
            found = in_any_order(self.rules, self.name, members, separator, extra, once=once)
            if found is not None:
                return found
            self.rules.relax(where, "order", "so many required members stand in the schema's order")
        return in_order(self.rules, self.name, members, separator, extra)

    def members(self, schema: dict[str, Any], where: str) -> tuple[list[tuple[str, Node, bool]], Node | None] | None:
        """An object's members (key, value, whether required), and the value of others; None where it has no value."""
        properties = properties_of(schema)
        required = {str(key) for key in schema.get("required") or ()}
        found: list[tuple[str, Node, bool]] = []
        for key, member in properties.items():
            node = self._member_value(member, f"{where}/properties/{key}")
            if node is None:
                if key in required:
                    return None
                continue
            found.append((key, node, key in required))
        extra = self.extra(schema)
        other = None if extra is False else self._member_value(extra, f"{where}/additionalProperties")
        for key in sorted(required - properties.keys()):
            node = self.anything() if other is None else other
            found.append((key, node, True))
        return found, other

    def extra(self, schema: dict[str, Any]) -> Schema:
        """The schema of members that nobody named; False where there are none."""
        if schema.get("patternProperties"):
            return True
        if "additionalProperties" in schema:
            return schema["additionalProperties"]
        return bool(self.open_objects or not schema.get("properties"))

    def _member_value(self, schema: Schema, where: str) -> Node | None:
        """The value of a member or an item, as a rule of its own where it is large."""
        if schema is False:
            return None
        if schema is True or schema == {}:
            return self.anything()
        outer, self._entering = self._entering, []
        node = self.value(schema, where)
        self._entering = outer
        if node is None or not _is_large(node):
            return node
        return self.rules.define(f"{self.name}-{where.rsplit('/', 1)[-1]}", node)


_SILENT = frozenset({
    "title", "description", "default", "examples", "example", "$comment", "deprecated", "readOnly", "writeOnly",
    "$defs", "definitions", "$schema", "$id", "discriminator", "strict",
})  # fmt: skip
"""Keywords that allow and forbid nothing."""

_NOWHERE = object()


def properties_of(schema: dict[str, Any]) -> dict[str, Any]:
    """An object's properties."""
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def pointed_at(root: Schema, reference: str) -> Any:
    """What a ``$ref`` within the schema points at.

    >>> pointed_at({"$defs": {"a": {"type": "null"}}}, "#/$defs/a")
    {'type': 'null'}
    """
    at: Any = root
    if not reference.startswith("#"):
        return _NOWHERE
    for part in reference[1:].lstrip("/").split("/") if reference != "#" else ():
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(at, dict) and key in at:
            at = at[key]
        elif isinstance(at, list) and key.isdigit() and int(key) < len(at):
            at = at[int(key)]
        else:
            return _NOWHERE
    return at


def merged(one: Schema, other: Schema) -> Schema:
    """A schema for what both allow, nearly: keywords that can't be joined keep the second's.

    >>> merged({"type": ["string", "null"]}, {"type": "string", "minLength": 2})
    {'type': 'string', 'minLength': 2}
    """
    if one is False or other is False:
        return False
    if not isinstance(one, dict) or not isinstance(other, dict):
        return other if isinstance(other, dict) else one
    result = dict(one)
    for key, value in other.items():
        result[key] = _joined(key, result[key], value) if key in result else value
    return False if result.get("type") == [] else result


def _joined(key: str, one: Any, other: Any) -> Any:
    if one == other:
        return one
    if key == "properties" and isinstance(one, dict) and isinstance(other, dict):
        return {**one, **{name: merged(one[name], each) if name in one else each for name, each in other.items()}}
    if key == "required":
        return [*one, *(name for name in other if name not in one)]
    if key == "type":
        kinds, others = ([each] if isinstance(each, str) else list(each) for each in (one, other))
        shared = [kind for kind in kinds if kind in others or (kind == "integer" and "number" in others)]
        shared += ["integer"] if "number" in kinds and "integer" in others else []
        return shared[0] if len(shared) == 1 else shared
    if key == "enum":
        return [member for member in one if member in other]
    if key in ("minimum", "exclusiveMinimum", "minLength", "minItems"):
        return max(one, other)
    if key in ("maximum", "exclusiveMaximum", "maxLength", "maxItems"):
        return min(one, other)
    if key in ("$defs", "definitions"):
        return {**one, **other}
    if key == "additionalProperties":
        return merged(one, other)
    return other


def disjoint(branches: list[Schema]) -> bool:
    """Whether no value can fit two of the branches: their types differ, or a required member's fixed values do."""
    return all(_differ(one, other) for at, one in enumerate(branches) for other in branches[at + 1 :])


def _differ(one: Schema, other: Schema) -> bool:
    if not isinstance(one, dict) or not isinstance(other, dict):
        return False
    values, others = _fixed_values(one), _fixed_values(other)
    if values is not None and others is not None:
        return not any(value in others for value in values)
    kinds, other_kinds = _kinds(one), _kinds(other)
    if kinds and other_kinds and not kinds & other_kinds:
        return True
    shared = set(one.get("required") or ()) & set(other.get("required") or ())
    pairs = [(properties_of(one).get(key), properties_of(other).get(key)) for key in shared]
    for first, second in pairs:
        first_values = _fixed_values(first) if isinstance(first, dict) else None
        second_values = _fixed_values(second) if isinstance(second, dict) else None
        if first_values and second_values and not any(value in second_values for value in first_values):
            return True
    return False


def _fixed_values(schema: dict[str, Any]) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    return schema["enum"] if isinstance(schema.get("enum"), list) else None


def _kinds(schema: dict[str, Any]) -> set[str]:
    kinds = schema.get("type", ())
    found = {kinds} if isinstance(kinds, str) else set(kinds)
    return found | {"integer"} if "number" in found else found


def is_of_type(value: Any, kind: Any) -> bool:
    """Whether a value is of a type as JSON Schema has them; of any where none is given."""
    if kind is None:
        return True
    if isinstance(value, bool):
        return bool(kind == "boolean")
    return {
        "string": isinstance(value, str),
        "integer": isinstance(value, int) or (isinstance(value, float) and value.is_integer()),
        "number": isinstance(value, int | float),
        "null": value is None,
        "array": isinstance(value, list),
        "object": isinstance(value, dict),
    }.get(kind, True)


def _bound(schema: dict[str, Any], closed: str, opened: str, *, greater: bool) -> tuple[Decimal | None, bool]:
    """The stricter of a closed and an open bound, and whether it is the open one; also draft 4's boolean form."""
    bound, exclusive = schema.get(closed), schema.get(opened)
    if exclusive is True:
        return (None if bound is None else Decimal(str(bound))), True
    found = [(Decimal(str(value)), opens) for value, opens in ((bound, False), (exclusive, True)) if _is_number(value)]
    if not found:
        return None, False
    return max(found) if greater else min(found, key=lambda each: (each[0], not each[1]))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(value: Any) -> int | None:
    return int(value) if _is_number(value) else None


def _between(items: list[Any], separator: Node) -> list[Node]:
    return [each for item in items for each in (separator, item)][1:]


def _is_large(node: Node) -> bool:
    return sum(1 for _ in walk(node)) > 6


def _limited(leaves: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for count, leaf in enumerate(leaves):
        if count >= MOST_BRANCHES:
            yield {}
            return
        yield leaf
