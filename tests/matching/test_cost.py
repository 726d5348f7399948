"""Long texts cost what their length asks for: each character is looked at a bounded number of times."""

from __future__ import annotations

from typing import Any, SupportsIndex

import pytest

from streamparse.errors import LimitError
from streamparse.matching.delimiter import Delimiter
from streamparse.matching.delimiter_set import DelimiterSet
from streamparse.matching.scanner import Scanner

literals, pattern = Delimiter.of_literals, Delimiter.of_pattern


class CountedText(str):
    """Text that counts how often a character of it is looked at."""

    looks = 0

    def __getitem__(self, index: SupportsIndex | slice) -> str:
        if not isinstance(index, slice):
            self.looks += 1
        return super().__getitem__(index)


def count_looks(delimiters: list[Delimiter], text: str) -> tuple[int, int]:
    """How many characters were stepped through in one piece with its end, and how many matches were found."""
    counted, matches = CountedText(text), 0
    scanner = Scanner(DelimiterSet(delimiters))
    rest: Any = scanner.scan(counted)
    while True:
        while rest[1] is not None:
            matches += 1
            assert rest[2] is counted or not rest[2][rest[3] :], "the text was copied"
            rest = scanner.scan(rest[2], rest[3])
        rest = scanner.finish()
        if rest[1] is None:
            return counted.looks, matches


@pytest.mark.parametrize(
    ("source", "unit", "matches"),
    [
        (r"<x>(?=.*Z)", "<x>", 1),
        (r"<x>(?=.*Z)|a", "<x>a", 2),
        (r"<x>|<x[^Z]*Y", "<x>", 1),
        (r"<x>(?=[^Y]*\Z)", "<x>", 1),
        (r"<(?P<name>x)>(?=.*Z)", "<x>", 1),
    ],
)
def test_many_matches_that_are_decided_at_one_far_place(source: str, unit: str, matches: int) -> None:
    looks, found = count_looks([pattern(source)], unit * 1000 + "Z")
    assert found >= matches * 1000
    assert looks < 100 * 1000 * len(unit)


@pytest.mark.parametrize(
    ("delimiters", "text"),
    [
        ([literals(["<tool_call>", "<think>"])], "if a < b then " * 1000),
        ([pattern(r"\s*<tool_call>")], " " * 10_000),
        ([pattern(r"\s*<tool_call>")], "< " * 5_000),
        ([pattern(r"\s*<tool_call>"), literals(["\n\nObserve"])], " \n" * 5_000),
        ([pattern(r"(?:<a>)?[^<]*<b>"), pattern(r"(?:<a>)?[^<]*<c>")], "hello world " * 1000),
        ([pattern(r"(?=[\s\S]*?</think>)")], "hello world " * 1000),
        ([pattern(r"<\|channel\|>(?P<name>\w+).*?<\|message\|>")], "<|channel|>x" + "y z <" * 2_000),
    ],
)
def test_text_in_which_nothing_is_found(delimiters: list[Delimiter], text: str) -> None:
    looks, found = count_looks(delimiters, text)
    assert found == 0
    assert looks <= 2 * len(text)


def test_idle_text_is_not_stepped_through() -> None:
    looks, _ = count_looks([pattern(r"\s*<tool_call>"), literals(["<think>"])], "if a < b then c\n\n " * 500)
    assert looks < 100


def test_what_can_only_be_tried_has_a_limit_for_all_its_matches_together() -> None:
    with pytest.raises(LimitError) as raised:
        count_looks([pattern(r"(?=[\s\S]*?Z)x")], "<x>" * 2_000 + "Z")
    assert raised.value.limit == "pattern_steps"


def test_the_tables_of_a_pattern_with_endless_states_start_over() -> None:
    watch = DelimiterSet([pattern("a[ab]{14}<")])
    scanner = Scanner(watch)
    value = 1
    for _ in range(6_000):
        value = (value * 1_103_515_245 + 12_345) % 2**31
        scanner.scan("ab"[value >> 16 & 1])
    assert len(watch.automaton.states) <= 5_001
    assert scanner.held <= 15


def test_all_streams_of_a_watch_share_its_tables() -> None:
    watch = DelimiterSet([pattern(r"<(?P<name>\w+)>")])
    Scanner(watch).scan("<abc>")
    states = len(watch.automaton.states)
    Scanner(watch).scan("<cba>")
    assert len(watch.automaton.states) == states
