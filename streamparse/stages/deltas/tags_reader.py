"""Reads ``xml-inline`` part by part while the text is being written.

In: a region's text, in any pieces. Out: the tags as members of an object, to a ``CallDocument``. Strictly, a value ends
at the first closing tag, and text between tags is passed over. Leniently, where the text may be mended, a closing tag
counts only where another tag or the end follows, and where there is anything else to mend, nothing more is said before
the region has ended.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from streamparse.errors import ParseError
from streamparse.formats.compact import Passing, search_for_other, string_body
from streamparse.formats.reader import NotCertain
from streamparse.stages.deltas.document import CallDocument
from streamparse.stages.deltas.tag_values import TagValue, TagValues
from streamparse.stages.structure.literal import overlap
from streamparse.stages.structure.tag_outline import TOO_LONG, TagOutline

BLANKS = re.compile(r"\s*+")
NO_KEY = re.compile(r"[<>\n]")


@lru_cache(256)
def in_value(marks: str, waits: str) -> Passing:
    """How text goes out in a value: none of the ``marks`` that a tag may begin with is in it, and nothing ``waits``."""

    def encode(text: str) -> str | None:
        return None if text[-1] in waits or any(mark in text for mark in marks) else string_body(text)

    return Passing(search_for_other(marks, waits), encode)


class TagsReader:
    """Follows tags."""

    def __init__(self, document: CallDocument, values: TagValues, outline: TagOutline, *, lenient: bool) -> None:
        self._document = document
        self._values = values
        self._outline = outline
        self._lenient = lenient
        self._state = "outside"  # or "head", "value", "closing"
        self._value: TagValue | None = None
        self._closing = ""
        self._held = ""
        document.begin("{")
        if document.arguments is None or not document.arguments.passes_on:
            raise NotCertain

    @property
    def passing(self) -> Passing | None:
        """How text goes out that is simply more of the present value; None outside values of text."""
        if self._state != "value" or self._held or self._value is None:
            return None
        waits = self._value.waits
        return None if waits is None else in_value(self._closing[0] + self._outline.start[0], waits)

    @property
    def point(self) -> TagValue | None:
        """The value that is being read, while more text simply goes out; None where it doesn't, or none is read."""
        return None if self.passing is None else self._value

    def go_to(self, point: TagValue, word: str) -> None:
        """Nothing is to be done: text that goes out changes nothing, and no value comes twice."""

    @property
    def word(self) -> None:
        """There are no words in text."""

    def compact_word(self, word: str) -> str:
        """There are no words in text."""
        raise AssertionError(f"{word!r} is no word but text")

    def feed(self, text: str) -> None:
        """Follow the next piece of text; raises NotCertain where it can't be followed."""
        if self._held:
            text = self._held + text
            self._held = ""
        at, size = 0, len(text)
        while at < size:
            at = STEPS[self._state](self, text, at)

    def finish(self) -> None:
        """The text has ended: a value that was not closed is none."""
        if self._state == "closing":
            self._value_ends()
        if self._state != "outside" or (self._lenient and self._held):
            raise NotCertain
        self._document.end()

    def _outside(self, text: str, at: int) -> int:
        start = self._outline.start
        if self._lenient:
            at = _after_blanks(text, at)
            if not text.startswith(start, at):
                if not start.startswith(text[at:]):
                    raise NotCertain
                return self._hold(text, at)
        found = text.find(start, at)
        if found < 0:
            return self._hold(text, len(text) - overlap(text, start, at))
        self._state = "head"
        return found

    def _in_head(self, text: str, at: int) -> int:
        head = self._outline.head(text, at)
        if head.end is None:
            return self._hold(text, at)
        if head.end < 0:
            if self._lenient or head is TOO_LONG:
                raise NotCertain
            self._state = "outside"
            return at + 1
        if self._lenient and NO_KEY.search(head.key):
            raise NotCertain
        self._document.key(head.key)
        self._closing = self._outline.closing(head.key)
        self._value = self._values.begin(text[at : head.end], self._closing)
        self._state = "value"
        return head.end

    def _in_value(self, text: str, at: int) -> int:
        closing = self._closing
        found = text.find(closing, at)
        end = len(text) - self._unfinished(text, at) if found < 0 else found
        head = self._head_within(text, at, end) if self._lenient else None
        if head is not None:
            end = head
        if end > at:
            self._value.take(text[at:end])  # type: ignore[union-attr]
        if head is not None and self._outline.head(text, head).end is not None:
            raise NotCertain  # the closing tag of this value may be missing
        if found < 0 or end < found:
            return self._hold(text, end)
        if self._lenient:
            self._state = "closing"
        else:
            self._value_ends()
        return found + len(closing)

    def _unfinished(self, text: str, at: int) -> int:
        """How many of the last characters may begin a tag."""
        unfinished = overlap(text, self._closing, at)
        return max(unfinished, overlap(text, self._outline.start, at)) if self._lenient else unfinished

    def _head_within(self, text: str, at: int, end: int) -> int | None:
        """Where, before ``end``, another tag's head stands or may stand; None where none does."""
        start = self._outline.start
        place = text.find(start, at, end)
        while place >= 0:
            if self._outline.head(text, place).end != -1:
                return place
            place = text.find(start, place + 1, end)
        return None

    def _in_closing(self, text: str, at: int) -> int:
        at = _after_blanks(text, at)
        start = self._outline.start
        if text.startswith(start, at):
            self._value_ends()
            self._state = "head"
            return at
        if not start.startswith(text[at:]):
            raise NotCertain
        return self._hold(text, at)

    def _value_ends(self) -> None:
        assert self._value is not None, "a value was open"
        try:
            self._value.end()
        except ParseError:
            raise NotCertain from None
        self._state = "outside"

    def _hold(self, text: str, at: int) -> int:
        self._held = text[at:]
        return len(text)


def _after_blanks(text: str, at: int) -> int:
    return BLANKS.match(text, at).end()  # type: ignore[union-attr]


STEPS: dict[str, Any] = {
    "outside": TagsReader._outside,
    "head": TagsReader._in_head,
    "value": TagsReader._in_value,
    "closing": TagsReader._in_closing,
}
