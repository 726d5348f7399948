"""What the delimiters of a watch give when the whole text is known, searched with ``regex`` itself."""

from __future__ import annotations

from typing import NamedTuple

from streamparse.matching.delimiter import Delimiter
from streamparse.matching.scanner import Match, Scanned, Scanner
from streamparse.matching.watch import Watch

#: Enough matches for any text of the tests; patterns that match the empty text everywhere stop here.
MOST_MATCHES = 60


class Found(NamedTuple):
    index: int
    start: int
    end: int
    captures: tuple[tuple[str, str], ...]


def search_whole(delimiters: list[Delimiter], text: str) -> list[Found]:
    """All matches, one after the other: leftmost, then longest, then in order; no two empty ones at a place."""
    found: list[Found] = []
    position, guarded = 0, False
    while len(found) < MOST_MATCHES:
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
        if best is None:
            break
        found.append(best)
        position, guarded = best.end, best.start == best.end
    return found


class Reader:
    """Feeds a scanner, keeps what it gives, and forbids two empty matches at one place."""

    def __init__(self, delimiters: list[Delimiter], **options: int) -> None:
        self.watch = Watch(delimiters)
        self.options = options
        self.scanner = Scanner(self.watch, **options)
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
