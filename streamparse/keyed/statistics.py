"""Statistics of the keyed operator: counters that it keeps, and gauges that are read from its parsers.

In:  what the operator counts batch by batch, and its parsers, when they end and on request.
Out: a ``KeyedStatistics``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from streamparse.statistics import ParserStatistics


@dataclass
class _Counts:
    """What an operator counts itself."""

    chunks: int = 0
    """Chunks that came in, of all kinds."""
    dropped: int = 0
    """Chunks among them that came too late, for a key that had failed or expired."""
    events: int = 0
    """Events that went out."""
    opened: int = 0
    """Generations that were opened or restored."""
    ended: int = 0
    """Generations that ended with a message, those that expired among them."""
    failed: int = 0
    """Generations that ended with an error."""
    expired: int = 0
    """Generations that ended because they were idle for too long."""
    first_events: int = 0
    """Generations that had events of what their model wrote while they were open."""
    first_event_seconds: float = 0.0
    """Time from opening to those events, of all these generations together; divide to have the mean."""


@dataclass
class _Read:
    """What the parsers have read; of those that have ended and those that are open."""

    characters: int = 0
    regions: int = 0
    malformed: int = 0
    repaired: int = 0


@dataclass
class KeyedStatistics(_Read, _Counts):
    """What a keyed operator has seen so far; ``dataclasses.asdict`` makes a dict of it.

    ``characters``, ``regions``, ``malformed`` and ``repaired`` are those of ``ParserStatistics``, summed up.
    """

    open: int = 0
    """Keys that are open now."""
    spent: int = 0
    """Keys that failed or expired, and whose own end has not come yet."""
    open_regions: int = 0
    """Regions that are open now."""
    held: int = 0
    """Characters held back now, all together."""


class Tally(_Counts):
    """The counters of one operator."""

    def __init__(self) -> None:
        super().__init__()
        self._read = _Read()

    def retire(self, seen: ParserStatistics) -> None:
        """Keep what a parser has read, which is about to be forgotten."""
        _add(self._read, seen)

    def statistics(self, parsers: Iterable[ParserStatistics], *, spent: int) -> KeyedStatistics:
        """Give the counters, and the gauges of the parsers that are open."""
        total = KeyedStatistics(**asdict(self), **asdict(self._read), spent=spent)
        for seen in parsers:
            _add(total, seen)
            total.open += 1
            total.open_regions += seen.open_region is not None
            total.held += seen.held
        return total


def _add(total: _Read, seen: ParserStatistics) -> None:
    """Add what a parser has read."""
    total.characters += seen.characters
    total.regions += seen.regions
    total.malformed += seen.malformed
    total.repaired += seen.repaired
