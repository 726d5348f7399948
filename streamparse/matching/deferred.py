"""Delimiters that only ``regex`` itself can match: looked for when the whole text is known."""

from __future__ import annotations

from streamparse.errors import LimitError
from streamparse.matching.held import HeldText
from streamparse.matching.watch import Watch

#: Seconds that one search may take.
SEARCH_SECONDS = 2.0


class DeferredSeeker:
    """Keeps all text from its position on, and searches it at the end."""

    __slots__ = ("_before", "_guarded", "_text", "_watch", "found", "hold", "index")

    def __init__(self, watch: Watch, index: int, position: int, before: str, guarded: bool) -> None:
        self._watch = watch
        self._before = before
        self._guarded = guarded
        self._text = HeldText()
        self.index = index
        self.hold = position
        self.found: tuple[int, int, int] | None = None

    def feed(self, text: str, start: int) -> None:
        """Keeps ``text[start:]``."""
        self._text.append(text[start:])

    def finish(self) -> None:
        """Searches the text, which is now complete; raises LimitError if that takes too long."""
        context = self._before
        window = context + self._text.peek()
        entry = self._watch.entries[self.index]
        pattern = entry.not_empty_at_start if self._guarded else entry.compiled
        offset = self.hold - len(context)
        try:
            match = pattern.search(window, len(context), timeout=SEARCH_SECONDS)
        except TimeoutError as error:
            raise LimitError(
                f"searching for a delimiter takes more than {SEARCH_SECONDS} s", limit="held_text", position=self.hold
            ) from error
        if match is not None:
            self.found = offset + match.start(), offset + match.end(), self.index
