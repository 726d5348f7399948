"""Which tools the model is shown, and whether it may call one or has to: the parameter ``tool_choice``.

In:  the parameter, in any of its forms, and the tools of the request.
Out: a ``ToolChoice``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamparse.adapters.serve.errors import RequestError

Tool = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """The tools that the model is shown; whether it has to call one, and which was named (None: any of them)."""

    tools: list[Tool]
    forced: bool = False
    name: str | None = None


def read_tool_choice(choice: Any, tools: list[Tool]) -> ToolChoice:
    """Read ``tool_choice``; raises RequestError for what is none.

    >>> tools = [{"type": "function", "function": {"name": name}} for name in "fg"]
    >>> read_tool_choice({"type": "function", "function": {"name": "g"}}, tools).name
    'g'
    >>> read_tool_choice("none", tools).tools
    []
    """
    if choice in (None, "auto"):
        return ToolChoice(tools)
    if choice == "none":
        return ToolChoice([])
    if choice == "required":
        return _required(tools)
    kind = choice.get("type") if isinstance(choice, Mapping) else None
    if kind == "function":
        name = _name(choice, "tool_choice")
        if name not in _names(tools):
            raise _refused(f"names {name!r}, which is none of the tools")
        return ToolChoice(tools, forced=True, name=name)
    if kind == "allowed_tools":
        return _allowed(choice.get("allowed_tools"), tools)
    raise _refused("must be auto, none, required, a function or allowed_tools")


def _required(tools: list[Tool]) -> ToolChoice:
    if not tools:
        raise _refused("can't be required without tools")
    return ToolChoice(tools, forced=True)


def _allowed(allowed: Any, tools: list[Tool]) -> ToolChoice:
    """Only those of the tools that are listed; in mode ``required`` one of them has to be called."""
    listed = allowed.get("tools") if isinstance(allowed, Mapping) else None
    if not isinstance(listed, list):
        raise _refused("has allowed_tools without a list of tools")
    names = [_name(tool, "tool_choice.allowed_tools") for tool in listed]
    if missing := [name for name in names if name not in _names(tools)]:
        raise _refused(f"allows {missing[0]!r}, which is none of the tools")
    shown = [tool for tool in tools if tool["function"]["name"] in names]
    mode = allowed.get("mode", "auto")
    if mode not in ("auto", "required"):
        raise _refused("has a mode of allowed_tools that is neither auto nor required")
    return _required(shown) if mode == "required" else ToolChoice(shown)


def _names(tools: Sequence[Tool]) -> list[str]:
    return [tool["function"]["name"] for tool in tools]


def _name(holder: Any, where: str) -> str:
    function = holder.get("function") if isinstance(holder, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str):
        raise _refused(f"has no name of a function in {where}")
    return name


def _refused(reason: str) -> RequestError:
    return RequestError(400, f"tool_choice {reason}", param="tool_choice")
