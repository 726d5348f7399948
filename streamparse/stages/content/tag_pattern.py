"""Compiles the ``tag_pattern`` of ``xml-inline``: Unicode, DOTALL, within the bounds of all patterns of templates."""

from __future__ import annotations

import regex

from streamparse.matching.compiling import FaultyPattern, compile_pattern

__all__ = ["FaultyPattern", "compile_tag_pattern"]


def compile_tag_pattern(source: str) -> regex.Pattern[str]:
    """Compile a tag pattern; raises FaultyPattern.

    >>> compile_tag_pattern("<(?P<key>a)>").groups
    1
    """
    return compile_pattern(source, regex.DOTALL)
