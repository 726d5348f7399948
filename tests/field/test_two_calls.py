"""Two calls in one pair of marks, where the family writes one: both are read."""

from __future__ import annotations

import pytest

from tests.field.reading import call, message_of

BOTH = [call("f", a=1), call("g", b=2)]
F, G = '{"name": "f", "arguments": {"a": 1}}', '{"name": "g", "arguments": {"b": 2}}'

WRITTEN = {
    "gemma4": "<|tool_call>call:f{a:1}~call:g{b:2}<tool_call|>",
    "functiongemma": "<start_function_call>call:f{a:1}~call:g{b:2}<end_function_call>",
    "qwen3": f"<tool_call>{F}~{G}</tool_call>",
    "granite4": f"<tool_call>{F}~{G}</tool_call>",
    "smollm3": f"<tool_call>{F}~{G}</tool_call>",
    "mistral": '[TOOL_CALLS]f{"a": 1}~g{"b": 2}',
    "granite3": f"<|tool_call|>[{F}]~[{G}]",
    "phi4_mini": f"functools[{F}]~[{G}]",
    "nemotron_v2": f"<TOOLCALL>[{F}]~[{G}]</TOOLCALL>",
    "hunyuan_a13b": f"<tool_calls>[{F}]~[{G}]</tool_calls>",
    "lfm2": "<|tool_call_start|>[f(a=1)]~[g(b=2)]<|tool_call_end|>",
    "kimi_k2": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
        '{"a": 1}~functions.g:1<|tool_call_argument_begin|>{"b": 2}<|tool_call_end|><|tool_calls_section_end|>'
    ),
}


@pytest.mark.parametrize("between", ["", "\n", " ", ",", ", ", ";\n"])
@pytest.mark.parametrize("family", WRITTEN)
def test_both_calls_of_one_pair_of_marks_are_read(family: str, between: str) -> None:
    text = "I look.\n" + WRITTEN[family].replace("~", between)
    assert message_of(family, text, problems=None) == {"content": "I look.", "tool_calls": BOTH}


@pytest.mark.parametrize("family", ["gemma4", "functiongemma", "qwen3", "mistral"])
def test_what_follows_two_calls_is_the_answer(family: str) -> None:
    text = WRITTEN[family].replace("~", "\n") + "\nNow I wait."
    assert message_of(family, text, problems=None) == {"content": "Now I wait.", "tool_calls": BOTH}


@pytest.mark.parametrize("behind", ["g is next.", "call me", "call: it", "functions"])
def test_text_behind_a_call_is_no_next_call(behind: str) -> None:
    for family, written in (("mistral", '[TOOL_CALLS]f{"a": 1}'), ("gemma4", "<|tool_call>call:f{a:1}<tool_call|>")):
        message = message_of(family, f"{written}\n{behind}", problems=None)
        assert message == {"content": behind, "tool_calls": BOTH[:1]}


def test_the_second_call_may_be_cut_off() -> None:
    text = "<|tool_call>call:f{a:1}call:g{b:"
    assert message_of("gemma4", text, problems=1, finish_reason="length") == {"tool_calls": BOTH[:1]}
