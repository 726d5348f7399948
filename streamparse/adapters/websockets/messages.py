"""The messages of docs/websockets.md: reading those of clients, writing those of servers.

In:  text frames; numbered events.
Out: messages as dicts, checked against ``messages.schema.json``; text frames.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from streamparse.adapters.websockets.socket import Close, ProtocolError
from streamparse.broadcasting.history import Numbered
from streamparse.encode import encode_event

VERSION = 1
"""The version of the message format."""

Message = dict[str, Any]


def schema() -> dict[str, Any]:
    """The JSON Schema of all messages; its ``$defs`` has one of each type."""
    loaded: dict[str, Any] = json.loads((files(__package__) / "messages.schema.json").read_text(encoding="utf-8"))
    return loaded


def _validators() -> dict[str, Draft202012Validator]:
    """A validator for each type of message that a client may send."""
    whole = schema()
    types = [each["$ref"].rpartition("/")[2] for each in whole["$defs"]["from_client"]["oneOf"]]
    return {name: Draft202012Validator({"$defs": whole["$defs"], **whole["$defs"][name]}) for name in types}


_VALIDATORS = _validators()


def read_message(frame: str | bytes, *, max_size: int) -> Message:
    """Give the message of a client; raises ProtocolError for what is none.

    >>> read_message('{"type": "subscribe", "generation": "a", "after": 3}', max_size=1000)
    {'type': 'subscribe', 'generation': 'a', 'after': 3}
    """
    if isinstance(frame, bytes):
        raise ProtocolError(Close.UNSUPPORTED_DATA, "messages are text frames, not binary ones")
    if len(frame) > max_size:
        raise ProtocolError(Close.TOO_LARGE, f"a message may have {max_size} characters")
    try:
        message = json.loads(frame)
    except (ValueError, RecursionError):
        raise ProtocolError(Close.BAD_MESSAGE, "the message is not JSON") from None
    kind = message.get("type") if isinstance(message, dict) else None
    validator = _VALIDATORS.get(kind) if isinstance(kind, str) else None
    if validator is None:
        raise ProtocolError(Close.BAD_MESSAGE, f"a message is an object whose type is one of {', '.join(_VALIDATORS)}")
    try:
        fault = best_match(validator.iter_errors(message))
    except RecursionError:  # a fault's text has the value, whose depth JSON could just be read with
        raise ProtocolError(Close.BAD_MESSAGE, f"{kind}: it is nested too deep") from None
    if fault is not None:
        where = ".".join(map(str, fault.absolute_path))
        raise ProtocolError(Close.BAD_MESSAGE, f"{kind}: {where + ': ' if where else ''}{fault.message}")
    checked: Message = message
    return checked


def write_message(**message: Any) -> str:
    """Give a message as a text frame; keys that are None are left out.

    >>> write_message(type="end", generation="a", last=3, reason="complete", error=None)
    '{"type":"end","generation":"a","last":3,"reason":"complete"}'
    """
    return encode_event({key: value for key, value in message.items() if value is not None}, standard=True).decode()


def write_events(generation: str, numbered: Sequence[Numbered]) -> str:
    """Give numbered events that follow each other as a text frame.

    >>> write_events("a", [Numbered(3, 4, {"type": "region_open", "field": "content"})])
    '{"type":"events","generation":"a","first":3,"last":4,"events":[{"type":"region_open","field":"content"}]}'
    """
    events = [event for _, _, event in numbered]
    return write_message(
        type="events", generation=generation, first=numbered[0].first, last=numbered[-1].last, events=events
    )
