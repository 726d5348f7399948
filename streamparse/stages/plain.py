"""Plain text of an open region, passed through without a look at anything but where a delimiter might begin.

Nearly everything a model writes is this: pieces of text in which no delimiter begins. A ``PlainText`` makes their chunk
events and keeps their text; at anything else the parser takes the text back (``settle``) and goes through all stages.
"""

from __future__ import annotations

from typing import Any

from streamparse.matching.heads import Heads
from streamparse.template.model import Field

PIECES_AT_MOST = 512
PIECE_AT_MOST = 256
"""Characters of a piece that is passed through: what has passed is read by others at once, so it must be little."""
_TOGETHER = 32
"""So many pieces are put together into one: a string for each token of thousands of generations fits no cache."""
_TAIL_AT_MOST = 64
PLAIN_PIECE_AT_MOST = PIECE_AT_MOST + _TAIL_AT_MOST
"""Characters of a piece with what was kept back before it."""


class PlainText:
    """The open region of one field, under one watch whose ``heads`` are known.

    ``take`` does all there is to do. The parser does the commonest case itself, as a call would cost as much again:
    where there is no ``tail``, none of the ``letters`` is in a piece and its last character is not in the ``run``, the
    piece goes to ``pieces``, and a copy of ``event`` with its text is the answer. ``letters``, ``run`` and ``event``
    are shared by all generations of a template, so that they are at hand when thousands of them take turns.
    """

    __slots__ = ("_gone", "_joined", "_most", "_parts", "_search", "event", "letters", "pieces", "room", "run", "tail")

    def __init__(self, field: Field, heads: Heads) -> None:
        self.letters = heads.letters
        self.run = heads.run_characters
        self.event = field.chunk
        self.pieces: list[str] = []
        self._joined: list[str] = []
        self._most = PIECES_AT_MOST
        self._gone = 0  # pieces that have been put together
        self.room = _TOGETHER
        """How many pieces may pass before ``take`` is to be called."""
        self.tail = ""
        """The end of the text so far, where it may be the beginning of a delimiter; it has not been given out."""
        self._search = heads.search
        self._parts = heads.parts

    def take(self, text: str) -> list[dict[str, Any]] | None:
        """The events of a piece of text, not empty; None where it isn't plain, and then nothing has been taken."""
        if len(text) >= PIECE_AT_MOST or (len(self.pieces) >= self.room and not self._put_together()):
            return None
        if self.tail:
            text = self.tail + text
        found = self._search(text)
        cut = length = len(text)
        if found is not None:
            if found.end() != length or found.group() not in self._parts:
                return None
            cut = found.start()
        run = self.run
        if run is not None:
            while cut and run[text[cut - 1]]:
                cut -= 1
        if length - cut > _TAIL_AT_MOST:
            return None
        self.tail = text[cut:]
        if not cut:
            return []
        if cut != length:
            text = text[:cut]
        self.pieces.append(text)
        event = self.event.copy()
        event["text"] = text
        return [event]

    def bound(self, pieces: int) -> None:
        """Let no more than so many pieces pass before the text is taken back and counted; to be said at first."""
        self._most = min(pieces, PIECES_AT_MOST)
        self.room = min(self._most, _TOGETHER)

    @property
    def count(self) -> int:
        """How many pieces have passed since the last time."""
        return self._gone + len(self.pieces)

    @property
    def passed(self) -> list[str]:
        """The text that has been given out since the last time, in parts."""
        return [*self._joined, *self.pieces]

    def settle(self) -> str:
        """The text that has been given out since the last time; it is no longer kept here. The tail stays."""
        text = "".join(self.passed)
        self._joined.clear()
        self.pieces.clear()
        self._gone = 0
        self.room = min(self._most, _TOGETHER)
        return text

    def _put_together(self) -> bool:
        """Make one part of the pieces; tell whether more may pass."""
        self._gone += len(self.pieces)
        self._joined.append("".join(self.pieces))
        self.pieces.clear()
        self.room = min(self._most - self._gone, _TOGETHER)
        return self.room > 0
