"""What one parser has seen so far, as plain data: for metrics, logs and the curious.

In:  a ``ResponseParser``, which is asked when somebody wants to know; nothing is counted for it piece by piece.
Out: a ``ParserStatistics``. (What a graph, a channel and the keyed operator have seen is described beside each.)
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ParserStatistics:
    """What a parser has seen since it was made or restored; ``dataclasses.asdict`` makes a dict of it.

    >>> from streamparse import ResponseParser
    >>> parser = ResponseParser("qwen3", prefix="")
    >>> events = parser.feed("Hello <th")
    >>> parser.statistics()
    ParserStatistics(characters=9, held=3, open_region='content', regions=0, malformed=0, repaired=0)
    """

    characters: int
    """Characters of the generation so far."""
    held: int
    """Characters among them that are held back, because they may still become part of a delimiter."""
    open_region: str | None
    """The field whose region is open, if one is."""
    regions: int
    """Regions that have ended, with a value or without."""
    malformed: int
    """Regions among them without a value (lenient modes)."""
    repaired: int
    """Regions among them that have a value because something was mended, or was missing and did no harm."""
