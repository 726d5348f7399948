r"""Texts of a JSON dialect without their quotes, or without the closing one, as in Gemma's ``{command:ls -l}``.

In comes a text and the place of a value in an object; out comes where the value ends, if it is such a text and has only
one end: a comma with the next key behind it, or the bracket that closes the object.
"""

from __future__ import annotations

import regex

from streamparse.formats.scalars import CONSTANTS, LOOSE_NUMBER
from streamparse.repair.strings import Quote

BARE = regex.compile(r"""(?P<text>[^\s{}\[\]<>"',:][^{}\[\]<>"\n]*?)\s{0,16}(?=\}|,\s{0,16}[A-Za-z_]\w*:)""")
UNCLOSED = regex.compile(r"(?P<text>[^{}\n]*?)(?=\}\s*\Z)")
ENDS = (",", "}", "]")
NEXT_KEY = regex.compile(r",\s*[A-Za-z_]\w*:")


def bare_end(text: str, start: int, quote: Quote | None) -> int | None:
    """Where the value that begins at ``start`` ends if it is a text without quotes, or with ``quote`` never closed.

    >>> bare_end("{command:ls -l,b:1}", 9, None)
    14
    >>> bare_end("{a:1}", 3, None), bare_end("{a:true,b:x}", 3, None)
    (None, None)
    """
    if quote is not None:
        if text.find(quote.closing, start + len(quote.opening)) >= 0:
            return None
        match = UNCLOSED.match(text, start + len(quote.opening))
        return match.end() if match is not None and NEXT_KEY.search(match["text"]) is None else None
    match = BARE.match(text, start)
    if match is None or match["text"].endswith(",") or match["text"].lower() in CONSTANTS:
        return None
    return None if LOOSE_NUMBER.fullmatch(match["text"]) else match.end("text")


def doubled_end(text: str, start: int, quote: Quote) -> int | None:
    """Where a string ends whose closing quote is written twice; None where it is not, or the string is empty.

    >>> dialect = Quote("<q>", "<q>", escapes=False)
    >>> doubled_end("{a:<q>x<q><q>}", 3, dialect), doubled_end("{a:<q>x<q>}", 3, dialect)
    (7, None)
    """
    first, size = start + len(quote.opening), len(quote.closing)
    end = text.find(quote.closing, first)
    twice = text.startswith(quote.closing, end + size) and text[end + 2 * size : end + 2 * size + 1] in ENDS
    return end if end > first and twice else None
