"""Fast path: a small piece of text goes from the source through the single stage to the consumer.

In:  small pieces of text, as ``pull`` returns them. Out: the item that the stage makes of each.

Nearly every piece takes it. Its state is one small object, because with thousands of concurrent streams the cost of a
piece is the number of cache lines that it touches. ``loop.py`` is the code that runs on it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

SMALL = 256
"""Pieces of this many characters or more take the general path, which cuts them into slices."""
PIECE = 1 << 40
"""One integer counts pieces and characters: each piece adds ``PIECE`` plus its length."""
UNTIL_REST = (1 << 47) - PIECE
"""The bits of that integer that are all 0 after every 128 pieces, when other tasks get a turn."""


class FastPath:
    """The state of the fast path: ``pull`` returns a piece, ``feed`` belongs to the stage called ``name``.

    ``passed`` counts pieces and characters as above, ``not_one`` the pieces that made no item or several. ``taken`` is
    the task that waits for a piece (as ``who()`` returns it), or None; ``go_on`` waits for a pull that has begun
    (``interrupt.py``).
    """

    __slots__ = ("feed", "go_on", "name", "not_one", "passed", "pull", "taken", "who")

    def __init__(self, pull: Callable[[], Any], feed: Callable[[Any], Iterable[Any]], name: str) -> None:
        self.pull = pull
        self.feed = feed
        self.name = name
        self.passed = 0
        self.not_one = 0
        self.taken: Any = None
        self.who: Callable[[], Any] = _anybody
        self.go_on: Callable[[Any, Any], Awaitable[Any]] | None = None

    @property
    def pieces(self) -> int:
        """Pieces that took the fast path."""
        return self.passed // PIECE

    @property
    def amount(self) -> int:
        """Their characters."""
        return self.passed % PIECE


def _anybody() -> Any:
    return True
