"""What models write: rendered calls with awkward values, as they should be and damaged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.field.forms import FORMS, Call, Form

STRINGS = {
    "plain": "Paris",
    "quotes and backslashes": "a \"b\" 'c' \\d C:\\new \\u0041",
    "line breaks at the edges": "\n  if x:\n    y\n",
    "blanks at the edges": "  a b ",
    "other scripts": "Größe 東京 😀",
    "looks like JSON": '{"a": [1]}',
    "looks like a number": "007",
    "null as text": "null",
    "markup": "a <b> & </b> &lt;",
    "empty": "",
}
VALUES: dict[str, Any] = {
    "a whole number": 3,
    "a fraction": 2.50,
    "truth": True,
    "nothing": None,
    "a list": ["x", 1, None],
    "an object": {"k": {"l": [{}]}, "s": "}]"},
}
TYPES = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    type(None): "null",
    list: "array",
    dict: "object",
}
TEXT = "I will look."


@dataclass(frozen=True)
class Output:
    """A text that a model of a family may have written; ``expected`` is what was meant, None where it is damaged."""

    form: Form
    what: str
    text: str
    tools: list[dict[str, Any]]
    expected: list[Call] | None


def tool(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A tool that takes such arguments."""
    properties = {key: {"type": TYPES[type(value)]} for key, value in arguments.items()}
    return {"name": name, "parameters": {"type": "object", "properties": properties, "required": []}}


def outputs() -> Iterator[Output]:
    """All texts of all forms."""
    for form in FORMS:
        for what, value in {**STRINGS, **VALUES}.items():
            yield _whole(form, what, [("edit", {"first": value, "last": "z"})])
        yield _whole(form, "no arguments", [("now", {})])
        yield _whole(form, "two calls", [("edit", {"first": "a"}), ("look", {"count": 2})])
        yield from _damaged(form)


def _whole(form: Form, what: str, calls: list[Call]) -> Output:
    text = form.says(TEXT) + form.calls(calls) + form.turn_end
    return Output(form, what, text, [tool(*call) for call in calls], calls)


def _damaged(form: Form) -> Iterator[Output]:
    calls: list[Call] = [("edit", {"first": "a b", "last": "z"})]
    tools = [tool(*call) for call in calls]
    text = form.calls(calls)
    inner, closing = text.rindex("z"), text[text.rindex("z") + 1 :]
    mark = closing[: closing.find(">") + 1] if ">" in closing else ""
    damages = {
        "cut off within a value": text[: text.index("a b") + 2],
        "cut off behind the last value": text[: inner + 1],
        "no close at the end": text[: len(text) - len(closing.rstrip()[-8:])],
        "text behind the call": f"{text}\nDone.",
        "a call quoted in backticks": f"Write `{text}` there.",
        "the turn ends twice": text + form.turn_end * 2,
        "an undeclared name": text.replace("edit", "other"),
    }
    if mark:
        damages["the last argument's close is doubled"] = text.replace(f"z{closing}", f"z{mark}{closing}")
    for what, damaged in damages.items():
        whole = form.says(TEXT) + damaged if what != "a call quoted in backticks" else form.says(damaged)
        yield Output(form, what, whole, tools, None)
