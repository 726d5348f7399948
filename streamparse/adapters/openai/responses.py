"""Events as the stream of OpenAI's Responses API.

In:  the events of ``ResponseParser`` or ``parse_stream``, one at a time.
Out: the API's events as dicts, each with its ``type`` (which is also the name of its server-sent event) and its number.

The format is that of https://platform.openai.com/docs/api-reference/responses-streaming. A response is a list of items,
one open at a time: reasoning, a message with one text, or a call. A call that turns out malformed is an item whose
``status`` is ``incomplete``; what else becomes of it says ``calls.py``.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from typing import Any

from streamparse.adapters.openai.deltas import Event, MessageDeltas
from streamparse.template import TemplateSource

_TEXTS = {
    "content": ("message", "output_text", "response.output_text"),
    "reasoning_content": ("reasoning", "reasoning_text", "response.reasoning_text"),
}
"""Texts of a message that have a place in a response: the item, its part, and what its events' names begin with."""

_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


class ResponseEvents:
    """Turns the events of one generation into those of a response; ``template`` is the one they were parsed with.

    Parse with ``deltas=True`` for calls that go out while they are written; with ``whole_calls`` each goes out once it
    is whole and well-formed, and a malformed one is text. ``asked`` is what the request said that a response repeats,
    such as ``tools`` and ``instructions``. Text of fields other than content and reasoning has no place
    in a response, and is passed over.

    >>> response = ResponseEvents("qwen3", model="m")
    >>> chunk = {"type": "region_chunk", "field": "content", "text": "Hi", "dirty": False}
    >>> [event["type"] for event in response.feed(chunk)]  # doctest: +NORMALIZE_WHITESPACE
    ['response.created', 'response.in_progress', 'response.output_item.added', 'response.content_part.added',
     'response.output_text.delta']
    >>> [event["type"] for event in response.finish()][-1]
    'response.completed'
    """

    def __init__(
        self,
        template: TemplateSource,
        *,
        model: str = "",
        id: str | None = None,
        created: int | None = None,
        whole_calls: bool = False,
        asked: Mapping[str, Any] | None = None,
    ) -> None:
        self._deltas = MessageDeltas(template, whole_calls=whole_calls)
        self._reason: str | None = None
        self._number = -1
        self._started = False
        self._items: list[dict[str, Any]] = []
        self._text: list[str] | None = None  # what was written of the item that is open
        self._response: dict[str, Any] = {
            "id": f"resp_{uuid.uuid4().hex}" if id is None else id,
            "object": "response",
            "created_at": int(time.time()) if created is None else created,
            "model": model,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "parallel_tool_calls": True,
            "temperature": None,
            "tool_choice": "auto",
            "tools": [],
            "top_p": None,
            "usage": None,
        }
        self._response |= asked or {}

    def start(self) -> list[Event]:
        """Give the events that begin a response; :meth:`feed` gives them with the first event."""
        if self._started:
            return []
        self._started = True
        kinds = ("response.created", "response.in_progress")
        return [self._event(kind, response=self._whole("in_progress")) for kind in kinds]

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
        events = self.start()
        for delta in self._deltas.finish():
            events += self._of_delta(delta)
        events += self._end_item()
        reason = self._deltas.finish_reason(finish_reason or self._reason)
        status = "incomplete" if reason in _INCOMPLETE else "completed"
        if reason in _INCOMPLETE:
            self._response["incomplete_details"] = {"reason": _INCOMPLETE[reason]}
        if usage is not None:
            self._response["usage"] = _usage(usage)
        return [*events, self._event(f"response.{status}", response=self._whole(status))]

    def fail(self, message: str, code: str = "server_error") -> list[Event]:
        """Give the last events of a generation that an error has ended; ``code`` is one of the API's."""
        events = self.start()
        for delta in self._deltas.finish():
            events += self._of_delta(delta)
        events += self._end_item()
        self._response["error"] = {"code": code, "message": message}
        return [*events, self._event("response.failed", response=self._whole("failed"))]

    def _of_delta(self, delta: Mapping[str, Any]) -> list[Event]:
        events = []
        for key, piece in delta.items():
            if key in _TEXTS:
                events += self._of_text(key, piece)
            elif key == "tool_calls":
                for entry in piece:
                    events += self._of_call(entry)
        return events

    def _of_text(self, key: str, piece: str) -> list[Event]:
        kind, part, name = _TEXTS[key]
        events = []
        if self._text is None or self._items[-1]["type"] != kind:
            item: dict[str, Any] = {"content": [], "status": "in_progress"}
            item["role" if kind == "message" else "summary"] = "assistant" if kind == "message" else []
            events = self._begin_item(kind, item)
            events.append(self._of_part("response.content_part.added", part=_part(part, "")))
        return [*events, self._written(f"{name}.delta", piece, content_index=0, **_logprobs(part))]

    def _of_call(self, entry: Mapping[str, Any]) -> list[Event]:
        events = []
        function = entry["function"]
        if "id" in entry:
            call = {"call_id": entry["id"], "name": function["name"], "arguments": "", "status": "in_progress"}
            events = self._begin_item("function_call", call)
        if function["arguments"]:
            events.append(self._written("response.function_call_arguments.delta", function["arguments"]))
        return events

    def _begin_item(self, kind: str, item: Mapping[str, Any]) -> list[Event]:
        events = self._end_item()
        self._items.append({"id": f"{kind}_{uuid.uuid4().hex}", "type": kind, **item})
        self._text = []
        return [*events, self._of_item("response.output_item.added")]

    def _end_item(self) -> list[Event]:
        """Say of the open item what it has become."""
        if self._text is None:
            return []
        item, text = self._items[-1], "".join(self._text)
        if item["type"] == "function_call":
            item |= {"arguments": text, "status": "completed" if _is_json(text) else "incomplete"}
            events = [self._of_part("response.function_call_arguments.done", arguments=text, name=item["name"])]
            del events[0]["content_index"]
        else:
            _, part, name = next(kinds for kinds in _TEXTS.values() if kinds[0] == item["type"])
            item |= {"content": [_part(part, text)], "status": "completed"}
            events = [
                self._of_part(f"{name}.done", text=text, **_logprobs(part)),
                self._of_part("response.content_part.done", part=_part(part, text)),
            ]
        self._text = None
        return [*events, self._of_item("response.output_item.done")]

    def _written(self, kind: str, piece: str, **more: Any) -> Event:
        assert self._text is not None, "an item is open"
        self._text.append(piece)
        return self._event(kind, item_id=self._items[-1]["id"], output_index=len(self._items) - 1, delta=piece, **more)

    def _of_part(self, kind: str, **more: Any) -> Event:
        place = {"item_id": self._items[-1]["id"], "output_index": len(self._items) - 1, "content_index": 0}
        return self._event(kind, **place, **more)

    def _of_item(self, kind: str) -> Event:
        return self._event(kind, output_index=len(self._items) - 1, item=dict(self._items[-1]))

    def _event(self, kind: str, **more: Any) -> Event:
        self._number += 1
        return {"type": kind, "sequence_number": self._number, **more}

    def _whole(self, status: str) -> dict[str, Any]:
        return {**self._response, "status": status, "output": list(self._items)}


def _part(kind: str, text: str) -> dict[str, Any]:
    return {"type": kind, "text": text} | ({"annotations": [], "logprobs": []} if kind == "output_text" else {})


def _logprobs(part: str) -> dict[str, Any]:
    return {"logprobs": []} if part == "output_text" else {}


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    prompt, completion = usage["prompt_tokens"], usage["completion_tokens"]
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + completion,
    }
