"""Plain text of an open region, passed through without a look at anything but where a delimiter might begin.

Nearly everything a model writes is this: pieces of text in which no delimiter begins. The parser gives out their chunk
events itself and keeps their text; at anything else it takes the text back and goes through all stages.
"""

from __future__ import annotations

from typing import Any

from streamparse.matching.prefilter import Prefilter
from streamparse.matching.syntax import Chars

PIECES_AT_MOST = 512
"""So many pieces may pass before they are counted and noted."""
PIECE_AT_MOST = 256
"""Characters of a piece that is passed through: what has passed is read by others at once, so it must be little."""
TOGETHER = 32
"""So many pieces are put together at once: each is added to a text, which must stay short for that."""
_TAIL_AT_MOST = 64
_KNOWN_AT_MOST = 4_000
_KINDS_AT_MOST = 64
_KNOWN_LENGTH_AT_MOST = 32
PLAIN_PIECE_AT_MOST = PIECE_AT_MOST + _TAIL_AT_MOST
"""Characters of a piece with what was kept back before it."""

_known: dict[tuple[tuple[str, ...], Chars | None], dict[str, None]] = {}


def _known_pieces(heads: Prefilter) -> dict[str, None]:
    """The pieces that are known to be plain under these heads: one dict for all heads that tell it by the same."""
    if len(_known) >= _KINDS_AT_MOST:
        _known.clear()
    return _known.setdefault((heads.letters, heads.run), {})


class PlainText:
    """What pieces of plain text become: chunks of one field, under one watch whose ``heads`` are known.

    It is shared by all generations of a template and has nothing of any of them, so that it is at hand when thousands
    take turns. The commonest piece needs no call: what is ``known`` to be plain is so whenever it comes again, as
    tokens do, and where no text was kept back a copy of ``event`` with the piece as its text is all there is to it.

    >>> import re
    >>> plain = PlainText(Prefilter(re.compile("<(?:a>|$)").search, ("<",), frozenset("<"), None), {"type": "chunk"})
    >>> plain.cut("some text"), plain.cut("some text<"), plain.cut("some text<a>")
    (9, 9, None)
    >>> plain.passes("some"), plain.passes("<"), "some" in plain.known, "<" in plain.known
    (True, False, True, False)
    """

    __slots__ = ("_after_run", "_letters", "_parts", "_run", "_search", "event", "known")

    def __init__(self, heads: Prefilter, event: dict[str, Any]) -> None:
        self.event = event
        self.known = _known_pieces(heads)
        self._letters = heads.letters
        self._run = heads.run_characters
        self._search = heads.search
        self._parts = heads.parts
        self._after_run = heads.after_run

    def passes(self, text: str) -> bool:
        """Whether a piece may be given out as it is, if nothing was kept back before it."""
        if not 0 < len(text) < PIECE_AT_MOST:
            return False
        for letter in self._letters:
            if letter in text:
                return False
        if self._run is not None and self._run[text[-1]]:
            return False
        if len(text) <= _KNOWN_LENGTH_AT_MOST:
            if len(self.known) >= _KNOWN_AT_MOST:
                self.known.clear()
            self.known[text] = None
        return True

    def cut(self, text: str) -> int | None:
        """How much of a text may be given out; what is behind that may be the beginning of a delimiter.

        None where the text isn't plain, or what is behind is too long to be kept here.
        """
        found = self._search(text)
        cut = length = len(text)
        if found is not None:
            if found.end() != length or found.group() not in self._parts:
                return None
            cut = found.start()
        run = self._run
        if run is not None and (found is None or found.group() in self._after_run):
            while cut and run[text[cut - 1]]:
                cut -= 1
        return cut if length - cut <= _TAIL_AT_MOST else None
