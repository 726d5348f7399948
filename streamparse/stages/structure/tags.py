"""The structure reader of ``xml-inline``, for tags whose shape is known."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Self

from streamparse.snapshot import expect_like
from streamparse.stages.structure.literal import overlap
from streamparse.stages.structure.tag_outline import TagOutline

BLANKS = re.compile(r"\s*+")
KEPT = ("_state", "_closing", "_held", "_length", "begins", "end", "broken")


class TagStructure:
    """Follows a body of tags (see :class:`Structure`).

    A closing tag ends a value only where another tag's beginning, the end of the body, or what follows the body
    (``ends``) comes next; anywhere else it is text of the value. ``end`` is where what follows the body begins, as far
    as it has come; it moves on where that turns out to be text of a value. An empty body is a value without tags, which
    can't be told from the beginning of one, so ``begins`` stays None.

    >>> from streamparse.stages.structure.tag_outline import tag_outline
    >>> reader = TagStructure(tag_outline(r"<p=(?P<key>\\w+)>(?P<value>.*?)</p>"))
    >>> reader.feed("<p=a> </p> in ")
    >>> reader.begins, reader.inside, reader.complete
    (True, True, False)
    >>> reader.feed("a value</p>")
    >>> reader.inside, reader.complete
    (False, True)
    """

    open_ended = True
    tolerances = 0
    whole_items = None

    def __init__(self, outline: TagOutline, ends: tuple[str, ...] = ()) -> None:
        self._outline = outline
        self._ends = ends
        self._after_value = (outline.start, *ends)
        # "outside" any tag; in the "head", up to the value; in the "value"; or "closing": the closing tag has come, and
        # what follows decides whether it counts.
        self._state = "outside"
        self._closing = ""
        self._length = 0
        self._held = ""  # the beginning of a head or a literal, until it is known whether it is one
        self.begins: bool | None = None
        self.end: int | None = None
        self.broken = False

    @property
    def broken_inside(self) -> bool:
        """What follows the body breaks nothing."""
        return self.broken

    @property
    def inside(self) -> bool:
        """Whether the text has reached the inside of a value."""
        return self._state == "value"

    @property
    def complete(self) -> bool:
        """Whether no tag is open, nor begun."""
        if self._state not in ("outside", "closing") or self.broken:
            return False
        return not self._held or not self._outline.start.startswith(self._held)

    def feed(self, text: str) -> None:
        """Follow the next piece of text."""
        self._length += len(text)
        if self._held:
            text = self._held + text
            self._held = ""
        at, size = 0, len(text)
        while at < size:
            at = STEPS[self._state](self, text, at)

    def copy(self) -> Self:
        """Another reader with the same state."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def snapshot(self) -> dict[str, Any]:
        """The state as JSON-able data."""
        return {name: self.__dict__[name] for name in KEPT}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that :meth:`snapshot` gave."""
        expect_like(state, self.snapshot(), "reader", nullable=True)
        self.__dict__.update(state)

    def _in_value(self, text: str, at: int) -> int:
        closing = self._closing
        found = text.find(closing, at)
        if found < 0:
            return self._hold(text, len(text) - overlap(text, closing, at))
        self._state, self.end = "closing", None
        return found + len(closing)

    def _in_closing(self, text: str, at: int) -> int:
        """After a closing tag and maybe blanks: what comes fits, or the tag was text of the value."""
        at = _after_blanks(text, at)
        if text.startswith(self._outline.start, at):
            self._state, self.end = "head", None
            return at
        if ended := self._after_end(text, at):
            return ended
        left = len(text) - at  # no more of a long text is copied than can be the beginning of a literal
        for literal in self._after_value:
            if left < len(literal) and literal.startswith(text[at:]):
                return self._hold(text, at)
        self._state = "value"
        return at

    def _outside(self, text: str, at: int) -> int:
        at = _after_blanks(text, at)
        found = _any_of(self._after_value).search(text, at)
        if found is None:
            held = max(overlap(text, literal, at) for literal in self._after_value)
            if held < len(text) - at:
                self._breaks()
            return self._hold(text, len(text) - held)
        if found.start() > at:
            self._breaks()
        if found[0] != self._outline.start:
            return self._after_end(text, found.start())
        self._state, self.end = "head", None
        if self.begins is None:
            self.begins = True
        return found.start()

    def _after_end(self, text: str, at: int) -> int:
        """The place after what follows the body, if it stands here; 0 if it does not."""
        for literal in self._ends:
            if text.startswith(literal, at):
                if self.end is None:
                    self.end = self._length - (len(text) - at)
                return at + len(literal)
        return 0

    def _in_head(self, text: str, at: int) -> int:
        head = self._outline.head(text, at)
        if head.end is None:
            return self._hold(text, at)
        if head.end < 0:
            self._breaks()
            self._state = "outside"
            return at + 1
        self._state, self._closing = "value", self._outline.closing(head.key)
        return head.end

    def _hold(self, text: str, at: int) -> int:
        self._held = text[at:]
        return len(text)

    def _breaks(self) -> None:
        if self.end is not None:
            return  # what follows the body is no part of it
        self.broken = True
        if self.begins is None:
            self.begins = False


@lru_cache(256)
def _any_of(literals: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, literals)))


def _after_blanks(text: str, at: int) -> int:
    return BLANKS.match(text, at).end()  # type: ignore[union-attr]


STEPS = {
    "outside": TagStructure._outside,
    "head": TagStructure._in_head,
    "value": TagStructure._in_value,
    "closing": TagStructure._in_closing,
}
