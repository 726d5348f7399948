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


SLOT = "\0"
"""What stands in compact JSON text for a word that is put in later; JSON text itself never has it."""

COMPACT_WORD = re.compile(rf"0|-?[1-9][0-9]{{0,17}}|true|false|null|{SLOT}")
"""Words that are compact as they stand; any other has to be read, such as a float, which has many spellings."""


class Passing(NamedTuple):
    """How text that is simply more of a string goes out.

    Text in which ``search`` finds nothing goes as it is; ``encode`` gives what any other goes out as, or None where it
    takes a closer look.
    """

    search: Callable[[str], re.Match[str] | None]
    encode: Callable[[str], str | None]


def search_for_other(marks: str = "", waits: str = "") -> Callable[[str], re.Match[str] | None]:
    r"""Make the search for what must be escaped, for the characters ``marks``, and, at the end, for those of ``waits``.

    >>> search = search_for_other("<", " ")
    >>> [search(text) is None for text in ("a b", "a<b", "a ", "a\nb")]
    [True, False, False, False]
    """
    others = f'["\\\\\x00-\x1f\ud800-\udfff{re.escape(marks)}]'
    waiting = "".join(character for character in waits if character >= " ")  # all below are escaped anyway
    return re.compile(f"{others}|[{re.escape(waiting)}]\\Z" if waiting else others).search


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
