"""A short piece that comes again is gone over at once, with the same result as step by step."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamparse.errors import LimitError
from streamparse.matching import cursor
from streamparse.matching.delimiter import Delimiter
from streamparse.matching.delimiter_set import DelimiterSet
from streamparse.matching.scanner import Scanner
from tests.matching.brute_force import pieces_of
from tests.matching.pattern_strategies import Source, delimiters_of, linear_patterns, texts, watches
from tests.properties.time_limit import ended_in_time


def scanned(delimiters: list[Delimiter], pieces: list[str], limit: int) -> list[object]:
    """What each piece releases and which matches it has, twice over, so that the second time all is known."""
    scanner, steps = Scanner(DelimiterSet(delimiters), limit), []
    try:
        for piece in pieces + pieces:
            released, match, text, resume = scanner.scan(piece)
            steps.append((released, match, scanner.held))
            while match is not None:
                if not match.text:
                    scanner.forbid_zero_width_here()
                released, match, text, resume = scanner.scan(text, resume)
                steps.append((released, match, scanner.held))
    except LimitError as error:
        steps.append(str(error))
    return steps


@settings(max_examples=400, deadline=None)
@given(watches(linear_patterns), texts, st.lists(st.integers(0, 24), max_size=8), st.sampled_from([3, 10_000]))
def test_at_once_and_step_by_step_are_the_same(sources: list[Source], text: str, cuts: list[int], limit: int) -> None:
    delimiters, pieces = delimiters_of(sources), pieces_of(text, cuts)
    at_once = scanned(delimiters, pieces, limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cursor, "TRANSITIONS_AT_MOST", 0)
        assert scanned(delimiters, pieces, limit) == at_once


@pytest.mark.parametrize("size", [3, 4, 7])
def test_many_matches_that_are_decided_at_one_far_place_take_linear_time_in_short_pieces(size: int) -> None:
    text = "<x>" * 60_000 + "Z"
    scanner, matches = Scanner(DelimiterSet([Delimiter.of_pattern("<x>(?=[^Y]*Z)")]), len(text)), 0
    with ended_in_time(20):
        for start in range(0, len(text), size):
            _, match, rest, resume = scanner.scan(text[start : start + size])
            while match is not None:
                matches += 1
                _, match, rest, resume = scanner.scan(rest, resume)
    assert matches == 60_000
