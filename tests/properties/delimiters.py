"""Random delimiters, each with samples of text that it matches or nearly matches.

The alphabet is small, so that delimiters are often prefixes, infixes and repetitions of each other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

ALPHABET = "<>/ab|\n "

FAMILIAR = (
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<|im_end|>",
    "<|im_end|>\n",
    "<|channel|>",
    "<|message|>",
    "END",
    "ENDX",
    "\n\n",
)


@dataclass(frozen=True)
class Given:
    """A delimiter as a template writes it: under which key (``open`` or ``open_pattern`` …), the value, and samples."""

    kind: str
    value: Any
    samples: tuple[str, ...]

    @property
    def groups(self) -> list[str]:
        """The named groups of a pattern."""
        return re.findall(r"\(\?P<(\w+)>", self.value) if self.kind == "pattern" else []

    def under(self, key: str) -> dict[str, Any]:
        """The delimiter as an entry of a field: ``key`` is ``open``, ``close`` or ``start_anchor``."""
        return {key if self.kind == "literal" else f"{key}_pattern": self.value}


@dataclass(frozen=True)
class Piece:
    """A piece of a pattern: its source, and samples of what it matches."""

    source: str
    samples: tuple[str, ...]


def weighted(*strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """One of the strategies, where one that is given twice comes twice as often (``one_of`` would take it once)."""
    return st.sampled_from(strategies).flatmap(lambda chosen: chosen)


def literals() -> st.SearchStrategy[str]:
    """One literal."""
    return st.one_of(
        st.text(ALPHABET, min_size=1, max_size=4),
        st.text(ALPHABET, min_size=1, max_size=2).map(lambda inner: f"<{inner}>"),
        st.sampled_from(FAMILIAR),
    )


def literal_delimiters() -> st.SearchStrategy[Given]:
    """A literal, or a list of literals, some of which begin with or contain each other."""
    one = literals().map(lambda text: Given("literal", text, (text,)))
    several = st.lists(literals(), min_size=1, max_size=4).map(lambda texts: Given("literal", texts, tuple(texts)))
    return st.one_of(one, several, _related_literals())


@st.composite
def _related_literals(draw: st.DrawFn) -> Given:
    text = draw(literals())
    others = [text + draw(st.text(ALPHABET, max_size=3)), text[draw(st.integers(0, len(text) - 1)) :]]
    return Given("literal", [text, *others], (text, *others))


CHARACTERS = st.sampled_from(
    [Piece(re.escape(letter), (letter,)) for letter in ALPHABET]
    + [
        Piece("[ab]", ("a", "b")),
        Piece("[^<]", ("a", "\n", ">")),
        Piece(r"\s", (" ", "\n")),
        Piece(r"\w", ("a", "7", "é")),
        Piece(".", ("b", "\n", "<")),
        Piece("[a-z/]", ("/", "q")),
    ]
)

QUANTIFIERS = st.sampled_from(["", "", "", "?", "*", "+", "??", "*?", "+?", "{1,2}", "{2}"])
REPETITIONS = {"?": (0, 1), "*": (0, 3), "+": (1, 3), "{1,2}": (1, 2), "{2}": (2, 2), "": (1, 1)}


@st.composite
def _repeated(draw: st.DrawFn, inner: st.SearchStrategy[Piece]) -> Piece:
    piece, quantifier = draw(inner), draw(QUANTIFIERS)
    least, most = REPETITIONS[quantifier.removesuffix("?") or quantifier]
    samples = tuple(sample * times for sample in piece.samples[:2] for times in {least, most})
    source = piece.source if not quantifier or len(piece.source) == 1 else f"(?:{piece.source})"
    return Piece(source + quantifier, samples)


@st.composite
def _in_sequence(draw: st.DrawFn, inner: st.SearchStrategy[Piece], most: int) -> Piece:
    pieces = draw(st.lists(inner, min_size=1, max_size=most))
    samples = tuple("".join(draw(st.sampled_from(piece.samples)) for piece in pieces) for _ in range(2))
    return Piece("".join(piece.source for piece in pieces), samples)


@st.composite
def _alternatives(draw: st.DrawFn, inner: st.SearchStrategy[Piece]) -> Piece:
    pieces = draw(st.lists(inner, min_size=2, max_size=3))
    return Piece(
        "(?:" + "|".join(piece.source for piece in pieces) + ")",
        tuple(sample for piece in pieces for sample in piece.samples),
    )


def _cores() -> st.SearchStrategy[Piece]:
    atoms = _repeated(CHARACTERS)
    words = literals().map(lambda text: Piece(re.escape(text), (text,)))
    flat = st.one_of(words, _in_sequence(st.one_of(words, atoms), 4))
    nested = _in_sequence(st.one_of(words, atoms, _alternatives(flat), _repeated(_alternatives(flat))), 3)
    return st.one_of(words, flat, nested, _alternatives(st.one_of(words, flat)))


TAILS = st.sampled_from(
    [
        Piece(r"\s*", ("", "\n", " \n")),
        Piece(r"(?:\s*json)?", ("", " json", "\n")),
        Piece("|$", ("",)),
        Piece(r"\s*|$", ("", "\n")),
        Piece(r"|\Z", ("",)),
        Piece("(?=a)", ("a",)),
        Piece("(?=[^b]b)", ("ab",)),
        Piece("(?!a)", ("b", "")),
        Piece(r"(?!\n\n)", ("\n\n", "b")),
        Piece("$", ("", "\n")),
        Piece(r"\b", ("a", " ")),
        Piece(r"(?!\Z)", ("", "b")),
    ]
)
"""Ends that make it hard to tell when a match is over."""

HEADS = st.sampled_from([Piece(r"\s*", ("", " ", "\n ")), Piece("^", ("",)), Piece(r"(?:^|\n)", ("", "\n"))])

NAMED = st.sampled_from(
    [
        Piece(r"(?P<name>\w+)", ("f", "g_1")),
        Piece("(?P<name>[^>]*)", ("f", "")),
        Piece("(?P<name>a|ab)?", ("a", "ab", "")),
    ]
)

ZERO_WIDTH = st.sampled_from(
    [Piece("(?=a)", ("a",)), Piece("(?=<)", ("<",)), Piece("$", ("",)), Piece("^", ("",)), Piece("", ("",))]
)

DIFFICULT = st.sampled_from(
    [
        Piece(r"(a|b)\1", ("aa", "bb", "ab")),
        Piece("(?<=a)<", ("a<", "b<")),
        Piece(r"(?<!\n)END", ("END", "\nEND")),
        Piece("<(?>a|ab)>", ("<a>", "<ab>")),
        Piece("<a>(?=.*b)", ("<a>",)),
    ]
)
"""What no automaton can run: a search at the end of the text, or trying at each place."""


@st.composite
def patterns(draw: st.DrawFn, *, named: bool) -> Given:
    """A pattern; with ``named`` it may have the group ``name``."""
    parts = [draw(_cores())]
    if draw(st.integers(0, 4)) == 0:
        parts.insert(0, draw(HEADS))
    if named and draw(st.booleans()):
        parts += [draw(NAMED), draw(_cores())]
    if draw(st.booleans()):
        parts.append(draw(TAILS))
    samples = tuple("".join(draw(st.sampled_from(part.samples)) for part in parts) for _ in range(3))
    return Given("pattern", "".join(part.source for part in parts), samples)


def pattern_delimiters(*, named: bool = False) -> st.SearchStrategy[Given]:
    """A pattern of any kind, now and then one that matches the empty text or that no automaton can run."""
    as_given = st.one_of(ZERO_WIDTH, DIFFICULT).map(lambda piece: Given("pattern", piece.source, piece.samples))
    usual = patterns(named=named)
    return weighted(usual, usual, usual, usual, usual, usual, as_given)


def delimiters(*, named: bool = False) -> st.SearchStrategy[Given]:
    """A delimiter of any kind."""
    return st.one_of(literal_delimiters(), pattern_delimiters(named=named))
