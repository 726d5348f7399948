"""Whatever the cuts, a scanner finds what a search of the whole text finds, and holds back no more than it must."""

from __future__ import annotations

from itertools import product

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.matching.brute_force import MOST_MATCHES, Reader, pieces_of, read, search_whole
from tests.matching.pattern_strategies import (
    ALPHABET,
    Source,
    delimiters_of,
    linear_patterns,
    odd_patterns,
    texts,
    watches,
)

cuts = st.lists(st.integers(0, 24), max_size=8)


def check_all_cuts(sources: list[Source], text: str, some_cuts: list[int]) -> None:
    delimiters = delimiters_of(sources)
    wanted = search_whole(delimiters, text)
    for pieces in ([text], list(text), pieces_of(text, some_cuts)):
        reader = read(delimiters, pieces)
        assert reader.found == wanted
        if len(wanted) < MOST_MATCHES:
            assert reader.given == text


@settings(max_examples=400, deadline=None)
@given(watches(linear_patterns), texts, cuts)
def test_linear_delimiters_are_found_as_in_the_whole_text(
    sources: list[Source], text: str, some_cuts: list[int]
) -> None:
    check_all_cuts(sources, text, some_cuts)


@settings(max_examples=400, deadline=None)
@given(watches(odd_patterns), texts, cuts)
@example([r"(?:(?:.)*?){1,2}"], "ab", [])
def test_other_delimiters_are_found_as_in_the_whole_text(
    sources: list[Source], text: str, some_cuts: list[int]
) -> None:
    check_all_cuts(sources, text, some_cuts)


@settings(max_examples=150, deadline=None)
@given(watches(st.one_of(linear_patterns, odd_patterns)), texts, cuts, st.sets(st.integers(0, 8)))
def test_a_scanner_can_go_on_elsewhere(sources: list[Source], text: str, some_cuts: list[int], moves: set[int]) -> None:
    delimiters = delimiters_of(sources)
    reader = Reader(delimiters)
    for number, piece in enumerate(pieces_of(text, some_cuts)):
        if number in moves:
            reader.move_elsewhere()
        reader.feed(piece)
    reader.finish()
    assert reader.found == search_whole(delimiters, text)


@settings(max_examples=150, deadline=None)
@given(watches(odd_patterns), watches(linear_patterns), texts, cuts)
def test_the_watch_can_change_with_each_match(
    sources: list[Source], other_sources: list[Source], text: str, some_cuts: list[int]
) -> None:
    delimiters, others = delimiters_of(sources), delimiters_of(other_sources)
    wanted = search_whole(delimiters, text, others)
    for pieces in ([text], list(text), pieces_of(text, some_cuts)):
        reader = Reader(delimiters, others)
        for piece in pieces:
            reader.feed(piece)
        reader.finish()
        assert reader.found == wanted


@settings(max_examples=100, deadline=None)
@given(watches(linear_patterns), st.text(alphabet=ALPHABET, max_size=10))
def test_no_text_is_held_that_cannot_become_a_delimiter(sources: list[Source], text: str) -> None:
    delimiters = delimiters_of(sources)
    reader = Reader(delimiters)
    reader.feed(text)
    position = len(reader.given)
    if position == len(text) or len(reader.found) >= MOST_MATCHES:
        return
    if any(delimiter.compiled.fullmatch(text, position, partial=True) for delimiter in delimiters):
        return
    # Partial matching knows nothing of what ends a lookahead, or the text; a short continuation shows it.
    known = len(reader.found)
    for continuation in ("".join(letters) for length in range(5) for letters in product(ALPHABET, repeat=length)):
        found = search_whole(delimiters, text + continuation)
        if len(found) > known and found[known].start == position:
            return
    raise AssertionError(f"{text[position:]!r} is held for nothing")
