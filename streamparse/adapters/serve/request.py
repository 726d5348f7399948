"""The body of a request for a chat completion, checked.

In:  the bytes of the body.
Out: a ``ChatRequest``; its ``parameters`` are those that go on to the upstream as they are.

What can't be kept is refused with the reason, never passed over: a client that asks for ``logprobs`` relies on them. Of
what has no bearing on the text, such as ``user`` or ``metadata``, nothing is asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamparse.adapters.serve.errors import RequestError
from streamparse.adapters.serve.response_format import wants_json
from streamparse.adapters.serve.tool_choice import ToolChoice, read_tool_choice

_SETTLED_HERE = frozenset(
    {"model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options", "n", "max_tokens"}
    | {"max_completion_tokens", "chat_template_kwargs", "reasoning_effort", "add_generation_prompt"}
    | {"continue_final_message", "response_format", "functions", "function_call"}
)
_WITHOUT_BEARING = frozenset(
    {"user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key", "verbosity"}
    | {"logprobs", "top_logprobs", "modalities", "prediction", "prompt_cache_retention"}
)
_OF_COMPLETIONS = frozenset({"prompt", "echo", "suffix", "best_of", "skip_special_tokens", "n_predict"})
_NOT_PASSED_ON = _SETTLED_HERE | _WITHOUT_BEARING | _OF_COMPLETIONS
"""Every other parameter goes to the upstream as it is: temperature, stop, seed, top_k …"""

_REFUSED: dict[str, tuple[Any, str]] = {
    "logprobs": ((None, False), "log probabilities are of tokens, and a message has none"),
    "functions": ((None, []), "the older form of tools is not supported: give tools"),
    "function_call": (
        (None, "auto", "none"),
        "the older form of tool_choice is not supported",
    ),
    "audio": ((None,), "only text is written"),
    "modalities": ((None, ["text"]), "only text is written"),
}
"""Parameters that can't be kept: the values that need no keeping, and why any other is refused."""


DEPTH = 200
"""Lists and objects that may enclose one another in a body; all that is done with it takes more than this."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request, checked.

    ``template_arguments`` are what the chat template is given beside the conversation. ``one_call`` says that the
    answer ends with its first call, ``continues`` that it goes on with the last message. ``json`` is the
    ``response_format`` of an answer that has to be JSON.
    """

    model: str | None
    messages: list[dict[str, Any]]
    tool_choice: ToolChoice
    one_call: bool
    continues: bool
    json: dict[str, Any] | None
    stream: bool
    include_usage: bool
    choices: int
    max_tokens: int | None
    seed: int | None
    template_arguments: dict[str, Any]
    parameters: dict[str, Any]


def read_request(body: bytes, *, most_choices: int) -> ChatRequest:
    """Read and check a body; raises RequestError, which names the parameter at fault.

    >>> read_request(b'{"messages": [{"role": "user", "content": "Hi"}], "top_k": 5}', most_choices=1).parameters
    {'top_k': 5}
    """
    return check_request(read_object(body), most_choices=most_choices)


def check_request(data: dict[str, Any], *, most_choices: int) -> ChatRequest:
    """Check a body that has been read; raises RequestError, which names the parameter at fault."""
    for name, (kept, reason) in _REFUSED.items():
        if data.get(name) not in kept:
            raise RequestError(400, f"{name} can't be {_shown(data[name])}: {reason}", param=name, code="unsupported")
    tools = _of_type(data, "tools", list) or []
    for index, tool in enumerate(tools):
        _check_tool(tool, f"tools[{index}]")
    tool_choice = read_tool_choice(data.get("tool_choice"), tools)
    messages = _messages(data)
    continues = _continues(data, messages)
    response_format = data.get("response_format")
    json_wanted = wants_json(response_format) and not tool_choice.forced
    if tool_choice.forced and continues:
        raise _unsupported("tool_choice", "a call can't begin in a message that goes on (continue_final_message)")
    arguments = dict(_of_type(data, "chat_template_kwargs", dict) or {})
    if (effort := _of_type(data, "reasoning_effort", str)) is not None:
        arguments.setdefault("reasoning_effort", effort)
    choices = _whole_number(data, "n", least=1)
    if choices is not None and choices > most_choices:
        raise RequestError(400, f"n can't be more than {most_choices} here", param="n")
    options = _of_type(data, "stream_options", dict) or {}
    most_tokens = _whole_number(data, "max_completion_tokens", least=1)
    return ChatRequest(
        model=_of_type(data, "model", str),
        messages=messages,
        tool_choice=tool_choice,
        one_call=_of_type(data, "parallel_tool_calls", bool) is False,
        continues=continues,
        json=response_format if json_wanted else None,
        stream=_of_type(data, "stream", bool) or False,
        include_usage=options.get("include_usage") is True,
        choices=choices or 1,
        max_tokens=most_tokens or _whole_number(data, "max_tokens", least=1),
        seed=_whole_number(data, "seed"),
        template_arguments=arguments,
        parameters={key: value for key, value in data.items() if key not in _NOT_PASSED_ON and value is not None},
    )


