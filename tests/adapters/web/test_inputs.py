"""What a page may ask to be parsed, and what it is told if that can't be done."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.adapters.web.cutting import cut_evenly, cut_like_tokens
from streamparse.adapters.web.inputs import TEXT_AT_MOST, RequestError, requested
from streamparse.adapters.web.saved import from_file, to_file

CHAT_TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
QWEN = {"name": "qwen3"}


@given(st.text() | st.from_regex(r"(<\|?[a-z_]+\|?>|\s|[a-z ]+|[0-9]+)*", fullmatch=True))
def test_the_pieces_give_the_text_back(text: str) -> None:
    assert "".join(cut_like_tokens(text)) == text
    assert "".join(cut_evenly(text, 3)) == text
    assert all(cut_like_tokens(text))


def test_a_special_token_is_one_piece() -> None:
    marks = ["<|im_end|>", "<think>", "</tool_call>", "<｜tool▁call▁begin｜>", "[TOOL_CALLS]"]
    assert [piece for mark in marks for piece in cut_like_tokens(mark)] == marks


def test_a_chat_template_is_inferred_from() -> None:
    for chat in (CHAT_TEMPLATE, json.dumps({"chat_template": CHAT_TEMPLATE})):
        made = requested({"text": "Hi<|end|>", "template": {"chat": chat}})
        assert made.template_name == "inferred, verified"
        assert made.template.start_anchor is not None
        assert made.template.start_anchor.compiled.fullmatch("<|assistant|>")


def test_tools_and_mode_reach_the_parser() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}}}}
    text = "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
    made = requested(
        {"text": text, "template": {"name": "qwen3_5"}, "tools": json.dumps([tool]), "errors": "strict", "prefix": ""}
    )
    parser = made.parser()
    for piece in made.pieces:
        parser.feed(piece)
    message, _ = parser.finalize()
    assert message["tool_calls"][0]["function"]["arguments"] == {"a": 1}


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"text": "", "template": QWEN}, "no text"),
        ({"text": 3, "template": QWEN}, "text is a text"),
        ({"text": "a" * (TEXT_AT_MOST + 1), "template": QWEN}, "at most"),
        ({"text": "a"}, "no template"),
        ({"text": "a", "template": {"name": "../../etc/passwd"}}, "no bundled template"),
        ({"text": "a", "template": {"name": "/etc/hostname"}}, "no bundled template"),
        ({"text": "a", "template": {"name": ["qwen3"]}}, "no bundled template"),
        ({"text": "a", "template": {"chat": "/etc/hostname"}}, "Jinja"),
        ({"text": "a", "template": {"chat": "{% for %}"}}, "nothing can be inferred"),
        ({"text": "a", "template": {"chat": '{"no": "template"}'}}, "nothing can be inferred"),
        ({"text": "a", "template": {"source": "/etc/hostname"}}, "not JSON"),
        ({"text": "a", "template": {"source": '"qwen3"'}}, "JSON object"),
        ({"text": "a", "template": {"source": "{}"}}, "template"),
        ({"text": "a", "template": {"source": "[" * 100_000}}, "not JSON"),
        ({"text": "a", "template": QWEN, "errors": "loose"}, "errors is one of"),
        ({"text": "a", "template": QWEN, "errors": []}, "errors is one of"),
        ({"text": "a", "template": QWEN, "cut": "0"}, "cut is"),
        ({"text": "a", "template": QWEN, "tools": "{"}, "not JSON"),
        ({"text": "a", "template": QWEN, "tools": "3"}, "JSON list"),
    ],
)
def test_what_can_not_be_parsed_is_refused_with_the_reason(request_: dict[str, Any], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        requested(request_)


def test_a_file_gives_the_same_input_back() -> None:
    made = requested({"text": "<think>a</think>b \ud83d", "template": QWEN, "cut": "2", "prefix": "x", "title": "t"})
    file = json.loads(json.dumps(to_file(made)))
    again = from_file(file)
    assert (again.pieces, again.prefix, again.title, again.template_name) == (made.pieces, "x", "t", "qwen3")
    assert again.expected == {"role": "assistant", "reasoning_content": "a", "content": "b \ud83d"}
    assert to_file(again)["events"] == file["events"]
    assert file["events"][0]["type"] == "region_open"


def test_a_file_in_strict_mode_has_what_came_before_the_error() -> None:
    made = requested({"text": "Hi<tool_call>{</tool_call>", "template": QWEN, "errors": "strict", "cut": "1"})
    file = to_file(made)
    assert file["message"]["content"] == "Hi"


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (None, "no file"),
        ({"format": "another"}, "no file"),
        ({"format": "streamparse generation", "version": 2}, "version"),
        ({"format": "streamparse generation", "version": 1}, "pieces"),
        ({"format": "streamparse generation", "version": 1, "pieces": [3]}, "pieces"),
        ({"format": "streamparse generation", "version": 1, "pieces": ["a"]}, "JSON object"),
    ],
)
def test_what_is_no_such_file_is_refused(file: Any, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        from_file(file)
