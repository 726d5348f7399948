"""What a client makes of chunks, and how that is compared with the message of the parser."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk

from streamparse import ResponseParser
from streamparse.adapters.openai import ChatCompletionChunks


def parsed(template: Any, pieces: Iterable[str], prefix: str = "", **options: Any) -> tuple[dict[str, Any], list[Any]]:
    """The parser's message, and all events."""
    reason = options.pop("finish_reason", None)
    parser = ResponseParser(template, prefix, **{"errors": "report", **options})
    events = list(parser.initial_events)
    for piece in pieces:
        events += parser.feed(piece)
    message, last = parser.finalize(reason)
    end = {"type": "message", "message": message, "problems": parser.problems, "finish_reason": reason}
    return message, [*events, *last, end]


def chunked(template: Any, events: Iterable[Any], **options: Any) -> list[dict[str, Any]]:
    machine = ChatCompletionChunks(template, **options)
    return [chunk for event in events for chunk in machine.feed(event)]


def accumulated(chunks: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The message of the first choice that the official client puts together."""
    state = ChatCompletionStreamState()
    for chunk in chunks:
        state.handle_chunk(ChatCompletionChunk.model_validate(chunk))
    message = state.current_completion_snapshot.choices[0].message.to_dict()
    return {key: value for key, value in message.items() if value is not None}


def comparable(message: Any) -> dict[str, Any]:
    """A message without what is empty, with its calls as names and arguments; arguments that are text are read."""
    found = {key: value for key, value in dict(message).items() if value not in (None, "", []) and key != "refusal"}
    if "thinking" in found:
        found["reasoning_content"] = found.pop("thinking")
    calls = [call["function"] for call in found.pop("tool_calls", [])]
    if calls:
        found["calls"] = [[call["name"], read(call["arguments"])] for call in calls]
    return found


def read(arguments: Any) -> Any:
    return json.loads(arguments) if isinstance(arguments, str) else arguments
