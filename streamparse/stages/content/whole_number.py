"""Whole numbers of bounded length: to read one takes time that grows with the square of its digits.

In: the text of a number. Out: the number, exactly, or a LimitError for more digits than ``Limits.number_length`` or
Python itself allows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

from streamparse.errors import LimitError
from streamparse.limits import how_to_raise


def read_whole_number(text: str, limit: int) -> int:
    """Read a whole number; raises LimitError if it is too long, and ValueError if it is none.

    >>> read_whole_number("-1_000", 4)
    -1000
    """
    if len(text) > limit and is_too_long(text, limit):
        raise too_long(limit)
    try:
        return int(text)
    except ValueError as error:
        if "set_int_max_str_digits" in str(error):
            raise too_long(limit) from None
        raise


def is_too_long(text: str, limit: int) -> bool:
    """Whether a text that may be a number has too many digits to be read."""
    digits = text.strip().lstrip("+-").replace("_", "")
    return len(digits) > limit and digits.isdecimal()


def reader_within(limit: int) -> Callable[[str], int] | None:
    """What ``json.loads`` needs for ``parse_int`` to keep within a limit; None where Python's own limit does that."""
    of_python = sys.get_int_max_str_digits()
    return None if 0 < of_python <= limit else partial(read_whole_number, limit=limit)


def too_long(limit: int) -> LimitError:
    """Make the error for a number with too many digits."""
    of_python = sys.get_int_max_str_digits()
    if 0 < of_python < limit:
        return LimitError(
            f"a whole number has more than {of_python} digits, which is the interpreter's limit; raise it with "
            "sys.set_int_max_str_digits if that is meant",
            limit="number_length",
        )
    return LimitError(
        f"a whole number has more than {limit} digits; {how_to_raise('number_length')}", limit="number_length"
    )
