"""What each kind of server is asked so that a completion comes raw, and how it writes one.

In:  the name of a kind of server, a prompt, and parameters in the words of OpenAI's completions API.
Out: the body of the request, and the pieces of the answer.

A parser needs what the model wrote, special tokens included: ``</think>`` or ``<tool_call>`` are special tokens in many
models, and servers leave those out of the text unless they are told otherwise.

- vLLM (``vllm/entrypoints/openai/completion/protocol.py``): ``skip_special_tokens`` and
  ``spaces_between_special_tokens`` are true by default, which loses the one and adds blanks to the other. A chat
  template has written the prompt with its special tokens: ``add_special_tokens``, true by default, would write a second
  beginning-of-sequence token.
- SGLang (``python/sglang/srt/entrypoints/openai/protocol.py``): ``skip_special_tokens`` as well. It adds the
  beginning-of-sequence token to a prompt and can't be told not to.
- llama.cpp (``tools/server``): leaves special tokens out unless it runs with ``--special``, but for those that a
  request lists as ``preserved_tokens``. It adds the beginning-of-sequence token where the model wants one. Its own
  endpoint ``/completion`` has other words for length and usage.

The token that ends the generation, such as ``<|im_end|>``, stays out in all of them; a region that it would close ends
with the generation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Server:
    """One kind of server: the endpoint below its URL, what to ask for, and what it does to the prompt."""

    endpoint: str = "completions"
    raw: Mapping[str, Any] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    lists_special_tokens: bool = False
    adds_bos: bool = False

    def body(
        self, prompt: str | Sequence[int], model: str | None, parameters: Mapping[str, Any], special: Sequence[str]
    ) -> dict[str, Any]:
        """Give the request's body; what keeps the text raw goes before the caller's parameters.

        >>> SERVERS["llama.cpp-native"].body("Hi", None, {"max_tokens": 5}, ["<think>"])
        {'n_predict': 5, 'preserved_tokens': ['<think>'], 'prompt': 'Hi', 'stream': True}
        """
        body: dict[str, Any] = {self.words.get(name, name): value for name, value in parameters.items()}
        body |= self.raw
        if self.lists_special_tokens and special:
            body["preserved_tokens"] = list(special)
        if model is not None:
            body["model"] = model
        body |= {"prompt": prompt if isinstance(prompt, str) else list(prompt), "stream": True}
        if self.endpoint == "completions":
            body.setdefault("stream_options", {"include_usage": True})
        return body


SERVERS: dict[str, Server] = {
    "openai": Server(),
    "vllm": Server(
        raw={"skip_special_tokens": False, "spaces_between_special_tokens": False, "add_special_tokens": False}
    ),
    "sglang": Server(raw={"skip_special_tokens": False}, adds_bos=True),
    "llama.cpp": Server(lists_special_tokens=True, adds_bos=True),
    "llama.cpp-native": Server(
        endpoint="completion", words={"max_tokens": "n_predict"}, lists_special_tokens=True, adds_bos=True
    ),
}
"""The kinds of servers; ``openai`` is any other, which is asked for nothing special."""


def completes_once(parameters: Mapping[str, Any]) -> None:
    """Raise ValueError for parameters with which the text would be more than one completion.

    >>> completes_once({"n": 2})
    Traceback (most recent call last):
    ...
    ValueError: n=2 would mix several texts into one: make a RawCompletion for each
    """
    if parameters.get("n") not in (None, 1):
        raise ValueError(f"n={parameters['n']} would mix several texts into one: make a RawCompletion for each")
    if parameters.get("echo"):
        raise ValueError("echo would repeat the prompt in the text: leave it out")


class Piece(NamedTuple):
    """What one event of an answer says: text, and, where it says them, why the generation ended and what it used."""

    text: str = ""
    finish_reason: str | None = None
    usage: Any = None


def read_piece(data: Mapping[str, Any]) -> Piece:
    """Read one event of an answer, of either form; raises ValueError, with what is wrong, for what is none.

    >>> read_piece({"choices": [{"index": 0, "text": "Hi", "finish_reason": None}]})
    Piece(text='Hi', finish_reason=None, usage=None)
    >>> read_piece({"content": "", "stop": True, "stop_type": "limit", "tokens_predicted": 5, "tokens_evaluated": 9})
    Piece(text='', finish_reason='length', usage={'prompt_tokens': 9, 'completion_tokens': 5, 'total_tokens': 14})
    """
    if "choices" in data:
        return _of_openai(data)
    if isinstance(data.get("content"), str):
        return _of_llama_cpp(data)
    raise ValueError("it has neither choices nor content")


def _of_openai(data: Mapping[str, Any]) -> Piece:
    choices, usage = data["choices"], data.get("usage")
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise ValueError("its choices are no list of objects")
    choice = choices[0] if choices else {}
    if "text" not in choice and ("delta" in choice or "message" in choice):
        raise ValueError("it is part of a chat completion; give the URL of raw completions")
    text, reason = choice.get("text"), choice.get("finish_reason")
    if not isinstance(text, str | None) or not isinstance(reason, str | None):
        raise ValueError("its text or its finish_reason is no text")
    return Piece(text or "", reason, usage if isinstance(usage, dict) else None)


FAILURES = frozenset({"abort", "aborted", "cancelled", "canceled", "error"})
"""Finish reasons of vLLM, SGLang and others that say that the server gave the generation up."""

_STOP_TYPES = {"limit": "length", "eos": "stop", "word": "stop"}


def _of_llama_cpp(data: Mapping[str, Any]) -> Piece:
    """Read an event of ``/completion``; the last one says ``stop`` and has the counts."""
    if data.get("stop") is not True:
        return Piece(data["content"])
    counts = data.get("tokens_evaluated"), data.get("tokens_predicted")
    usage = None
    if isinstance(counts[0], int) and isinstance(counts[1], int):
        usage = {"prompt_tokens": counts[0], "completion_tokens": counts[1], "total_tokens": counts[0] + counts[1]}
    return Piece(data["content"], _STOP_TYPES.get(str(data.get("stop_type", "eos"))), usage)
