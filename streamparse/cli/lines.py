"""What a person reads of values and faults: lines of text that are safe to send to a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from rich.text import Text

from streamparse.encode import encode_event
from streamparse.limits import Limits, how_to_raise

CONTROLS: dict[int, str | None] = {code: f"\\x{code:02x}" for code in [*range(0x20), *range(0x7F, 0xA0)]}
"""What a model writes must not steer the terminal: its control characters are shown, not sent."""
CONTROLS.update({ord("\t"): "\t", ord("\n"): "\n", ord("\r"): None})


def shown(text: str) -> str:
    r"""Make text safe to print.

    >>> shown("two\r\nlines \x1b[2J")
    'two\nlines \\x1b[2J'
    """
    return text.translate(CONTROLS)


def in_terms_of_flags(text: str) -> str:
    """What an error's message says of a limit, as it is changed on the command line.

    >>> in_terms_of_flags("more than 1 regions; raise Limits.regions if that is meant")
    'more than 1 regions; raise it with --limit regions=NUMBER if that is meant'
    """
    for limit in fields(Limits):
        text = text.replace(how_to_raise(limit.name), f"raise it with --limit {limit.name}=NUMBER if that is meant")
    return text


def problem_line(problem: dict[str, Any]) -> str:
    """Say on one line what went wrong.

    >>> problem_line({"field": "tool_calls", "error": "expected a value", "position": 12})
    'tool_calls, position 12: expected a value'
    """
    where = [problem["field"]] if problem.get("field") else []
    where += [f"position {problem['position']}"] if problem.get("position") is not None else []
    return one_line(in_terms_of_flags(f"{', '.join(where)}: {problem['error']}" if where else problem["error"]))


def one_line(text: Any) -> str:
    """Put a text of several lines on one.

    >>> one_line("two faults\\n  fields.a: bad\\n  fields.b: worse")
    'two faults; fields.a: bad; fields.b: worse'
    """
    return "; ".join(part.strip() for part in shown(str(text)).splitlines() if part.strip())


def lines_of_value(field: str, value: Any, mark: str) -> Iterator[Text]:
    """Lay out the value of a structured region: each call with its arguments, anything else as JSON.

    >>> [line.plain for line in lines_of_value("tool_calls", {"function": {"name": "f", "arguments": {"a": [1]}}}, ">")]
    ['> f', '    a: [1]']
    >>> [line.plain for line in lines_of_value("score", {"a": 1}, ">")]
    ['> score', '    {"a":1}']
    """
    calls = list(_calls_in(value))
    if not calls:
        yield Text(f"{mark} {shown(field)}", "cyan")
        yield Text(f"    {_compact(value)}")
    for call in calls:
        yield Text(f"{mark} {shown(call['name'])}", "bold cyan")
        yield from _lines_of_arguments(call.get("arguments"))


def _calls_in(value: Any) -> Iterator[dict[str, Any]]:
    """Find the calls in the value of a region: one, or a list of them."""
    for item in value if isinstance(value, list) else [value]:
        function = item.get("function") if isinstance(item, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            yield function


def _lines_of_arguments(arguments: Any) -> Iterator[Text]:
    """Lay out a call's arguments, one a line; strings of several lines under their name, as they are."""
    if not isinstance(arguments, dict):
        if arguments is not None:
            yield Text(f"    {_compact(arguments)}")
        return
    for name, value in arguments.items():
        label = Text(f"    {shown(name)}:", "cyan")
        if isinstance(value, str) and "\n" in value:
            yield label
            yield from (Text(f"      {part}") for part in shown(value).split("\n"))
        else:
            yield label.append(f" {_compact(value)}", "default")


def _compact(value: Any) -> str:
    return shown(encode_event(value).decode())
