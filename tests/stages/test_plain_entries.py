"""Entries that are passed over many at a time are read as they would be one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse import ResponseParser
from streamparse.errors import ContentError
from streamparse.formats import FORMATS
from streamparse.formats.reading import Reading
from streamparse.repair.nested import Grammar, NestedReader
from streamparse.stages.content import plain_entries
from tests.properties.time_limit import ended_in_time

WHOLE = ['"a": 1', '"b":"x, y"', '"c": [1, {}]', '{"d": "e"}', "[[2], 3]", "x = 7", "y='z'", "true", "-0", "1.50"]
PARTS = [
    *WHOLE,
    "{",
    "}",
    "[",
    "]",
    ",",
    ", ",
    ",\n",
    ":",
    '"',
    "'",
    "\\",
    "007",
    '"k": ',
    "f(",
    ")",
    "\t",
    "nul",
    '"g" "h"',
]

TEXTS = st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from([", ", ",", ""])), max_size=14).map(
    lambda parts: "".join(part + comma for part, comma in parts)
)


def one_by_one(run: Callable[[], Any]) -> tuple[Any, Any]:
    """What a function gives where all plain entries are taken at once, and where none are."""
    results = []
    for at_least in (0, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(plain_entries, "AT_LEAST", at_least)
            results.append(run())
    return results[0], results[1]


@given(
    st.sampled_from(["json", "python-call-list"]), st.sampled_from(["", "{", "[[", '{"a": {', "[f(", "[f(a=["]), TEXTS
)
def test_what_is_known_of_a_structure_is_the_same(content: str, begin: str, text: str) -> None:
    def known() -> Any:
        reader = FORMATS[content].new_reader({}, ())
        reader.feed(begin + text)
        facts = "begins", "inside", "complete", "end", "whole_items", "broken", "tolerances"
        return {fact: getattr(reader, fact) for fact in facts}

    at_once, one_after_the_other = one_by_one(known)
    assert at_once == one_after_the_other


@given(st.sampled_from(["{", "[", '{"a": {', '[{"a": ']), TEXTS, st.booleans(), st.booleans())
def test_what_is_mended_is_the_same(begin: str, text: str, python: bool, truncated: bool) -> None:
    def mended() -> Any:
        reading = Reading(begin + text)
        reader = NestedReader(reading, Grammar(python=python, allow_truncated=truncated))
        try:
            return repr(reader.value()), [*reading.repaired], reader.resumed, reader.too_many, reading.position
        except ContentError as error:
            return error.reason, error.position

    at_once, one_after_the_other = one_by_one(mended)
    assert at_once == one_after_the_other


CALLS = [
    ("qwen3", '<tool_call>{"name": "f", "arguments": {', "</tool_call>"),
    ("qwen3", '<tool_call>{"name": "f", "arguments": {"a": [', "]}}</tool_call>"),
    ("llama4_pythonic", "[f(", ")]"),
    ("llama4_pythonic", "[f(b={", "})]"),
]
TOOLS: list[Any] = [
    {
        "name": "f",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "array", "items": {"type": "string"}}, "b": {"type": "object"}},
        },
    }
]


@given(st.sampled_from(CALLS), TEXTS, st.booleans(), st.sampled_from(["strict", "report", "repair"]))
def test_events_and_message_are_the_same(call: tuple[str, str, str], text: str, typed: bool, errors: Any) -> None:
    name, begin, end = call

    def parsed() -> Any:
        parser = ResponseParser(name, prefix="", tools=TOOLS if typed else None, errors=errors, deltas=True)
        try:
            events = parser.feed(begin + text + end)
            message, last = parser.finalize()
        except ValueError as error:
            return str(error)
        return json.dumps([events, last, message])

    at_once, one_after_the_other = one_by_one(parsed)
    assert at_once == one_after_the_other


@pytest.mark.parametrize("entries", [plain_entries.MEMBERS, plain_entries.SCALAR_MEMBERS, plain_entries.ITEMS])
@pytest.mark.parametrize(
    "unit", ['"a":1,', '"a":[1,', '"a":{"b":', '"a":', "[1,", "[[", '"', '{"a":1,', " ", "1", "1,"]
)
def test_a_search_takes_linear_time(entries: Any, unit: str) -> None:
    text = unit * 200_000
    with ended_in_time(5):
        entries.match(text)
