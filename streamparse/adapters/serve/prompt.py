"""Messages as a prompt: the model's own chat template, rendered with what an OpenAI-style client sends.

In:  messages and tools as a client has them, and arguments for the chat template.
Out: the prompt, up to where the model's message begins.

Chat templates expect less variety than clients send: ``messages.py`` has the forms of a conversation that are tried,
one after the other, until the template takes one. The template runs in the sandbox of ``streamparse.infer``, within
limits.
"""

from __future__ import annotations

import datetime
import itertools
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from streamparse.adapters.serve.errors import RequestError
from streamparse.adapters.serve.messages import complete_tools, normal_messages, other_forms
from streamparse.adapters.serve.reasoning_key import DEFAULT, reasoning_key
from streamparse.infer.meter import RenderLimits
from streamparse.infer.sandbox import CompiledTemplate, Refusal
from streamparse.infer.source import ChatTemplate

Message = dict[str, Any]

SECONDS = 10.0
LIMITS = RenderLimits(steps=20_000_000, text=400_000_000, value=50_000_000, seconds=SECONDS)
"""Conversations are long, other than those that inference poses. The seconds are for all forms of one together."""


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
        self._source = source
        self._template = CompiledTemplate(source.text, LIMITS)
        self._reasoning_key: str | None = None
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
        self,
        messages: Sequence[Message],
        tools: Sequence[Any],
        arguments: Mapping[str, Any] | None = None,
        *,
        generation_prompt: bool = True,
    ) -> str:
        """Give the prompt; raises RequestError for what can't be put to the template, and where it refuses.

        Without ``generation_prompt`` it is the conversation as it is, with no answer begun.
        """
        key = self._key(messages)
        normal = normal_messages(messages, knows_developer=self._knows_developer, reasoning_key=key)
        variables = {
            **self._arguments,
            **(arguments or {}),
            "add_generation_prompt": generation_prompt,
            "strftime_now": _strftime_now,
        }
        deadline = time.monotonic() + SECONDS
        first: Refusal | None = None
        tried: list[Any] = []
        for shown, form in itertools.product((list(tools) or None, complete_tools(tools)), other_forms(normal)):
            if (shown, form) in tried:
                continue
            tried.append((shown, form))
            try:
                prompt = self._rendered({**variables, "tools": shown, "messages": form}, deadline)
            except Refusal as refusal:
                first = first or refusal
            else:
                return prompt.removeprefix(self._bos) if self._bos else prompt
        raise RequestError(400, f"the chat template refuses this conversation: {first}", param="messages") from first

    def _rendered(self, variables: Mapping[str, Any], deadline: float) -> str:
        with self._rendering:
            return self._template.render(variables, max(0.0, deadline - time.monotonic()))

    def _key(self, messages: Sequence[Message]) -> str:
        """Where the template reads reasoning; it is found out when a conversation first has some."""
        if self._reasoning_key is None and any(message["role"] == "assistant" for message in messages):
            self._reasoning_key = reasoning_key(self._source)
        return self._reasoning_key or DEFAULT


def _strftime_now(pattern: str) -> str:
    """The present time, which chat templates write into the prompt."""
    return datetime.datetime.now().astimezone().strftime(pattern[:256])
