"""Where the parts of tool calls come from, as far as a field's definition tells before a region's text is there.

In comes a field: its transform, or in the lenient modes its policy for calls. Out goes, for each region and the
captures of its open delimiter, a ``CallSource``: which parts of the call are known, and where in the parsed value the
others are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from streamparse.stages.calls import known_name
from streamparse.stages.transform import PLACEHOLDER
from streamparse.template.model import Field
from streamparse.template.policy import CallShape, Path

Paths = tuple[Path, ...]


def never(_key: str) -> bool:
    """No key names a call."""
    return False


@lru_cache(256)
def roles_of(ids: Paths, names: Paths, arguments: Paths) -> dict[Path, str]:
    """What is at each path; made once for the regions of a field, and not to be changed."""
    return {**dict.fromkeys(ids, "id"), **dict.fromkeys(names, "name"), **dict.fromkeys(arguments, "arguments")}


@lru_cache(256)
def on_the_way_to(ids: Paths, names: Paths, arguments: Paths) -> frozenset[Path]:
    """The beginnings of the paths."""
    paths = (*ids, *names, *arguments)
    return frozenset(path[:length] for path in paths for length in range(1, len(path)))


@dataclass(frozen=True)
class CallSource:
    """Where the calls of one region are found in its value.

    ``name`` and ``id`` are known, or None where they are at the first of their paths that exists. The arguments are at
    the first of theirs, the empty path being the whole value. ``certain`` are the paths that count as soon as they are
    seen; any other might yet be outranked. ``listed`` says whether the value is a list of calls, None where it may be.
    ``names_by`` says of a call's first key whether it names the call, if an object stands behind it. ``writes_ids``
    says that an id of the model's is to be waited for, up to the call's end.
    """

    name: str | None
    id: str | None
    names: Paths
    ids: Paths
    arguments: Paths
    certain: frozenset[Path]
    listed: bool | None
    name_endings: tuple[str, ...] = ()
    names_by: Callable[[str], bool] = never
    writes_ids: bool = False

    @property
    def roles(self) -> dict[Path, str]:
        """What stands at each path: ``id``, ``name`` or ``arguments``."""
        return roles_of(self.ids, self.names, self.arguments)

    @property
    def on_the_way(self) -> frozenset[Path]:
        """The paths of objects in which a part of the call is."""
        return on_the_way_to(self.ids, self.names, self.arguments)

    def tool(self, name: str, tools: Collection[str]) -> str:
        """The tool that a name stands for."""
        return known_name(name, self.name_endings, tools) if self.name_endings else name


def is_call_field(field: Field) -> bool:
    """Whether a field's values are tool calls, or may be; a text or a number is part of one by its transform only."""
    if field.policy.calls is not None or call_part(field.transform) is not None:
        return True
    return field.name == "tool_calls" and not field.streams


def call_source(field: Field, content: str, captures: Mapping[str, str], *, lenient: bool) -> CallSource | None:
    """Where a region's calls are, by a certain content parser; None where only the whole value tells."""
    listed = None if content == "json" else content == "python-call-list"
    shape = field.policy.calls if lenient else None
    if shape is not None:
        return _by_policy(field, shape, captures, listed)
    if field.transform is None:
        return _standard(listed)
    part = call_part(field.transform)
    return None if part is None else _by_transform(field, part, captures)


def call_part(transform: Any) -> Any:
    """The part of a transform that has a call's name and arguments: a dictionary, or a placeholder for one."""
    if isinstance(transform, list):
        return call_part(transform[0]) if len(transform) == 1 else None
    if not isinstance(transform, dict):
        return None
    if "function" in transform:
        return transform
    return {"function": transform} if {"name", "arguments"} <= transform.keys() else None


def _standard(listed: bool | None) -> CallSource:
    name, arguments = ("name",), ("arguments",)
    return CallSource(None, None, (name,), (("id",),), (arguments,), frozenset({name, arguments, ("id",)}), listed)


def _by_transform(field: Field, part: dict[str, Any], captures: Mapping[str, str]) -> CallSource | None:
    function = part["function"]
    listed = bool(field.transform_each)
    if isinstance(function, str):
        found = _look(function, field, captures)
        if found is None or isinstance(found, str):
            return None
        name, arguments = (*found, "name"), (*found, "arguments")
        names, known = (name,), None
    elif isinstance(function, dict) and {"name", "arguments"} <= function.keys():
        arguments_at = _look(function["arguments"], field, captures)
        name_found = _look(function["name"], field, captures)
        if arguments_at is None or isinstance(arguments_at, str) or name_found is None:
            return None
        arguments = arguments_at
        known = name_found if isinstance(name_found, str) else None
        names = () if known is not None else (name_found,)  # type: ignore[assignment]
    else:
        return None
    id_found = _look(part["id"], field, captures) if "id" in part else ()
    if id_found is None:
        return None
    known_id = id_found if isinstance(id_found, str) else None
    ids = (id_found,) if isinstance(id_found, tuple) and id_found else ()
    certain = frozenset((*names, *ids, arguments))
    return CallSource(known, known_id, names, ids, (arguments,), certain, listed, writes_ids=bool(ids))


def _look(leaf: Any, field: Field, captures: Mapping[str, str]) -> str | Path | None:
    """What a leaf of a transform is: a known text, or a path in the value; None where the close delimiter has a say."""
    if not isinstance(leaf, str):
        return None
    placeholder = PLACEHOLDER.fullmatch(leaf)
    if placeholder is None:
        return leaf
    root, *path = placeholder[1].split(".")
    if not field.transform_each and root == "content":
        return tuple(path)
    groups = field.open.groups if field.open is not None else frozenset()
    if root in groups or (field.close is not None and root in field.close.groups):
        is_settled = (
            not field.transform_each and not path and not (field.close is not None and root in field.close.groups)
        )
        return captures.get(root) if is_settled else None
    return (root, *path) if field.transform_each else None


def _by_policy(field: Field, shape: CallShape, captures: Mapping[str, str], listed: bool | None) -> CallSource | None:
    if field.close is not None and field.close.groups & {"name", "id"}:
        return None
    named = captures.get("name", "").strip()
    known_id = captures.get("id") or None
    if named:
        whole: Paths = ((),)
        return CallSource(named, known_id, (), (), whole, frozenset(whole), False, shape.name_endings)
    source = _unnamed(field, shape, listed)
    return replace(source, id=known_id, ids=(), writes_ids=False) if known_id else source


@lru_cache(256)
def _unnamed(field: Field, shape: CallShape, listed: bool | None) -> CallSource:
    """Where the calls of a field's regions are, if their delimiters say nothing of them: the same in each region."""
    certain = {paths[0] for paths in (shape.name, shape.arguments, shape.id) if paths} | _usual_paths(field)
    ids = () if listed else shape.id  # a Python call list has names and arguments and nothing else
    return CallSource(
        None,
        None,
        shape.name,
        ids,
        shape.arguments or (("arguments",),),
        frozenset(certain),
        listed,
        shape.name_endings,
        names_by=shape.names_by,
        writes_ids=shape.writes_ids and bool(ids),
    )


def _usual_paths(field: Field) -> set[Path]:
    """The paths at which the field's transform finds a call's parts: those that the family's models write."""
    part = call_part(field.transform)
    source = None if part is None else _by_transform(field, part, {})
    return set() if source is None else set(source.certain)