def read_object(body: bytes) -> dict[str, Any]:
    """Read a body that is a JSON object, not nested too deep; raises RequestError."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RequestError(400, f"the body is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise RequestError(400, "the body is no JSON object")
    for name, value in data.items():
        if is_deeper(value, DEPTH):
            raise RequestError(400, f"{name} is nested deeper than {DEPTH} lists and objects", param=name)
    return data


def is_deeper(value: Any, depth: int) -> bool:
    """Tell whether more lists and objects than that enclose one another; those of one level are looked at together.

    >>> is_deeper([{"a": 1}], 2), is_deeper([{"a": []}], 2)
    (False, True)
    """
    level = [each for each in [value] if isinstance(each, dict | list)]
    while level and depth > 0:
        inside = (each.values() if isinstance(each, dict) else each for each in level)
        level = [each for items in inside for each in items if isinstance(each, dict | list)]
        depth -= 1
    return bool(level)


def _of_type(data: Mapping[str, Any], name: str, kind: type) -> Any:
    """A parameter, None where it is absent or null."""
    value = data.get(name)
    if value is not None and not isinstance(value, kind):
        raise RequestError(400, f"{name} must be of type {_NAMES[kind]}, not {_shown(value)}", param=name)
    return value


_NAMES: dict[type, str] = {str: "string", bool: "boolean", list: "array", dict: "object"}


def _whole_number(data: Mapping[str, Any], name: str, least: int | None = None) -> int | None:
    value = data.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or (least is not None and value < least):
        bound = "" if least is None else f" of at least {least}"
        raise RequestError(400, f"{name} must be a whole number{bound}, not {_shown(value)}", param=name)
    return value


def _messages(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    messages = _of_type(data, "messages", list)
    if not messages:
        raise RequestError(400, "messages must have at least one message", param="messages")
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise RequestError(400, f"{where} must be an object with a role", param=where)
    return list(messages)


def _continues(data: Mapping[str, Any], messages: list[dict[str, Any]]) -> bool:
    """Whether the answer goes on with the last message, in vLLM's words for it."""
    continues = _of_type(data, "continue_final_message", bool) or False
    generation_prompt = _of_type(data, "add_generation_prompt", bool)
    if not continues and generation_prompt is False:
        raise _unsupported("add_generation_prompt", "an answer begins or, with continue_final_message, goes on")
    if continues and generation_prompt:
        raise _unsupported("continue_final_message", "add_generation_prompt would begin another message")
    if continues and (messages[-1]["role"] != "assistant" or messages[-1].get("tool_calls")):
        raise _unsupported("continue_final_message", "the last message must be the assistant's, without tool_calls")
    return continues


def _unsupported(param: str, reason: str) -> RequestError:
    return RequestError(400, f"{param} can't be kept: {reason}", param=param, code="unsupported")


def _check_tool(tool: Any, where: str) -> None:
    function = tool.get("function") if isinstance(tool, dict) else None
    if isinstance(tool, dict) and tool.get("type") not in (None, "function"):
        raise RequestError(400, f"{where}: only tools of type function are supported", param=where, code="unsupported")
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise RequestError(400, f"{where} must be an object with a function that has a name", param=where)
    if not isinstance(function.get("parameters"), dict | None):
        raise RequestError(400, f"{where}.function.parameters must be a JSON schema", param=where)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]} ..."
