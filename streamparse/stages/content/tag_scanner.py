"""Finds the tags of ``xml-inline`` in a text.

In comes a ``tag_pattern``; out goes a function that gives a text's tags in order: key, value, and where the value
stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import regex

from ...errors import ContentError, LimitError


class Tag(NamedTuple):
    """One tag: its key, its value (None where the group took no part in the match), and where the value starts."""

    key: str
    value: str | None
    position: int


FindTags = Callable[[str], Iterator[Tag]]


def tag_finder(pattern: str, seconds: float) -> FindTags:
    """Make the function that finds the tags of ``pattern``; raises ``regex.error`` for a faulty one."""
    return pattern_finder(regex.compile(pattern, regex.DOTALL), seconds)


def pattern_finder(pattern: regex.Pattern[str], seconds: float) -> FindTags:
    """Make a function that searches with ``regex`` itself, for at most ``seconds`` a text."""
    groups = pattern.groupindex
    has_value = "value" in groups

    def find(text: str) -> Iterator[Tag]:
        try:
            for match in pattern.finditer(text, timeout=seconds):
                key = match["key"] if "key" in groups else None
                if key is None:
                    reason = f"tag_pattern needs a group 'key' that takes part in every match: {pattern.pattern}"
                    raise ContentError(reason, position=match.start())
                if has_value:
                    yield Tag(key, match["value"], match.start("value"))
                else:
                    yield Tag(key, "", match.start())
        except TimeoutError:
            raise LimitError(
                f"tag_pattern took longer than {seconds} s and was given up; make it simpler, or raise pattern_seconds",
                limit="pattern_seconds",
            ) from None

    return find
