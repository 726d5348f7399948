"""Chunks put together: the ``chat.completion`` object that a client gets which does not ask for a stream.

In:  the chunks of one chat completion, of all of its choices, in the order in which they were made.
Out: the object, with the message of each choice.

The format is that of https://platform.openai.com/docs/api-reference/chat/object.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streamparse.adapters.openai.chunks import EXTENSION_KEY, Chunk


def chat_completion(chunks: Iterable[Chunk]) -> dict[str, Any]:
    """Put the chunks of a chat completion together.

    For a message whose calls are all well-formed, make the chunks with ``whole_calls``, or of events without deltas: a
    call is then announced when it is known to be well-formed, and one that is malformed is content.

    >>> from streamparse import ResponseParser
    >>> from streamparse.adapters.openai import ChatCompletionChunks
    >>> parser, chunks = ResponseParser("qwen3", ""), ChatCompletionChunks("qwen3", model="m")
    >>> made = [chunk for event in parser.feed("Hello") for chunk in chunks.feed(event)]
    >>> chat_completion(made + chunks.finish())["choices"][0]["message"]["content"]
    'Hello'
    """
    whole: dict[str, Any] = {"id": "", "object": "chat.completion", "created": 0, "model": "", "choices": []}
    choices: dict[int, _Choice] = {}
    usage = None
    for chunk in chunks:
        whole |= {key: chunk[key] for key in ("id", "created", "model")}
        usage = chunk.get("usage") or usage
        for choice in chunk["choices"]:
            choices.setdefault(choice["index"], _Choice()).add(choice)
    whole["choices"] = [{"index": index, **choice.whole()} for index, choice in sorted(choices.items())]
    whole["usage"] = usage
    return whole


class _Choice:
    """One choice as it is put together; texts are joined once, at the end."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {"content": []}
        self._calls: list[dict[str, Any]] = []
        self._arguments: list[list[str]] = []
        self._rest: dict[str, Any] = {"finish_reason": None}

    def add(self, choice: dict[str, Any]) -> None:
        """Take the next chunk's choice."""
        for key, piece in choice["delta"].items():
            if key == "tool_calls":
                for entry in piece:
                    self._add_call(entry)
            elif key != "role" and piece is not None:
                self._texts.setdefault(key, []).append(piece)
        if choice["finish_reason"] is not None:
            self._rest |= {key: choice[key] for key in ("finish_reason", EXTENSION_KEY) if key in choice}

    def whole(self) -> dict[str, Any]:
        """Give the choice but for its index."""
        message: dict[str, Any] = {"role": "assistant", "refusal": None}
        message |= {key: "".join(pieces) or None for key, pieces in self._texts.items()}
        for call, pieces in zip(self._calls, self._arguments, strict=True):
            call["function"]["arguments"] = "".join(pieces)
        if self._calls:
            message["tool_calls"] = self._calls
        return {"message": message, "logprobs": None, **self._rest}

    def _add_call(self, entry: dict[str, Any]) -> None:
        function = entry["function"]
        if entry["index"] == len(self._calls):
            self._calls.append({"id": entry["id"], "type": "function", "function": {"name": function["name"]}})
            self._arguments.append([])
        self._arguments[entry["index"]].append(function["arguments"])
