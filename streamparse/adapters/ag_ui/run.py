"""Events as those of a run of the Agent User Interaction Protocol (AG-UI), version 1.0.

In:  the events of ``ResponseParser`` or ``parse_stream``, one at a time.
Out: the protocol's events as dicts, each with its ``type``, the data of a server-sent event (``sse_event``).

The format is that of https://docs.ag-ui.com/concepts/events. A message is open while its text comes; calls belong to
the message that came before them, or else to one without text.

The protocol has no word for a call that is malformed. One that had begun ends like any other, but its arguments can't
be read as JSON, and the event ``CUSTOM`` with the name ``malformed_call`` says so.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from streamparse.adapters.openai.calls import new_call_id
from streamparse.adapters.openai.deltas import Event, MessageDeltas
from streamparse.template import TemplateSource

_TEXT, _REASONING = "TEXT_MESSAGE", "REASONING_MESSAGE"
_KINDS = {"content": _TEXT, "reasoning_content": _REASONING}


class RunEvents:
    """Turns the events of one generation into those of a run; ``template`` is the one that they were parsed with.

    Parse with ``deltas=True`` for calls that go out while they are written; with ``whole_calls`` each goes out once it
    is whole, and a malformed one is text. ``thread_id`` and ``run_id`` are those of the request.

    What the protocol has no event for is ``CUSTOM``: the values of other fields under their names, ``malformed``,
    ``malformed_call``, ``repaired``, ``unclaimed`` and ``finish_reason``.

    >>> run = RunEvents("qwen3", thread_id="t", run_id="r")
    >>> event = {"type": "region_chunk", "field": "content", "text": "Hi", "dirty": False}
    >>> [event["type"] for event in run.feed(event)]
    ['RUN_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT']
    >>> [event["type"] for event in run.finish()]
    ['TEXT_MESSAGE_END', 'CUSTOM', 'RUN_FINISHED']
    """

    def __init__(
        self,
        template: TemplateSource,
        *,
        thread_id: str | None = None,
        run_id: str | None = None,
        whole_calls: bool = False,
    ) -> None:
        self._deltas = MessageDeltas(template, whole_calls=whole_calls)
        self._run = {"threadId": thread_id or _id("thread"), "runId": run_id or _id("run")}
        self._started = False
        self._reason: str | None = None
        self._open: tuple[str, str] | None = None  # the kind and the id of the message that is open
        self._parent: str | None = None  # the message that calls belong to
        self._calls: dict[int, str] = {}
        self._ids: set[str] = set()

    def start(self) -> list[Event]:
        """Give the event that begins the run; :meth:`feed` gives it with the first event."""
        if self._started:
            return []
        self._started = True
        return [{"type": "RUN_STARTED", **self._run}]

    def feed(self, event: Event) -> list[Event]:
        """Give what comes of the next event."""
        events = self.start()
        for delta in self._deltas.feed(event):
            events += self._of_delta(delta)
        events += self._settle()
        if (beside := self._deltas.beside(event)) is not None:
            events.append(_custom(*beside))
        if event["type"] == "message":
            self._reason = event["finish_reason"]
        return events

    def finish(self, usage: Mapping[str, Any] | None = None, finish_reason: str | None = None) -> list[Event]:
        """Give the last events.

        ``usage`` is as in a chat completion, and becomes the run's ``result``. ``finish_reason`` is what the engine
        said, where no ``message`` event has said it.
        """
        events = self._end()
        events.append(_custom("finish_reason", self._deltas.finish_reason(finish_reason or self._reason)))
        result = {} if usage is None else {"result": {"usage": dict(usage)}}
        return [*events, {"type": "RUN_FINISHED", **self._run, **result}]

    def fail(self, message: str, code: str | None = None) -> list[Event]:
        """Give the last events of a generation that an error has ended; the client is told the message."""
        error: Event = {"type": "RUN_ERROR", "message": message}
        return [*self._end(), error if code is None else {**error, "code": code}]

    def abort(self) -> list[Event]:
        """Give the last events of a generation that was stopped before its end."""
        return [*self._end(), {"type": "RUN_FINISHED", **self._run, "outcome": {"type": "cancelled"}}]

    def _end(self) -> list[Event]:
        events = self.start()
        for delta in self._deltas.finish():
            events += self._of_delta(delta)
        return [*events, *self._settle(), *self._end_message()]

    def _of_delta(self, delta: Mapping[str, Any]) -> list[Event]:
        events: list[Event] = []
        for key, piece in delta.items():
            if key in _KINDS:
                events += self._of_text(_KINDS[key], piece)
            elif key == "tool_calls":
                for entry in piece:
                    events += self._of_call(entry)
        return events

    def _of_text(self, kind: str, piece: str) -> list[Event]:
        events: list[Event] = []
        if self._open is None or self._open[0] != kind:
            events = [*self._end_message(), *self._begin_message(kind)]
        assert self._open is not None, "it has just begun"
        return [*events, {"type": f"{kind}_CONTENT", "messageId": self._open[1], "delta": piece}]

    def _begin_message(self, kind: str) -> list[Event]:
        message = _id("msg")
        self._open = kind, message
        if kind == _TEXT:
            self._parent = message
            return [{"type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant"}]
        self._parent = None
        return [
            {"type": "REASONING_START", "messageId": message},
            {"type": "REASONING_MESSAGE_START", "messageId": message, "role": "reasoning"},
        ]

    def _end_message(self) -> list[Event]:
        if self._open is None:
            return []
        (kind, message), self._open = self._open, None
        events: list[Event] = [{"type": f"{kind}_END", "messageId": message}]
        if kind == _REASONING:
            events.append({"type": "REASONING_END", "messageId": message})
        return events

    def _of_call(self, entry: Mapping[str, Any]) -> list[Event]:
        events: list[Event] = []
        if "id" in entry:
            # calls are told apart by this id, which a model may have written twice
            call = new_call_id() if entry["id"] in self._ids else entry["id"]
            self._ids.add(call)
            self._calls[entry["index"]] = call
            events = self._end_message()
            self._parent = self._parent or _id("msg")
            name = entry["function"]["name"]
            start = {"toolCallId": call, "toolCallName": name, "parentMessageId": self._parent}
            events.append({"type": "TOOL_CALL_START", **start})
        if piece := entry["function"]["arguments"]:
            call = self._calls[entry["index"]]
            events.append({"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": piece})
        return events

    def _settle(self) -> list[Event]:
        """End the calls of which it is known what has become of them."""
        events: list[Event] = []
        for index, sound in self._deltas.settled():
            call = self._calls.pop(index)
            events.append({"type": "TOOL_CALL_END", "toolCallId": call})
            if not sound:
                events.append(_custom("malformed_call", {"toolCallId": call}))
        return events


def _custom(name: str, value: Any) -> Event:
    return {"type": "CUSTOM", "name": name, "value": value}


def _id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex}"
