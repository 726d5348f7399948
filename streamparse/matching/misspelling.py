r"""Delimiters as models misspell them: doubled or plain bars, typographic quotes, a blank behind a mark.

In comes a delimiter; out comes one that also finds what can only be a misspelling of it. Only delimiters with wide bars
(``<｜DSML｜invoke``) or with attributes (``name="f"``) have such misspellings.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import regex

from streamparse.matching.delimiter import Delimiter

WIDE_BAR, WIDE_BLANK = "｜", "▁"
ATTRIBUTE = regex.compile(r'="')
OUTSIDE = {WIDE_BAR: "[｜|]{1,2}", WIDE_BLANK: "[▁_]", '"': '["“”]'}
"""What stands for a character of a pattern."""

INSIDE = {'"': '"“”'}
"""What stands for a character inside a class."""


@lru_cache(256)
def as_misspelt(delimiter: Delimiter) -> Delimiter:
    r"""A delimiter that finds its misspellings, too; the same one where there are none.

    >>> invoke = as_misspelt(Delimiter.of_pattern('<｜DSML｜invoke name="(?P<name>[^"]+)">'))
    >>> invoke.compiled.fullmatch('<｜｜DSML｜｜invoke name="f">')["name"]
    'f'
    >>> invoke.compiled.fullmatch("<|DSML| invoke name=“f”>")["name"]
    'f'
    """
    if WIDE_BAR not in delimiter.pattern and not ATTRIBUTE.search(delimiter.pattern):
        return delimiter
    return Delimiter.of_pattern("".join(misspelt(delimiter.pattern)))


def misspelt(pattern: str) -> Iterator[str]:
    """The parts of a pattern that finds the misspellings of what ``pattern`` finds."""
    in_class, escaped, before = False, False, ""
    for at, character in enumerate(pattern):
        if escaped or character == "\\":
            escaped = not escaped
            yield character
        elif in_class:
            in_class = character != "]" or before == "["
            yield INSIDE.get(character, character)
        else:
            in_class = character == "["
            yield OUTSIDE.get(character, character)
            if character == WIDE_BAR and before not in ("<", "/") and pattern[at + 1 : at + 2] not in (">", ""):
                yield " ?"
        before = character
