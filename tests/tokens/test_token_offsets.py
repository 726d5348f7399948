from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from streamparse.tokens.offsets import TokenOffsets

PIECES = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 5)), max_size=30)


def ledger(pieces: list[tuple[int, int]]) -> TokenOffsets:
    offsets = TokenOffsets()
    for tokens, characters in pieces:
        offsets.add(tokens, characters)
    return offsets


def token_starts(pieces: list[tuple[int, int]]) -> list[int]:
    """Where each token begins, counted the plain way."""
    starts, at = [], 0
    for tokens, characters in pieces:
        starts += [at] * tokens
        at += characters
    return starts


@given(PIECES, st.integers(0, 200), st.integers(0, 200))
def test_a_token_belongs_to_the_text_that_has_its_first_character(
    pieces: list[tuple[int, int]], one: int, other: int
) -> None:
    start, end = sorted((one, other))
    first, after = ledger(pieces).span(start, end)
    assert list(range(first, after)) == [i for i, at in enumerate(token_starts(pieces)) if start <= at < end]


@given(PIECES, st.lists(st.integers(0, 150), max_size=5))
def test_neighbouring_stretches_share_no_token_and_add_up(pieces: list[tuple[int, int]], cuts: list[int]) -> None:
    offsets = ledger(pieces)
    bounds = sorted([0, *(min(cut, offsets.characters) for cut in cuts), offsets.characters])
    spans = [offsets.span(start, end) for start, end in pairwise(bounds)]
    assert sum(end - start for start, end in spans) == offsets.tokens
    assert all(before[1] == after[0] for before, after in pairwise(spans))


def test_what_was_forgotten_is_not_kept_and_the_rest_stays_right() -> None:
    offsets, kept = TokenOffsets(), 0
    for place in range(10_000):
        offsets.add(1, 2)
        offsets.forget(2 * place)
        assert offsets.span(2 * place, 2 * place + 2) == (place, place + 1)
        kept = max(kept, len(json.dumps(offsets.snapshot())))
    assert kept < 2500


def test_an_offset_at_the_very_place_that_was_forgotten_is_known() -> None:
    offsets = ledger([(1, 1)] * 500)
    offsets.forget(300)
    assert offsets.before(300) == 300
    assert offsets.before(301) == 301
    assert offsets.before(1000) == 500


@given(PIECES, PIECES)
def test_a_restored_ledger_goes_on(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> None:
    restored = TokenOffsets()
    restored.restore(json.loads(json.dumps(ledger(first).snapshot())))
    for tokens, characters in second:
        restored.add(tokens, characters)
    assert restored.snapshot() == ledger(first + second).snapshot()
