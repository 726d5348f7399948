"""What matching costs that has to be tried: each step what it reads, and the same whatever the pieces."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from streamparse import LimitError, Limits, ResponseParser
from streamparse.matching import backtrack
from streamparse.matching.delimiter import Delimiter
from streamparse.matching.delimiter_set import DelimiterSet
from streamparse.matching.scanner import Scanner
from tests.matching.brute_force import Found, Reader, pieces_of
from tests.matching.pattern_strategies import Source, delimiters_of, linear_patterns, odd_patterns, texts, watches

Outcome = tuple[list[Found], int | None]


def outcome(sources: list[Source], pieces: list[str], limit: int, others: list[Source], moves: set[int]) -> Outcome:
    """What is found before the steps are used up, and where that is."""
    with patch.object(backtrack, "STEPS_PER_CHARACTER", 1):
        reader = Reader(delimiters_of(sources), delimiters_of(others) if others else None, pattern_steps=limit)
        try:
            for number, piece in enumerate(pieces):
                if number in moves:
                    reader.move_elsewhere()
                reader.feed(piece)
            reader.finish()
        except LimitError as error:
            return reader.found, error.position
    return reader.found, None


@settings(max_examples=150, deadline=None)
@given(
    watches(st.one_of(odd_patterns, odd_patterns, linear_patterns)),
    st.one_of(st.just([]), watches(odd_patterns)),
    texts,
    st.integers(1, 120),
    st.lists(st.integers(0, 24), max_size=6),
    st.sets(st.integers(0, 8)),
)
@example([r"(a+)\1+b", r"(a+)\1<"], [], "aaaaaaaaaaaa", 40, [3], set())
@example([r"(a+)\1+b", "ab"], [], "aaaaaaabaaaaaaaaa", 30, [3], {1})
def test_the_steps_are_used_up_at_the_same_place_whatever_the_pieces(
    sources: list[Source], others: list[Source], text: str, limit: int, places: list[int], moves: set[int]
) -> None:
    whole = outcome(sources, [text], limit, others, set())
    assert outcome(sources, list(text), limit, others, set()) == whole
    assert outcome(sources, pieces_of(text, places), limit, others, set()) == whole
    assert outcome(sources, pieces_of(text, places), limit, others, moves) == whole


@pytest.mark.parametrize(
    ("source", "unit"),
    [
        (r"(a+)\1+b", "a"),
        (r"(?P<x>a+)(?P=x)+b", "a"),
        (r"(?i)(a+)\1+b", "aA"),
        (r"(?:a(?<!b{2000}))+b", "a"),
        ("(?:(?:" + "|".join(f"a{chr(0x4E00 + i)}" for i in range(400)) + "|a)(?!bb))+c", "a"),
    ],
)
def test_a_step_costs_what_it_reads(source: str, unit: str) -> None:
    scanner = Scanner(DelimiterSet([Delimiter.of_pattern(source)]), context=2000)
    looks = 0
    same, after, text_of = backtrack._same, backtrack.Known.after, backtrack.Known.text

    def count_same(one: str, other: str, ignore_case: bool) -> bool:
        nonlocal looks
        looks += 1
        return same(one, other, ignore_case)

    def count_after(known: backtrack.Known, position: int) -> str | None:
        nonlocal looks
        looks += 1
        return after(known, position)

    def count_text(known: backtrack.Known, start: int, end: int) -> str:
        nonlocal looks
        looks += end - start
        return text_of(known, start, end)

    with (
        patch.object(backtrack, "_same", count_same),
        patch.object(backtrack.Known, "after", count_after),
        patch.object(backtrack.Known, "text", count_text),
        pytest.raises(LimitError, match=r"Limits\.pattern_steps"),
    ):
        scan_all(scanner, unit * 4_000)
    assert looks < 3 * (1_000_000 + 25 * 4_000)


@pytest.mark.parametrize("errors", ["strict", "report", "repair"])
def test_the_error_of_a_parser_names_the_same_place_whatever_the_pieces(errors: str) -> None:
    template = {
        "start_anchor": "@@",
        "fields": {
            "content": {},
            "thought": {"open": "<t>", "close_pattern": r"(a+)\1+b"},
            "call": {
                "open_pattern": r"<(?P<n>c+)(?P=n)>",
                "close": "</c>",
                "content": "json",
                "transform": {"n": "{n}"},
            },
        },
    }
    text = "Hi <t>th" + "aa" * 20 + "b, <ccc> <cccc>{}</c> < then <t>so" + "a" * 300 + "c"
    places = set()
    for size in (len(text), 1, 3, 40, 41, 200):
        parser = ResponseParser(template, "", errors=errors, limits=Limits(pattern_steps=20_000))
        with pytest.raises(LimitError, match=r"Limits\.pattern_steps") as raised:
            parse(parser, [text[start : start + size] for start in range(0, len(text), size)])
        places.add(raised.value.position)
    assert len(places) == 1


def scan_all(scanner: Scanner, text: str) -> None:
    scanner.scan(text)
    scanner.finish()


def parse(parser: ResponseParser, pieces: list[str]) -> None:
    for piece in pieces:
        parser.feed(piece)
    parser.finalize()
