r"""Compiles patterns of strangers, refusing one that would take the compiler too much memory or time.

In: the source of a pattern, from a template. Out: the compiled pattern, or a :class:`FaultyPattern` that says why not.
``regex`` writes fixed repeats out in full, so a pattern of 30 characters such as ``(?:(?:a{1000}){1000}){1000}`` can
ask for more memory than there is; how long that would get is worked out beforehand.
"""

from __future__ import annotations

import math

import regex

from streamparse.matching.syntax import Look, UnsupportedSyntax, parse, walk, width

MAX_SOURCE = 20_000
"""The longest pattern, in characters of its source, and the most that the literals of a delimiter may come to."""

MAX_WRITTEN_OUT = 50_000
"""The most characters that a pattern's fixed repeats may come to when they are written out."""

FIXED_REPEAT = regex.compile(r"\{\s*([0-9]++)")


class FaultyPattern(ValueError):
    """A pattern that can't be compiled; the message says why."""


def compile_pattern(source: str, flags: int) -> regex.Pattern[str]:
    """Compile a pattern; raises FaultyPattern.

    >>> compile_pattern("(?P<key>a{1000}){1000}", regex.DOTALL)
    Traceback (most recent call last):
    ...
    streamparse.matching.compiling.FaultyPattern: its fixed repeats come to more than 50000 characters
    """
    if len(source) > MAX_SOURCE:
        raise FaultyPattern(f"it is longer than {MAX_SOURCE} characters")
    if least_length(source) > MAX_WRITTEN_OUT:
        raise FaultyPattern(f"its fixed repeats come to more than {MAX_WRITTEN_OUT} characters")
    try:
        return regex.compile(source, flags)
    except RecursionError:
        raise FaultyPattern("its groups are nested too deep") from None
    # `regex` raises errors of its own, ValueError, IndexError and others, depending on what is wrong with a pattern.
    except Exception as error:
        raise FaultyPattern(str(error) or type(error).__name__) from None


def least_length(source: str) -> int:
    """Count the characters that a pattern's fixed repeats come to, or more where its syntax is beyond our reader."""
    try:
        tree = parse(source)
        return max(width(part)[0] for part in (tree, *(node.body for node in walk(tree) if isinstance(node, Look))))
    except (UnsupportedSyntax, RecursionError, IndexError, ValueError):
        return math.prod(max(1, int(count[1][:9])) for count in FIXED_REPEAT.finditer(source))
