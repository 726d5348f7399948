"""The escapes of JSON and Python strings, read one by one from a text that may end anywhere."""

from __future__ import annotations

import re
from typing import NamedTuple

from streamparse.formats.compact import string_body

LETTERS = {'"': '\\"', "\\": "\\\\", "/": "/", "b": "\\b", "f": "\\f", "n": "\\n", "r": "\\r", "t": "\\t"}
"""JSON's escapes of one letter, and what stands for each in compact JSON text."""

PYTHON_LETTERS = LETTERS | {"'": "'"}
"""Those of call lists."""

_CODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_HIGH = re.compile(r"\\u[dD][89abAB]")
_LOW = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_LOW_BEGINS = re.compile(r"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?")
_CODE_BEGINS = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")


class Escape(NamedTuple):
    """An escape: where it ends, and what stands for it in compact JSON text."""

    end: int
    text: str


def read_escape(text: str, at: int, letters: dict[str, str]) -> Escape | None:
    r"""Read the escape that begins at ``at``; None where more text must come first. Raises ValueError for none.

    The two halves of a character beyond the basic plane are one escape.

    >>> read_escape(r"\ud83d\ude00", 0, LETTERS), read_escape(r"\ud83d", 0, LETTERS), read_escape(r"\/", 0, LETTERS)
    (Escape(end=12, text='😀'), None, Escape(end=2, text='/'))
    """
    code = _CODE.match(text, at)
    if code is None:
        if _CODE_BEGINS.fullmatch(text, at):
            return None
        letter = letters.get(text[at + 1])
        if letter is None:
            raise ValueError(f"{text[at : at + 2]!r} is not an escape")
        return Escape(at + 2, letter)
    end = code.end()
    if _HIGH.match(text, at):
        if low := _LOW.match(text, end):
            return Escape(low.end(), _joined(code[1], low[1]))
        if _LOW_BEGINS.fullmatch(text, end):
            return None
    return Escape(end, string_body(chr(int(code[1], 16))))


def _joined(high: str, low: str) -> str:
    return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10 | int(low, 16) & 0x3FF))
