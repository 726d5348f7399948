"""Events as the UI message stream of the AI SDK (npm ``ai``, versions 5 to 7).

In:  the events of ``ResponseParser`` or ``parse_stream``, one at a time.
Out: the protocol's chunks as dicts, each with its ``type``.

The format is that of https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol. A chunk is the data of a server-sent event
(``sse_event``), the last of which is ``DONE``; ``HEADERS`` go with the answer.

A client may run a tool as soon as it reads ``tool-input-available``, so that is sent only once a call is known to be
well-formed. A call that had begun when it turned out malformed ends with ``tool-input-error``.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from streamparse.adapters.openai.calls import new_call_id
from streamparse.adapters.openai.deltas import Event, MessageDeltas
from streamparse.template import TemplateSource

HEADERS = {"x-vercel-ai-ui-message-stream": "v1"}
"""What the client needs to know of an answer beside that it is an event stream."""

_TEXTS = {"content": "text", "reasoning_content": "reasoning"}
_FINISH_REASONS = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool-calls",
    "content_filter": "content-filter",
}


@dataclass(slots=True)
class _Call:
    id: str
    name: str
    pieces: list[str] = field(default_factory=list)


class UIMessageChunks:
    """Turns the events of one generation into chunks; ``template`` is the one that they were parsed with.

    Parse with ``deltas=True`` for calls that go out while they are written; with ``whole_calls`` each goes out once it
    is whole, and a malformed one is text. ``id`` is the message's; give that of the last message to go on with it.

    What a message has no part for goes out as data: the values of other fields as ``data-<name>``, and
    ``data-malformed``, ``data-repaired`` and ``data-unclaimed``.

    >>> chunks = UIMessageChunks("qwen3", id="a")
    >>> event = {"type": "region_chunk", "field": "content", "text": "Hi", "dirty": False}
    >>> [chunk["type"] for chunk in chunks.feed(event)]
    ['start', 'start-step', 'text-start', 'text-delta']
    >>> [chunk["type"] for chunk in chunks.finish()]
    ['text-end', 'finish-step', 'finish']
    """

    def __init__(self, template: TemplateSource, *, id: str | None = None, whole_calls: bool = False) -> None:
        self._deltas = MessageDeltas(template, whole_calls=whole_calls)
        self._id = f"msg_{uuid.uuid4().hex}" if id is None else id
        self._started = False
        self._reason: str | None = None
        self._parts = 0
        self._open: tuple[str, str] | None = None  # the kind and the id of the text that is open
        self._calls: dict[int, _Call] = {}
        self._ids: set[str] = set()

    def start(self) -> list[Event]:
        """Give the chunks that begin the message; :meth:`feed` gives them with the first event."""
        if self._started:
            return []
        self._started = True
        return [{"type": "start", "messageId": self._id}, {"type": "start-step"}]

    def feed(self, event: Event) -> list[Event]:
        """Give what comes of the next event."""
        chunks = self.start()
        for delta in self._deltas.feed(event):
            chunks += self._of_delta(delta)
        chunks += self._settle()
        if (beside := self._deltas.beside(event)) is not None:
            chunks.append({"type": f"data-{beside[0]}", "data": beside[1]})
        if event["type"] == "message":
            self._reason = event["finish_reason"]
        return chunks

    def finish(self, usage: Mapping[str, Any] | None = None, finish_reason: str | None = None) -> list[Event]:
        """Give the last chunks.

        ``usage`` is as in a chat completion, and goes into the message's metadata. ``finish_reason`` is what the engine
        said, where no ``message`` event has said it.
        """
        chunks = self._end()
        reason = self._deltas.finish_reason(finish_reason or self._reason)
        finish: Event = {"type": "finish", "finishReason": _FINISH_REASONS[reason]}
        if usage is not None:
            finish["messageMetadata"] = {"usage": _usage(usage)}
        return [*chunks, {"type": "finish-step"}, finish]

    def fail(self, message: str) -> list[Event]:
        """Give the last chunks of a generation that an error has ended; the client is told the message."""
        return [*self._end(), {"type": "error", "errorText": message}]

    def abort(self, reason: str | None = None) -> list[Event]:
        """Give the last chunks of a generation that was stopped before its end."""
        abort: Event = {"type": "abort"} if reason is None else {"type": "abort", "reason": reason}
        return [*self._end(), abort]

    def _end(self) -> list[Event]:
        chunks = self.start()
        for delta in self._deltas.finish():
            chunks += self._of_delta(delta)
        return [*chunks, *self._settle(), *self._end_text()]

    def _of_delta(self, delta: Mapping[str, Any]) -> list[Event]:
        chunks: list[Event] = []
        for key, piece in delta.items():
            if key in _TEXTS:
                chunks += self._of_text(_TEXTS[key], piece)
            elif key == "tool_calls":
                for entry in piece:
                    chunks += self._of_call(entry)
        return chunks

    def _of_text(self, kind: str, piece: str) -> list[Event]:
        chunks: list[Event] = []
        if self._open is None or self._open[0] != kind:
            chunks = self._end_text()
            self._parts += 1
            self._open = kind, f"{kind}-{self._parts}"
            chunks.append({"type": f"{kind}-start", "id": self._open[1]})
        return [*chunks, {"type": f"{kind}-delta", "id": self._open[1], "delta": piece}]

    def _end_text(self) -> list[Event]:
        if self._open is None:
            return []
        (kind, part), self._open = self._open, None
        return [{"type": f"{kind}-end", "id": part}]

    def _of_call(self, entry: Mapping[str, Any]) -> list[Event]:
        chunks: list[Event] = []
        if "id" in entry:
            # parts of a message are told apart by this id, which a model may have written twice
            made = new_call_id() if entry["id"] in self._ids else entry["id"]
            self._ids.add(made)
            call = self._calls[entry["index"]] = _Call(made, entry["function"]["name"])
            chunks = self._end_text()
            chunks.append({"type": "tool-input-start", "toolCallId": call.id, "toolName": call.name})
        call, piece = self._calls[entry["index"]], entry["function"]["arguments"]
        if piece:
            call.pieces.append(piece)
            chunks.append({"type": "tool-input-delta", "toolCallId": call.id, "inputTextDelta": piece})
        return chunks

    def _settle(self) -> list[Event]:
        """Say of calls what has become of them."""
        chunks = []
        for index, sound in self._deltas.settled():
            call = self._calls.pop(index)
            text = "".join(call.pieces)
            chunk: Event = {"toolCallId": call.id, "toolName": call.name, "input": _read(text) if sound else text}
            if sound:
                chunks.append({"type": "tool-input-available", **chunk})
            else:
                chunks.append({"type": "tool-input-error", **chunk, "errorText": self._error()})
        return chunks

    def _error(self) -> str:
        problems = self._deltas.problems
        return str(problems[-1]["error"]) if problems else "the generation ended inside of the call"


def _read(text: str) -> Any:
    """A sound call's arguments; those that are no JSON are the text that the model wrote for them."""
    try:
        return json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return text


def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    prompt, completion = usage["prompt_tokens"], usage["completion_tokens"]
    return {"inputTokens": prompt, "outputTokens": completion, "totalTokens": prompt + completion}
