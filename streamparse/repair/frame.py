"""A list or an object that is open while a tolerant reader is in it."""

from __future__ import annotations

from typing import Any

from streamparse.stages.content import SourcedDict

CLOSERS = {"[": "]", "{": "}", "(": ")"}


class Frame:
    """A list or an object that is open: what closes it, what is in it, and the key that a value is due for.

    The parentheses of a call are such a frame too, which the reader of calls opens and closes.
    """

    __slots__ = ("closing", "commas", "doubled", "key", "value")

    def __init__(self, opening: str) -> None:
        self.closing = CLOSERS[opening]
        self.value: Any = {} if opening == "{" else []
        self.key: str | None = None
        self.doubled = False
        self.commas = 0

    def add(self, value: Any, source: str | None) -> None:
        """Add a value; ``source`` is its text, where that says more."""
        if isinstance(self.value, list):
            self.value.append(value)
            return
        if source is not None and not isinstance(self.value, SourcedDict):
            plain, self.value = self.value, SourcedDict()
            self.value.update(plain)
        self.value[self.key] = value
        if isinstance(self.value, SourcedDict):
            self.value.sources.pop(self.key or "", None)
            if source is not None:
                self.value.sources[self.key or ""] = source
