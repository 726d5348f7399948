"""Casts the arguments of a tool call by everything that the tool's schema says (the lenient reading).

In comes the ``function`` part of a call; out go its arguments, new and cast. The rules:

- A value whose type the format says (a JSON string, Gemma's quotes, ``string="true"``) keeps it wherever the schema
  allows that type.
- A text whose type the format doesn't say (between tags, in a line) and that may be any string stays text, unless it
  is exactly a value of another type that the schema allows: ``42`` where an integer is allowed too, ``[1, 2]`` where a
  list is, ``null`` where null is. Exactly means that the value written as JSON is the text: ``007`` and ``4.10`` stay.
- Otherwise a text becomes the first of ``enum`` and ``const`` members that it stands for, then the first type that it
  can be read as, in the schema's order. Numbers keep every digit: whole ones are integers of any size, others floats.
- Objects and arrays are cast member by member, also within what was read from text.
- Where a value was guessed from a text that is still known (``SourcedDict``), the schema reads that text instead.
- Texts that no branch fits stay as they are.
- Damaged JSON is mended where the mode mends, if only an object or a list can be meant.
- Arguments that are JSON text of an object become that object; absent or empty ones become an empty object where the
  tool requires none.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from streamparse.errors import ContentError, ParseError
from streamparse.stages.content import SourcedDict
from streamparse.stages.schema_branches import Branch, SchemaReader, as_schema, json_type

MAX_VALUE_DEPTH = 50
"""How deep values are cast; what lies deeper stays as it was read."""

MAX_DIGITS = 4300
"""The longest integer that a number in exponent form is written out to, as for Python's own conversions."""

Branches = tuple[Branch, ...]
Rescue = Callable[[str], Any]


