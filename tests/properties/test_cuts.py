"""Cutting does not matter: however a text comes in pieces, the message and the regions are the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.outcomes import assert_same, outcome
from tests.properties.policies import familiar_samples, lenient_samples
from tests.properties.templates import TOOLS, Sample, samples
from tests.properties.texts import cut_up, cuts, prefixes, texts

STRICT = st.tuples(st.just("strict"), samples())
LENIENT = st.tuples(st.sampled_from(["report", "repair"]), st.one_of(lenient_samples(), familiar_samples()))

in_each_mode = pytest.mark.parametrize("modes", [STRICT, LENIENT], ids=["strict", "lenient"])


def draw_case(data: st.DataObject, modes: st.SearchStrategy[tuple[str, Sample]]) -> tuple[Any, str, dict[str, Any]]:
    """A template, a text for it, and options of the parser."""
    errors, sample = data.draw(modes, "mode and template")
    text, prefix = data.draw(texts(sample), "text"), data.draw(prefixes(sample), "prefix")
    spans = data.draw(st.booleans(), "spans")
    return sample.template, text, {"prefix": prefix, "tools": TOOLS, "errors": errors, "spans": spans}


@in_each_mode
@given(data=st.data(), places=cuts())
def test_pieces_of_any_size_give_what_the_whole_text_gives(
    modes: st.SearchStrategy[tuple[str, Sample]], data: st.DataObject, places: list[int]
) -> None:
    template, text, options = draw_case(data, modes)
    options["finish_reason"] = data.draw(st.sampled_from([None, "stop", "length"]), "finish_reason")
    whole = outcome(template, [text], **options)
    assert_same(outcome(template, list(text), **options), whole, "by character")
    assert_same(outcome(template, cut_up(text, places), **options), whole, "cut")


@in_each_mode
@given(data=st.data(), places=cuts())
def test_bytes_cut_anywhere_give_what_the_text_gives(
    modes: st.SearchStrategy[tuple[str, Sample]], data: st.DataObject, places: list[int]
) -> None:
    template, text, options = draw_case(data, modes)
    whole = outcome(template, [text], **options)
    encoded = text.encode("utf-8")
    assert_same(outcome(template, cut_up(encoded, places), **options), whole, "bytes")
    assert_same(outcome(template, cut_up(encoded, list(range(len(encoded)))), **options), whole, "each byte")


@in_each_mode
@given(data=st.data(), places=cuts())
def test_a_parser_restored_at_any_place_goes_on_as_if_nothing_had_happened(
    modes: st.SearchStrategy[tuple[str, Sample]], data: st.DataObject, places: list[int]
) -> None:
    template, text, options = draw_case(data, modes)
    pieces = cut_up(text, places)
    uninterrupted = outcome(template, pieces, **options)
    for number in {0, len(pieces) // 2, len(pieces) - 1}:
        restored = outcome(template, pieces, restored_after=frozenset({number}), **options)
        assert_same(restored, uninterrupted, f"restored after piece {number}")
    everywhere = frozenset(range(len(text)))
    assert_same(outcome(template, list(text), restored_after=everywhere, **options), uninterrupted, "each time")
