"""Where a delimiter can begin: the search over idle text may stop too often, but must not miss a beginning."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from streamparse.matching.delimiter import Delimiter
from streamparse.matching.delimiter_set import DelimiterSet
from streamparse.matching.prefilter import Prefilter, prefilter_of
from streamparse.matching.scanner import Scanner
from tests.properties.delimiters import Given, delimiters
from tests.properties.texts import cut_up, cuts


def heads(*given_delimiters: str | list[str]) -> Prefilter | None:
    """The heads of patterns (text) and literals (lists)."""
    return prefilter_of(
        Delimiter.of_literals(each) if isinstance(each, list) else Delimiter.of_pattern(each)
        for each in given_delimiters
    )


def beginnings(found: Prefilter | None) -> list[str]:
    """What the search stops at, of single texts in which it could."""
    assert found is not None
    texts = ["<", "<t", "<think>", "<thing", "a < b", "</", "</t", "\n", "x"]
    return [text for text in texts if found.search(text) is not None]


def test_a_literal_begins_with_itself_and_may_be_cut_off() -> None:
    assert beginnings(heads(["<think>"])) == ["<", "<t", "<think>"]


@pytest.mark.parametrize(
    "pattern",
    ["<think>", r"<think>\s*", r"(?:<think>|<thought>)\w+", r"<th(?:ink|ought)>", "(?=<think>)", r"\s*<think>"],
)
def test_a_pattern_begins_with_its_literal_part(pattern: str) -> None:
    found = heads(pattern)
    assert found is not None
    assert found.search("a <think> b") is not None
    assert found.search("a < b, c <d") is None


@pytest.mark.parametrize("pattern", ["[^<]*<x>", r"\w+:", "", "a?", "(?<=a)b", r"\b<x>", ".x", "(?i:think)"])
def test_there_is_no_search_where_a_match_can_begin_with_what_is_not_literal(pattern: str) -> None:
    assert heads(pattern) is None


def test_one_delimiter_without_a_literal_beginning_leaves_the_whole_watch_without_a_search() -> None:
    assert heads(["<x>"], "[^<]*<y>") is None


def test_white_space_before_a_head_is_its_run() -> None:
    found = heads(r"\s*<call>", ["<think>"])
    assert found is not None
    assert found.run is not None
    assert found.run.contains("\n")
    assert heads(r"\w*<call>") is None, "a run of letters is prose"
    assert heads(r"\s*<a>", r"[\n]*<b>") is None, "two different runs"


def test_the_letters_are_what_heads_begin_with() -> None:
    found = heads(["<a>", "[b]"], r"\|c")
    assert found is not None
    assert found.letters == ("<", "[", "|")


def test_a_dollar_may_stand_before_the_last_line_break() -> None:
    found = heads("<e>|$")
    assert found is not None
    assert found.search("a\n") is not None
    assert found.search("a\nb") is None


def next_match(watch: DelimiterSet, text: str, pieces: list[str]) -> Any:
    """What a scanner finds in a text that begins at position 1, where nothing begins the whole text any more."""
    scanner = Scanner(watch, position=1)
    for piece in pieces:
        _, match, _, _ = scanner.scan(piece, 0)
        if match is not None:
            return match.start - 1
    _, match, _, _ = scanner.finish()
    return None if match is None else match.start - 1


@settings(deadline=None)
@given(data=st.data(), chosen=st.lists(delimiters(), min_size=1, max_size=3), places=cuts())
def test_no_delimiter_begins_before_the_first_place_that_the_search_finds(
    data: st.DataObject, chosen: list[Given], places: list[int]
) -> None:
    compiled = [
        Delimiter.of_pattern(each.value)
        if each.kind == "pattern"
        else Delimiter.of_literals([each.value] if isinstance(each.value, str) else each.value)
        for each in chosen
    ]
    found = prefilter_of(compiled)
    assume(found is not None)
    assert found is not None
    samples = [sample for each in chosen for sample in each.samples]
    parts = st.one_of(st.sampled_from(samples), st.text("<>/ab|\n ", max_size=3))
    text = "".join(data.draw(st.lists(parts, max_size=6), "text"))
    start = next_match(DelimiterSet(compiled), text, cut_up(text, places))
    for piece in (text, *(text[:end] for end in range(len(text)))):
        head = found.search(piece)
        first = len(piece) if head is None else head.start()
        while first and found.run is not None and found.run.contains(piece[first - 1]):
            first -= 1
        # a match at the very end of the piece has no character in it yet
        assert start is None or start >= first, (piece, start, first)
