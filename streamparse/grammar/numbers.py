"""Numbers within bounds, as texts: the decimal digits that lie between two numbers.

In: bounds, each included or not, either of them absent. Out: a node for the plain decimal notation of every number
between them, for integers without and for numbers with a fraction; exponents only where nothing bounds them.
"""

from __future__ import annotations

from decimal import Decimal

from streamparse.grammar.characters import DIGIT, of
from streamparse.grammar.nodes import EMPTY, Chars, Node, Repeat, choice, optional, sequence

_DIGIT = Chars(DIGIT)
_DIGITS = Repeat(_DIGIT, 0, None)
_NO_ZERO = Chars(((0x31, 0x39),))
_NATURAL = choice([sequence("0"), sequence(_NO_ZERO, _DIGITS)])
_FRACTION = sequence(".", Repeat(_DIGIT, 1, None))
# Up to 299: a double ends at 1e308.
_EXPONENT = sequence(
    Chars(of("eE")),
    optional(Chars(of("+-"))),
    choice([Repeat(_DIGIT, 1, 2), sequence(Chars(of("12")), _DIGIT, _DIGIT)]),
)

INTEGER: Node = sequence(optional(sequence("-")), _NATURAL)
NUMBER: Node = sequence(INTEGER, optional(_FRACTION), optional(_EXPONENT))

SHORT_INTEGER: Node = sequence(
    optional(sequence("-")), choice([sequence("0"), sequence(_NO_ZERO, Repeat(_DIGIT, 0, 14))])
)
"""What every reader takes for the same integer: up to 15 digits."""
SHORT_NUMBER: Node = sequence(SHORT_INTEGER, optional(_FRACTION), optional(_EXPONENT))


def integers(low: int | None, high: int | None) -> Node | None:
    """The integers from ``low`` to ``high``, both included; None where there are none.

    >>> integers(3, 5)
    Chars(ranges=((51, 53),))
    """
    if low is None and high is None:
        return INTEGER
    branches: list[Node] = []
    if low is None or low < 0:
        top = 1 if high is None or high >= 0 else -high
        below = None if low is None else -low
        if below is None or below >= top:
            branches.append(sequence("-", _from_to(top, below)))
    if high is None or high >= 0:
        bottom = 0 if low is None or low < 0 else low
        if high is None or high >= bottom:
            branches.append(_from_to(bottom, high))
    return choice(branches) if branches else None


def decimals(
    low: Decimal | None, high: Decimal | None, *, low_open: bool = False, high_open: bool = False
) -> Node | None:
    """The decimal numbers from ``low`` to ``high`` (``…_open``: itself not included); None where there are none."""
    if low is None and high is None:
        return NUMBER
    branches: list[Node] = []
    if low is None or low < 0:
        top, top_open = (Decimal(0), True) if high is None or high >= 0 else (-high, high_open)
        below = None if low is None else -low
        if (found := _positive(top, below, top_open, low_open)) is not None:
            branches.append(sequence("-", found))
    if high is None or high >= 0:
        bottom, bottom_open = (Decimal(0), False) if low is None or low < 0 else (low, low_open)
        if (found := _positive(bottom, high, bottom_open, high_open)) is not None:
            branches.append(found)
    return choice(branches) if branches else None


def _from_to(low: int, high: int | None) -> Node:
    """The whole numbers between two that are not negative (None: without end)."""
    if high is None:
        length = len(str(low))
        longer = sequence(_NO_ZERO, Repeat(_DIGIT, length, None))
        return choice([*_same_length(str(low), "9" * length), longer])
    low_text, high_text = str(low), str(high)
    branches: list[Node] = []
    for length in range(len(low_text), len(high_text) + 1):
        least = low_text if length == len(low_text) else "1" + "0" * (length - 1)
        most = high_text if length == len(high_text) else "9" * length
        branches += _same_length(least, most)
    return choice(branches)


