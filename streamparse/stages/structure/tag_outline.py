r"""The outline of a tag, by which tags are followed while they are being written.

In comes a ``tag_pattern`` whose shape is known (``content.tag_shape``); out goes what a reader of pieces needs: the
text that every tag begins with, its head (all that stands before the value) as a pattern that can tell a beginning from
a mismatch, and the tag that closes the value of a certain key.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import regex

from streamparse.matching.syntax import Chars
from streamparse.stages.content.tag_parts import Literal, OneOf, Optional, Part, Run
from streamparse.stages.content.tag_shape import TagShape, recognise

HEAD_AT_MOST = 1000
"""The longest head that is followed, in characters. A head is held until it is whole, and looked at with each piece."""


@dataclass(frozen=True)
class Head:
    """A head: where it ends, and its key; ``end`` is -1 where there is none, and None where more must come."""

    end: int | None
    key: str = ""


NO_HEAD = Head(-1)
TOO_LONG = Head(-1)
"""What may be a head, but is longer than one that is followed."""
UNDECIDED = Head(None)


@dataclass(frozen=True)
class TagOutline:
    r"""How tags begin and end.

    >>> outline = tag_outline(r"<p=(?P<key>\w+)>\s*(?P<value>.*?)\s*</p>")
    >>> outline.head("<p=a>", 0), outline.head("<p=", 0).end, outline.head("<p=>", 0).end, outline.closing("a")
    (Head(end=5, key='a'), None, -1, '</p>')
    """

    shape: TagShape
    start: str
    pattern: regex.Pattern[str]
    open_ended: bool

    def head(self, text: str, at: int) -> Head:
        """The head of the tag whose ``start`` stands at ``at``."""
        limit = at + HEAD_AT_MOST
        match = self.pattern.match(text, at, min(limit, len(text)), partial=True)
        if match is None:
            return NO_HEAD
        if match.partial or (self.open_ended and match.end() == len(text)):
            return UNDECIDED if len(text) < limit else TOO_LONG
        return Head(match.end(), match["key"])

    def closing(self, key: str) -> str:
        """The tag that closes the value of a key."""
        end = self.shape.closing_end
        return self.shape.closing if end is None else self.shape.closing + key + end


@lru_cache(256)
def tag_outline(pattern: str) -> TagOutline | None:
    """The outline of a pattern's tags, or None where they have a shape that can't be followed."""
    shape = recognise(pattern)
    if shape is None or not isinstance(start := shape.opening[0], Literal):
        return None
    key = f"[\\s\\S]{{{shape.key_minimum},}}?" if shape.key is None else _source(shape.key)
    try:
        head = "".join(map(_source, shape.opening)) + f"(?P<key>{key})" + "".join(map(_source, shape.between))
    except OtherFlags:
        return None
    open_ended = isinstance(shape.between[-1], Run | Optional)
    return TagOutline(shape, start.text, regex.compile(head), open_ended)


class OtherFlags(Exception):
    """A class has flags that can't be set for it alone."""


def _source(part: Part) -> str:
    """A part as a pattern."""
    if isinstance(part, Literal):
        return regex.escape(part.text)
    if isinstance(part, OneOf):
        return f"(?:{'|'.join(map(regex.escape, part.texts))})"
    if isinstance(part, Optional):
        return f"(?:{''.join(map(_source, part.parts))})?+"
    most = "" if part.maximum is None else part.maximum
    suffix = f"(?<={regex.escape(part.suffix)})" if part.suffix else ""
    return f"{_class(part.chars)}{{{part.minimum + len(part.suffix)},{most}}}+{suffix}"


def _class(chars: Chars) -> str:
    """A class of characters as a pattern that stands for itself among others."""
    if chars.flags & ~int(regex.DOTALL | regex.IGNORECASE | regex.UNICODE):
        raise OtherFlags
    letters = ("s" if chars.flags & regex.DOTALL else "") + ("i" if chars.flags & regex.IGNORECASE else "")
    return f"(?{letters}:{chars.source})"
