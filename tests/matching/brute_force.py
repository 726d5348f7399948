"""What the delimiters of a watch give when the whole text is known, searched with ``regex`` itself."""

from __future__ import annotations

from typing import NamedTuple

from streamparse.matching.delimiter import Delimiter
from streamparse.matching.delimiter_set import DelimiterSet
from streamparse.matching.scanner import Match, Scanned, Scanner

#: Enough matches for any text of the tests; patterns that match the empty text everywhere stop here.
MOST_MATCHES = 60


class Found(NamedTuple):
    index: int
    start: int
    end: int
    captures: tuple[tuple[str, str], ...]


def search_whole(delimiters: list[Delimiter], text: str, others: list[Delimiter] | None = None) -> list[Found]:
    """All matches, one after the other: leftmost, then longest, then in order; no two empty ones at a place.

    With ``others``, the two lists of delimiters are watched in turn, from match to match.
    """
    found: list[Found] = []
    watched, next_watched = delimiters, others or delimiters
    position, guarded = 0, False
    while len(found) < MOST_MATCHES:
        best = _first(watched, text, position, guarded)
        if best is None:
            break
        found.append(best)
        position, guarded = best.end, best.start == best.end
        watched, next_watched = next_watched, watched
    return found


def _first(delimiters: list[Delimiter], text: str, position: int, guarded: bool) -> Found | None:
    best: Found | None = None
    for index, delimiter in enumerate(delimiters):
        pattern = delimiter.not_empty_at_start if guarded else delimiter.compiled
        match = pattern.search(text, position)
        if match is None:
            continue
        captures = tuple((n, t) for n, t in sorted(match.groupdict().items()) if t is not None)
        one = Found(index, match.start(), match.end(), captures)
        if best is None or (one.start, -one.end) < (best.start, -best.end):
            best = one
    return best


class Reader:
    """Feeds a scanner, keeps what it gives, and forbids two empty matches at one place."""

    def __init__(self, delimiters: list[Delimiter], others: list[Delimiter] | None = None, **options: int) -> None:
        self.watch = DelimiterSet(delimiters)
        self.next_watch = DelimiterSet(others) if others else self.watch
        self.options = {"context": max(self.watch.context, self.next_watch.context), **options}
        self.scanner = Scanner(self.watch, **self.options)
        self.found: list[Found] = []
        #: All that was given out, released text and delimiters, in order.
        self.given = ""
        #: Given out as plain text, as (position, text).
        self.released: list[tuple[int, str]] = []

    def feed(self, piece: str) -> None:
        self._scan(piece, 0)

    def finish(self) -> None:
        while len(self.found) < MOST_MATCHES:
            scanned = self.scanner.finish()
            if not self._take(scanned):
                return
            self._scan(scanned[2], scanned[3])

    def move_elsewhere(self) -> None:
        """Goes on with another scanner that takes up the state of this one."""
        saved = self.scanner.snapshot()
        self.scanner = Scanner(self.watch, **self.options)
        self.scanner.restore(saved)

    def _scan(self, text: str, start: int) -> None:
        scanned = self.scanner.scan(text, start)
        while self._take(scanned) and len(self.found) < MOST_MATCHES:
            scanned = self.scanner.scan(scanned[2], scanned[3])

    def _take(self, scanned: Scanned) -> Match | None:
        released, match, _, _ = scanned
        if released:
            self.released.append((len(self.given), released))
        self.given += released
        if match is not None:
            self.given += match.text
            self.found.append(Found(match.index, match.start, match.end, tuple(sorted(match.captures.items()))))
            if self.next_watch is not self.watch:
                self.watch, self.next_watch = self.next_watch, self.watch
                self.scanner.switch(self.watch)
            if match.start == match.end:
                self.scanner.forbid_zero_width_here()
        return match


def read(delimiters: list[Delimiter], pieces: list[str], **options: int) -> Reader:
    """A reader that was given these pieces and the end."""
    reader = Reader(delimiters, **options)
    for piece in pieces:
        reader.feed(piece)
    reader.finish()
    return reader


def pieces_of(text: str, cuts: list[int]) -> list[str]:
    """The text cut at these places."""
    places = sorted({cut for cut in cuts if 0 < cut < len(text)})
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
