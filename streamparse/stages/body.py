"""The text of an open region, kept so that many small pieces cost little memory and little time."""

from __future__ import annotations

_PIECES_AT_MOST = 256


class Body:
    """Text in pieces, joined in two levels: a plain list of 4-character pieces would cost fifteen times the text.

    >>> body = Body()
    >>> body.append("some ")
    >>> body.append("text")
    >>> body.text(), body.size
    ('some text', 9)
    """

    __slots__ = ("_joined", "_pieces", "size")

    def __init__(self) -> None:
        # Not before they are needed: Python's garbage collector has to look through the lists of thousands of parsers.
        self._joined: list[str] | tuple[()] = ()
        self._pieces: list[str] | tuple[()] = ()
        self.size = 0

    def append(self, text: str) -> None:
        """Add a piece."""
        self.size += len(text)
        self._pieces = pieces = self._pieces or []
        pieces.append(text)
        if len(pieces) > _PIECES_AT_MOST:
            self._joined = joined = self._joined or []
            joined.append("".join(pieces))
            pieces.clear()

    def clear(self) -> None:
        """Forget the text."""
        self._joined = self._pieces = ()
        self.size = 0

    def text(self) -> str:
        """All of it."""
        if self._joined:
            self._joined.append("".join(self._pieces))
            self._pieces = ()
            self._joined[:] = ["".join(self._joined)]
            return self._joined[0]
        return "".join(self._pieces)
