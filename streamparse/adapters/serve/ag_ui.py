"""``/ag-ui``: runs of the Agent User Interaction Protocol (AG-UI).

In:  a ``RunAgentInput``, as https://docs.ag-ui.com/sdk/js/core/types has it.
Out: the same request in the words of chat completions; the answer as events of a run.

Parameters such as ``temperature`` are taken from ``forwardedProps``, in the words of chat completions. ``context`` is
shown to the model as a system message; ``state`` is the front end's and plays no part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.adapters.ag_ui import RunEvents
from streamparse.adapters.serve.errors import RequestError
from streamparse.adapters.serve.protocol import Asked, Making, Speech
from streamparse.adapters.serve.reading import needed, objects, optional, unsupported
from streamparse.events import RawEvent

_SETTLED = frozenset({"messages", "tools", "stream", "stream_options", "n"})
_SAID = ("system", "developer", "user")


def read(body: dict[str, Any]) -> Asked:
    """Read a request; raises RequestError for what can't be kept."""
    thread, run = needed(body, "threadId", str), needed(body, "runId", str)
    given = body.get("forwardedProps")
    parameters = given if isinstance(given, dict) else {}
    chat = {key: value for key, value in parameters.items() if key not in _SETTLED}
    context = [
        f"{needed(each, 'description', str, where)}: {needed(each, 'value', str, where)}"
        for where, each in objects(body, "context")
    ]
    shown = [{"role": "system", "content": "\n".join(context)}] if context else []
    chat |= {"messages": _joined([*shown, *_messages(body)]), "stream": True}
    if tools := [_tool(tool, where) for where, tool in objects(body, "tools")]:
        chat["tools"] = tools
    return Asked(chat, lambda making: _machine(making, thread, run))


def _machine(making: Making, thread: str, run: str) -> RunEvents:
    return RunEvents(making.template, thread_id=thread, run_id=run, whole_calls=making.whole_calls)


def _messages(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages as those of a chat; reasoning is a message of its own here, and part of the next one there."""
    messages: list[dict[str, Any]] = []
    reasoning = ""
    for where, message in objects(body, "messages"):
        role = needed(message, "role", str, where)
        if role == "reasoning":
            reasoning += _text(message, where)
        elif role == "assistant":
            said = {"role": role, "content": _text(message, where)}
            said |= {"reasoning_content": reasoning} if reasoning else {}
            calls = [_call(call, place) for place, call in objects(message, "toolCalls", where)]
            messages.append(said | ({"tool_calls": calls} if calls else {}))
            reasoning = ""
        elif role == "tool":
            call = needed(message, "toolCallId", str, where)
            content = _text(message, where) or optional(message, "error", str, where) or ""
            messages.append({"role": role, "tool_call_id": call, "content": content})
        elif role in _SAID:
            messages.append({"role": role, "content": _text(message, where)})
        elif role != "activity":  # which is for people alone
            raise RequestError(400, f"{where}role can't be {role!r}", param=f"{where}role")
    return messages


def _joined(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with those of the system that come first as one: chat templates take no more."""
    count = next((place for place, each in enumerate(messages) if each["role"] != "system"), len(messages))
    if count < 2:
        return messages
    text = "\n\n".join(each["content"] for each in messages[:count])
    return [{"role": "system", "content": text}, *messages[count:]]


def _text(message: Mapping[str, Any], where: str) -> str:
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    pieces = []
    for place, part in objects(message, "content", where):
        if part.get("type") != "text":
            raise unsupported(place.rstrip("."), f"only text is read, not {part.get('type')!r}")
        pieces.append(needed(part, "text", str, place))
    return "".join(pieces)


def _call(call: Mapping[str, Any], where: str) -> dict[str, Any]:
    given = needed(call, "function", dict, where)
    function = {key: needed(given, key, str, f"{where}function.") for key in ("name", "arguments")}
    return {"id": needed(call, "id", str, where), "type": "function", "function": function}


def _tool(tool: Mapping[str, Any], where: str) -> dict[str, Any]:
    function: dict[str, Any] = {"name": needed(tool, "name", str, where)}
    function |= {key: tool[key] for key in ("description", "parameters") if tool.get(key) is not None}
    return {"type": "function", "function": function}


def _failed(machine: RunEvents, error: RequestError) -> list[RawEvent]:
    return machine.fail(str(error), error.code)


def _lost(error: RequestError) -> list[RawEvent]:
    return [{"type": "RUN_ERROR", "message": str(error), "code": error.code}]


AG_UI = Speech("/ag-ui", read, _failed, conversation="threadId", abort=RunEvents.abort, lost=_lost)
