"""Messages as a prompt: the model's own chat template, rendered with what an OpenAI-style client sends.

In:  messages and tools as a client has them, and arguments for the chat template.
Out: the prompt, up to where the model's message begins.

Chat templates expect less variety than clients send. Contents that are lists of text parts are joined; no content is
the empty text; arguments of calls, which clients send as JSON text, are objects, and text again where the template
refuses that; a tool's answer has its tool's name; ``developer`` is ``system`` where the template doesn't know the word.
The template runs in the sandbox of ``streamparse.infer``, within limits.
"""

from __future__ import annotations

import datetime
import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from streamparse.adapters.serve.errors import RequestError
from streamparse.adapters.serve.request import DEPTH, is_deeper
from streamparse.infer.meter import RenderLimits
from streamparse.infer.sandbox import CompiledTemplate, Refusal
from streamparse.infer.source import ChatTemplate

Message = dict[str, Any]

LIMITS = RenderLimits(steps=20_000_000, text=400_000_000, value=50_000_000, seconds=10.0)
"""Conversations are long, other than those that inference poses."""


class PromptRenderer:
    """Renders conversations with one chat template; ``arguments`` are given to it unless a request says otherwise.

    ``keep_bos=False`` takes the beginning-of-sequence token off the prompt, for servers that add it themselves.

    >>> source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>"
    >>> PromptRenderer(ChatTemplate(source)).render([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], [])
    '<user>Hi<assistant>'
    """

    def __init__(
        self, source: ChatTemplate, *, arguments: Mapping[str, Any] | None = None, keep_bos: bool = True
    ) -> None:
        self._template = CompiledTemplate(source.text, LIMITS)
        self._rendering = threading.Lock()  # a compiled template counts the cost of one rendering at a time
        self._knows_developer = "developer" in source.text
        self._bos = None if keep_bos else source.bos_token
        self._arguments = {
            "bos_token": source.bos_token or "",
            "eos_token": source.eos_token or "",
            "documents": None,
            **(arguments or {}),
        }

    def render(
        self, messages: Sequence[Message], tools: Sequence[Any], arguments: Mapping[str, Any] | None = None
    ) -> str:
        """Give the prompt; raises RequestError for what can't be put to the template, and where it refuses."""
        normal = self._normal(messages)
        variables = {
            **self._arguments,
            **(arguments or {}),
            "tools": list(tools) or None,
            "add_generation_prompt": True,
            "strftime_now": _strftime_now,
        }
        try:
            prompt = self._rendered({**variables, "messages": normal})
        except Refusal as refusal:
            try:
                prompt = self._rendered({**variables, "messages": _with_arguments_as_text(normal)})
            except Refusal:
                raise RequestError(
                    400, f"the chat template refuses this conversation: {refusal}", param="messages"
                ) from refusal
        return prompt.removeprefix(self._bos) if self._bos else prompt

    def _rendered(self, variables: Mapping[str, Any]) -> str:
        with self._rendering:
            return self._template.render(variables)

    def _normal(self, messages: Sequence[Message]) -> list[Message]:
        """The messages as chat templates expect them; those that were given stay as they are."""
        names: dict[str | None, str] = {}
        normal = []
        for index, message in enumerate(messages):
            where = f"messages[{index}]"
            message = {**message, "content": _content(message.get("content"), where)}
            if message["role"] == "developer" and not self._knows_developer:
                message["role"] = "system"
            if message.get("tool_calls"):
                message["tool_calls"] = [_call(call, where) for call in _list(message["tool_calls"], where)]
                names |= {call.get("id"): call["function"]["name"] for call in message["tool_calls"]}
            elif message["role"] == "tool" and _id(message, "tool_call_id", where) in names:
                message.setdefault("name", names[message["tool_call_id"]])
            normal.append(message)
        return normal


def _content(content: Any, where: str) -> str:
    """A message's content as one text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    for part in parts:
        if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
            raise RequestError(400, f"{where}.content must be text, or parts of type text", param=where)
    return "".join(part["text"] for part in parts)


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise RequestError(400, f"{where}.tool_calls must be an array", param=where)
    return value


def _id(holder: Mapping[str, Any], key: str, where: str) -> str | None:
    """The id of a call, None where it has none."""
    value = holder.get(key)
    if not isinstance(value, str | None):
        raise RequestError(400, f"{where}: the {key} of a call must be text", param=where)
    return value


def _call(call: Any, where: str) -> dict[str, Any]:
    """A call with its arguments as an object, if they are JSON; what a model wrote wrongly stays text."""
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise RequestError(400, f"{where}.tool_calls must have functions with a name", param=where)
    _id(call, "id", where)
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            return dict(call)
        if is_deeper(arguments, DEPTH):
            return dict(call)
    return {**call, "function": {**function, "arguments": arguments or {}}}


def _with_arguments_as_text(messages: Sequence[Message]) -> list[Message]:
    """The messages with the arguments of calls as JSON text."""

    def as_text(call: dict[str, Any]) -> dict[str, Any]:
        function = call["function"]
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        return {**call, "function": {**function, "arguments": text}}

    return [
        {**message, "tool_calls": [as_text(call) for call in message["tool_calls"]]}
        if message.get("tool_calls")
        else message
        for message in messages
    ]


def _strftime_now(pattern: str) -> str:
    """The present time, which chat templates write into the prompt."""
    return datetime.datetime.now().astimezone().strftime(pattern[:256])
