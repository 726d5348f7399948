"""The limits that keep a parser within bounds, whatever a template asks for or a model writes.

Each limit is a keyword argument of :class:`Limits`; the error that reports a reached limit names it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds for one parser. Sizes are in characters of text.

    >>> Limits(region_text=1_000_000).region_text
    1000000
    """

    held_text: int = 16_000_000
    """Text held back because it may still become part of a delimiter."""

    doubtful_text: int = 262_144
    """Text held back in the lenient modes because what follows decides what it is, such as a call inside reasoning."""

    region_text: int = 64_000_000
    """Text of one region, which is kept until the region closes."""

    regions: int = 1_000_000
    """Regions of one generation."""


DEFAULT_LIMITS = Limits()
