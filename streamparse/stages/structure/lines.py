"""The structure readers of texts that say little of themselves: ``kv-lines``, and tags of an unknown shape."""

from __future__ import annotations

from typing import Any, Self

from streamparse.stages.structure.literal import overlap


class LineStructure:
    """Follows a body of lines (see :class:`Structure`): any text begins one, and it is complete where a line is.

    Without a ``separator`` the text is complete anywhere.

    >>> reader = LineStructure("\\n")
    >>> reader.feed("a: 1")
    >>> reader.begins, reader.complete
    (True, False)
    """

    inside = False
    end = None
    open_ended = True
    broken = broken_inside = False
    tolerances = 0
    whole_items = None

    def __init__(self, separator: str | None) -> None:
        self._separator = separator
        self._held = ""
        self.begins: bool | None = None
        self.complete = True

    def feed(self, text: str) -> None:
        """Follow the next piece of text."""
        if self.begins is None and text and not text.isspace():
            self.begins = True
        if not self._separator or not text:
            return
        text = self._held + text
        found = text.rfind(self._separator)
        rest = text if found < 0 else text[found + len(self._separator) :]
        self._held = rest[len(rest) - overlap(rest, self._separator) :]
        self.complete = (found >= 0 or self.complete) and (not rest or rest.isspace())

    def copy(self) -> Self:
        """Another reader with the same state."""
        other = type(self)(self._separator)
        other.restore(self.snapshot())
        return other

    def snapshot(self) -> dict[str, Any]:
        """The state as JSON-able data."""
        return {"held": self._held, "begins": self.begins, "complete": self.complete}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that :meth:`snapshot` gave."""
        self._held = state["held"]
        self.begins = state["begins"]
        self.complete = state["complete"]
