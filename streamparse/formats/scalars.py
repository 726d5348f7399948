"""Numbers and names that stand for values, as models write them.

In comes a word such as ``007`` or ``None``; out goes its value. A word that is neither has no value: ``hello`` without
quotes may be a text, a variable or the beginning of an expression, and is left alone.
"""

from __future__ import annotations

import math
import re
from typing import Any

from streamparse.formats.reading import Reading

WORD = re.compile(r"[\w.+-]++")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
LOOSE_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:_[0-9]++)*+(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
LEADING_ZEROS = re.compile(r"[+-]?0[0-9]")
CONSTANTS = {"true": True, "false": False, "null": None, "none": None}
NOT_FINITE = {"nan": math.nan, "infinity": math.inf, "inf": math.inf}
ZEROS, OTHERWISE = "a number with leading zeros", "a number that JSON writes otherwise"
INFINITE = "a number that is not finite"
MENDED_NUMBERS = frozenset({ZEROS, OTHERWISE, INFINITE})
MAX_DOUBLE_INTEGER = 2**53 - 1


def read_scalar(reading: Reading, *, python: bool) -> tuple[Any, str | None]:
    """Read the word that stands here: its value, and its text where that says more than the value.

    ``python`` says that the text is a list of Python calls, whose own grammar knows ``True`` and ``None`` but no
    integer beyond 2^53 - 1, and no number that isn't finite. Raises ContentError.

    >>> read_scalar(Reading("007"), python=False), read_scalar(Reading("None"), python=False)
    ((7, '007'), (None, None))
    """
    match = WORD.match(reading.text, reading.position)
    if match is None:
        reading.fail("expected a value")
    word = match[0]
    value: Any
    source = None
    if word.lower() in CONSTANTS:
        value = constant(reading, word, python=python)
    elif word.lstrip("+-").lower() in NOT_FINITE and not python:
        value = not_finite(reading, word)
    elif LOOSE_NUMBER.fullmatch(word):
        value, source = number(reading, word, python=python)
    else:
        reading.fail(f"{word[:40]!r} is no value; a text needs quotes")
    reading.position = match.end()
    return value, source


def constant(reading: Reading, word: str, *, python: bool) -> bool | None:
    """Give what a name stands for."""
    known = ("True", "False", "None", "true", "false", "null") if python else ("true", "false", "null")
    if word not in known:
        reading.mends("a Python literal" if word in ("True", "False", "None") else "a literal in other letters")
    return CONSTANTS[word.lower()]


def not_finite(reading: Reading, word: str) -> float:
    """Give the number that is none, or infinite."""
    if word not in ("NaN", "Infinity", "-Infinity"):
        reading.mends(INFINITE)
    value = NOT_FINITE[word.lstrip("+-").lower()]
    return -value if word.startswith("-") else value


def number(reading: Reading, word: str, *, python: bool) -> tuple[int | float, str | None]:
    """Give a number with all its digits."""
    if not NUMBER.fullmatch(word):
        reading.mends(ZEROS if LEADING_ZEROS.match(word) else OTHERWISE)
    digits = word.replace("_", "")
    if digits.lstrip("+-").isdigit():
        try:
            whole = int(digits)
        except ValueError as error:
            reading.fail(f"the number is too long to be read: {error}")
        if python and abs(whole) > MAX_DOUBLE_INTEGER:
            reading.mends("an integer beyond 2^53")
        return whole, word if LEADING_ZEROS.match(word) else None
    value = float(digits)
    if python and math.isinf(value):
        reading.fail("the number is too large")
    return value, word if LEADING_ZEROS.match(word) else None
