"""Finds the beginning of a literal at the end of a piece of text."""

from __future__ import annotations


def overlap(text: str, literal: str, start: int = 0) -> int:
    """How many of the last characters of ``text``, from ``start`` on, begin ``literal`` without being all of it.

    >>> overlap("a < b </p", "</param>"), overlap("a", "</param>")
    (3, 0)
    """
    at = text.find(literal[0], max(start, len(text) - len(literal) + 1))
    while at >= 0 and not literal.startswith(text[at:]):
        at = text.find(literal[0], at + 1)
    return 0 if at < 0 else len(text) - at
