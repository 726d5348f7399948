"""``/ui/chat``: the AI SDK's UI message stream, for pages built on ``useChat``.

In:  the body that its ``DefaultChatTransport`` sends: ``{id, messages, trigger, messageId}`` with messages of parts.
Out: the same request in the words of chat completions; the answer as chunks of that stream.

What a page adds to the body, such as ``tools`` or ``temperature``, is in the words of chat completions. An answer to a
conversation whose last message is the assistant's, as after results of tools, goes on with that message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from streamparse.adapters.ai_sdk import HEADERS, UIMessageChunks
from streamparse.adapters.openai import DONE
from streamparse.adapters.serve.errors import RequestError
from streamparse.adapters.serve.protocol import Asked, Making, Speech
from streamparse.adapters.serve.reading import needed, objects, optional, unsupported
from streamparse.encode import encode_event
from streamparse.events import RawEvent

_OF_THE_PAGE = frozenset({"id", "messages", "trigger", "messageId", "stream", "stream_options", "n"})
_ROLES = ("system", "user", "assistant")
_FAILED = {"output-error": "errorText", "output-denied": "errorText"}


def read(body: dict[str, Any]) -> Asked:
    """Read a request; raises RequestError for what can't be kept."""
    chat = {key: value for key, value in body.items() if key not in _OF_THE_PAGE}
    messages: list[dict[str, Any]] = []
    last: Mapping[str, Any] = {}
    for where, last in objects(body, "messages"):
        messages += _of_message(last, where)
    continued = optional(last, "id", str, "messages[-1].") if last.get("role") == "assistant" else None
    return Asked({**chat, "messages": messages, "stream": True}, lambda making: _machine(making, continued))


def _machine(making: Making, message: str | None) -> UIMessageChunks:
    return UIMessageChunks(making.template, id=message, whole_calls=making.whole_calls)


def _of_message(message: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """The messages of a chat that a message is: one for each of its steps, and one for each result of a tool."""
    role = needed(message, "role", str, where)
    if role not in _ROLES:
        raise RequestError(400, f"{where}role must be one of {', '.join(_ROLES)}", param=f"{where}role")
    steps: list[list[tuple[str, dict[str, Any]]]] = [[]]
    for place, part in objects(message, "parts", where):
        if part.get("type") == "step-start":
            steps.append([])
        else:
            steps[-1].append((place, part))
    for step in steps:
        yield from _of_step(role, step)


def _of_step(role: str, parts: list[tuple[str, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    texts, reasoning, calls, results = [], [], [], []
    for place, part in parts:
        kind = needed(part, "type", str, place)
        if kind == "text":
            texts.append(needed(part, "text", str, place))
        elif kind == "reasoning":
            reasoning.append(needed(part, "text", str, place))
        elif kind == "dynamic-tool" or kind.startswith("tool-"):
            name = needed(part, "toolName", str, place) if kind == "dynamic-tool" else kind.removeprefix("tool-")
            call = needed(part, "toolCallId", str, place)
            if part.get("state") in ("input-streaming", "input-available") and "output" not in part:
                continue  # a call that was never answered: chat templates have no place for one
            calls.append({"id": call, "type": "function", "function": {"name": name, "arguments": _input(part)}})
            results.append({"role": "tool", "tool_call_id": call, "content": _result(part)})
        elif kind == "file":
            raise unsupported(place.rstrip("."), "only text is read")
        # data and sources are for the page; the model has not seen them
    if texts or reasoning or calls:
        said: dict[str, Any] = {"role": role, "content": "".join(texts)}
        said |= {"reasoning_content": "".join(reasoning)} if reasoning else {}
        yield said | ({"tool_calls": calls} if calls else {})
        yield from results


def _input(part: Mapping[str, Any]) -> Any:
    """A call's arguments; of one that was malformed, what the model wrote."""
    given = part.get("input")
    return part.get("rawInput", {}) if given is None else given


def _result(part: Mapping[str, Any]) -> str:
    """The result of a tool as the model reads it: text, or anything else as JSON."""
    key = _FAILED.get(str(part.get("state")), "output")
    value = part.get(key, "")
    return value if isinstance(value, str) else encode_event(value, standard=True).decode()


def _failed(machine: UIMessageChunks, error: RequestError) -> list[RawEvent]:
    return machine.fail(str(error))


def _lost(error: RequestError) -> list[RawEvent]:
    return [{"type": "error", "errorText": str(error)}]


UI_CHAT = Speech(
    "/ui/chat",
    read,
    _failed,
    done=DONE,
    headers=HEADERS,
    conversation="id",
    abort=UIMessageChunks.abort,
    lost=_lost,
)
