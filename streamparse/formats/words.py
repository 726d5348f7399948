"""The words of JSON and Python values: numbers, ``true``, ``None`` and the like, followed character by character.

A state is a sample of all that can go on in the same way: every whole number is ``"1"``, every fraction ``"1.1"``, and
the beginning of a name is itself.
"""

from __future__ import annotations

NAMES = ("true", "false", "null", "True", "False", "None", "NaN", "Infinity", "-Infinity")

START = ""
WHOLE: frozenset[str] = frozenset({*NAMES, "0", "1", "1.1", "1e1"})
"""The states in which a word may end."""

_DIGITS = "0123456789"
_NUMBERS = {
    ("", "-"): "-",
    ("1", "."): "1.",
    ("0", "."): "1.",
    **{(state, letter): "1e" for state in ("0", "1", "1.1") for letter in "eE"},
    **{("1e", sign): "1e+" for sign in "+-"},
    **{(state, "0"): "0" for state in ("", "-")},
    **{(state, digit): "1" for state in ("", "-") for digit in "123456789"},
    **{(state, digit): "1" for state in ("1",) for digit in _DIGITS},
    **{(state, digit): "1.1" for state in ("1.", "1.1") for digit in _DIGITS},
    **{(state, digit): "1e1" for state in ("1e", "1e+", "1e1") for digit in _DIGITS},
}
_STEPS = _NUMBERS | {(name[:length], name[length]): name[: length + 1] for name in NAMES for length in range(len(name))}


def advance(state: str | None, text: str) -> str | None:
    """The state after ``text``; None where no word goes like this.

    >>> advance(START, "-12"), advance("1", ".5e"), advance(START, "nul"), advance(START, "nil")
    ('1', '1e', 'nul', None)
    """
    for character in text:
        if state is None:
            return None
        state = _STEPS.get((state, character))
    return state
