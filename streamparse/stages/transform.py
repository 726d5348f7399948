"""Reshapes a parsed value as a field's ``transform`` says.

In comes a value, the captures of the region's delimiters, and the transform: dictionaries and lists whose strings are
plain, or exactly one placeholder, ``"{name}"`` or ``"{name.key.key}"``. Out goes the same structure with each
placeholder replaced by what it names, types kept. ``content`` names the parsed value; with ``transform_each`` the
value is a list of dictionaries, the transform runs on each, and their keys are the names.

Source of the rules: the response template format, version 1 (transformers' ``chat_response_parsing`` page).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import regex

from streamparse.errors import ContentError, Fault, LimitError
from streamparse.limits import DEFAULT_LIMITS, how_to_raise

PLACEHOLDER = regex.compile(r"\{(\w+(?:\.\w+)*+)\}")

BROKEN_PLACEHOLDER = regex.compile(r"\{\s*\w|\w\s*\}")

MAX_DEPTH = 100
"""How deep a transform's dictionaries and lists may enclose one another."""

MAX_PARTS = 200
"""The most values that a transform may have in it: each item of a list is made into as many."""

Findings = tuple[list[Fault], list[Fault]]


def check_transform(
    transform: Any,
    path: str,
    *,
    groups: Collection[str] = (),
    optional_groups: Collection[str] = (),
    each: bool = False,
) -> Findings:
    """Say what is wrong with a transform, as errors and warnings, without raising.

    ``groups`` are the named groups of the field's patterns, ``optional_groups`` those of them that may take no part in
    a match. With ``each`` any name may be a key of the list's items, so none can be called unknown.

    >>> transform = {"name": "call {name}", "args": "{body}"}
    >>> errors, warnings = check_transform(transform, "fields.x.transform", groups=["name"])
    >>> print(errors[0])
    fields.x.transform.name: 'call {name}' mixes a placeholder with text; a string is one placeholder or plain text
    >>> print(warnings[0])
    fields.x.transform.args: nothing supplies {body}, so every region of this field will fail; there are content, name
    """
    errors: list[Fault] = []
    warnings: list[Fault] = []
    names = set(groups) if each else {*groups, "content"}
    if not each and "content" in groups:
        warnings.append(Fault(path, "the group 'content' is out of reach: {content} is the parsed value"))
    has_placeholder = False
    for number, (place, leaf, depth) in enumerate(leaves(transform, path)):
        if number >= MAX_PARTS:
            errors.append(Fault(path, f"has more than {MAX_PARTS} values in it"))
            break
        if depth > MAX_DEPTH:
            errors.append(Fault(path, f"is nested more than {MAX_DEPTH} levels deep"))
            break
        if not isinstance(leaf, str | int | float | None):
            errors.append(Fault(place, f"must be JSON data, not {type(leaf).__name__}"))
            continue
        if not isinstance(leaf, str) or not (found := PLACEHOLDER.search(leaf)):
            if isinstance(leaf, str) and BROKEN_PLACEHOLDER.search(leaf):
                reason = f"{leaf!r} looks like a placeholder but is plain text; write {{name}} or {{name.key}}"
                warnings.append(Fault(place, reason))
            continue
        has_placeholder = True
        root = found[1].partition(".")[0]
        if found[0] != leaf:
            reason = f"{leaf!r} mixes a placeholder with text; a string is one placeholder or plain text"
            errors.append(Fault(place, reason))
        elif root not in names and not each:
            available = ", ".join(sorted(names))
            reason = f"nothing supplies {leaf}, so every region of this field will fail; there are {available}"
            warnings.append(Fault(place, reason))
        elif root in optional_groups:
            reason = f"the group {root!r} may take no part in a match, and a region without it will fail"
            warnings.append(Fault(place, reason))
    if not has_placeholder and not errors:
        warnings.append(Fault(path, "has no placeholder, so every region of this field has the same value"))
    return errors, warnings


def leaves(transform: Any, path: str) -> Iterator[tuple[str, Any, int]]:
    """Give what is neither dictionary nor list in a transform, with its path and depth, down to the depth allowed."""
    waiting = [(path, transform, 0)]
    while waiting:
        place, node, depth = waiting.pop()
        if not isinstance(node, dict | list) or depth > MAX_DEPTH:
            yield place, node, depth
            continue
        entries = node.items() if isinstance(node, dict) else enumerate(node)
        inner = [(f"{place}.{key}", value, depth + 1) for key, value in entries]
        waiting += reversed(inner)


