"""Events as ``chat.completion.chunk`` objects, the stream of OpenAI's chat completions.

In:  the events of ``ResponseParser`` or ``parse_stream``, one at a time.
Out: chunks as dicts: the first says the role, the last the finish reason; between them what ``deltas.py`` gives.

The format is that of https://platform.openai.com/docs/api-reference/chat-streaming. ``reasoning_content`` is not part
of it, but what vLLM, SGLang, DeepSeek and others send; the official client keeps it.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import Any

from streamparse.adapters.openai.deltas import Delta, Event, MessageDeltas
from streamparse.template import TemplateSource

Chunk = dict[str, Any]

EXTENSION_KEY = "streamparse"
"""Where the last chunk's choice has what the format has no words for: ``{"problems": […]}``, if there were any."""


class ChatCompletionChunks:
    """Turns the events of one generation into chunks; ``template`` is the one that the events were parsed with.

    Parse with ``deltas=True`` for calls that go out while they are written; without, or with ``whole_calls``, each goes
    out once it is whole and well-formed, and a malformed one is content. ``id``,
    ``created`` (seconds since 1970) and ``model`` stand in every chunk. ``index`` is the choice's: of several choices
    each has a machine of its own, with the same ``id`` and ``created``. ``include_usage`` is what the client's
    ``stream_options`` ask for: every chunk then has the key ``usage``, null but in the one of :meth:`usage_chunk`.

    >>> chunks = ChatCompletionChunks("qwen3", model="m", id="chatcmpl-1", created=0)
    >>> event = {"type": "region_chunk", "field": "content", "text": "Hi", "dirty": False}
    >>> [chunk["choices"][0]["delta"] for chunk in chunks.feed(event)]
    [{'role': 'assistant', 'content': None}, {'content': 'Hi'}]
    >>> chunks.finish()[0]["choices"][0]
    {'index': 0, 'delta': {}, 'logprobs': None, 'finish_reason': 'stop'}
    """

    def __init__(
        self,
        template: TemplateSource,
        *,
        model: str = "",
        id: str | None = None,
        created: int | None = None,
        index: int = 0,
        include_usage: bool = False,
        whole_calls: bool = False,
    ) -> None:
        self._deltas = MessageDeltas(template, whole_calls=whole_calls)
        self._envelope: Chunk = {
            "id": new_id() if id is None else id,
            "object": "chat.completion.chunk",
            "created": int(time.time()) if created is None else created,
            "model": model,
        }
        self._index = index
        self.include_usage = include_usage
        self._started = False
        self._finished = False

    def start(self) -> list[Chunk]:
        """Give the chunk that says the role, if it has not been given; :meth:`feed` gives it with the first event."""
        if self._started:
            return []
        self._started = True
        return [self._chunk({"role": "assistant", "content": None})]

    def feed(self, event: Event) -> list[Chunk]:
        """Give the chunks of the next event; the event ``message`` gives the last one."""
        chunks = [*self.start(), *map(self._chunk, self._deltas.feed(event))]
        return chunks + self._end(event["finish_reason"]) if event["type"] == "message" else chunks

    def finish(self, finish_reason: str | None = None) -> list[Chunk]:
        """Give the last chunks of events that end without a ``message``, such as those of ``ResponseParser``.

        ``finish_reason`` is what the engine said, such as ``"length"``.
        """
        return [*self.start(), *map(self._chunk, self._deltas.finish()), *self._end(finish_reason)]

    def interrupt(self) -> list[Chunk]:
        """Give what goes before an error that ends the stream: it makes a call that is cut off unreadable."""
        return [*map(self._chunk, self._deltas.finish())]

    def usage_chunk(self, usage: Mapping[str, Any]) -> Chunk:
        """Give the chunk that comes after all others and says how many tokens were used, as the engine counted them.

        ``usage`` has ``prompt_tokens``, ``completion_tokens`` and ``total_tokens``.
        """
        return {**self._envelope, "choices": [], "usage": dict(usage)}

    def _end(self, reason: str | None) -> list[Chunk]:
        if self._finished:
            return []
        self._finished = True
        chunk = self._chunk({}, self._deltas.finish_reason(reason))
        if self._deltas.problems:
            chunk["choices"][0][EXTENSION_KEY] = {"problems": self._deltas.problems}
        return [chunk]

    def _chunk(self, delta: Delta, finish_reason: str | None = None) -> Chunk:
        choice = {"index": self._index, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        chunk: Chunk = {**self._envelope, "choices": [choice]}
        if self.include_usage:
            chunk["usage"] = None
        return chunk


def new_id() -> str:
    """Give an id for a chat completion."""
    return f"chatcmpl-{uuid.uuid4().hex}"
