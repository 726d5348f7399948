"""Compact JSON text, whole and in pieces: the form in which arguments are given out.

Members stand in the order in which they were written, there are no blanks outside strings, and characters stand for
themselves, except those that JSON wants escaped and lone surrogates, which no encoding of text has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

_PLAIN = '[^"\\\\\x00-\x1f\ud800-\udfff]*+'

PLAIN = re.compile(_PLAIN)
"""A stretch of characters that stand for themselves in a JSON string."""

AS_WRITTEN = re.compile(rf'{_PLAIN}(?:\\["\\bfnrt]{_PLAIN})*+')
"""A stretch of a JSON string that is compact as it stands: plain characters and escapes of one letter."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Passing(NamedTuple):
    """How text that is simply more of a string goes out.

    Printable text goes as it is if none of ``letters`` is in it and, where a ``space_waits``, its last character is no
    space. ``encode`` gives what any other text goes out as, or None where it takes a closer look.
    """

    letters: str
    space_waits: bool
    encode: Callable[[str], str | None]


def compact(value: Any) -> str:
    r"""The compact JSON text of a value.

    >>> compact({"q": "Größe", "n": [1, 2.50]}), compact("\ud83d")
    ('{"q":"Größe","n":[1,2.5]}', '"\\ud83d"')
    """
    text = _encode(value)
    return text if text.isascii() else _SURROGATE.sub(_escaped, text)


def string_body(text: str) -> str:
    r"""What stands between the quotes of a string's JSON text.

    >>> string_body('a "b"\n')
    'a \\"b\\"\\n'
    """
    return text if PLAIN.fullmatch(text) else compact(text)[1:-1]


def _escaped(surrogate: re.Match[str]) -> str:
    return f"\\u{ord(surrogate[0]):04x}"
