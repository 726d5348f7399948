"""A conversation as chat templates expect it, from the variety that clients send.

In:  the messages and tools of a request.
Out: messages with one text each, and further forms of them for chat templates that refuse the first.

What OpenAI's API allows is taken. Contents that are lists of text parts are joined, and no content is the empty text;
a refusal is text too. The arguments of calls, which clients send as JSON text, are objects. A tool's answer has its
tool's name. Messages of the older form (``function_call``, the role ``function``) and custom tools become the present
one. Reasoning goes to the key that the chat template reads (``reasoning_key.py``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from streamparse.adapters.serve.errors import RequestError
from streamparse.adapters.serve.request import DEPTH, is_deeper

Message = dict[str, Any]
Tool = dict[str, Any]

REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")
"""The names under which clients send reasoning back, and chat templates read it."""

_PARTS = {"text": "text", "refusal": "refusal", "thinking": "thinking", "reasoning": "reasoning"}
"""Parts of a content, and the key of their text; the last two are reasoning."""


def normal_messages(messages: Sequence[Message], *, knows_developer: bool, reasoning_key: str) -> list[Message]:
    """Give the messages as chat templates expect them; raises RequestError for what is no text.

    >>> normal_messages([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], knows_developer=True,
    ...                 reasoning_key="thinking")
    [{'role': 'user', 'content': 'Hi'}]
    """
    names: dict[str | None, str] = {}
    normal = []
    for index, given in enumerate(messages):
        where = f"messages[{index}]"
        message = {key: value for key, value in given.items() if value is not None}
        if message["role"] == "developer" and not knows_developer:
            message["role"] = "system"
        if message["role"] == "function":
            message["role"] = "tool"
        if "function_call" in message:
            message.setdefault("tool_calls", [{"type": "function", "function": message.pop("function_call")}])
        content, reasoning = _texts(message, where)
        message["content"] = content
        _set_reasoning(message, reasoning, reasoning_key)
        if calls := message.pop("tool_calls", None):
            message["tool_calls"] = [_call(call, where) for call in _list(calls, where)]
            names |= {call.get("id"): call["function"]["name"] for call in message["tool_calls"]}
        elif message["role"] == "tool" and _id(message, "tool_call_id", where) in names:
            message.setdefault("name", names[message.get("tool_call_id")])
        normal.append(message)
    return normal


def other_forms(messages: list[Message]) -> Iterator[list[Message]]:
    """Give the forms of a conversation that a chat template may take if it refuses the one before, the first first.

    Arguments as JSON text; arguments that are no object, as a model may have written them, inside one; no reasoning
    beside both content and calls, of which some templates take only two.
    """
    yield messages
    yield _with_arguments(messages, _as_text)
    objects = _with_arguments(messages, _as_object)
    yield objects
    yield [_without_reasoning_beside_content(message) for message in objects]


def complete_tools(tools: Sequence[Tool]) -> list[Tool]:
    """Give tools with what the API lets a client leave out: some chat templates can't do without.

    >>> complete_tools([{"type": "function", "function": {"name": "f"}}])[0]["function"]
    {'name': 'f', 'description': '', 'parameters': {'type': 'object', 'properties': {}}}
    """
    return [{"type": "function", **tool, "function": _complete(tool["function"])} for tool in tools]


def _complete(function: Mapping[str, Any]) -> dict[str, Any]:
    given = {key: value for key, value in function.items() if value is not None}
    parameters = {"type": "object", "properties": {}, **given.get("parameters", {})}
    if isinstance(properties := parameters["properties"], dict):
        parameters["properties"] = {
            name: {"description": "", **schema} if isinstance(schema, dict) else schema
            for name, schema in properties.items()
        }
    return {"name": given["name"], "description": "", **given, "parameters": parameters}


def _texts(message: Message, where: str) -> tuple[str, str]:
    """A message's content as one text, and its reasoning, which may be a part of the content or a key beside it."""
    content = message.get("content", "")
    refusal = message.pop("refusal", "")
    beside = [message.pop(key, "") for key in REASONING_KEYS]
    texts: list[str] = []
    reasoning: list[str] = [next((text for text in beside if isinstance(text, str) and text), "")]
    for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        kind, text = _part(part, where)
        (reasoning if kind in ("thinking", "reasoning") else texts).append(text)
    if not any(texts) and isinstance(refusal, str):
        texts.append(refusal)
    return "".join(texts), "".join(reasoning)


def _part(part: Any, where: str) -> tuple[str, str]:
    """The kind and the text of a part of a content; raises RequestError for what is no text."""
    kind = part.get("type") if isinstance(part, dict) else None
    text = part.get(_PARTS[kind]) if kind in _PARTS else None
    if kind in ("thinking", "reasoning") and not isinstance(text, str):
        text = _nested_text(text if text is not None else part.get("text"))
    if not isinstance(text, str):
        raise RequestError(400, f"{where}.content must be text, or parts of type text", param=where)
    return str(kind), text


def _nested_text(value: Any) -> Any:
    """The text of a thinking part that has parts of its own, as Mistral's clients write it."""
    if isinstance(value, list):
        return "".join(item["text"] for item in value if isinstance(item, dict) and isinstance(item.get("text"), str))
    return value


def _set_reasoning(message: Message, reasoning: str, key: str) -> None:
    """Put the reasoning where the chat template reads it: under a key, or as a part before the content."""
    if not reasoning or message["role"] != "assistant":
        return
    if not key.startswith("part:"):
        message[key] = reasoning
        return
    kind = key.removeprefix("part:")
    parts = [{"type": kind, kind: reasoning}]
    message["content"] = [*parts, {"type": "text", "text": message["content"]}] if message["content"] else parts


def _without_reasoning_beside_content(message: Message) -> Message:
    if not (message.get("tool_calls") and message["content"]):
        return message
    return {key: value for key, value in message.items() if key not in REASONING_KEYS}


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
    if isinstance(call, dict) and isinstance(custom := call.get("custom"), dict):
        function: Any = {"name": custom.get("name"), "arguments": {"input": custom.get("input", "")}}
        call = {**call, "type": "function", "function": function}
        del call["custom"]
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
    return {**call, "function": {**function, "arguments": {} if arguments is None else arguments}}


def _with_arguments(messages: Sequence[Message], form: Any) -> list[Message]:
    """The messages with the arguments of calls in another form."""

    def formed(call: dict[str, Any]) -> dict[str, Any]:
        function = call["function"]
        return {**call, "function": {**function, "arguments": form(function.get("arguments"))}}

    return [
        {**message, "tool_calls": [formed(call) for call in message["tool_calls"]]}
        if message.get("tool_calls")
        else message
        for message in messages
    ]


def _as_text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _as_object(arguments: Any) -> dict[str, Any]:
    return arguments if isinstance(arguments, dict) else {"arguments": arguments}