def transform_value(
    value: Any,
    captures: Mapping[str, str],
    transform: Any,
    transform_each: bool,
    *,
    lenient: bool = False,
    most: int = DEFAULT_LIMITS.calls,
) -> Any:
    """Reshape a region's parsed value; raises ContentError where a placeholder finds nothing.

    Raises LimitError where ``transform_each`` gets more than ``most`` items.

    With ``lenient``, a call's arguments that a placeholder does not find are left out, to be judged by the tool's
    schema.

    >>> transform_value({"n": "f"}, {"id": "7"}, {"id": "{id}", "name": "{content.n}"}, False)
    {'id': '7', 'name': 'f'}
    """
    if not transform_each:
        return apply_transform(transform, {**captures, "content": value}, lenient=lenient)
    if not isinstance(value, list):
        raise ContentError(f"transform_each needs the parsed value to be a list, not {type(value).__name__}")
    if len(value) > most:
        raise too_many_calls(most)
    results = []
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            kind = type(item).__name__
            raise ContentError(f"transform_each needs each item to be a dictionary; item {index} is {kind}")
        results.append(apply_transform(transform, {**captures, **item}, lenient=lenient))
    return results


def too_many_calls(limit: int) -> LimitError:
    """Make the error for more calls than one generation may have."""
    return LimitError(f"more than {limit} tool calls; {how_to_raise('calls')}", limit="calls")


def apply_transform(transform: Any, scope: Mapping[str, Any], *, lenient: bool = False) -> Any:
    """Replace the placeholders of a transform by what they name in ``scope``.

    Raises ContentError for a name that the scope doesn't have, a key that a value doesn't have, and a key asked of what
    is not a dictionary.

    >>> apply_transform(["{a.b}", "{a}", "plain"], {"a": {"b": 1.0}})
    [1.0, {'b': 1.0}, 'plain']
    """
    if isinstance(transform, dict):
        result = {}
        for key, part in transform.items():
            if lenient and key == "function" and is_call(part):
                result[key] = apply_to_call(part, scope)
            else:
                result[key] = apply_transform(part, scope, lenient=lenient)
        return result
    if isinstance(transform, list):
        return [apply_transform(part, scope, lenient=lenient) for part in transform]
    if isinstance(transform, str) and (placeholder := PLACEHOLDER.fullmatch(transform)):
        return look_up(placeholder[1], scope)
    return transform


def is_call(part: Any) -> bool:
    """Whether a part of a transform makes a call: a name, and arguments that a placeholder stands for."""
    return isinstance(part, dict) and "name" in part and isinstance(part.get("arguments"), str)


def apply_to_call(part: dict[str, Any], scope: Mapping[str, Any]) -> dict[str, Any]:
    """Reshape a call, leaving out arguments that the model did not write."""
    result = {}
    for key, inner in part.items():
        if key == "arguments" and (found := PLACEHOLDER.fullmatch(inner)) and is_absent(found[1], scope):
            continue
        result[key] = apply_transform(inner, scope, lenient=True)
    return result


def is_absent(dotted: str, scope: Mapping[str, Any]) -> bool:
    """Whether it is only the last key of a path that finds nothing."""
    *path, last = dotted.split(".")
    try:
        holder = look_up(".".join(path), scope) if path else scope
    except ContentError:
        return False
    return isinstance(holder, Mapping) and last not in holder


def look_up(dotted: str, scope: Mapping[str, Any]) -> Any:
    """Find what a placeholder names; raises ContentError where there is no such thing."""
    root, *keys = dotted.split(".")
    if root not in scope:
        raise ContentError(f"the transform's {{{dotted}}} is not defined; there are {listed(scope)}")
    value = scope[root]
    for key in keys:
        if not isinstance(value, dict):
            raise ContentError(f"the transform's {{{dotted}}} asks a {type(value).__name__} for the key {key!r}")
        if key not in value:
            raise ContentError(f"the transform's {{{dotted}}} finds no key {key!r}; there are {listed(value)}")
        value = value[key]
    return value


def listed(names: Mapping[str, Any]) -> str:
    """List the first names of a mapping, for messages."""
    shown = sorted(str(name) for name in list(names)[:10])
    return ", ".join(shown) + (", …" if len(names) > len(shown) else "") if shown else "none"
