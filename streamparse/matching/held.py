"""Text that is held back, kept in parts."""

from __future__ import annotations

_PARTS_PER_BLOCK = 512


class HeldText:
    """Takes parts at one end and gives text out at the other; parts are joined in two levels, never for each part."""

    __slots__ = ("_blocks", "_parts", "length")

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._parts: list[str] = []
        self.length = 0

    def append(self, part: str) -> None:
        """Holds one more part."""
        self._parts.append(part)
        self.length += len(part)
        if len(self._parts) >= _PARTS_PER_BLOCK:
            self._blocks.append("".join(self._parts))
            self._parts.clear()

    def peek(self) -> str:
        """All that is held."""
        return "".join(self._blocks) + "".join(self._parts)

    def take_all(self) -> str:
        """All that is held, which is then no longer held."""
        text = self.peek()
        self._blocks.clear()
        self._parts.clear()
        self.length = 0
        return text

    def take(self, count: int) -> str:
        """The first characters, which are then no longer held."""
        text = self.take_all()
        self.append(text[count:])
        return text[:count]
