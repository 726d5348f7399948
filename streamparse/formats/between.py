"""What is passed over between the tokens of a bracketed text, and before its value, although no format allows it there.

In: a text and a place in it. Out: where what is passed over ends, and in words what was mended.
"""

from __future__ import annotations

import re
from typing import NamedTuple

COMMENT_ENDS = {"//": "\n", "/*": "*/", "#": "\n"}
OTHER_BLANKS = re.compile(r"[\s\ufeff\u200b]++")
BEFORE_VALUE = re.compile(r"`{3,}[ \t]{0,16}\w{0,16}(?:\s|(?=[\[{]))|(?i:json)\b[ \t]*+:?")
BEFORE_VALUE_SO_FAR = re.compile(r"(?:`++|`{3,}[ \t]{0,16}\w{0,16}|(?i:j|js|jso|json)|(?i:json)[ \t]++)\Z")
AT_MOST = 64
"""How long a fence may be that isn't whole yet."""


class Passed(NamedTuple):
    """Where it ends, what it is, and what ends it where it is a comment; without a kind more text has to come first."""

    end: int
    kind: str = ""
    comment_end: str = ""


def between_tokens(text: str, at: int, *, nested: bool) -> Passed | None:
    r"""The beginning of a comment, other blanks than JSON knows, or an escape such as ``\n``; None where none is here.

    >>> between_tokens("/* one */", 0, nested=True), between_tokens("x", 0, nested=True)
    (Passed(end=2, kind='a comment', comment_end='*/'), None)
    """
    character = text[at]
    if character == "\\" and nested:
        if at + 1 == len(text):
            return Passed(at)
        return Passed(at + 2, "an escape outside strings") if text[at + 1] in "nrt" else None
    if character == "#" or text.startswith(("//", "/*"), at):
        opening = "#" if character == "#" else text[at : at + 2]
        return Passed(at + len(opening), "a comment", COMMENT_ENDS[opening])
    if character == "/" and at + 1 == len(text):
        return Passed(at)
    blanks = OTHER_BLANKS.match(text, at)
    return None if blanks is None else Passed(blanks.end(), "blanks that JSON does not know")


def before_value(text: str, at: int) -> Passed | None:
    r"""A code fence or the word json before the value; None where neither is here.

    >>> before_value("```json\n{", 0), before_value("js", 0), before_value("{", 0)
    (Passed(end=8, kind='a code fence around the value', comment_end=''), Passed(end=0, kind='', comment_end=''), None)
    """
    before = BEFORE_VALUE.match(text, at)
    if before is not None and (before.end() < len(text) or before[0][-1] in "\n:"):
        is_fence = before[0].startswith("`")
        return Passed(before.end(), "a code fence around the value" if is_fence else "the word json before the value")
    if (before is not None or BEFORE_VALUE_SO_FAR.match(text, at)) and len(text) - at <= AT_MOST:
        return Passed(at)
    return None
