"""Tool calls as they go out while they are written, in the form of a chat completion's ``delta.tool_calls``.

In:  the events of the fields that have calls: ``region_delta``, ``region_close`` and ``region_malformed``.
Out: lists of entries ``{"index", "id", "type", "function": {"name", "arguments"}}``, the first of a call with its id
     and name, all others with no more than a piece of its arguments.

**What a malformed call becomes.** Nothing is taken back. A call that has been announced when it turns out malformed
stays announced, but its arguments never become JSON: the brace that closes them is held back until the call is known
to be well-formed, which is when its region closes, or when the next call of the same region begins. Arguments that are
no object are held back as a whole until the region closes, for only then it is known whether they count. Once the call
is known to be bad, what has been sent is made unreadable (``unreadable.py``), also for clients that complete JSON which
is not whole. So neither they nor a client that reads the arguments as JSON, as it must, can take a malformed call for a
whole one. A call that has not been announced is none.

**Ids.** A call has the id that the model wrote if that comes no later than its name, and else one made here. Clients
expect the id in a call's first entry, and what is sent can't be changed: an id that comes later is passed over. Those
made here are nine letters and digits, the only ids that the chat templates of Mistral's models take back.
"""

from __future__ import annotations

import json
import secrets
import string
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from streamparse.adapters.openai.unreadable import unreadable_end
from streamparse.events import RawEvent
from streamparse.formats.compact import compact

Event = RawEvent
Entry = dict[str, Any]

_LETTERS = string.ascii_letters + string.digits


class _Call:
    """A call of the open region: where it stands, what was sent of its arguments, and what is held back of them."""

    __slots__ = ("held", "index", "name", "sent")

    def __init__(self, index: int, name: str) -> None:
        self.index = index
        self.name = name
        self.sent: list[str] = []
        self.held: list[str] = []

    def piece(self, text: str) -> str:
        """Give what may be sent with the next piece of the arguments: all but a brace at the end.

        Of what is no object nothing is sent, for any part of it may be JSON.
        """
        if not text:
            return ""
        if not self.sent:
            self.held.append(text)
            text = "".join(self.held) if self.held[0].startswith("{") else ""
        else:
            text = "".join(self.held) + text
        if text:
            self.held = ["}"] if text.endswith("}") else []
            text = text.removesuffix("}")
            self.sent.append(text)
        return text

    def rest(self) -> str:
        """Give what was held back; a text that is JSON itself, which some models write, is what it says."""
        text = "".join(self.held)
        self.held.clear()
        if text.startswith('"') and not self.sent:
            text = json.loads(text)
        if text:
            self.sent.append(text)
        return text


class CallDeltas:
    """The calls of one message; ``count`` is how many have been announced, ``sound`` how many of them well-formed.

    ``settled`` lists the calls of which it has become known whether they are well-formed: the index, and whether.

    >>> calls = CallDeltas()
    >>> calls.delta({"index": 0, "id": "a", "name": "f", "arguments": '{"x":1}'})
    [{'index': 0, 'id': 'a', 'type': 'function', 'function': {'name': 'f', 'arguments': '{"x":1'}}]
    >>> calls.close({"type": "function", "function": {"name": "f", "arguments": {"x": 1}}})
    [{'index': 0, 'function': {'arguments': '}'}}]
    """

    def __init__(self) -> None:
        self.count = 0
        self.sound = 0
        self._open: dict[int, _Call] = {}  # the calls of the open region, by the index that its events give them
        self._faulty = False
        self.settled: list[tuple[int, bool]] = []

    def delta(self, event: Event) -> list[Entry]:
        """Take a ``region_delta``."""
        entries = []
        call = self._open.get(event["index"])
        if call is None:
            if "name" not in event:
                return []
            entries = [entry for earlier in self._open.values() if earlier.sent for entry in _release(earlier)]
            call = self._open[event["index"]] = self._announced(event["name"])
            entries.append(_announcement(call, event.get("id")))
        piece = call.piece(event.get("arguments", ""))
        if piece and "name" in event:
            entries[-1]["function"]["arguments"] = piece
        elif piece:
            entries.append({"index": call.index, "function": {"arguments": piece}})
        return entries

    def close(self, value: Any) -> list[Entry]:
        """Take the value of a ``region_close``: its calls are well-formed."""
        functions = list(_functions(value))
        if not self._open:
            self._faulty = False
            self.sound += len(functions)
            return [self._whole(function, call_id) for function, call_id in functions]
        entries = []
        for call in self._open.values():
            if not self._faulty or (functions and _is(call, functions[0][0])):
                del functions[:1]
                self.sound += 1
                entries += _release(call)
                self.settled.append((call.index, True))
            else:
                entries.append(self._spoil(call))
        self._open.clear()
        self._faulty = False
        return entries

    def malformed(self) -> bool:
        """Take a ``region_malformed``; tell whether calls of its region have been announced.

        Which of them are well-formed is known when the region closes, if it does.
        """
        self._faulty = bool(self._open)
        return self._faulty

    def end(self) -> list[Entry]:
        """Note that the region has ended; calls that are still open were malformed."""
        entries = [self._spoil(call) for call in self._open.values()]
        self._open.clear()
        self._faulty = False
        return entries

    def _announced(self, name: str) -> _Call:
        call = _Call(self.count, name)
        self.count += 1
        return call

    def _spoil(self, call: _Call) -> Entry:
        """What keeps the arguments of a malformed call from being read."""
        self.settled.append((call.index, False))
        return {"index": call.index, "function": {"arguments": unreadable_end("".join(call.sent))}}

    def _whole(self, function: dict[str, Any], call_id: Any) -> Entry:
        """A call that comes in one piece."""
        call = self._announced(function["name"])
        entry = _announcement(call, call_id)
        self.settled.append((call.index, True))
        arguments = function.get("arguments", {})
        entry["function"]["arguments"] = arguments if isinstance(arguments, str) else compact(arguments)
        return entry


def _release(call: _Call) -> list[Entry]:
    """Send what was held back of a call that is well-formed."""
    rest = call.rest()
    return [{"index": call.index, "function": {"arguments": rest}}] if rest else []


def new_call_id() -> str:
    """Make an id for a call."""
    return "".join(secrets.choice(_LETTERS) for _ in range(9))


def _announcement(call: _Call, call_id: Any) -> Entry:
    made = call_id in (None, "")
    return {
        "index": call.index,
        "id": new_call_id() if made else str(call_id),
        "type": "function",
        "function": {"name": call.name, "arguments": ""},
    }


def _is(call: _Call, function: dict[str, Any]) -> bool:
    """Whether what was sent of a call, and held back, is this call."""
    if call.name != function["name"]:
        return False
    with suppress(ValueError, RecursionError):
        arguments = json.loads("".join([*call.sent, *call.held]))
        if isinstance(arguments, str):
            arguments = json.loads(arguments)
        return bool(arguments == function.get("arguments"))
    return False


def _functions(value: Any) -> Iterator[tuple[dict[str, Any], Any]]:
    """The calls in a region's value, each as its function and its id."""
    for call in value if isinstance(value, list) else [value]:
        function = call.get("function", call) if isinstance(call, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            yield function, call.get("id")
