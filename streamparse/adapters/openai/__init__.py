"""Between OpenAI-style servers and clients: raw completions in, chat completions out.

=====================  ===========================================================================
``servers``            what each kind of server is asked so that it keeps the raw text
``raw_completion``     the source: a raw completion stream over HTTP, as a source of ``parse_stream``
``deltas``             events as deltas of a message, with ``texts`` and ``calls`` for its parts
``unreadable``         what keeps the arguments of a bad call from being read
``chunks``             deltas as the chunks of a chat completion
``completion``         chunks put together: a whole chat completion
``responses``          deltas as the events of the Responses API
``sse``                server-sent events
=====================  ===========================================================================

All but the source, which is imported when it is asked for, need nothing installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamparse.adapters.openai.chunks import ChatCompletionChunks
from streamparse.adapters.openai.completion import chat_completion
from streamparse.adapters.openai.deltas import MessageDeltas
from streamparse.adapters.openai.responses import ResponseEvents
from streamparse.adapters.openai.sse import DONE, error_object, sse_event, sse_stream

if TYPE_CHECKING:
    from streamparse.adapters.openai.raw_completion import CompletionError, RawCompletion

__all__ = [
    "DONE",
    "ChatCompletionChunks",
    "CompletionError",
    "MessageDeltas",
    "RawCompletion",
    "ResponseEvents",
    "chat_completion",
    "error_object",
    "sse_event",
    "sse_stream",
]

_NEEDS_HTTPX = ("CompletionError", "RawCompletion")


def __getattr__(name: str) -> Any:
    """Import the source when it is asked for: it needs httpx, which is an extra."""
    if name not in _NEEDS_HTTPX:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from streamparse.adapters.openai import raw_completion

    return getattr(raw_completion, name)
