r"""Sets of characters as ranges of code points, and the sets that patterns name.

``\d``, ``\w`` and ``\s`` hold what JSON Schema's dialect of patterns (ECMA-262) says, which is ASCII but for white
space: what is in these sets is also in those of Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import regex

from streamparse.grammar.nodes import Chars, Ranges

LAST = 0x10FFFF
SURROGATES: Ranges = ((0xD800, 0xDFFF),)


def union(*sets: Ranges) -> Ranges:
    """Everything that is in one of the sets.

    >>> union(((1, 3),), ((4, 6), (9, 9)))
    ((1, 6), (9, 9))
    """
    result: list[tuple[int, int]] = []
    for low, high in sorted(pair for ranges in sets for pair in ranges):
        if result and low <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(high, result[-1][1]))
        else:
            result.append((low, high))
    return tuple(result)


def complement(ranges: Ranges) -> Ranges:
    """Every other character; surrogates are none."""
    result, at = [], 0
    for low, high in union(ranges, SURROGATES):
        if at < low:
            result.append((at, low - 1))
        at = high + 1
    return (*result, (at, LAST)) if at <= LAST else tuple(result)


def difference(ranges: Ranges, without: Ranges) -> Ranges:
    """What is in the first set only.

    >>> difference(((0, 9),), ((3, 4),))
    ((0, 2), (5, 9))
    """
    return complement(union(complement(ranges), without))


def intersection(one: Ranges, other: Ranges) -> Ranges:
    """What is in both sets.

    >>> intersection(((0, 5),), ((4, 9),))
    ((4, 5),)
    """
    return difference(one, complement(other))


def contains(ranges: Ranges, character: str) -> bool:
    """Whether the set has the character."""
    return any(low <= ord(character) <= high for low, high in ranges)


def of(characters: Iterable[str]) -> Ranges:
    """The set of these characters."""
    return union(*(((ord(character), ord(character)),) for character in characters))


def none_of(characters: str) -> Chars:
    """One character that is none of these."""
    return Chars(complement(of(characters)))


ANY: Ranges = complement(())
ANY_CHARACTER = Chars(ANY)
DIGIT: Ranges = ((0x30, 0x39),)
HEX = Chars(((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)))
CONTROLS: Ranges = ((0, 0x1F),)

_ASCII = "".join(map(chr, range(128)))
_WIDE_SPACE = (*of("\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff\x85\x1c\x1d\x1e\x1f"), (8192, 8202))
_LINE_ENDS = of("\n\r\u2028\u2029")


@lru_cache(maxsize=4096)
def class_ranges(source: str, flags: int) -> Ranges:
    r"""The characters of a class as a pattern writes it (``[^<\s]``, ``\w``, ``.``); raises ValueError where unclear.

    ASCII is asked of ``regex``; beyond it a class has all or nothing, unless it names characters there.

    >>> class_ranges("[a-c]", 0)
    ((97, 99),)
    """
    if source == ".":
        return ANY if flags & regex.DOTALL else difference(ANY, _LINE_ENDS)
    if not source.isascii() or regex.search(r"\\[uxpPN]|\[:|\[\[|--|&&|\|\||~~", source):
        return _scanned(source, flags)
    found = of(regex.compile(source, flags | regex.ASCII).findall(_ASCII))
    if not _reaches_beyond_ascii(source):
        return found
    spaces = _WIDE_SPACE if r"\s" in source or r"\S" in source else ()
    return difference(union(found, ((0x80, LAST),)), tuple(spaces))


def _reaches_beyond_ascii(source: str) -> bool:
    if source.startswith("[^"):
        return not regex.search(r"\\[WSD]", source)
    return regex.search(r"\\[WSD]", source) is not None


@lru_cache(maxsize=256)
def _scanned(source: str, flags: int) -> Ranges:
    """Ask ``regex`` about every character there is; takes some 50 ms, once a class."""
    everything = "".join(map(chr, [*range(0xD800), *range(0xE000, LAST + 1)]))
    result: list[tuple[int, int]] = []
    for found in regex.compile(f"(?:{source})+", flags).finditer(everything):
        low, high = ord(found[0][0]), ord(found[0][-1])
        result += [(low, high)] if not low < 0xD800 <= high else [(low, 0xD7FF), (0xE000, high)]
    return union(tuple(result))