def _same_length(low: str, high: str) -> list[Node]:
    """The numbers between two of as many digits."""
    if not low:
        return [EMPTY]
    if low[0] == high[0]:
        return [sequence(low[0], choice(_same_length(low[1:], high[1:])))]
    branches: list[Node] = []
    rest = len(low) - 1
    first, last = int(low[0]), int(high[0])
    if low[1:].strip("0"):
        branches.append(sequence(low[0], choice(_same_length(low[1:], "9" * rest))))
        first += 1
    upper: list[Node] = []
    if high[1:].strip("9"):
        upper.append(sequence(high[0], choice(_same_length("0" * rest, high[1:]))))
        last -= 1
    if first <= last:
        branches.append(
            sequence(Chars(((0x30 + first, 0x30 + last),)), *([Repeat(_DIGIT, rest, rest)] if rest else []))
        )
    return branches + upper


def _positive(low: Decimal, high: Decimal | None, low_open: bool, high_open: bool) -> Node | None:
    """The decimals between two that are not negative."""
    low_whole, low_digits = _split(low)
    high_whole, high_digits = (None, "") if high is None else _split(high)
    branches: list[Node] = []
    first, last = low_whole, None if high_whole is None else high_whole - 1
    if high_whole == low_whole:
        found = _fractions(low_digits, high_digits, low_open, high_open)
        return None if found is None else sequence(str(low_whole), found)
    if low_digits or low_open:
        lower = _fractions(low_digits, None, low_open, False)
        branches += [] if lower is None else [sequence(str(low_whole), lower)]
        first += 1
    if last is None or first <= last:
        branches.append(sequence(_from_to(first, last), optional(_FRACTION)))
    if high_whole is not None and high_whole > low_whole:
        upper = _fractions("", high_digits, False, high_open)
        branches += [] if upper is None else [sequence(str(high_whole), upper)]
    return choice(branches) if branches else None


def _split(number: Decimal) -> tuple[int, str]:
    whole, _, digits = f"{number:f}".partition(".")
    return int(whole), digits.rstrip("0")


def _fractions(low: str, high: str | None, low_open: bool, high_open: bool) -> Node | None:
    """The fractions, with their point, from digits to digits (None: to the end); also none at all where that is low."""
    branches: list[Node] = []
    if not low_open and not (high_open and high == low):
        branches.append(_exactly(low))
    if high is not None and not high_open and high != low:
        branches.append(_exactly(high))
    found = _above(low) if high is None else _between(low, high)
    return choice([*branches, *(sequence(".", each) for each in found)]) if branches or found else None


def _exactly(digits: str) -> Node:
    zeros = Repeat(sequence("0"), 0, None)
    return sequence(".", digits, zeros) if digits else optional(sequence(".0", zeros))


def _above(low: str) -> list[Node]:
    """Digits behind the point whose number is greater."""
    branches: list[Node] = [
        sequence(low[:at], Chars(((ord(digit) + 1, 0x39),)), _DIGITS) for at, digit in enumerate(low) if digit != "9"
    ]
    return [*branches, sequence(low, Repeat(sequence("0"), 0, None), _NO_ZERO, _DIGITS)]


def _below(high: str) -> list[Node]:
    """Digits behind the point, none at all too, whose number is less; ``high`` ends with no zero."""
    branches: list[Node] = []
    for at, digit in enumerate(high):
        branches.append(sequence(high[:at]))
        if digit != "0":
            branches.append(sequence(high[:at], Chars(((0x30, ord(digit) - 1),)), _DIGITS))
    return branches


def _between(low: str, high: str) -> list[Node]:
    """Digits behind the point whose number lies between the two."""
    if low.ljust(len(high), "0") >= high.ljust(len(low), "0"):
        return []
    padded = low.ljust(len(high), "0")
    at = next(at for at, digit in enumerate(high) if padded[at] != digit)
    branches: list[Node] = []
    if ord(high[at]) - ord(padded[at]) > 1:
        branches.append(sequence(high[:at], Chars(((ord(padded[at]) + 1, ord(high[at]) - 1),)), _DIGITS))
    branches += [sequence(padded[: at + 1], each) for each in _above(padded[at + 1 :].rstrip("0"))]
    branches += [sequence(high[: at + 1], each) for each in _below(high[at + 1 :])]
    return branches
