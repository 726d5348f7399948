"""Delimiters that only ``regex`` itself can match: looked for when the whole text is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

from streamparse.errors import LimitError
from streamparse.limits import how_to_raise
from streamparse.matching.delimiter import Delimiter
from streamparse.matching.held import HeldText


@dataclass(slots=True)
class SearchTime:
    """The seconds that all searches of one scanner may take together, and how many of them are left."""

    allowed: float
    left: float = field(init=False)

    def __post_init__(self) -> None:
        """Begin with all of them."""
        self.left = self.allowed


class DeferredSeeker:
    """Keeps all text from its position on, and searches it at the end.

    ``before`` is the text before the position, ``index`` that of the entry; ``guarded`` forbids an empty match at once.
    """

    __slots__ = ("_before", "_pattern", "_text", "_time", "found", "hold", "index")

    def __init__(
        self, delimiter: Delimiter, index: int, position: int, before: str, *, guarded: bool, time: SearchTime
    ) -> None:
        self._pattern = delimiter.not_empty_at_start if guarded else delimiter.compiled
        # `^` holds at the beginning of all text only; a character of no pattern keeps it from holding here.
        self._before = before or ("\0" if position else "")
        self._text = HeldText()
        self._time = time
        self.index = index
        self.hold = position
        self.found: tuple[int, int, int] | None = None

    def feed(self, text: str, start: int) -> None:
        """Keeps ``text[start:]``."""
        self._text.append(text[start:])

    def finish(self) -> None:
        """Searches the text, which is now complete; raises LimitError if that takes too long."""
        begun = perf_counter()
        try:
            if self._time.left <= 0:
                raise TimeoutError
            window = self._before + self._text.peek()
            match = self._pattern.search(window, len(self._before), timeout=self._time.left)
        except (TimeoutError, MemoryError) as error:
            raise LimitError(
                "searching for delimiters that only the regex module can find takes more than "
                f"{self._time.allowed} s, or too much memory; write their patterns so that they are linear, or "
                + how_to_raise("pattern_seconds"),
                limit="pattern_seconds",
                position=self.hold,
            ) from error
        finally:
            self._time.left -= perf_counter() - begun
        if match is not None:
            offset = self.hold - len(self._before)
            self.found = offset + match.start(), offset + match.end(), self.index
