"""Text that is held back, kept in parts."""

from __future__ import annotations

_PARTS_PER_BLOCK = 512
_SHORT = 16
"""How long a text is at most whose rest is copied all the same."""


class HeldText:
    """Takes parts at one end and gives text out at the other.

    Parts are joined in two levels, never for each part; the rest of a long text is kept as that text and a place in it,
    so that it is not copied for each of many matches.
    """

    __slots__ = ("_blocks", "_parts", "_text", "_text_start", "length")

    def __init__(self) -> None:
        self._text = ""
        self._text_start = 0
        # Most streams hold nothing at most times: there are thousands of them, and lists have to be looked through by
        # Python's garbage collector.
        self._blocks: list[str] | tuple[()] = ()
        self._parts: list[str] | tuple[()] = ()
        self.length = 0

    def append(self, part: str) -> None:
        """Holds one more part."""
        self._parts = parts = self._parts or []
        parts.append(part)
        self.length += len(part)
        if len(parts) >= _PARTS_PER_BLOCK:
            self._blocks = blocks = self._blocks or []
            blocks.append("".join(parts))
            parts.clear()

    def append_rest(self, text: str, start: int) -> None:
        """Holds ``text[start:]``."""
        if start == len(text):
            return
        if self.length or len(text) <= _SHORT:
            self.append(text[start:])
        else:
            self._text, self._text_start = text, start
            self.length = len(text) - start

    def whole(self) -> tuple[str, int]:
        """A text, and where in it begins all that is held."""
        if not self._blocks and not self._parts:
            return self._text, self._text_start
        if not self._blocks and len(self._parts) == 1 and self._text_start == len(self._text):
            return self._parts[0], 0
        start = "" if self._text_start == len(self._text) else self._text[self._text_start :]
        return start + "".join(self._blocks) + "".join(self._parts), 0

    def peek(self) -> str:
        """All that is held."""
        text, start = self.whole()
        return text[start:] if start else text

    def clear(self) -> None:
        """Holds nothing any more."""
        self._text, self._text_start = "", 0
        self._blocks = self._parts = ()
        self.length = 0

    def take_all(self) -> str:
        """All that is held, which is then no longer held."""
        if len(self._parts) == 1 and len(self._parts[0]) == self.length:
            text = self._parts[0]
            self._parts = ()
            self.length = 0
            return text
        if not self._blocks and self._text_start == len(self._text):
            text = "".join(self._parts)
            self._parts = ()
            self.length = 0
            return text
        text = self.peek()
        self.clear()
        return text

    def take(self, count: int) -> str:
        """The first characters, which are then no longer held."""
        text = self.take_all()
        self.append(text[count:])
        return text[:count]
