"""Weighs the items of a channel, and coalesces neighbouring items without loss.

In:  items that wait in a channel: pieces of text before the parser, events after it.
Out: their weight; the same items, coalesced.

Two items are coalesced only if the one that replaces them says exactly what the two said: pieces of
text; ``region_chunk`` events of one region, equally dirty, whose spans touch; ``region_delta`` events of one
call where the later one only adds to the arguments; pairs of one key and such events, or of one key and lists
of events. Anything else between two items keeps them apart, but for the chunks and the deltas of one region,
which come in turns: what they say is the same in either order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

ITEM_WEIGHT = 64
"""What an item weighs besides its characters; a small dict takes up about as much memory as so many characters."""

_CHUNK_KEYS = frozenset({"type", "field", "text", "dirty", "start", "end"})
_ARGUMENTS_KEYS = frozenset({"type", "field", "index", "arguments"})


def weigh(item: Any) -> int:
    """Give an item's weight: ``ITEM_WEIGHT``, plus its characters, bytes or token ids.

    A pair of a key and something weighs what that weighs; a list of events or of pairs, what they weigh together.

    >>> weigh("four"), weigh({"type": "region_chunk", "field": "content", "text": "four", "dirty": False}), weigh(17)
    (68, 68, 64)
    >>> weigh(("a key", "four")), weigh([("a key", "four"), ("another", "four")])
    (68, 136)
    """
    kind = type(item)
    if kind is tuple and len(item) == 2:
        item = item[1]
        kind = type(item)
    if kind is dict:
        text = item.get("text") or item.get("arguments")
        return ITEM_WEIGHT + len(text) if type(text) is str else ITEM_WEIGHT
    if kind is list and item and type(item[0]) in _WEIGHED_BY_THEMSELVES:
        return sum(map(weigh, item))
    return ITEM_WEIGHT + len(item) if kind in _SIZED else ITEM_WEIGHT


def coalesced(items: Iterable[Any]) -> list[Any]:
    """Give the items with joinable neighbours joined, in time linear in their text; no item is changed in place.

    >>> chunk = {"type": "region_chunk", "field": "content", "dirty": False}
    >>> coalesced([{**chunk, "text": "a "}, {**chunk, "text": "word"}])
    [{'type': 'region_chunk', 'field': 'content', 'dirty': False, 'text': 'a word'}]
    """
    joined: list[Any] = []
    runs: list[list[Any]] = []  # of neighbours that are joinable; two where chunks and deltas come in turns
    for item in items:
        run = next((run for run in runs if joinable(run[-1], item)), None)
        if run is not None:
            run.append(item)
        elif len(runs) == 1 and _take_turns(runs[0][-1], item):
            runs.append([item])
        else:
            joined += map(_join, runs)
            runs = [[item]]
    joined += map(_join, runs)
    return joined


def _take_turns(earlier: Any, later: Any) -> bool:
    """Tell whether these are a chunk and a delta of one region, in either order."""
    if type(earlier) is not dict or type(later) is not dict or earlier.get("field") != later.get("field"):
        return False
    return {earlier.get("type"), later.get("type")} == {"region_chunk", "region_delta"}


def joinable(earlier: Any, later: Any) -> bool:
    """Tell whether one item can say what these two say."""
    if type(earlier) is not type(later):
        return False
    if type(later) is tuple:
        return len(earlier) == len(later) == 2 and earlier[0] == later[0] and _payloads_joinable(earlier[1], later[1])
    if type(later) is dict:
        rule = _EVENT_RULES.get(later.get("type"))
        return rule is not None and earlier.get("type") == later["type"] and rule[0](earlier, later)
    return type(later) in _TEXT


def _join(run: list[Any]) -> Any:
    """Make one item of joinable neighbours."""
    first = run[0]
    if len(run) == 1:
        return first
    if type(first) is dict:
        return _EVENT_RULES[first["type"]][1](run)
    if type(first) is tuple:
        payloads = [payload for _, payload in run]
        joined = coalesced(chain.from_iterable(payloads)) if type(payloads[0]) is list else _join(payloads)
        return first[0], joined
    return type(first)().join(run)


def _payloads_joinable(earlier: Any, later: Any) -> bool:
    """Tell whether what two pairs of one key carry can be one: lists of events always can, text may mean anything."""
    if type(earlier) is list and type(later) is list:
        return all(items and type(items[0]) is dict for items in (earlier, later))
    return type(earlier) is dict and joinable(earlier, later)


def _chunks_joinable(earlier: dict[str, Any], later: dict[str, Any]) -> bool:
    return (
        earlier.keys() == later.keys()
        and earlier.keys() <= _CHUNK_KEYS
        and earlier["field"] == later["field"]
        and earlier["dirty"] == later["dirty"]
        and earlier.get("end") == later.get("start")
    )


def _join_chunks(run: list[dict[str, Any]]) -> dict[str, Any]:
    chunk = {**run[0], "text": "".join([chunk["text"] for chunk in run])}
    if "end" in chunk:
        chunk["end"] = run[-1]["end"]
    return chunk


def _deltas_joinable(earlier: dict[str, Any], later: dict[str, Any]) -> bool:
    return later.keys() == _ARGUMENTS_KEYS and earlier["field"] == later["field"] and earlier["index"] == later["index"]


def _join_deltas(run: list[dict[str, Any]]) -> dict[str, Any]:
    return {**run[0], "arguments": "".join([delta.get("arguments", "") for delta in run])}


_SIZED = frozenset({str, bytes, list})
_TEXT = frozenset({str, bytes})
_WEIGHED_BY_THEMSELVES = frozenset({dict, tuple})

_Event = dict[str, Any]
_EVENT_RULES: dict[Any, tuple[Callable[[_Event, _Event], bool], Callable[[list[_Event]], _Event]]] = {
    "region_chunk": (_chunks_joinable, _join_chunks),
    "region_delta": (_deltas_joinable, _join_deltas),
}
