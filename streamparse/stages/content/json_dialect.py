"""The dialects of the content parser ``json``: strings between delimiters of their own, and keys without quotes.

In comes a text in a dialect, out goes the same as standard JSON, with a map from its positions to those of the text, in
time linear in the text. Delimiters are looked for pair by pair, in the order given, each from left to right: an opening
one and the next closing one make a string, whatever stands between them. Keys without quotes are words (``\\w+``) after
``{`` or ``,`` and before ``:``; key-like text inside a double-quoted string is left alone.

Results are those of transformers on every text, oddities included, because templates are shared with it:

- delimiters that stand inside a double-quoted string are taken for delimiters all the same;
- where a string of one pair encloses a string of an earlier pair, a placeholder shows in its place
  (``\\x01``, a number, ``\\x02``);
- a text that has ``\\x01`` or ``\\x02`` in it is refused, whether or not other text would be accepted.
"""

from __future__ import annotations

import bisect
import json
from collections.abc import Iterable, Iterator
from typing import Any

import regex

from streamparse.stages.content.table import content_error, kind_of

PLACEHOLDER_OPEN, PLACEHOLDER_CLOSE = "\x01", "\x02"
PLACEHOLDER = regex.compile(f"{PLACEHOLDER_OPEN}(0|[1-9][0-9]*+){PLACEHOLDER_CLOSE}")

STRING_OR_KEY = regex.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?P<close>"?)|(?<=[{,])\s*+(?P<key>\w++)\s*+:')
KEY = regex.compile(r"(?<=[{,])\s*+(?P<key>\w++)\s*+:")

Delimiters = tuple[tuple[str, str], ...]
Piece = tuple[int, int, str]


class Rewritten:
    """A text made from another by replacing pieces of it, and where its positions come from."""

    __slots__ = ("_earlier", "_origins", "_starts", "text")

    def __init__(self, text: str, earlier: Rewritten | None = None) -> None:
        self.text = text
        self._earlier = earlier
        # Kept and replaced stretches take turns, a kept one first: where each starts here, and in the earlier text.
        self._starts = [0]
        self._origins = [0]

    def replace(self, pieces: Iterable[Piece]) -> Rewritten:
        """Replace pieces, each given as start, end and new text, in order; the result remembers this text."""
        result = Rewritten("", self)
        parts: list[str] = []
        length = done = 0
        for start, end, new in pieces:
            kept = self.text[done:start]
            parts += (kept, new)
            length += len(kept)
            result._starts += (length, length + len(new))
            result._origins += (start, end)
            length += len(new)
            done = end
        if not parts:
            return self
        parts.append(self.text[done:])
        result.text = "".join(parts)
        return result

    def origin(self, position: int) -> int:
        """Tell where a position comes from in the first text; for one in a replaced piece, where that piece starts."""
        if self._earlier is None:
            return position
        stretch = bisect.bisect_right(self._starts, position) - 1
        is_kept = stretch % 2 == 0
        return self._earlier.origin(self._origins[stretch] + (position - self._starts[stretch] if is_kept else 0))


class Dialect:
    r"""One dialect of JSON: its string delimiters, and whether keys may stand without quotes.

    >>> Dialect((("<q>", "</q>"),), unquoted_keys=True).to_json("{a: <q>say \"x\"</q>}").text
    '{"a": "say \\"x\\""}'
    """

    def __init__(self, delimiters: Delimiters, unquoted_keys: bool) -> None:
        self._delimiters = delimiters
        self._unquoted_keys = unquoted_keys

    def to_json(self, text: str) -> Rewritten:
        """Rewrite a text as standard JSON; raises ContentError for one that has a placeholder's characters in it."""
        rewritten = Rewritten(text)
        strings: list[str] = []
        if self._delimiters:
            refuse_placeholders(text)
        for opening, closing in self._delimiters:
            rewritten = rewritten.replace(delimited_strings(rewritten.text, opening, closing, strings))
        if self._unquoted_keys:
            rewritten = rewritten.replace(unquoted_keys(rewritten.text))
        if strings:
            rewritten = rewritten.replace(placeholders(rewritten.text, strings))
        return rewritten


def refuse_placeholders(text: str) -> None:
    """Raise ContentError where ``text`` has a character in it that placeholders are made of."""
    for character in (PLACEHOLDER_OPEN, PLACEHOLDER_CLOSE):
        if (position := text.find(character)) != -1:
            raise content_error(f"{character!r} can't be read where string_delims are given", text, position)


def delimited_strings(text: str, opening: str, closing: str, strings: list[str]) -> Iterator[Piece]:
    """Find the strings between two delimiters; each goes to the end of ``strings``, its place to a placeholder."""
    start = text.find(opening)
    while start != -1:
        body = start + len(opening)
        end = text.find(closing, body)
        if end == -1:
            return
        yield start, end + len(closing), f"{PLACEHOLDER_OPEN}{len(strings)}{PLACEHOLDER_CLOSE}"
        strings.append(text[body:end])
        done = end + len(closing)
        start = text.find(opening, done if done > start else done + 1)


def unquoted_keys(text: str) -> Iterator[Piece]:
    """Find keys without quotes outside double-quoted strings, each to be put in quotes.

    A quote whose string does not end opens none, nor does any escaped quote that this string would have passed over.
    """
    position = 0
    while (match := STRING_OR_KEY.search(text, position)) is not None:
        position = match.end()
        if match["key"] is not None:
            yield quoted(match)
        elif not match["close"]:
            yield from map(quoted, KEY.finditer(text, match.start() + 1, position))


def quoted(match: regex.Match[str]) -> Piece:
    """Give a found key in quotes."""
    return match.start("key"), match.end("key"), f'"{match["key"]}"'


def placeholders(text: str, strings: list[str]) -> Iterator[Piece]:
    """Find the placeholders of ``strings``, each to be replaced with its string as JSON."""
    for match in PLACEHOLDER.finditer(text):
        if len(match[1]) < 19 and int(match[1]) < len(strings):
            yield match.start(), match.end(), json.dumps(strings[int(match[1])])


def string_delimiters(value: Any) -> Delimiters:
    """Give the argument ``string_delims`` as pairs; raises ValueError for one of another shape.

    >>> string_delimiters([["<q>", "</q>"]])
    (('<q>', '</q>'),)
    """
    if not isinstance(value, Iterable):
        raise ValueError(f"must be a list of [open, close] pairs, not {kind_of(value)}")
    pairs = []
    for entry in value:
        pair = tuple(entry) if isinstance(entry, Iterable) else ()
        if len(pair) != 2 or not all(isinstance(delimiter, str) for delimiter in pair):
            raise ValueError(f"must be a list of [open, close] pairs of strings; {entry!r} is none")
        pairs.append((pair[0], pair[1]))
    return tuple(pairs)
