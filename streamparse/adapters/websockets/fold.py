"""The fold of events into what a UI shows: the regions so far, and the message at the end.

In:  events, one after the other, whole or with neighbouring chunks joined.
Out: a state of plain dicts and lists, which says the same however the chunks were cut.

``client.js`` has the same fold for browsers, name by name; the tests hold the two to the same states.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamparse.events import RawEvent

State = dict[str, Any]
Event = RawEvent

_NOT_OF_THE_REGION = frozenset({"type", "field", "start", "token_start"})


def new_state() -> State:
    """The state before the first event.

    ``regions`` has a dict for each region, in order, with ``field``, ``status`` (``"open"``, ``"closed"``,
    ``"malformed"`` or ``"unclaimed"``), ``text``, ``dirty`` (true where only the value is fit to show), ``calls`` (what
    deltas said of tool calls: ``index``, ``id``, ``name``, ``arguments`` as JSON text), and what its closing event
    had: ``value``, ``repaired``, ``error`` and so on. ``open`` is the position of the region that is being written, or
    None (text that no field claims may come while a region is open). ``message``, ``problems`` and ``finish_reason``
    are those of the message event.
    """
    return {"regions": [], "open": None, "message": None, "problems": [], "finish_reason": None}


def fold(state: State, event: Event) -> State:
    """Take an event into the state, which is changed in place and given back; events of unknown types say nothing.

    >>> state = new_state()
    >>> for text in ("Hel", "lo"):
    ...     _ = fold(state, {"type": "region_chunk", "field": "content", "text": text, "dirty": False})
    >>> state["regions"]
    [{'field': 'content', 'status': 'open', 'text': 'Hello', 'dirty': False, 'calls': []}]
    """
    step = _STEPS.get(event["type"])
    if step is not None:
        step(state, event)
    return state


def _open(state: State, event: Event) -> None:
    region = _begin_region(state, event["field"])
    region |= {key: value for key, value in event.items() if key not in ("type", "field", "end", "token_end")}


def _chunk(state: State, event: Event) -> None:
    region = _open_region(state, event["field"])
    text = region["text"]
    region["text"] = ""  # so that nothing else refers to the text, and Python can add to it without copying it
    text += event["text"]
    region["text"] = text
    region["dirty"] = region["dirty"] or event["dirty"]


def _delta(state: State, event: Event) -> None:
    calls = _open_region(state, event["field"])["calls"]
    if not calls or calls[-1]["index"] != event["index"]:
        calls.append({"index": event["index"], "id": None, "name": None, "arguments": ""})
    call = calls[-1]
    call["id"] = event.get("id", call["id"])
    call["name"] = event.get("name", call["name"])
    arguments = call["arguments"]
    call["arguments"] = ""
    arguments += event.get("arguments", "")
    call["arguments"] = arguments


def _close(state: State, event: Event) -> None:
    _end_region(state, event, "closed")


def _malformed(state: State, event: Event) -> None:
    _end_region(state, event, "malformed")


def _unclaimed(state: State, event: Event) -> None:
    region = {**_new_region(None), **{key: value for key, value in event.items() if key != "type"}}
    state["regions"].append({**region, "status": "unclaimed"})


def _message(state: State, event: Event) -> None:
    state |= {key: event[key] for key in ("message", "problems", "finish_reason")}


def _new_region(field: str | None) -> dict[str, Any]:
    return {"field": field, "status": "open", "text": "", "dirty": False, "calls": []}


def _begin_region(state: State, field: str) -> dict[str, Any]:
    region = _new_region(field)
    state["open"] = len(state["regions"])
    state["regions"].append(region)
    return region


def _open_region(state: State, field: str) -> dict[str, Any]:
    """The open region if it is of this field, or else a new one: a fold may begin in the middle."""
    if state["open"] is not None:
        region: dict[str, Any] = state["regions"][state["open"]]
        if region["field"] == field:
            return region
    return _begin_region(state, field)


def _end_region(state: State, event: Event, status: str) -> None:
    region = _open_region(state, event["field"])
    region |= {key: value for key, value in event.items() if key not in _NOT_OF_THE_REGION}
    region["status"] = status
    state["open"] = None


_STEPS: dict[str, Callable[[State, Event], None]] = {
    "region_open": _open,
    "region_chunk": _chunk,
    "region_delta": _delta,
    "region_close": _close,
    "region_malformed": _malformed,
    "region_unclaimed": _unclaimed,
    "message": _message,
}
