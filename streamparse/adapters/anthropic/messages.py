"""Events as the stream of Anthropic's Messages API.

In:  the events of ``ResponseParser`` or ``parse_stream``, one at a time.
Out: the API's events as dicts, each with its ``type``, which is also the name of its server-sent event.

The format is that of https://docs.anthropic.com/en/api/messages-streaming. A message is a list of blocks, one open at a
time: thinking, text, or the use of a tool.

A call goes out whole, when it is known to be well-formed, also where events have deltas: clients of this API read what
has come of a call's arguments as if it were all, so one that turns out malformed must not have begun. Its raw text goes
out as text, with its delimiters.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from streamparse.adapters.openai.deltas import Event, MessageDeltas
from streamparse.template import TemplateSource

_BLOCKS: dict[str, tuple[dict[str, Any], str]] = {
    "content": ({"type": "text", "text": ""}, "text"),
    "reasoning_content": ({"type": "thinking", "thinking": "", "signature": ""}, "thinking"),
}
"""Texts of a message that have a place in these: the block that they begin, and the key of its text."""

_STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}


def whole_message(events: Iterable[Event]) -> Event:
    """Put the events of a message together: what a client gets that does not ask for a stream.

    >>> events = MessageEvents("qwen3")
    >>> chunk = {"type": "region_chunk", "field": "content", "text": "Hi", "dirty": False}
    >>> whole_message([*events.feed(chunk), *events.finish()])["content"]
    [{'type': 'text', 'text': 'Hi'}]
    """
    message: Event = {}
    blocks: list[tuple[dict[str, Any], list[str]]] = []
    for event in events:
        if event["type"] == "message_start":
            message = dict(event["message"])
        elif event["type"] == "content_block_start":
            blocks.append((dict(event["content_block"]), []))
        elif event["type"] == "content_block_delta":
            blocks[event["index"]][1].append(event["delta"][_PIECES[event["delta"]["type"]]])
        elif event["type"] == "message_delta":
            message |= {**event["delta"], "usage": {**message["usage"], **event["usage"]}}
    for block, pieces in blocks:
        text = "".join(pieces)
        block |= {"input": json.loads(text)} if block["type"] == "tool_use" else {block["type"]: text}
    return {**message, "content": [block for block, _ in blocks]}


_PIECES = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


class MessageEvents:
    """Turns the events of one generation into those of a message; ``template`` is the one they were parsed with.

    Text of fields other than content and reasoning has no place in these messages, and is passed over. Thinking has
    no signature.

    >>> message = MessageEvents("qwen3", model="m")
    >>> chunk = {"type": "region_chunk", "field": "content", "text": "Hi", "dirty": False}
    >>> [event["type"] for event in message.feed(chunk)]
    ['message_start', 'content_block_start', 'content_block_delta']
    >>> [event["type"] for event in message.finish()]
    ['content_block_stop', 'message_delta', 'message_stop']
    """

    def __init__(self, template: TemplateSource, *, model: str = "", id: str | None = None) -> None:
        self._deltas = MessageDeltas(template, whole_calls=True)
        self._reason: str | None = None
        self._started = False
        self._index = -1
        self._open: str | None = None
        self._message: Event = {
            "id": f"msg_{uuid.uuid4().hex}" if id is None else id,
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }

    def start(self) -> list[Event]:
        """Give the event that begins the message; :meth:`feed` gives it with the first event."""
        if self._started:
            return []
        self._started = True
        return [{"type": "message_start", "message": self._message}]

    def feed(self, event: Event) -> list[Event]:
        """Give what comes of the next event."""
        events = self.start()
        for delta in self._deltas.feed(event):
            events += self._of_delta(delta)
        if event["type"] == "message":
            self._reason = event["finish_reason"]
        return events

    def finish(self, usage: Mapping[str, Any] | None = None, finish_reason: str | None = None) -> list[Event]:
        """Give the last events.

        ``usage`` is as in a chat completion, as far as it is known. ``finish_reason`` is what the engine said, where no
        ``message`` event has said it.
        """
        events = [*self.start(), *self._end_block()]
        reason = _STOP_REASONS[self._deltas.finish_reason(finish_reason or self._reason)]
        used = {"output_tokens": 0}
        if usage is not None:
            used = {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]}
        delta = {"stop_reason": reason, "stop_sequence": None}
        return [*events, {"type": "message_delta", "delta": delta, "usage": used}, {"type": "message_stop"}]

    def fail(self, message: str, kind: str = "api_error") -> list[Event]:
        """Give the last events of a generation that an error has ended; ``kind`` is one of the API's error types."""
        return [*self.start(), *self._end_block(), {"type": "error", "error": {"type": kind, "message": message}}]

    def _of_delta(self, delta: Mapping[str, Any]) -> list[Event]:
        events: list[Event] = []
        for key, piece in delta.items():
            if key in _BLOCKS:
                block, name = _BLOCKS[key]
                if self._open != key:
                    events += self._begin_block(key, block)
                events.append(self._of_block(f"{name}_delta", name, piece))
            elif key == "tool_calls":
                for entry in piece:
                    events += self._of_call(entry)
        return events

    def _of_call(self, entry: Mapping[str, Any]) -> list[Event]:
        """A whole call as a block of its own."""
        block = {"type": "tool_use", "id": entry["id"], "name": entry["function"]["name"], "input": {}}
        arguments = self._begin_block("tool_calls", block)
        arguments.append(self._of_block("input_json_delta", "partial_json", entry["function"]["arguments"]))
        return [*arguments, *self._end_block()]

    def _begin_block(self, key: str, block: Mapping[str, Any]) -> list[Event]:
        events = self._end_block()
        self._open = key
        self._index += 1
        return [*events, {"type": "content_block_start", "index": self._index, "content_block": dict(block)}]

    def _of_block(self, kind: str, name: str, piece: str) -> Event:
        return {"type": "content_block_delta", "index": self._index, "delta": {"type": kind, name: piece}}

    def _end_block(self) -> list[Event]:
        if self._open is None:
            return []
        self._open = None
        return [{"type": "content_block_stop", "index": self._index}]
