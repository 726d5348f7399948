"""Words go to the next line whole, however the text comes."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from streamparse.cli.wrap import Erase, WordWrap

texts = st.lists(st.sampled_from(["a", "b", " ", " ", "\n", "漢", "ö", "o\u0308"]), max_size=60).map("".join)
widths = st.integers(2, 12)


def screen(pieces: Iterable[str], width: int) -> list[str]:
    """What a terminal of that width shows."""
    wrap = WordWrap()
    lines = [""]
    for piece in pieces:
        for part in wrap.feed(piece, width):
            if isinstance(part, Erase):
                assert part.column <= cell_len(lines[-1])
                while cell_len(lines[-1]) > part.column:
                    lines[-1] = lines[-1][:-1]
                continue
            for character in part:
                if character == "\n":
                    lines.append("")
                    continue
                if cell_len(lines[-1]) + cell_len(character) > width:
                    lines.append("")
                lines[-1] += character
    return lines


@given(texts, widths)
def test_the_cuts_make_no_difference(text: str, width: int) -> None:
    whole = screen([text], width)
    assert screen(text, width) == whole
    assert screen([text[at : at + 3] for at in range(0, len(text), 3)], width) == whole


@given(texts, widths)
def test_lines_fit_and_hold_all_words_whole(text: str, width: int) -> None:
    lines = screen(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
    words = [word for word in text.split() if cell_len(word) <= width and "漢" not in word]
    shown = [word for line in lines for word in line.split()]
    for word in words:
        assert word in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one two", ["one ", "two"]),
        ("one  two", ["one  ", "two"]),
        ("a bcdefgh", ["a ", "bcdef", "gh"]),
        ("漢字漢字", ["漢字", "漢字"]),
        ("a\nb", ["a", "b"]),
    ],
)
def test_what_a_line_of_five_cells_holds(text: str, shown: list[str]) -> None:
    assert screen(text, 5) == shown