class ArgumentCaster:
    """Casts the arguments of one tool's calls; a tool that nobody declared has no schema (None).

    ``schema`` is that of the arguments, and ``reader`` reads its branches. ``rescue`` reads JSON that is damaged; it
    raises ContentError where that can't be done.
    """

    def __init__(self, tool: str, schema: Any, rescue: Rescue | None = None) -> None:
        """Take the tool's name and the schema of its arguments."""
        self._tool = tool
        self._rescue = rescue
        self.schema = schema
        self.reader = SchemaReader(as_schema(schema))

    def cast(self, function: dict[str, Any]) -> Any:
        """Cast a call's arguments; raises ContentError where there are none and the tool requires some."""
        arguments = function.get("arguments")
        if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
            return self._absent()
        if isinstance(arguments, str):
            arguments = object_in(arguments, self._rescue)
        if not isinstance(arguments, dict):
            return arguments
        branches = self.reader.branches([self.schema])
        return self._object(arguments, chosen(branches, arguments), MAX_VALUE_DEPTH)

    def missing(self, arguments: dict[str, Any]) -> tuple[str, ...]:
        """The arguments that the schema requires and that are not there, by the branch that lacks the fewest."""
        branches = self.reader.branches([self.schema])
        lacking = [branch.required - arguments.keys() for branch in branches]
        return tuple(sorted(min(lacking, key=len, default=())))

    def _absent(self) -> dict[str, Any]:
        branches = self.reader.branches([self.schema])
        required = set().union(*(branch.required for branch in branches))
        if required and branches and not any(branch.fits({}) for branch in branches):
            raise ContentError(f"the call has no arguments, and {self._tool} requires {', '.join(sorted(required))}")
        return {}

    def value(self, value: Any, schemas: list[Any], depth: int, source: Any = None, *, typed: bool = False) -> Any:
        """Cast a value that ``schemas`` describe, down to ``depth``.

        ``source`` is the text that was read for it, where it had no type of its own; with ``typed`` it had one, which
        counts if the schema allows it.
        """
        if not schemas or depth <= 0:
            return value
        branches = self.reader.branches(schemas)
        if isinstance(source, str) and not (typed and any(branch.allows(json_type(value)) for branch in branches)):
            read, found = self._untyped_text(source, schemas, branches, depth)
            return found if read else value
        if isinstance(value, str):
            return value if takes_any_text(branches) else self._text(value, branches, depth)[1]
        if isinstance(value, dict):
            return self._object(value, chosen(branches, value), depth)
        if isinstance(value, list):
            return self._list(value, branches, schemas, depth, source)
        return value

    def _untyped_text(self, text: str, schemas: list[Any], branches: Branches, depth: int) -> tuple[bool, Any]:
        """Read a text that may be of any type; first whether the schema says anything about it."""
        if not takes_any_text(branches):
            return self._text(text, branches, depth)
        kinds = {kind for branch in branches for kind in branch.kinds}
        if kinds <= {"string"}:
            return bool(kinds), text
        try:
            value = exact_value(text)
        except (ValueError, RecursionError):
            return True, text
        if isinstance(value, str) or not self._allows(value, schemas, depth):
            return True, text
        return True, self.value(value, schemas, depth)

    def _allows(self, value: Any, schemas: list[Any], depth: int) -> bool:
        """Whether a JSON value and all that lies in it have types and members that the schemas name."""
        if not schemas or depth <= 0:
            return True
        return any(self._fits(branch, value, depth) for branch in self.reader.branches(schemas))

    def _fits(self, branch: Branch, value: Any, depth: int) -> bool:
        if branch.kinds and not branch.allows(json_type(value)):
            return False
        if branch.members is not None and not any(same_json(value, member) for member in branch.members):
            return False
        if isinstance(value, dict):
            return branch.fits(value) and all(
                self._allows(member, branch.property_schemas(key), depth - 1) for key, member in value.items()
            )
        if isinstance(value, list):
            return all(self._allows(item, branch.item_schemas(at), depth - 1) for at, item in enumerate(value))
        return True

    def _text(self, text: str, branches: Branches, depth: int) -> tuple[bool, Any]:
        """Read a text where the schema doesn't allow every string; first whether it says anything about this text."""
        kinds = {kind for branch in branches for kind in branch.kinds}
        word = text.strip()
        if "null" in kinds and word in ("null", "None"):
            return True, None
        for branch in branches:
            for candidate in (text, word):
                if candidate in branch.literals:
                    return True, branch.literals[candidate]
        for branch in branches:
            for kind in branch.readable_kinds:
                try:
                    value = READERS[kind](word)
                except (KeyError, ValueError, RecursionError):
                    continue
                if isinstance(value, dict):
                    return True, self._object(value, chosen(branches, value), depth)
                return True, self._items(value, branch, depth) if isinstance(value, list) else value
        rescued = rescued_value(word, self._rescue)
        for branch in branches:
            if isinstance(rescued, dict) and "object" in branch.kinds:
                return True, self._object(rescued, chosen(branches, rescued), depth)
            if isinstance(rescued, list) and "array" in branch.kinds:
                return True, self._items(rescued, branch, depth)
        return "string" in kinds, text

    def _object(self, value: dict[str, Any], branch: Branch | None, depth: int) -> dict[str, Any]:
        if branch is None:
            return dict(value)
        if not isinstance(value, SourcedDict):
            return {key: self.value(member, branch.property_schemas(key), depth - 1) for key, member in value.items()}
        sources, typed = value.sources, value.typed
        return {
            key: self.value(member, branch.property_schemas(key), depth - 1, sources.get(key), typed=key in typed)
            for key, member in value.items()
        }

    def _list(self, value: list[Any], branches: Branches, schemas: list[Any], depth: int, sources: Any) -> list[Any]:
        """Cast a list; where the schema wants none, it is one of a repeated key's values, each cast by itself."""
        for branch in branches:
            if "array" in branch.kinds:
                return self._items(value, branch, depth)
        if not isinstance(sources, list):
            sources = [None] * len(value)
        return [self.value(item, schemas, depth - 1, source) for item, source in zip(value, sources, strict=True)]

    def _items(self, value: list[Any], branch: Branch, depth: int) -> list[Any]:
        return [self.value(item, branch.item_schemas(index), depth - 1) for index, item in enumerate(value)]


