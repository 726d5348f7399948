"""The encoder of all sinks: what json.loads reads back is what was written, whatever a model wrote."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.encode import encode_event, encode_line
from streamparse.errors import StreamparseError

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=2**63 - 2, max_value=2**65),
    st.integers(min_value=-(2**65), max_value=-(2**63) + 2),
    st.floats(),
    st.text(st.characters(exclude_categories=())),
    st.sampled_from(["null", "NaN", "\ud83d", "\ude00 x \ud83d", "\u2028", "\x00", '"\\']),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.text(st.characters(exclude_categories=()), max_size=3), inner, max_size=4),
        st.dictionaries(st.one_of(st.integers(), st.booleans(), st.none()), inner, max_size=2),
    ),
    max_leaves=12,
)


def same(left: Any, right: Any) -> bool:
    """Equality with types, in which NaN equals itself and -0.0 differs from 0.0."""
    return json.dumps(left) == json.dumps(right)


@given(VALUES)
def test_everything_is_read_back_as_from_the_standard_library(value: Any) -> None:
    assert same(json.loads(encode_event({"value": value})), json.loads(json.dumps({"value": value})))


@given(VALUES)
def test_with_standard_every_reader_of_json_can_read_it(value: Any) -> None:
    def refuse(token: str) -> None:
        pytest.fail(f"{token} is not in the JSON standard")

    json.loads(encode_event({"value": value}, standard=True), parse_constant=refuse)


def test_an_event_is_compact_and_in_utf_8() -> None:
    event = {"type": "region_chunk", "field": "content", "text": "naïve 🙂", "dirty": False}
    expected = '{"type":"region_chunk","field":"content","text":"naïve 🙂","dirty":false}'
    assert encode_event(event) == expected.encode()
    assert encode_line(event) == expected.encode() + b"\n"


def test_a_line_has_no_line_break_within() -> None:
    assert encode_line({"text": "a\nb\r\n", "value": 2**70}).count(b"\n") == 1
    assert encode_line({"text": "a\nb\r\n"}).count(b"\n") == 1


def test_integers_of_any_size_keep_their_digits() -> None:
    assert encode_event({"value": 123456789012345678901234567890}) == b'{"value":123456789012345678901234567890}'


def test_lone_surrogates_are_escaped_and_the_rest_is_not() -> None:
    assert encode_event({"text": "é\ud83d"}) == '{"text":"é\\ud83d"}'.encode()


def test_two_surrogates_that_make_a_character_become_it() -> None:
    assert encode_event({"text": "\ud83d\ude42"}) == '{"text":"🙂"}'.encode()


@pytest.mark.parametrize(("number", "token"), [(math.nan, b"NaN"), (math.inf, b"Infinity"), (-math.inf, b"-Infinity")])
def test_what_is_no_number_of_the_standard_is_never_null(number: float, token: bytes) -> None:
    assert encode_event({"value": [None, {"x": number}]}) == b'{"value":[null,{"x":' + token + b"}]}"
    assert encode_event({"value": (number,)}, standard=True) == b'{"value":["' + token + b'"]}'


def test_null_and_the_word_null_stay_what_they_are() -> None:
    assert encode_event({"value": None, "text": "null"}) == b'{"value":null,"text":"null"}'


@pytest.mark.parametrize(
    "value",
    [object(), {1, 2}, b"bytes", {(1, 2): 3}, 10**5000],
    ids=["object", "set", "bytes", "tuple as key", "more digits than Python writes"],
)
def test_what_is_no_json_is_an_error_that_says_so(value: object) -> None:
    with pytest.raises(StreamparseError, match="can't be written as JSON"):
        encode_event({"value": value})


def test_nesting_without_end_is_an_error_of_ours() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(StreamparseError, match="can't be written as JSON"):
        encode_event({"value": value})
