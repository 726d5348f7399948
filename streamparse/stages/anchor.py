"""The stage that trims the prefix: what stands before the current assistant message is not the message.

In: the prompt. Out: what of it belongs to the message that the model continues (often an open ``<think>``, or nothing).
"""

from __future__ import annotations

import logging

from streamparse.errors import LimitError
from streamparse.limits import DEFAULT_LIMITS, how_to_raise
from streamparse.matching.delimiter import Delimiter

_log = logging.getLogger("streamparse")


class AnchorTrim:
    """Cuts the prompt after the last occurrence of the template's start anchor.

    Where the anchor is absent, the whole prompt is kept, as transformers does, or with ``keep_unanchored=False`` none
    of it: a prompt that doesn't fit the template must not become part of the answer. ``found`` tells which it was.
    A pattern is searched for within ``seconds``.
    """

    def __init__(
        self, anchor: Delimiter, *, keep_unanchored: bool, seconds: float = DEFAULT_LIMITS.pattern_seconds
    ) -> None:
        self._anchor = anchor
        self._seconds = seconds
        self._keep_unanchored = keep_unanchored
        self.found: bool | None = None

    def feed(self, prefix: str) -> list[str]:
        """The part of the prompt after its last anchor; nothing where that is empty. Raises LimitError."""
        end = self._last_end(prefix)
        self.found = end is not None
        if end is None:
            _log.info("the start anchor does not occur in the prefix")
            end = 0 if self._keep_unanchored else len(prefix)
        return [prefix[end:]] if end < len(prefix) else []

    def _last_end(self, prefix: str) -> int | None:
        literals = self._anchor.literals
        if literals is not None and len(literals) == 1:
            # One literal overlaps with itself at most; the last of non-overlapping matches is what counts.
            start = prefix.rfind(literals[0])
            if start < 0:
                return None
            if not _overlaps_itself(literals[0]):
                return start + len(literals[0])
        end = None
        try:
            for match in self._anchor.compiled.finditer(prefix, timeout=self._seconds):
                end = match.end()
        except (TimeoutError, MemoryError):
            raise LimitError(
                f"searching the prefix for the start anchor takes more than {self._seconds} s, or too much memory; "
                f"simplify its pattern, or {how_to_raise('pattern_seconds')}",
                limit="pattern_seconds",
            ) from None
        return end


def _overlaps_itself(literal: str) -> bool:
    return any(literal.startswith(literal[shift:]) for shift in range(1, len(literal)))
