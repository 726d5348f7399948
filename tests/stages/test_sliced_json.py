"""JSON decoded in slices: the same value or the same error as the standard decoder's, whatever the window."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse import LimitError, Limits
from streamparse.limits import LARGE_TEXT
from streamparse.stages.content import prepare_content
from streamparse.stages.content.json_value import depth, too_deep
from streamparse.stages.content.sliced_json import SlicedDecoder

LETTERS = ["a", "u", '"', "\\", "\n", "é", "\U0001f600", "\ud83d", "\ude00", "\\ud83d", " "]
strings = st.lists(st.sampled_from(LETTERS), max_size=40).map("".join)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | strings
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(strings, inner, max_size=4),
    max_leaves=40,
)


def sliced(text: str, window: int, depth_limit: int = 512) -> Any:
    decoder = SlicedDecoder(text, depth_limit=depth_limit, depth_of=depth, too_deep=too_deep, window=window)
    return decoder.decode()


def outcome(decode: Any, text: str) -> tuple[Any, ...]:
    try:
        return ("value", repr(decode(text)))
    except json.JSONDecodeError as error:
        return ("error", error.msg, error.pos)


@st.composite
def texts(draw: st.DrawFn) -> str:
    text = json.dumps(draw(values), ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])))
    place = draw(st.integers(0, len(text)))
    damage = draw(st.sampled_from(["none", "drop", "cut", "insert"]))
    if damage == "cut":
        return text[:place]
    if damage == "insert":
        return text[:place] + draw(st.sampled_from([*'[]{},:"\\ \nu1-', "\ufeff"])) + text[place:]
    return text if damage == "none" else text[:place] + text[place + 1 :]


@given(texts(), st.sampled_from([16, 24, 64, 1000]))
def test_the_outcome_is_that_of_the_standard_decoder(text: str, window: int) -> None:
    assert outcome(partial(sliced, window=window), text) == outcome(json.loads, text)


@given(st.lists(scalars | st.lists(scalars, max_size=3) | st.dictionaries(strings, scalars, max_size=2), min_size=30))
def test_long_lists_are_decoded_several_items_at_once_with_the_same_outcome(items: list[Any]) -> None:
    text = json.dumps(items)
    for damaged in (text, text[:-1] + ",]", text.replace(", ", ",  ,", 1), text.replace(",", "", 1)):
        assert outcome(partial(sliced, window=64), damaged) == outcome(json.loads, damaged)


@pytest.mark.parametrize("window", [16, 100, 65_536])
def test_the_depth_limit_is_exact(window: int) -> None:
    for form in ("[{}]", '{{"a": {}}}', "[1, {}, 2]"):
        text = "1"
        for _ in range(20):
            text = form.format(text)
        assert outcome(partial(sliced, window=window, depth_limit=20), text) == outcome(json.loads, text)
        with pytest.raises(LimitError):
            sliced(text, window, depth_limit=19)


def test_openings_that_never_close_reach_the_depth_limit() -> None:
    for text in ("[" * 2_000_000, '{"a":' * 500_000):
        with pytest.raises(LimitError) as caught:
            prepare_content("json", {})(text)
        assert caught.value.limit == "json_depth"


@pytest.mark.parametrize("text", ["[{}]", '{{"a": {}}}', "[1, {}, 2]"])
def test_numbers_beyond_a_window_and_beyond_the_limit(text: str) -> None:
    digits = "7" * (sys.get_int_max_str_digits() - 1)
    assert outcome(partial(sliced, window=64), text.format(digits)) == outcome(json.loads, text.format(digits))
    large = text.format("7" * 5000) + " " * LARGE_TEXT
    with pytest.raises(LimitError, match=r"Limits\.number_length"):
        prepare_content("json", {})(large)
    with pytest.raises(LimitError, match=r"Limits\.number_length"):
        prepare_content("json", {}, limits=Limits(number_length=3))(text.format("1234") + " " * LARGE_TEXT)


class CountedText(str):
    """A text that knows how many characters were copied out of it."""

    copied = 0

    def __getitem__(self, key: Any) -> str:
        part = str(self)[key] if isinstance(key, slice) else super().__getitem__(key)
        CountedText.copied += len(part)
        return part


@pytest.mark.parametrize(
    "text",
    [
        "[" * 400 + ",".join(["[" * 100 + '"' + "x" * 3_000 + '"' + "]" * 100] * 60) + "]" * 400,
        json.dumps([[1, 2, [3]]] * 20_000),
        json.dumps({f"key {number}": {"a": [number]} for number in range(10_000)}),
        json.dumps(["x" * 100_000, "\\" * 100_000]),
    ],
    ids=["deep", "lists", "members", "strings"],
)
def test_work_is_linear_whatever_the_shape(text: str) -> None:
    CountedText.copied = 0
    assert outcome(partial(sliced, window=4_096), CountedText(text)) == outcome(json.loads, text)
    assert CountedText.copied < 30 * len(text)
