"""Random texts made of what matters to a template, prompts before them, and ways of cutting them."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeVar

from hypothesis import strategies as st

from tests.properties.delimiters import ALPHABET, weighted
from tests.properties.templates import ANCHOR, Sample

Text = TypeVar("Text", str, bytes)

NOISE = st.one_of(
    st.text(ALPHABET, max_size=3), st.sampled_from(["Hello, ", "é", "😀", "\r\n", "\ufffd", "json", "A", " b "])
)


@st.composite
def texts(draw: st.DrawFn, sample: Sample, *, most: int = 8) -> str:
    """A text of whole regions, of their parts, of cut parts, and of noise."""
    whole = st.sampled_from(sample.pieces)
    region = _regions(sample)
    part = weighted(region, region, region, whole, _cut_short(whole), NOISE)
    return "".join(draw(part) for _ in range(draw(st.sampled_from([most, 1, 2, 3, most // 2, 0, most]))))


@st.composite
def _regions(draw: st.DrawFn, sample: Sample) -> str:
    """A region as it should be: open, a text or two, close."""
    parts = draw(st.sampled_from(sample.regions))
    bodies = [draw(st.sampled_from(parts.bodies)) for _ in range(draw(st.sampled_from([1, 1, 0, 1, 2])))]
    return draw(st.sampled_from(parts.opens)) + "".join(bodies) + draw(st.sampled_from(parts.closes))


@st.composite
def _cut_short(draw: st.DrawFn, whole: st.SearchStrategy[str]) -> str:
    text = draw(whole)
    start, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
    return text[start:end]


@st.composite
def prefixes(draw: st.DrawFn, sample: Sample) -> str:
    """A prompt: usually none, else a conversation whose last message may have been begun."""
    if draw(st.integers(0, 2)):
        return ""
    begun = draw(texts(sample, most=3))
    return draw(st.sampled_from([f"user: <a>{ANCHOR}{begun}", f"{ANCHOR}{ANCHOR}{begun}", ANCHOR, begun]))


def cuts() -> st.SearchStrategy[list[int]]:
    """Places to cut at; those beyond the end of a text have no effect."""
    return st.lists(st.integers(0, 60), max_size=10)


def cut_up(text: Text, places: list[int]) -> list[Text]:
    """The pieces of a text that is cut at the places, empty ones included.

    >>> cut_up("abcd", [3, 1, 1, 9])
    ['a', '', 'bc', 'd', '']
    """
    ends = sorted([0, *(min(place, len(text)) for place in places), len(text)])
    return [text[start:end] for start, end in pairwise(ends)]
