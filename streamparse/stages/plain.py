"""Plain text of an open region, passed through without a look at anything but where a delimiter might begin.

Nearly everything a model writes is this: pieces of text in which no delimiter begins. A ``PlainText`` makes their chunk
events and keeps their text; at anything else the parser takes the text back (``settle``) and goes through all stages.
"""

from __future__ import annotations

from typing import Any

from streamparse.matching.heads import Heads
from streamparse.template.model import Field

_PIECES_AT_MOST = 512
_TAIL_AT_MOST = 64


class PlainText:
    """The open region of one field, under one watch whose ``heads`` are known.

    ``tail`` is the end of the text so far, where it may be the beginning of a delimiter; it has not been given out.
    """

    __slots__ = ("_dirty", "_field", "_letters", "_parts", "_pieces", "_run", "_search", "tail")

    def __init__(self, field: Field, heads: Heads) -> None:
        self._field = field.name
        self._dirty = not field.streams
        self._letters = heads.letters
        self._search = heads.search
        self._parts = heads.parts
        self._run = None if heads.run is None else RunCharacters(heads.run)
        self._pieces: list[str] = []
        self.tail = ""

    def take(self, text: Any) -> list[dict[str, Any]] | None:
        """The events of a piece of text; None where it isn't plain, and then nothing has been taken."""
        if type(text) is not str or self.tail or (self._run is not None and text and self._run[text[-1]]):
            return self._take_end(text)
        for letter in self._letters:
            if letter in text and self._search(text) is not None:
                return self._take_end(text)
        pieces = self._pieces
        if not text or len(pieces) >= _PIECES_AT_MOST:
            return None
        pieces.append(text)
        return [{"type": "region_chunk", "field": self._field, "text": text, "dirty": self._dirty}]

    def settle(self) -> str:
        """The text that has been given out since the last time; it is no longer kept here. The tail stays."""
        text = "".join(self._pieces)
        self._pieces.clear()
        return text

    def _take_end(self, text: Any) -> list[dict[str, Any]] | None:
        """A piece at whose end a delimiter may begin: all before that is plain."""
        if type(text) is not str or not text:
            return None
        text = self.tail + text
        found = self._search(text)
        if found is not None and (found.group() not in self._parts or found.end() != len(text)):
            return None
        cut = len(text) if found is None else found.start()
        if self._run is not None:
            while cut and self._run[text[cut - 1]]:
                cut -= 1
        if len(text) - cut > _TAIL_AT_MOST or len(self._pieces) >= _PIECES_AT_MOST:
            return None
        self.tail = text[cut:]
        if not cut:
            return []
        text = text[:cut]
        self._pieces.append(text)
        return [{"type": "region_chunk", "field": self._field, "text": text, "dirty": self._dirty}]


class RunCharacters(dict[str, bool]):
    """Whether a character is one that may stand before a head, looked up once a character."""

    def __init__(self, run: Any) -> None:
        super().__init__()
        self._contains = run.contains

    def __missing__(self, character: str) -> bool:
        found: bool = self._contains(character)
        if len(self) < 10_000:
            self[character] = found
        return found
