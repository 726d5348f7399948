r"""Whole values that are written as their format says, found by one compiled search instead of character by character.

In: a text and a place in it where a value may begin. Out: where it ends, if all of it is there, it is nested no deeper
than ``DEPTH``, and no tolerant reader could end one of its strings elsewhere. Most calls come to a reader like that
where pieces are large.
"""

from __future__ import annotations

import re
from functools import cache

DEPTH = 3
"""How many lists and objects enclose one another in the value."""

_BLANKS = r"[ \t\n\r]*+"
_DOUBLE = r'"[^"\\\x00-\x1f]*+(?:\\["\\/bfnrtu][^"\\\x00-\x1f]*+)*+"'
_SINGLE = r"'[^'\\\x00-\x1f]*+(?:\\['\"\\/bfnrtu][^'\\\x00-\x1f]*+)*+'"
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![\w.+-])"
_NAME = r"[A-Za-z_]\w*+"


def _value(strings: str, constants: str, depth: int) -> str:
    scalar = rf"(?:{strings}|{_NUMBER}|(?:{constants})(?![\w.+-]))"
    value = scalar
    for _ in range(depth):
        item = f"{_BLANKS}{value}{_BLANKS}"
        member = f"{_BLANKS}(?:{strings}){_BLANKS}:{item}"
        value = f"(?:{scalar}|{_several(item, '[', ']')}|{_several(member, '{', '}')})"
    return value


def _several(item: str, opening: str, closing: str) -> str:
    return rf"\{opening}(?:{item}(?:,{item})*+|{_BLANKS})\{closing}"


_IN_JSON = f"{_BLANKS}(?:{_DOUBLE}){_BLANKS}:{_BLANKS}{_value(_DOUBLE, 'true|false|null', DEPTH - 1)}{_BLANKS}"
_IN_CALL = (
    f"{_BLANKS}{_NAME}{_BLANKS}={_BLANKS}"
    f"{_value(f'{_DOUBLE}|{_SINGLE}', 'True|False|None|true|false|null', DEPTH - 2)}{_BLANKS}"
)


@cache
def json_object() -> re.Pattern[str]:
    """Matches an object of JSON; compiled when it is first needed, as that takes 20 ms."""
    return re.compile(_several(_IN_JSON, "{", "}"))


@cache
def call() -> re.Pattern[str]:
    """Matches a list with one Python call."""
    return re.compile(rf"\[{_BLANKS}{_NAME}(?:[-.]\w++)*+{_BLANKS}{_several(_IN_CALL, '(', ')')}{_BLANKS}\]")
