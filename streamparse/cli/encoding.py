"""Bytes that should be UTF-8 text: a byte order mark is dropped, and what is no such text is refused in plain words."""

from __future__ import annotations

import codecs

from streamparse.cli.command import UsageError

LOOKED_AT = 8000
"""How many bytes are searched for a zero byte, which text has none of; git tells binary files in the same way."""

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # that of UTF-32 begins with one of them, or with a zero byte
_MARKS = (codecs.BOM_UTF8, *_UTF_16)


class TextInput:
    """Input that comes in pieces, checked while it comes.

    ``name`` is what messages call it. :meth:`feed` gives the bytes that are text, without a byte order mark, and raises
    UsageError for UTF-16 and for what is no text at all.

    >>> text = TextInput("a.txt")
    >>> text.feed(b"\\xef\\xbb"), text.feed(b"\\xbfHi"), text.finish()
    (b'', b'Hi', b'')
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._start: bytes | None = b""  # what may still be a byte order mark; None once that is decided
        self._seen = 0

    def feed(self, piece: bytes) -> bytes:
        """The text of the next piece."""
        if self._start is not None:
            piece = self._start + piece
            if any(mark != piece and mark.startswith(piece) for mark in _MARKS):
                self._start = piece
                return b""
            self._start = None
            if piece.startswith(_UTF_16):
                self._refuse_utf_16()
            piece = piece.removeprefix(codecs.BOM_UTF8)
        if self._seen < LOOKED_AT:
            self._look_for_zero(piece[: LOOKED_AT - self._seen])
            self._seen += len(piece)
        return piece

    def finish(self) -> bytes:
        """What was kept back, as it might have become a byte order mark."""
        rest, self._start = self._start, None
        return rest or b""

    def _look_for_zero(self, piece: bytes) -> None:
        at = piece.find(0)
        if at < 0:
            return
        if len(piece) > 3 and 0 not in piece[at % 2 ^ 1 : 64 : 2] and not any(piece[at % 2 : 8 : 2]):
            self._refuse_utf_16()
        raise UsageError(
            f"{self._name} is binary: byte {self._seen + at} is zero; the text that a model wrote is needed, as UTF-8"
        )

    def _refuse_utf_16(self) -> None:
        raise UsageError(
            f"{self._name} is UTF-16 (or UTF-32), and UTF-8 is needed; convert it: iconv -f UTF-16 -t UTF-8 IN > OUT"
        )


def text_of(data: bytes, name: str, errors: str = "strict") -> str:
    """The text of a whole file; raises UsageError as TextInput does, and UnicodeDecodeError where it is not UTF-8.

    >>> text_of(b"\\xef\\xbb\\xbfHi", "a.txt")
    'Hi'
    """
    text = TextInput(name)
    return (text.feed(data) + text.finish()).decode("utf-8", errors)
