"""Calls that are JSON values: name and arguments in one object, alone or in a list, with or without marks around.

What teaches what: the JSON value around the probe's arguments shows the keys; one call against two shows whether
they share a list, and which marks belong to each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from streamparse.infer.conversation import FIRST, SECOND, Call
from streamparse.infer.tools.observe import Observed, surroundings
from streamparse.infer.tools.reading import (
    Reading,
    Surroundings,
    call_transform,
    closing_keys,
    closing_mark,
    flexible,
    noise,
    opening_keys,
    quoted,
)

_DECODER = json.JSONDecoder()

Path = tuple[Any, ...]


@dataclass(frozen=True)
class Island:
    """A JSON value within a text."""

    start: int
    end: int
    value: Any


def island_with(text: str, arguments: Any, start: int = 0) -> Island | None:
    """The outermost JSON object or list that holds these arguments (as an object, or as JSON text)."""
    for at in range(start, len(text)):
        if text[at] not in "{[":
            continue
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if path_to(value, arguments) is not None or path_to(value, json.dumps(arguments)) is not None:
            return Island(at, end, value)
    return None


def path_to(value: Any, wanted: Any) -> Path | None:
    """The keys and indexes that lead to a value within a JSON value."""
    if type(value) is type(wanted) and value == wanted:
        return ()
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        path = path_to(item, wanted)
        if path is not None:
            return (key, *path)
    return None


@dataclass(frozen=True)
class Shape:
    """Where the parts of a call lie: ``to_call`` leads to the call's object, which begins with ``first_key``; the
    others are
    paths within it."""

    to_call: Path
    name: Path
    arguments: Path
    identifier: Path | None
    first_key: str


def shape_of(value: Any, call: Call) -> Shape | None:
    """The shape of a call within a JSON value; None if its name is not a value there."""
    arguments = path_to(value, dict(call.arguments)) or path_to(value, json.dumps(dict(call.arguments)))
    name = path_to(value, call.name)
    if arguments is None or name is None:
        return None
    shared = 0
    while shared < min(len(arguments), len(name)) - 1 and arguments[shared] == name[shared]:
        shared += 1
    to_call = arguments[:shared]
    while to_call and not isinstance(to_call[-1], int):
        to_call = to_call[:-1]
    size = len(to_call)
    identifier = path_to(value, call.id)
    inside = identifier is not None and identifier[:size] == to_call
    own = value
    for step in to_call:
        own = own[step]
    return Shape(
        to_call, name[size:], arguments[size:], identifier[size:] if identifier and inside else None, next(iter(own))
    )


def read_json_calls(observed: Observed) -> Iterator[Reading]:
    """Readings of calls whose name and arguments are in one JSON value."""
    island = island_with(observed.one, dict(FIRST.arguments))
    if island is None:
        return
    shape = shape_of(island.value, FIRST)
    if shape is None:
        yield from _named_by_key(observed, island)
        return
    before, after = observed.one[: island.start], observed.one[island.end :]
    if shape.to_call:
        start, end = _list_within(observed.one, island, shape)
        before, after = observed.one[:start], observed.one[end:]
        yield from _listed(observed, shape, before, after)
        return
    around = surroundings(before, _between(observed), after, observed.ends)
    transform = _transform(shape, "content")
    beyond = "" if path_to(island.value, dict(FIRST.arguments)) is not None else "arguments are JSON text within JSON"
    if around.call_open.strip():
        again = flexible(around.call_open.strip()) if observed.two is not None else ""
        keys = {**opening_keys(around.call_open), **closing_keys(around, observed.ends, again)}
        yield replace(_reading("JSON objects", keys, transform, around, repeats=True), beyond=beyond)
        return
    if around.section_open.strip():
        keys = {**opening_keys(around.section_open), **closing_keys(around, observed.ends)}
        yield _reading("JSON objects in a section", keys, _transform(shape, None), around, each=True)
    yield from _unmarked(observed, island, shape, around)


def _list_within(text: str, island: Island, shape: Shape) -> tuple[int, int]:
    """Where the list of calls begins and ends: the JSON value itself, or a list under one of its keys."""
    if len(shape.to_call) == 1:
        return island.start, island.end
    wanted = island.value
    for step in shape.to_call[:-1]:
        wanted = wanted[step]
    for at in range(island.start, island.end):
        if text[at] == "[":
            value, end = _DECODER.raw_decode(text, at)
            if value == wanted:
                return at, end
    return island.start, island.end


def _listed(observed: Observed, shape: Shape, before: str, after: str) -> Iterator[Reading]:
    """Calls in one list, or in a list under a key."""
    around = surroundings(before, None, after, observed.ends)
    pattern = None if before.strip() else _looks_like(shape)
    keys = {**opening_keys(before, pattern), **closing_keys(around, observed.ends)}
    yield _reading("JSON list", keys, _transform(shape, None), around, each=True)


def _named_by_key(observed: Observed, island: Island) -> Iterator[Reading]:
    """Calls that are objects with the name as their one key: ``[{"get_weather": {"city": "Paris"}}]``."""
    path = path_to(island.value, dict(FIRST.arguments))
    if not path or path[-1] != FIRST.name or len(path) > 2:
        return
    before, after = observed.one[: island.start], observed.one[island.end :]
    listed = len(path) == 2
    around = surroundings(before, None if listed else _between(observed), after, observed.ends)
    if not around.call_open.strip():
        return
    keys = {**opening_keys(around.call_open), **closing_keys(around, observed.ends, flexible(around.call_open.strip()))}
    policy = {"calls": {"name": ["name"], "arguments": ["arguments"], "by_key": True}}
    reading = _reading("JSON with the name as key", keys, {}, around, repeats=True)
    yield replace(reading, field={**reading.field, "transform": "{content}"}, policy=policy)


def _unmarked(observed: Observed, island: Island, shape: Shape, around: Surroundings) -> Iterator[Reading]:
    """Objects that nothing marks: the beginning of the object opens the region, its last brace closes it."""
    text = observed.one
    name_at = text.find(FIRST.name, island.start)
    arguments = island_with(text, dict(FIRST.arguments), island.start + 1)
    if arguments is not None and len(shape.name) == 1 and name_at < arguments.start:
        head = _spaced(text[island.start : name_at])
        middle = _spaced(text[name_at + len(FIRST.name) : arguments.start], in_string=True)
        tail = _spaced(text[arguments.end : island.end])
        separator = quoted(around.separator.strip())
        before = rf"(?:{separator}\s*)?" if separator else ""
        last = [quoted(end) for end in (*observed.ends, closing_mark(around.section_close)) if end]
        stops = "|".join(dict.fromkeys([before + head, *last, "$"]))
        keys = {
            "open_pattern": f'{before}{head}(?P<name>[^"]+){middle}',
            "close_pattern": rf"{tail}(?=\s*(?:{stops}))",
        }
        transform = call_transform("{name}", "{content}", None)
        yield _reading("JSON objects without marks", keys, transform, around, repeats=True)
    keys = {**opening_keys("", _looks_like(shape)), **closing_keys(around, observed.ends)}
    yield _reading("JSON object without marks", keys, _transform(shape, "content"), around, repeats=True)


def _spaced(text: str, *, in_string: bool = False) -> str:
    """A pattern for a stretch of JSON syntax, with white space allowed around its signs."""
    parts: list[str] = []
    word = ""
    for char in text:
        if char == '"':
            in_string = not in_string
        if not in_string and char in "{}[]:,":
            parts.extend([word, char])
            word = ""
        elif in_string or not char.isspace():
            word += char
    parts.append(word)
    pattern = r"\s*".join(quoted(part) for part in parts if part)
    return pattern + r"\s*" * (text[-1:].isspace() and not in_string)


def _looks_like(shape: Shape) -> str:
    """A pattern that sees, without taking it, that a call's JSON begins here."""
    first = shape.first_key
    list_open = r"\[\s*" if shape.to_call else ""
    return f'(?={list_open}\\{{\\s*"{quoted(str(first))}"\\s*:)'


