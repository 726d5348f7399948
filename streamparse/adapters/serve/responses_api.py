"""``/v1/responses``: OpenAI's Responses API.

In:  the body of a request, as https://platform.openai.com/docs/api-reference/responses/create has it.
Out: the same request in the words of chat completions; answers as that API has them.

Nothing is kept here between requests, so each has the whole conversation: the items that the assistant wrote next to
each other are one message of a chat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.adapters.openai import ResponseEvents
from streamparse.adapters.serve.errors import RequestError
from streamparse.adapters.serve.protocol import Asked, Making, Speech
from streamparse.adapters.serve.reading import needed, objects, optional, unsupported
from streamparse.events import RawEvent

_AS_THEY_ARE = ("model", "temperature", "top_p", "stream", "parallel_tool_calls")
_WITHOUT_BEARING = frozenset(
    {"metadata", "store", "user", "service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"}
    | {"include", "stream_options", "truncation", "max_tool_calls", "top_logprobs"}
)
_READ = frozenset({"input", "instructions", "tools", "tool_choice", "text", "reasoning", "max_output_tokens"})
_REFUSED = {
    "previous_response_id": "responses are not kept: send the whole conversation as input",
    "conversation": "conversations are not kept: send the whole conversation as input",
    "background": "responses are not kept",
    "prompt": "prompts are not kept",
    "continue_final_message": "a response begins a message of its own",
}
_REPEATED = ("instructions", "metadata", "parallel_tool_calls", "temperature", "tool_choice", "tools", "top_p")
_PARTS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}


def read(body: dict[str, Any]) -> Asked:
    """Read a request; raises RequestError for what can't be kept."""
    for name, reason in _REFUSED.items():
        if body.get(name):
            raise unsupported(name, reason)
    others = body.keys() - {*_AS_THEY_ARE} - _READ - _WITHOUT_BEARING - _REFUSED.keys()
    chat = {key: body[key] for key in (*_AS_THEY_ARE, *sorted(others)) if key in body}
    if (most := optional(body, "max_output_tokens", int)) is not None:
        chat["max_tokens"] = most
    instructions = optional(body, "instructions", str)
    said = [] if instructions is None else [{"role": "system", "content": instructions}]
    chat["messages"] = [*said, *_messages(body)]
    if tools := [_tool(tool, where) for where, tool in objects(body, "tools")]:
        chat["tools"] = tools
    if (choice := body.get("tool_choice")) is not None:
        chat["tool_choice"] = _choice(choice)
    if (effort := optional(optional(body, "reasoning", dict) or {}, "effort", str, "reasoning.")) is not None:
        chat["reasoning_effort"] = effort
    if (form := optional(optional(body, "text", dict) or {}, "format", dict, "text.")) is not None:
        chat["response_format"] = _format(form)
    asked = {key: body[key] for key in _REPEATED if body.get(key) is not None}
    return Asked(chat, lambda making: _machine(making, asked))


def _machine(making: Making, asked: Mapping[str, Any]) -> ResponseEvents:
    return ResponseEvents(making.template, model=making.model, whole_calls=making.whole_calls, asked=asked)


def _messages(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The input as the messages of a chat."""
    if isinstance(body.get("input"), str):
        return [{"role": "user", "content": body["input"]}]
    messages: list[dict[str, Any]] = []
    for where, item in objects(body, "input"):
        kind = item.get("type", "message")
        if kind == "function_call_output":
            call = needed(item, "call_id", str, where)
            messages.append({"role": "tool", "tool_call_id": call, "content": _text(item, "output", where)})
        elif kind == "message" and item.get("role") != "assistant":
            role = needed(item, "role", str, where)
            messages.append({"role": role, "content": _text(item, "content", where)})
        elif kind in ("message", "reasoning", "function_call"):
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": ""})
            _add(messages[-1], kind, item, where)
        else:
            raise unsupported(where.rstrip("."), f"only messages, reasoning and calls are read, not {kind!r}")
    return messages


def _add(message: dict[str, Any], kind: str, item: Mapping[str, Any], where: str) -> None:
    """Add an item that the assistant wrote to its message."""
    if kind == "message":
        message["content"] += _text(item, "content", where)
    elif kind == "reasoning":
        parts = [*objects(item, "content", where)] or [*objects(item, "summary", where)]
        pieces = [needed(part, "text", str, place) for place, part in parts]
        message["reasoning_content"] = message.get("reasoning_content", "") + "".join(pieces)
    else:
        function = {"name": needed(item, "name", str, where), "arguments": needed(item, "arguments", str, where)}
        call = {"id": needed(item, "call_id", str, where), "type": "function", "function": function}
        message.setdefault("tool_calls", []).append(call)


def _text(holder: Mapping[str, Any], key: str, where: str) -> str:
    """A text, or the text of its parts."""
    if isinstance(holder.get(key), str):
        return str(holder[key])
    pieces = []
    for place, part in objects({key: needed(holder, key, list, where)}, key, where):
        kind = part.get("type")
        if not isinstance(kind, str) or kind not in _PARTS:
            raise unsupported(place.rstrip("."), f"only text is read, not {kind!r}")
        pieces.append(needed(part, _PARTS[kind], str, place))
    return "".join(pieces)


def _tool(tool: Mapping[str, Any], where: str) -> dict[str, Any]:
    if tool.get("type") != "function":
        raise unsupported(where.rstrip("."), "only tools of type function are supported")
    function = {key: tool[key] for key in ("name", "description", "parameters") if tool.get(key) is not None}
    return {"type": "function", "function": function}


def _choice(choice: Any) -> Any:
    """A tool choice as chat completions have it; a tool that is named has its name one level deeper there."""
    if not isinstance(choice, dict):
        return choice
    if choice.get("type") == "function":
        return {"type": "function", "function": {"name": choice.get("name")}}
    if choice.get("type") == "allowed_tools":
        tools = [
            {"type": "function", "function": {"name": tool.get("name")}}
            for _, tool in objects(choice, "tools", "tool_choice.")
        ]
        return {"type": "allowed_tools", "allowed_tools": {"mode": choice.get("mode", "auto"), "tools": tools}}
    raise unsupported("tool_choice", "it must be auto, none, required, a function or allowed_tools")


def _format(form: Mapping[str, Any]) -> dict[str, Any]:
    if form.get("type") != "json_schema":
        return {"type": form.get("type")}
    return {"type": "json_schema", "json_schema": {key: form[key] for key in form.keys() - {"type"}}}


def _whole(events: list[RawEvent]) -> Any:
    return events[-1]["response"]


def _failed(machine: ResponseEvents, error: RequestError) -> list[RawEvent]:
    return machine.fail(str(error), "rate_limit_exceeded" if error.status == 429 else "server_error")


RESPONSES = Speech("/v1/responses", read, _failed, named=True, whole=_whole)
