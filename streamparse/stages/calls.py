"""Tool calls as values: bringing what a model wrote into the standard form, and refusing what is no call.

In: the parsed value of a region and the captures of its delimiters. Out: calls of the form
``{"type": "function", "function": {"name": …, "arguments": {…}}}``, with ``id`` where the model wrote one. Used in the
lenient modes, for fields whose policy says where a call's parts are (``CallShape``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from streamparse.errors import ContentError
from streamparse.template.policy import CallShape, Path

_ABSENT = object()


def as_calls(value: Any, captures: Mapping[str, str], shape: CallShape, tools: Collection[str] = ()) -> Any:
    """The call that a value is, or the list of calls that a list is.

    A capture ``name`` names the call, and the whole value is then its arguments; otherwise name and arguments are where
    the shape says. ``tools`` are the names of the declared tools. Raises ContentError for what has no name.

    >>> shape = CallShape(name=(("name",),), arguments=(("arguments",), ("parameters",)))
    >>> as_calls({"name": "f", "parameters": {"a": 1}}, {}, shape)
    {'type': 'function', 'function': {'name': 'f', 'arguments': {'a': 1}}}
    >>> as_calls({"a": 1}, {"name": "f"}, shape)
    {'type': 'function', 'function': {'name': 'f', 'arguments': {'a': 1}}}
    """
    named = captures.get("name", "").strip()
    if isinstance(value, list) and not named:
        return [_call(item, named, captures, shape, tools) for item in value]
    return _call(value, named, captures, shape, tools)


def calls_in(value: Any) -> Iterator[dict[str, Any]]:
    """Each call of a value, in order: an object that has a name, itself or in its ``function``.

    >>> [function_of(call)["name"] for call in calls_in([{"function": {"name": "f"}}, {"name": "g"}, {}])]
    ['f', 'g']
    """
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, list):
            yield from calls_in(item)
        elif isinstance(item, dict):
            function = function_of(item)
            if isinstance(function, dict) and isinstance(function.get("name"), str):
                yield item


def without_lists_in_lists(items: list[Any]) -> list[Any]:
    """The items of a list of calls, where models put lists of calls in it the calls of these.

    >>> without_lists_in_lists([[{"name": "f"}], [], {"name": "g"}])
    [{'name': 'f'}, {'name': 'g'}]
    """
    if not any(isinstance(item, list) for item in items):
        return items
    found, pending = [], items[::-1]
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending += item[::-1]
        else:
            found.append(item)
    return found


def function_of(call: dict[str, Any]) -> Any:
    """The part of a call that has its name and arguments."""
    return call.get("function", call)


def check_calls(value: Any) -> None:
    """Refuse calls that no tool runner can use; values that are no calls pass.

    Raises ContentError where a ``function`` has no name or its arguments are no object.

    >>> check_calls({"function": {"name": "f", "arguments": {}}})
    >>> check_calls([{"function": {"arguments": {}}}])
    Traceback (most recent call last):
        ...
    streamparse.errors.ContentError: the call has no name
    """
    for call in value if isinstance(value, list) else [value]:
        if not isinstance(call, dict) or "function" not in call:
            continue
        function = call["function"]
        if not isinstance(function, dict):
            raise ContentError(f"the call is a {type(function).__name__}, not an object with a name and arguments")
        name, arguments = function.get("name"), function.get("arguments")
        if not isinstance(name, str) or not name.strip():
            raise ContentError("the call has no name")
        if not isinstance(arguments, dict):
            raise ContentError(f"the arguments of {name!r} are a {type(arguments).__name__}, not an object")


def known_name(name: str, endings: Collection[str], tools: Collection[str]) -> str:
    """A call's name without what a model may have glued to it, where only that makes it the name of a declared tool.

    >>> known_name("shelljson", ["json"], ["shell"]), known_name("to_json", ["json"], ["to_json"])
    ('shell', 'to_json')
    """
    if name in tools:
        return name
    shorter = (name.removesuffix(ending) for ending in endings if name.endswith(ending))
    return next((candidate for candidate in shorter if candidate in tools), name)


def _call(value: Any, named: str, captures: Mapping[str, str], shape: CallShape, tools: Collection[str]) -> Any:
    if named:
        name, arguments = named, value
    else:
        if not isinstance(value, dict):
            raise ContentError(f"a call must be an object, and this is a {type(value).__name__}")
        found = _first(value, shape.name)
        if (key := _key_that_names(value, shape, found)) is not None:
            value = {"name": (found := key), "arguments": value[key]}
        if not isinstance(found, str) or not found.strip():
            raise ContentError("the call has no name")
        name, arguments = found, _first(value, shape.arguments or (("arguments",),))
        if arguments is _ABSENT and (other := _may_be_arguments(value)) is not None:
            raise ContentError(f"the call of {found!r} has no arguments, but {other!r}, which may be them")
    function: dict[str, Any] = {"name": known_name(name, shape.name_endings, tools)}
    if arguments is not _ABSENT:
        function["arguments"] = arguments
    call: dict[str, Any] = {"type": "function", "function": function}
    written_id = captures.get("id") or (_first(value, shape.id) if not named and isinstance(value, dict) else _ABSENT)
    if written_id is not _ABSENT and written_id not in (None, ""):
        call["id"] = str(written_id)
    return call


def _key_that_names(value: dict[str, Any], shape: CallShape, name: Any) -> str | None:
    """The key that is a call's name; None where the name stands elsewhere.

    Where an object stands behind a call's first key, the key is the name as soon as the object begins (see
    ``CallShape.names_by``), and no other key may follow.
    """
    first = next(iter(value), None)
    if first is None or not shape.by_key:
        return None
    if shape.names_by(first) and isinstance(value[first], dict):
        if len(value) > 1:
            raise ContentError(f"the call is named by its key {first!r}, and has other keys")
        return first
    return first if name is _ABSENT and len(value) == 1 else None


def _may_be_arguments(value: dict[str, Any]) -> str | None:
    """The key of a member of a call that may be its arguments under another name."""
    function = value.get("function")
    members = [*value.items(), *(function.items() if isinstance(function, dict) else ())]
    return next(
        (key for key, member in members if member and isinstance(member, dict) and member is not function), None
    )


def _first(value: dict[str, Any], paths: tuple[Path, ...]) -> Any:
    """What stands at the first of the paths that exists."""
    for path in paths:
        at: Any = value
        for key in path:
            at = at.get(key, _ABSENT) if isinstance(at, dict) else _ABSENT
        if at is not _ABSENT:
            return at
    return _ABSENT
