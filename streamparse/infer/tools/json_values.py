"""JSON values within a turn: where one is, and where in it the parts of a call lie."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamparse.infer.conversation import Call

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


def island_of(text: str, arguments: Mapping[str, Any], start: int = 0) -> Island | None:
    """The JSON object that these arguments are, and no more."""
    at = text.find("{", start)
    while at >= 0:
        found = island_with(text, dict(arguments), at)
        if found is None or found.value == arguments:
            return found
        at = text.find("{", found.start + 1)
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