def _between(observed: Observed) -> str | None:
    """What stands between the JSON values of two calls."""
    if observed.two is None:
        return None
    first = island_with(observed.two, dict(FIRST.arguments))
    second = island_with(observed.two, dict(SECOND.arguments), first.end) if first is not None else None
    return observed.two[first.end : second.start] if first is not None and second is not None else None


def _transform(shape: Shape, root: str | None) -> dict[str, Any]:
    """The transform for values of this shape; with ``root`` the whole value is in scope under that name."""

    def placeholder(path: Path) -> str:
        return "{" + ".".join([*([root] if root else []), *map(str, path)]) + "}"

    identifier = placeholder(shape.identifier) if shape.identifier is not None else None
    return call_transform(placeholder(shape.name), placeholder(shape.arguments), identifier)


def _reading(
    construct: str,
    keys: dict[str, Any],
    transform: dict[str, Any],
    around: Surroundings,
    *,
    repeats: bool = False,
    each: bool = False,
) -> Reading:
    """A reading of JSON calls."""
    field = {**keys, "content": "json", "transform": transform}
    field.update({"repeats": True} if repeats else {})
    field.update({"transform_each": True} if each else {})
    taken = field.get("open"), closing_mark(around.call_close)
    loose = [text for text in noise(around.section_open, around.section_close) if text not in taken]
    markers = {"call open": around.call_open, "call close": around.call_close}
    markers |= {"section open": around.section_open, "section close": around.section_close}
    return Reading(construct, field, tuple(loose), around.call_open.lstrip(), markers)
