"""Cuts a whole text into pieces, about as a tokenizer would.

In:  the text of a generation that nobody recorded piece by piece.
Out: pieces that give the text back when they are put together. A special token is one piece, a word comes with the
     space before it, a long word in parts. It is for looking at; parsing doesn't depend on how a text is cut.
"""

from __future__ import annotations

import re

_SPECIAL = r"<[|｜][^\s<>]{1,40}[|｜]>|</?[A-Za-z][\w:.-]{0,30}>|\[/?[A-Z_]{3,20}\]"
_WORD = r" ?[^\W\d_]{1,7}"
_MARK = r" ?[^\w\s<\[]"
_SPACE = r"\n+|[^\S\n]+(?=[^\S\n])"
_PIECE = re.compile(rf"{_SPECIAL}|{_WORD}|\d{{1,3}}|{_MARK}|{_SPACE}|.", re.DOTALL)


def cut_like_tokens(text: str) -> list[str]:
    """Cut a text where a tokenizer might.

    >>> cut_like_tokens("<think>Two cities, 2026.</think>")
    ['<think>', 'Two', ' cities', ',', ' ', '202', '6', '.', '</think>']
    """
    return _PIECE.findall(text)


def cut_evenly(text: str, length: int) -> list[str]:
    """Cut a text into pieces of so many characters.

    >>> cut_evenly("abcde", 2)
    ['ab', 'cd', 'e']
    """
    return [text[start : start + length] for start in range(0, len(text), length)]
