"""Value, deltas and repairs of a call agree, for clean, damaged and cut-off bodies, however they are cut."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse import ResponseParser
from streamparse.stages.deltas import walk

TEXTS = [
    "Paris",
    "a b",
    "x\ny",
    "it's",
    "C:\\new",
    'say "hi" now',
    "{}",
    "a, b",
    "key: 1",
    "# x",
    "http://a/b",
    "\t",
    "",
]
SCALARS = st.sampled_from([*TEXTS, 1, 2.5, True, None])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("kmn"), inner, max_size=3),
    max_leaves=5,
)
KEYS = [
    "first",
    "second",
    "third",
    "size",
    "mode",
    "owner",
    "label",
    "color",
    "depth",
    "width",
    "note",
    "unit",
    "total",
]


def with_keys_of_their_own(arguments: dict[str, Any]) -> dict[str, Any]:
    """The same with no key twice: where a fault joins two objects, the last of equal keys would win."""
    names = (f"{key}_{number}" for number in "123456789" for key in KEYS)

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {next(names): renamed(item) for item in value.values()}
        return [renamed(item) for item in value] if isinstance(value, list) else value

    return {key: renamed(value) for key, value in arguments.items()}


ARGUMENTS = st.dictionaries(st.sampled_from(["a", "b_c", "path", "n1"]), VALUES, max_size=4).map(with_keys_of_their_own)


def gemma(value: Any) -> str:
    if isinstance(value, str):
        return f'<|"|>{value}<|"|>'
    if isinstance(value, list):
        return f"[{','.join(map(gemma, value))}]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{gemma(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


FORMS: dict[str, Callable[[dict[str, Any]], tuple[str, str, str]]] = {
    "qwen3": lambda it: ("<tool_call>\n", json.dumps({"name": "f", "arguments": it}), "\n</tool_call>"),
    "granite4": lambda it: ("<tool_call>\n", json.dumps({"name": "f", "arguments": it}, indent=1), "\n</tool_call>"),
    "mistral": lambda it: ("[TOOL_CALLS]f", json.dumps(it, ensure_ascii=False), ""),
    "gemma4": lambda it: ("<|tool_call>call:f", gemma(it), "<tool_call|>"),
    "lfm2": lambda it: (
        "<|tool_call_start|>",
        f"[f({', '.join(f'{key}={value!r}' for key, value in it.items())})]",
        "<|tool_call_end|>",
    ),
}
BEFORE = ["", "", "json\n", "json: ", "```json\n", "```json ", "// call\n", "/* call */ ", "\ufeff", "\u00a0"]
NOISE = [
    *['"', "'", ",", ",,", "\n", "\t", "\\", "\\d", "\\n", " ", "{", "}", "[", "]", ":", "=", "=>"],
    *["//c\n", "/*c*/", "# c\n", "\u00a0", "x", "1", "True", "None", "(", ")", "+"],
    *['\\"', "\ufeff", "`", "01", "1_0", ";"],
]  # fmt: skip
FAULTS = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 3), st.sampled_from([*NOISE, "", ""])), max_size=3)
CUTS = st.integers(1, 9)


def damaged(body: str, faults: list[tuple[int, int, str]]) -> str:
    for place, size, noise in faults:
        at = place % (len(body) + 1)
        body = body[:at] + noise + body[at + size :]
    return body


def parsed(family: str, text: str, size: int, *, deltas: bool, finish_reason: str = "stop") -> Any:
    parser = ResponseParser(family, prefix="", errors="repair", deltas=deltas)
    events = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
    message, last = parser.finalize(finish_reason)
    message = copy.deepcopy(message)
    for call in message.get("tool_calls", []):
        call.pop("id", None)
    return message, events + last


def given_out(events: Iterable[Any]) -> dict[int, str]:
    pieces: dict[int, str] = {}
    for event in events:
        if event["type"] == "region_delta":
            pieces[event["index"]] = pieces.get(event["index"], "") + event.get("arguments", "")
    return pieces


@pytest.mark.parametrize("family", FORMS)
@given(ARGUMENTS, st.sampled_from(BEFORE), FAULTS, CUTS)
def test_deltas_never_change_what_a_damaged_call_says(
    family: str, arguments: dict[str, Any], before: str, faults: list[tuple[int, int, str]], size: int
) -> None:
    opening, body, closing = FORMS[family](arguments)
    text = opening + before + damaged(body, faults) + closing
    expected, _ = parsed(family, text, len(text), deltas=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "READ_BEFORE", 0)
        for cut in (size, len(text)):
            message, events = parsed(family, text, cut, deltas=True)
            assert message == expected
            if not any(event["type"] == "region_malformed" for event in events):
                calls = [call["function"]["arguments"] for call in message.get("tool_calls", [])]
                assert [json.loads(written) for written in given_out(events).values()] == calls


@pytest.mark.parametrize("family", FORMS)
@given(ARGUMENTS, FAULTS, st.integers(0, 400), CUTS)
def test_a_call_that_is_cut_off_gives_out_the_beginning_of_what_the_whole_one_does(
    family: str, arguments: dict[str, Any], faults: list[tuple[int, int, str]], place: int, size: int
) -> None:
    opening, body, closing = FORMS[family](arguments)
    body = damaged(body, faults)
    _, whole = parsed(family, opening + body + closing, size, deltas=True)
    message, events = parsed(family, opening + body[: place % len(body)] if body else opening, size, deltas=True,
                             finish_reason="length")  # fmt: skip
    if not message.get("tool_calls"):
        complete = given_out(whole)
        for index, written in given_out(events).items():
            assert complete.get(index, written).startswith(written)


@pytest.mark.parametrize("before", sorted({*BEFORE} - {""}))
@pytest.mark.parametrize("family", ["qwen3", "granite4", "lfm2"])
def test_what_models_put_before_a_value_never_makes_it_content(family: str, before: str) -> None:
    opening, body, closing = FORMS[family]({"city": "Paris"})
    if family == "lfm2" and before.startswith("json"):
        pytest.skip("the word json stands before JSON only")
    for size in (1, 4, 1000):
        message, _ = parsed(family, opening + before + body + closing, size, deltas=True)
        assert message == {
            "role": "assistant",
            "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"city": "Paris"}}}],
        }


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("qwen3", "<tool_call>\n{'name': 'f', 'arguments': {'city': 'Paris', 'note': 'a longer text'}"),
        ("qwen3", '<tool_call>\n{"name": "f", "arguments": {"city": "Paris" "note": "a "longer" text"}'),
        (
            "qwen3",
            '<tool_call>\n{"name": "f", "arguments": {"city": "C:\\dir", // note\n "note": True, "b": "x\ty"}',
        ),
        ("qwen3", '<tool_call>\n{name: "f", arguments: {city = "Paris",, "note": None,}'),
        ("gemma4", '<|tool_call>call:f{city:<|"|>a <|"|>b<|"|> c<|"|> note:<|"|>x<|"|>'),
        ("lfm2", "<|tool_call_start|>[f(city='it's Paris', note=\"two\nlines\", n=12345678901234567890"),
    ],
)
def test_arguments_come_before_the_close_of_a_call_that_is_mended(family: str, text: str) -> None:
    close = {"qwen3": "}\n</tool_call>", "gemma4": "}<tool_call|>", "lfm2": ")]<|tool_call_end|>"}[family]
    parser = ResponseParser(family, prefix="", errors="repair", deltas=True)
    early = given_out(event for character in text for event in parser.feed(character))
    late = parser.feed(close)
    message, last = parser.finalize()
    assert len(message["tool_calls"]) == 1
    whole = early[0] + given_out([*late, *last]).get(0, "")
    assert json.loads(whole) == message["tool_calls"][0]["function"]["arguments"]
    assert len(early[0]) >= len(whole) - 25


@pytest.mark.parametrize(
    ("family", "text", "arguments"),
    [
        ("gemma4", "<|tool_call>call:f{connections:{Basic LLM Chain:{main:[1]},Trigger :{x-y:2}}}<tool_call|>",
         {"connections": {"Basic LLM Chain": {"main": [1]}, "Trigger": {"x-y": 2}}}),
        ("gemma4", '<|tool_call>call:f(path=<|"|>/tmp/a (1).txt<|"|>, limit=20)<tool_call|>',
         {"path": "/tmp/a (1).txt", "limit": 20}),
        ("qwen3", '<tool_call>\\n{"name": "f",\\n "arguments": {"a": "x",\\n\\t"b": [1,\\n2]\\n}}\\n</tool_call>',
         {"a": "x", "b": [1, 2]}),
        ("lfm2", r"<|tool_call_start|>[f(a='x',\n b=1)]<|tool_call_end|>", {"a": "x", "b": 1}),
    ],
)  # fmt: skip
def test_dialects_that_models_make_of_a_format_are_read(family: str, text: str, arguments: dict[str, Any]) -> None:
    text = text.replace("<tool_call>\\n", "<tool_call>\n")
    for size in (1, 3, 1000):
        for deltas in (False, True):
            message, _ = parsed(family, text, size, deltas=deltas)
            assert [call["function"]["arguments"] for call in message.get("tool_calls", [])] == [arguments]


@pytest.mark.parametrize("deltas", [False, True])
def test_a_list_of_calls_in_another_list_is_one_list_of_calls(deltas: bool) -> None:
    text = '<tool_call>\n[[{"name": "f", "arguments": {"a": 1}}], {"name": "f", "arguments": {}}]\n</tool_call>'
    message, events = parsed("qwen3", text, 5, deltas=deltas)
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == [{"a": 1}, {}]
    assert given_out(events) == ({0: '{"a":1}', 1: "{}"} if deltas else {})


@pytest.mark.parametrize("quoted", ["#general", "//host/share", "#1"])
@pytest.mark.parametrize("deltas", [False, True])
def test_what_a_string_quotes_is_no_comment_that_hides_the_rest_of_it(quoted: str, deltas: bool) -> None:
    text = f'<tool_call>\n{{"name": "f", "arguments": {{"a": "see "{quoted}" now",\n "b": 1}}}}\n</tool_call>'
    for size in (1, 1000):
        message, _ = parsed("qwen3", text, size, deltas=deltas)
        assert [call["function"]["arguments"] for call in message["tool_calls"]] == [
            {"a": f'see "{quoted}" now', "b": 1}
        ]
