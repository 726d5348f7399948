"""``/v1/messages``: Anthropic's Messages API.

In:  the body of a request, as https://docs.anthropic.com/en/api/messages has it.
Out: the same request in the words of chat completions; answers and errors as that API has them.

An answer whose last message is the assistant's goes on with it. Results of tools become messages of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from streamparse.adapters.anthropic import MessageEvents, whole_message
from streamparse.adapters.serve.errors import RequestError
from streamparse.adapters.serve.protocol import Asked, Making, Speech
from streamparse.adapters.serve.reading import needed, objects, optional, unsupported
from streamparse.events import RawEvent

_AS_THEY_ARE = ("model", "max_tokens", "temperature", "top_p", "top_k", "stream")
_WITHOUT_BEARING = frozenset({"metadata", "service_tier", "cache_control", "inference_geo", "betas", "anthropic_beta"})
_READ = frozenset(
    {"messages", "system", "tools", "tool_choice", "stop_sequences", "thinking", "output_config", "output_format"}
)
_REFUSED = {
    "container": "there are no containers",
    "mcp_servers": "no tools are run here",
    "context_management": "the conversation is taken as it is",
}
_CHOICES = {"auto": "auto", "any": "required", "none": "none"}

_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}


def read(body: dict[str, Any]) -> Asked:
    """Read a request; raises RequestError for what can't be kept."""
    for name, reason in _REFUSED.items():
        if body.get(name):
            raise unsupported(name, reason)
    needed(body, "max_tokens", int)
    others = body.keys() - {*_AS_THEY_ARE} - _READ - _WITHOUT_BEARING - _REFUSED.keys()
    chat = {key: body[key] for key in (*_AS_THEY_ARE, *sorted(others)) if key in body}
    messages = [] if body.get("system") is None else [{"role": "system", "content": _text(body, "system", "")}]
    for where, message in objects(body, "messages"):
        messages += _of_message(message, where)
    chat["messages"] = messages
    if messages and messages[-1]["role"] == "assistant":
        chat["continue_final_message"] = True
    if body.get("stop_sequences") is not None:
        chat["stop"] = needed(body, "stop_sequences", list)
    if tools := [_tool(tool, where) for where, tool in objects(body, "tools")]:
        chat["tools"] = tools
    chat |= _choice(optional(body, "tool_choice", dict) or {})
    chat |= _thinking(optional(body, "thinking", dict) or {})
    chat |= _format(body)
    return Asked(chat, lambda making: _machine(making))


def _machine(making: Making) -> MessageEvents:
    return MessageEvents(making.template, model=making.model)


def _of_message(message: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    """The messages of a chat that a message is: each result of a tool is one."""
    role = needed(message, "role", str, where)
    if role not in ("user", "assistant", "system"):
        raise RequestError(400, f"{where}role must be user or assistant", param=f"{where}role")
    if isinstance(message.get("content"), str):
        yield {"role": role, "content": message["content"]}
        return
    texts, thinking, calls = [], [], []
    for place, block in objects(message, "content", where):
        kind = block.get("type")
        if kind == "text":
            texts.append(needed(block, "text", str, place))
        elif kind == "thinking" and role == "assistant":
            thinking.append(needed(block, "thinking", str, place))
        elif kind == "redacted_thinking" and role == "assistant":
            continue  # nothing in it can be read here
        elif kind == "tool_use" and role == "assistant":
            function = {"name": needed(block, "name", str, place), "arguments": optional(block, "input", dict) or {}}
            calls.append({"id": needed(block, "id", str, place), "type": "function", "function": function})
        elif kind == "tool_result" and role == "user":
            result = _text(block, "content", place) if block.get("content") is not None else ""
            yield {"role": "tool", "tool_call_id": needed(block, "tool_use_id", str, place), "content": result}
        else:
            raise unsupported(place.rstrip("."), f"only text, calls and their results are read, not {kind!r}")
    if texts or thinking or calls:
        said: dict[str, Any] = {"role": role, "content": "".join(texts)}
        said |= {"reasoning_content": "".join(thinking)} if thinking else {}
        yield said | ({"tool_calls": calls} if calls else {})


def _text(holder: Mapping[str, Any], key: str, where: str) -> str:
    """A text, or the text of its blocks."""
    if isinstance(holder[key], str):
        return str(holder[key])
    pieces = []
    for place, block in objects(holder, key, where):
        if block.get("type") != "text":
            raise unsupported(place.rstrip("."), f"only text is read, not {block.get('type')!r}")
        pieces.append(needed(block, "text", str, place))
    return "".join(pieces)


def _tool(tool: Mapping[str, Any], where: str) -> dict[str, Any]:
    if tool.get("type") not in (None, "custom"):
        raise unsupported(where.rstrip("."), "tools of the server are not run here")
    function = {"name": needed(tool, "name", str, where), "parameters": needed(tool, "input_schema", dict, where)}
    description = optional(tool, "description", str, where)
    return {"type": "function", "function": function | ({"description": description} if description else {})}


def _choice(choice: Mapping[str, Any]) -> dict[str, Any]:
    chat: dict[str, Any] = {}
    if choice.get("disable_parallel_tool_use") is True:
        chat["parallel_tool_calls"] = False
    kind = choice.get("type", "auto")
    if kind == "tool":
        return {**chat, "tool_choice": {"type": "function", "function": {"name": choice.get("name")}}}
    if not isinstance(kind, str) or kind not in _CHOICES:
        raise RequestError(400, "tool_choice.type must be auto, any, tool or none", param="tool_choice")
    return {**chat, "tool_choice": _CHOICES[kind]} if choice else chat


def _thinking(thinking: Mapping[str, Any]) -> dict[str, Any]:
    """Whether to think, as chat templates of the models that can do both are told."""
    if not thinking:
        return {}
    return {"chat_template_kwargs": {"enable_thinking": thinking.get("type") != "disabled"}}


def _format(body: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON that an answer has to be."""
    config = optional(body, "output_config", dict) or {}
    chat: dict[str, Any] = {}
    if (effort := optional(config, "effort", str, "output_config.")) is not None:
        chat["reasoning_effort"] = effort
    given = optional(body, "output_format", dict) or optional(config, "format", dict, "output_config.")
    if given is not None:
        schema = {"name": "answer", "schema": needed(given, "schema", dict, "output_config.format.")}
        chat["response_format"] = {"type": "json_schema", "json_schema": schema}
    return chat


def _error(error: RequestError) -> RawEvent:
    kind = _ERRORS.get(error.status, "invalid_request_error" if error.status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": str(error)}}


def _failed(machine: MessageEvents, error: RequestError) -> list[RawEvent]:
    return machine.fail(str(error), _error(error)["error"]["type"])


MESSAGES = Speech("/v1/messages", read, _failed, named=True, whole=whole_message, refusal=_error)