def takes_any_text(branches: Branches) -> bool:
    """Whether the schema allows every string."""
    return any(branch.takes_any_text for branch in branches)


def exact_value(text: str) -> Any:
    r"""Read a text that is exactly one JSON value; raises ValueError for any other, and for a number in another form.

    White space is allowed around objects and lists only.

    >>> exact_value("42"), exact_value("[1, 2]\n")
    (42, [1, 2])
    >>> exact_value("4.10")
    Traceback (most recent call last):
    ValueError: not exactly a JSON value
    """
    value = json.loads(text, parse_constant=int)  # "NaN" and "Infinity" are no integers, and no JSON
    if not isinstance(value, dict | list) and json.dumps(value, ensure_ascii=False) != text:
        raise ValueError("not exactly a JSON value")
    return value


def same_json(one: Any, other: Any) -> bool:
    """Whether two values are the same in JSON, where true is not 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def chosen(branches: Branches, value: dict[str, Any]) -> Branch | None:
    """Choose the branch that describes an object: the first that it fits, or else the first that is for objects."""
    objects = [branch for branch in branches if not branch.kinds or "object" in branch.kinds]
    return next((branch for branch in objects if branch.fits(value)), objects[0] if objects else None)


def object_in(text: str, rescue: Rescue | None = None) -> Any:
    """Read a text that is JSON for an object, or JSON for such a text; any other stays as it is."""
    value: Any = text
    for _ in range(2):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = rescued_value(value.strip(), rescue)
        if isinstance(value, dict):
            return value
        if not isinstance(value, str):
            return text
    return text


def rescued_value(text: str, rescue: Rescue | None) -> Any:
    """Read damaged JSON that begins like an object or a list; None where it can't be read."""
    if rescue is None or not text.startswith(("{", "[")):
        return None
    try:
        return rescue(text)
    except ParseError:
        return None


def read_integer(text: str) -> int:
    """Read a whole number exactly, also one with a point or an exponent.

    >>> read_integer("9007199254740993.0")
    9007199254740993
    """
    try:
        return int(text)
    except ValueError:
        number = finite(text)
        if number != number.to_integral_value():
            raise
        return int(number)


def read_number(text: str) -> int | float:
    """Read a number: a whole one without a point as an integer with all its digits, any other as a float."""
    try:
        return int(text)
    except ValueError:
        number = finite(text)
        if "." not in text and number == number.to_integral_value():
            return int(number)
        result = float(text)
        if result in (float("inf"), float("-inf")):
            return read_integer(text)
        return result


def finite(text: str) -> Decimal:
    """Read a decimal number that is finite and, written out, not too long; raises ValueError for any other."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise ValueError("not a number") from None
    if not number.is_finite() or number.adjusted() > MAX_DIGITS:
        raise ValueError("not a number of a size that can be written out")
    return number


def read_boolean(text: str) -> bool:
    """Read a truth value."""
    word = text.lower()
    if word not in ("true", "1", "false", "0"):
        raise ValueError("not a truth value")
    return word in ("true", "1")


def read_null(text: str) -> None:
    """Read null."""
    if text not in ("null", "None"):
        raise ValueError("not null")


def read_object(text: str) -> dict[str, Any]:
    """Read a JSON object."""
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def read_array(text: str) -> list[Any]:
    """Read a JSON array."""
    value = json.loads(text)
    if not isinstance(value, list):
        raise ValueError("not an array")
    return value


READERS = {
    "integer": read_integer,
    "number": read_number,
    "boolean": read_boolean,
    "null": read_null,
    "object": read_object,
    "array": read_array,
}
