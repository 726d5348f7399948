"""Random markers put into the constructs come back in the response template, and what is written with them is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy, composite

from streamparse.infer import Inference, infer_response_template
from streamparse.infer.tools.reading import quoted
from tests.infer.written_templates import (
    JSON,
    VALUE,
    arguments,
    calls,
    content,
    frame,
    json_object,
    reasoning,
    text,
    written,
)

SHAPES: list[Callable[[str], tuple[str, str]]] = [
    lambda word: (f"<{word}>", f"</{word}>"),
    lambda word: (f"<|{word}|>", f"<|/{word}|>"),
    lambda word: (f"<|begin_{word}|>", f"<|end_{word}|>"),
    lambda word: (f"<{word}:x>", f"</{word}:x>"),
    lambda word: (f"[{word.upper()}]", f"[/{word.upper()}]"),
    lambda word: (f"<|{word}>", f"<{word}|>"),
    lambda word: (f"<｜{word}▁begin｜>", f"<｜{word}▁end｜>"),
    lambda word: (f"◁{word}▷", f"◁/{word}▷"),
]
"""What opens and closes a part, made of a word."""

Pair = tuple[str, str]

few = settings(max_examples=12)  # an inference takes some fifty milliseconds


@composite
def pairs(draw: Any, count: int) -> list[Pair]:
    """So many pairs of marks, no two of the same word."""
    words = draw(st.lists(st.from_regex(r"[a-z]{4,9}", fullmatch=True), min_size=count, max_size=count, unique=True))
    return [draw(st.sampled_from(SHAPES))(f"{word}{at}") for at, word in enumerate(words)]


def breaks() -> SearchStrategy[str]:
    """White space that may stand between parts, as it is written in Jinja."""
    return st.sampled_from(["", "\\n", "\\n\\n"])


def framed(turn: Pair, assistant: str, prompt: str = "") -> str:
    """A chat template whose turns have these marks."""
    opening, closing = turn
    return frame(
        assistant,
        header=f"{opening}bot\\n",
        user=(f"{opening}user\\n", f"{closing}\\n"),
        end=f"{closing}\\n",
        prompt=prompt,
    )


def fields(inference: Inference) -> dict[str, Any]:
    assert inference.verified, inference.explain()
    return dict(inference.template["fields"])


@few
@given(pairs(3), breaks(), breaks(), st.booleans())
def test_marks_of_reasoning(marks: list[Pair], inside: str, behind: str, prompted: bool) -> None:
    turn, (opening, closing), call = marks
    assistant = reasoning(opening + inside, inside + closing + behind) + content() + calls(json_object(*call))
    prompt = written(text(opening + inside)) if prompted else ""
    found = fields(infer_response_template(framed(turn, assistant, prompt)))
    assert found["reasoning_content"]["open"] == opening
    assert found["reasoning_content"]["close_pattern"] == quoted(closing) + r"\s*"
    assert quoted(turn[1]) in found["content"]["close_pattern"]


@few
@given(pairs(2), breaks(), breaks())
def test_marks_of_json_calls(marks: list[Pair], inside: str, between: str) -> None:
    turn, (opening, closing) = marks
    assistant = content() + calls(json_object(opening + inside, inside + closing), between=between)
    found = fields(infer_response_template(framed(turn, assistant)))
    assert found["tool_calls"]["open"] == opening
    assert found["tool_calls"]["close_pattern"] == quoted(closing) + r"\s*"


@few
@given(pairs(2), st.sampled_from(["name", "tool_name", "fn"]), st.sampled_from(["arguments", "parameters", "args"]))
def test_keys_of_json_calls(marks: list[Pair], name: str, under: str) -> None:
    turn, call = marks
    found = fields(infer_response_template(framed(turn, content() + calls(json_object(*call, name=name, under=under)))))
    function = found["tool_calls"]["transform"]["function"]
    assert function == {"name": f"{{content.{name}}}", "arguments": f"{{content.{under}}}"}


@few
@given(pairs(2), breaks())
def test_marks_of_a_list(marks: list[Pair], inside: str) -> None:
    turn, (opening, closing) = marks
    assistant = content() + calls(
        json_object(), before=opening + inside + "[", after="]" + inside + closing, between=", "
    )
    found = fields(infer_response_template(framed(turn, assistant)))
    assert (found["tool_calls"]["open"], found["tool_calls"]["transform_each"]) == (opening, True)


@few
@given(pairs(4), breaks())
def test_marks_around_named_calls(marks: list[Pair], between: str) -> None:
    turn, section, (opening, closing), (separator, _) = marks
    each = written(text(opening), "call.name", text(separator), JSON, text(closing))
    assistant = content() + calls(each, before=section[0], after=section[1], between=between)
    found = fields(infer_response_template(framed(turn, assistant)))
    pattern = found["tool_calls"]["open_pattern"]
    assert pattern.startswith(quoted(opening) + "(?P<name>")
    assert pattern.endswith(quoted(separator))
    assert all(quoted(mark) in found["content"]["close_pattern"] for mark in section)


@pytest.mark.parametrize("in_lines", [True, False], ids=["in lines", "in one line"])
@few
@given(marks=pairs(4))
def test_marks_of_tagged_arguments(in_lines: bool, marks: list[Pair]) -> None:
    turn, (opening, closing), key, value = marks
    line = "\\n" if in_lines else ""
    each = (
        written(text(opening), "call.name", text(line))
        + arguments(written(text(key[0]), "key", text(key[1] + value[0]), VALUE, text(value[1] + line)))
        + written(text(closing))
    )
    found = fields(infer_response_template(framed(turn, content() + calls(each, between=line))))
    pattern = found["tool_calls"]["content_args"]["tag_pattern"]
    assert pattern.startswith(quoted(key[0]) + "(?P<key>")
    assert pattern.endswith(quoted(key[1] + value[0]) + "(?P<value>.*?)" + quoted(value[1]))
    assert found["tool_calls"]["close_pattern"] == quoted(closing) + r"\s*"
