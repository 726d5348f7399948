"""Finds literals in a text that comes in pieces."""

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


def find_first(text: str, literals: tuple[str, ...], start: int) -> tuple[int, str | None]:
    """Where the first of the literals begins, and which it is; or where the end of the text may begin one, and None.

    >>> find_first("ab</p", ("</p>", "b"), 0), find_first("ab</p", ("</p>",), 0)
    ((1, 'b'), (2, None))
    """
    found = [(place, literal) for literal in literals if (place := text.find(literal, start)) >= 0]
    if found:
        return min(found, key=lambda match: match[0])
    return len(text) - max(overlap(text, literal, start) for literal in literals), None
