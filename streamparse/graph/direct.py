"""The direct way of a piece: from the source to the one machine of a stream, and its item to whoever iterates.

In:  small pieces of text, as ``pull`` gives them. Out: the item that the machine makes of each.

Nearly all pieces of nearly all generations are of this kind. What they visit is in one place here, because with
thousands of streams that take turns time goes by the places in memory that a piece visits.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

SMALL = 256
"""A piece of as many characters takes the other way, on which it is cut into slices if need be."""
PIECE = 1 << 40
"""Pieces are counted together with their characters, in one number: so many for a piece."""
UNTIL_REST = (1 << 47) - PIECE
"""The bits of that number which are 0 after each 128 pieces, when other tasks are to get a chance."""


class Direct:
    """The way itself: ``pull`` gives a piece, ``feed`` is the machine's, under whose ``name`` errors are told.

    ``passed`` counts pieces and characters as said above,
    ``not_one`` those pieces of which came no item, or several. ``taken`` is who waits for a piece here, as ``who``
    tells, if somebody does; ``go_on`` waits for a pull that has begun, where it has to (``interrupt.py``).
    """

    __slots__ = ("feed", "go_on", "name", "not_one", "passed", "pull", "taken", "who")

    def __init__(self, pull: Callable[[], Any], feed: Callable[[Any], Iterable[Any]], name: str) -> None:
        self.pull = pull
        self.feed = feed
        self.name = name
        self.passed = 0
        self.not_one = 0
        self.taken: Any = None
        self.who: Callable[[], Any] = _somebody
        self.go_on: Callable[[Any, Any], Awaitable[Any]] | None = None

    @property
    def pieces(self) -> int:
        """Pieces that came this way."""
        return self.passed // PIECE

    @property
    def amount(self) -> int:
        """Their characters."""
        return self.passed % PIECE


def _somebody() -> Any:
    return True
