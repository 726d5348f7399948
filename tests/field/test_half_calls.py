"""A call in tags whose generation stopped inside it: half a call does not run, and half a close mark is a close."""

from __future__ import annotations

from typing import Any

import pytest

from streamparse import ResponseParser

TOOLS = [
    {
        "name": "write",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}, "mode": {"type": "string"}},
            "required": ["path", "content"],
        },
    }
]
FORMS = {
    "glm45": ("<tool_call>write\n", "<arg_key>{}</arg_key>\n<arg_value>x</arg_value>\n", "</tool_call>"),
    "qwen3_5": ("<tool_call>\n<function=write>\n", "<parameter={}>\nx\n</parameter>\n", "</function>"),
    "qwen3_coder": ("<tool_call>\n<function=write>\n", "<parameter={}>\nx\n</parameter>\n", "</function>"),
    "nemotron_v3": ("<tool_call>\n<function=write>\n", "<parameter={}>\nx\n</parameter>\n", "</function>"),
    "seed_oss": ("<seed:tool_call>\n<function=write>\n", "<parameter={}>x</parameter>\n", "</function>"),
    "minimax_m2": (
        '<minimax:tool_call>\n<invoke name="write">\n',
        '<parameter name="{}">x</parameter>\n',
        "</invoke>",
    ),
    "deepseek_dsml": (
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="write">\n',
        '<｜DSML｜parameter name="{}" string="true">x</｜DSML｜parameter>\n',
        "</｜DSML｜invoke>",
    ),
    "step3": (
        '<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="write">',
        '<steptml:parameter name="{}">x</steptml:parameter>',
        "</steptml:invoke>",
    ),
}


def written(family: str, *keys: str, close: str = "") -> str:
    begin, argument, _ = FORMS[family]
    return begin + "".join(argument.replace("{}", key) for key in keys) + close


def parsed(family: str, text: str, finish_reason: str | None, mode: str, tools: Any = TOOLS) -> tuple[Any, list[Any]]:
    outcomes = []
    for pieces in ([text], [*text]):
        parser = ResponseParser(family, prefix="", tools=tools, errors=mode, deltas=True)
        for piece in pieces:
            parser.feed(piece)
        message, _ = parser.finalize(finish_reason)
        calls = [call["function"]["arguments"] for call in message.get("tool_calls", [])]
        outcomes.append((message.get("content"), calls, parser.problems))
    assert outcomes[0] == outcomes[1]
    content, calls, problems = outcomes[0]
    assert content is None
    return calls, problems


@pytest.mark.parametrize("mode", ["report", "repair"])
@pytest.mark.parametrize("family", FORMS)
def test_a_call_without_its_end_that_lacks_a_required_argument_does_not_run(family, mode):
    calls, problems = parsed(family, written(family, "path", "mode"), "stop", mode)
    assert calls == []
    assert "requires content" in problems[0]["error"]
    assert problems[0]["incomplete"] is True


@pytest.mark.parametrize("mode", ["report", "repair"])
@pytest.mark.parametrize("family", FORMS)
def test_a_call_without_its_end_that_has_all_required_arguments_runs_if_the_model_stopped(family, mode):
    text = written(family, "path", "content")
    assert parsed(family, text, "stop", mode) == ([{"path": "x", "content": "x"}], [])
    assert parsed(family, text, "length", mode)[0] == []


@pytest.mark.parametrize("finish_reason", ["stop", None])
@pytest.mark.parametrize("mode", ["report", "repair"])
@pytest.mark.parametrize("family", FORMS)
def test_half_a_close_at_the_end_is_the_close_unless_the_generation_was_cut_off(family, mode, finish_reason):
    close = FORMS[family][2]
    for size in range(2, len(close)):
        text = written(family, "path", "content", close=close[:size])
        assert parsed(family, text, finish_reason, mode) == ([{"path": "x", "content": "x"}], []), close[:size]
        assert parsed(family, text, "length", mode)[0] == []
