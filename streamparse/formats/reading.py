"""A text being read by a tolerant reader: where it stands, what it has mended so far, and how much it has looked ahead.

A tolerant reader looks ahead to settle what a doubtful character is. How much it may look ahead in all is bounded by
the length of the text, so that reading takes linear time whatever the text is.
"""

from __future__ import annotations

import re
from typing import NoReturn

from streamparse.errors import ContentError
from streamparse.stages.content.table import content_error

JSON_BLANKS = re.compile(r"[ \t\n\r]*+")
ESCAPED_BLANKS = re.compile(r"(?:\\[nrt])++")
OTHER_BLANKS = re.compile(r"[\s\ufeff\u200b]++")
COMMENT_STARTS = ("//", "/*", "#")
NEVER_SKIPPED = frozenset(map(chr, range(33, 127))) - {"/", "#", "\\"}

LOOKS_PER_CHARACTER = 8
LOOKS_AT_LEAST = 4096


class TooDoubtful(ContentError):
    """It can't be told where a string ends, or not without looking too far; what follows is then in doubt as well."""


class Reading:
    """One text, read from left to right; ``position`` is the first character that has not been read.

    ``repaired`` are the things that were mended, in order, each once.

    >>> reading = Reading(" // one\\n 1")
    >>> reading.blanks()
    >>> reading.position, list(reading.repaired)
    (9, ['a comment'])
    """

    __slots__ = ("_looks", "position", "repaired", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.repaired: dict[str, None] = {}
        self._looks = LOOKS_AT_LEAST + LOOKS_PER_CHARACTER * len(text)

    def fail(self, reason: str, position: int | None = None) -> NoReturn:
        """Raise ContentError, at the present position unless another is given."""
        raise content_error(reason, self.text, self.position if position is None else position)

    def doubt(self, reason: str, position: int | None = None) -> NoReturn:
        """Raise TooDoubtful."""
        raise TooDoubtful(reason, position=self.position if position is None else position)

    def mends(self, what: str) -> None:
        """Note what is being mended."""
        self.repaired.setdefault(what)

    def looked(self, characters: int) -> None:
        """Note how far something looked ahead; raises TooDoubtful where that is too much in all."""
        self._looks -= characters + 1
        if self._looks < 0:
            self.doubt("the text is too doubtful to be mended")

    def blanks(self) -> None:
        """Pass over blanks and comments."""
        end = self.skip(self.position)
        if end > self.position:
            between = self.text[self.position : end]
            if "\\" in between and (unescaped := ESCAPED_BLANKS.sub("", between)) != between:
                self.mends("an escape outside strings")
                between = unescaped
            if between.strip():
                self.mends("a comment")
            elif between.strip(" \t\n\r"):
                self.mends("blanks that JSON does not know")
            self.position = end

    def skip(self, position: int) -> int:
        """Find where blanks and comments that start at a position end."""
        text, start = self.text, position
        if self._looks > 0 and text[position : position + 1] in NEVER_SKIPPED:
            self._looks -= 1
            return position
        while True:
            position = JSON_BLANKS.match(text, position).end()  # type: ignore[union-attr]
            if position == len(text):
                break
            if other := OTHER_BLANKS.match(text, position) or ESCAPED_BLANKS.match(text, position):
                position = other.end()
            elif not text.startswith(COMMENT_STARTS, position) or (end := self._comment_end(position)) == -1:
                break
            else:
                position = end
        self.looked(position - start)
        return position

    def _comment_end(self, position: int) -> int:
        """Find where a comment ends; one between ``/*`` and ``*/`` has to, any other does so with its line."""
        if self.text.startswith("/*", position):
            end = self.text.find("*/", position + 2)
            self.looked((len(self.text) if end == -1 else end) - position)
            return end if end == -1 else end + 2
        end = self.text.find("\n", position)
        return len(self.text) if end == -1 else end

    def at(self, texts: str | tuple[str, ...]) -> bool:
        """Whether one of the texts stands here."""
        return self.text.startswith(texts, self.position)

    def take(self, text: str) -> bool:
        """Pass over a text if it stands here."""
        found = self.text.startswith(text, self.position)
        if found:
            self.position += len(text)
        return found

    @property
    def ended(self) -> bool:
        """Whether all has been read."""
        return self.position >= len(self.text)
