"""Gemma's dialect where quotes are missing: mended if the value has only one end, and malformed otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from tests.field.reading import call, message_of

OPENS = {"gemma4": ("<|tool_call>", "<tool_call|>"), "functiongemma": ("<start_function_call>", "<end_function_call>")}

MENDED: list[tuple[str, dict[str, Any]]] = [
    ('{command:<|"|>ls}', {"command": "ls"}),
    ("{command:ls}", {"command": "ls"}),
    ("{command:ls -l}", {"command": "ls -l"}),
    ("{command:ls -l,b:1}", {"command": "ls -l", "b": 1}),
    ("{b:1,command:ls | wc}", {"b": 1, "command": "ls | wc"}),
    ("{a:hello, world,b:2}", {"a": "hello, world", "b": 2}),
    ("{path:/etc/hosts,deep:{x:y z}}", {"path": "/etc/hosts", "deep": {"x": "y z"}}),
    ("{url:http://localhost:80/x}", {"url": "http://localhost:80/x"}),
    ('{last:<|"|>z<|"|><|"|>}', {"last": "z"}),
    ('{last:<|"|>z<|"|><|"|>,b:1}', {"last": "z", "b": 1}),
    ('{empty:<|"|><|"|>}', {"empty": ""}),
    ("{a:true,b:007x,c:1.5}", {"a": True, "b": "007x", "c": 1.5}),
]

MALFORMED = ['{command:<|"|>ls,b:1}', "{a:}", "{a:x[}", '{a:<|"|>x<|"|><|"|>y}', '{a:<|"|>{x}}']


def with_marks(family: str, body: str) -> str:
    opening, closing = OPENS[family]
    return f"{opening}call:f{body}{closing}"


def in_words_of(family: str, body: str) -> str:
    return body if family == "gemma4" else body.replace('<|"|>', "<escape>")


@pytest.mark.parametrize("family", OPENS)
@pytest.mark.parametrize(("body", "arguments"), MENDED)
def test_a_value_without_its_quotes_is_read(family: str, body: str, arguments: dict[str, Any]) -> None:
    message = message_of(family, with_marks(family, in_words_of(family, body)))
    assert message == {"tool_calls": [call("f", **arguments)]}


@pytest.mark.parametrize("family", OPENS)
@pytest.mark.parametrize("body", MALFORMED)
def test_a_value_with_more_than_one_end_is_malformed(family: str, body: str) -> None:
    message = message_of(family, with_marks(family, in_words_of(family, body)) + "Done.", problems=None)
    assert "tool_calls" not in message


def test_reasoning_without_its_name() -> None:
    text = "<|channel>Let me think.<channel|>Hi."
    assert message_of("gemma4", text) == {"reasoning_content": "Let me think.", "content": "Hi."}
