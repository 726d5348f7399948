"""Calls that are JSON values: name and arguments in one object, alone or in a list, with or without marks around.

What teaches what: the JSON value around the probe's arguments shows the keys; one call against two shows whether
they share a list, and which marks belong to each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from streamparse.infer.conversation import FIRST, SECOND
from streamparse.infer.tools.json_heads import head_keys
from streamparse.infer.tools.json_values import Island, Path, Shape, island_with, path_to, shape_of
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
    if len(shape.to_call) > 1:
        yield from _under_a_key(observed, island, shape)
        return
    if shape.to_call:
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


def _listed(observed: Observed, shape: Shape, before: str, after: str) -> Iterator[Reading]:
    """Calls in one list."""
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
    stops = [*observed.ends, closing_mark(around.section_close)]
    keys = head_keys(observed.one, island, shape, separator=around.separator, stops=stops)
    if keys is not None:
        transform = call_transform("{name}", "{content}", None)
        yield _reading("JSON objects without marks", keys, transform, around, repeats=True)
    keys = {**opening_keys("", _looks_like(shape)), **closing_keys(around, observed.ends)}
    yield _reading("JSON object without marks", keys, _transform(shape, "content"), around, repeats=True)


def _under_a_key(observed: Observed, island: Island, shape: Shape) -> Iterator[Reading]:
    """Calls in a list that is part of a JSON object: each call is a region, what leads to the first goes with it."""
    text = observed.one
    call = island_with(text, dict(FIRST.arguments), text.find("[", island.start) + 1)
    if call is None:
        return
    around = surroundings(text[: island.start], None, text[island.end :], observed.ends)
    lead, trail = text[island.start : call.start], text[call.end : island.end]
    stops = [*observed.ends, closing_mark(around.call_close)]
    keys = head_keys(text, call, shape, separator=",", stops=stops, lead=lead, trail=trail)
    if keys is not None:
        around = replace(around, section_open=around.call_open, section_close=around.call_close, call_open=lead)
        transform = call_transform("{name}", "{content}", None)
        yield _reading("JSON list under a key", keys, transform, replace(around, call_close=""), repeats=True)


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
