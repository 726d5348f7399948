"""Compact JSON text, whole and in pieces: the form in which arguments are given out.

Members stand in the order in which they were written, there are no blanks outside strings, and characters stand for
themselves, except those that JSON wants escaped and lone surrogates, which no encoding of text has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

PLAIN = re.compile('[^"\\\\\x00-\x1f\ud800-\udfff]*+')
"""A stretch of characters that stand for themselves in a JSON string."""

Search = Callable[[str], re.Match[str] | None]
"""Finds in a piece of text what keeps it from being given out as it is."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


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


@lru_cache(256)
def search_for_other_than_plain(also: str = "", at_end: str = "") -> Search:
    """Make the search for what has to be escaped, one of the characters ``also``, or one of ``at_end`` at the end.

    >>> search = search_for_other_than_plain("<", at_end=" ")
    >>> [search(text) is None for text in ("a b", "a<b", "a ", "a\\nb")]
    [True, False, False, False]
    """
    pattern = f'["\\\\\x00-\x1f\ud800-\udfff{re.escape(also)}]'
    if at_end:
        pattern += f"|[{re.escape(at_end)}]\\Z"
    return re.compile(pattern).search


def _escaped(surrogate: re.Match[str]) -> str:
    return f"\\u{ord(surrogate[0]):04x}"
