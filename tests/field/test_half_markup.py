"""Markup with a part missing is a call, malformed, or dropped, but never the answer; the text's own marks stay."""

from __future__ import annotations

import pytest

from tests.field.reading import call, message_of

F = {"tool_calls": [call("f", a=1)]}

READ = [
    ("deepseek_v31", '<｜tool▁call▁begin｜>f{"a":1}<｜tool▁call▁end｜>'),
    ("deepseek_v31", '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f{"a":1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'),
    ("deepseek_r1", '<｜tool▁call▁begin｜>f{"a":1}<｜tool▁call▁end｜>'),
    ("deepseek_v3", '<｜tool▁call▁begin｜>f {"a":1}<｜tool▁call▁end｜>'),
    ("kimi_k2", '<|tool_call_begin|>f{"a":1}<|tool_call_end|>'),
    ("kimi_k2", '<|tool_call_begin|>functions.f:0 {"a":1}<|tool_call_end|>'),
    ("kimi_k2", '<|tool_calls_section_begin|>functions.f:0<|tool_call_argument_begin|>{"a":1}<|tool_call_end|>'),
    ("kimi_k2", '<|tool_call_section_begin|>functions.f:0{"a":1}<|tool_call_end|><|tool_call_section_end|>'),
]


@pytest.mark.parametrize(("family", "text"), READ)
def test_a_call_with_a_mark_missing_is_read_where_it_has_one_reading(family: str, text: str) -> None:
    assert message_of(family, text, problems=None) == F


def test_a_call_without_a_name_is_malformed() -> None:
    text = '<minimax:tool_call>\n<invoke>\n<parameter name="a">1</parameter>\n</invoke>\n</minimax:tool_call>'
    assert message_of("minimax_m2", text, problems=1) == {}


@pytest.mark.parametrize("said", ["Hello.", "Hello.\nAnd more."])
def test_a_final_channel_without_its_mark_is_the_answer(said: str) -> None:
    text = f"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final {said}<|return|>"
    message = message_of("gpt_oss", text, prefix="<|start|>assistant", problems=None)
    assert message == {"reasoning_content": "Hm.", "content": said}


@pytest.mark.parametrize("mark", ["[/TOOL_CALLS]", "[TOOL_RESULTS]", "[TOOL_CALLS]"])
def test_marks_in_square_brackets_are_dropped_where_a_template_names_them(mark: str) -> None:
    assert message_of("mistral", f"Hi. {mark}", problems=None) == {"content": "Hi."}
    assert message_of("mistral", "Usage: prog [ARGS]\nDone.") == {"content": "Usage: prog [ARGS]\nDone."}


@pytest.mark.parametrize("family", ["qwen3_5", "qwen3_coder", "nemotron_v3", "mimo"])
def test_a_fence_around_a_call_keeps_its_end(family: str) -> None:
    message = message_of(family, "```xml\n<function=f>\n</function>\n```\nDone.", problems=None)
    assert message == {"content": "```xml\n\n```\nDone.", "tool_calls": [call("f")]}


def test_a_parenthesis_around_a_call_keeps_its_end() -> None:
    text = '(I call <tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>) Done.'
    assert message_of("qwen3", text, problems=None) == {"content": "(I call\n\n) Done.", **F}
