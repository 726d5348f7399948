"""The structure reader of ``xml-inline``, for tags whose shape is known."""

from __future__ import annotations

import re
from typing import Any, Self

from streamparse.stages.structure.literal import overlap
from streamparse.stages.structure.tag_outline import TagOutline

BLANKS = re.compile(r"\s*+")


class TagStructure:
    """Follows a body of tags (see :class:`Structure`).

    A closing tag ends a value only where another tag's beginning, the end of the body, or what follows the body
    (``ends``) comes next; anywhere else it is text of the value. An empty body is a value without tags, which can't be
    told from the beginning of one, so ``begins`` stays None.

    >>> from streamparse.stages.structure.tag_outline import tag_outline
    >>> reader = TagStructure(tag_outline(r"<p=(?P<key>\\w+)>(?P<value>.*?)</p>"))
    >>> reader.feed("<p=a> </p> in ")
    >>> reader.begins, reader.inside, reader.complete
    (True, True, False)
    >>> reader.feed("a value</p>")
    >>> reader.inside, reader.complete
    (False, True)
    """

    tolerances = 0

    def __init__(self, outline: TagOutline, ends: tuple[str, ...] = ()) -> None:
        self._outline = outline
        self._after_value = (outline.start, *ends)
        # "outside" any tag; in the "head", up to the value; in the "value"; or "closing": the closing tag has come, and
        # what follows decides whether it counts.
        self._state = "outside"
        self._closing = ""
        self._held = ""  # the beginning of a head or a literal, until it is known whether it is one
        self.begins: bool | None = None
        self.broken = False

    @property
    def inside(self) -> bool:
        """Whether the text has reached the inside of a value."""
        return self._state == "value"

    @property
    def complete(self) -> bool:
        """Whether no tag is open, nor begun."""
        return self._state in ("outside", "closing") and not self._held and not self.broken

    @property
    def end(self) -> int | None:
        """Nowhere: another tag may always follow."""
        return None

    def feed(self, text: str) -> None:
        """Follow the next piece of text."""
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
        return {name: self.__dict__[name] for name in ("_state", "_closing", "_held", "begins", "broken")}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that :meth:`snapshot` gave."""
        self.__dict__.update(state)

    def _in_value(self, text: str, at: int) -> int:
        closing = self._closing
        found = text.find(closing, at)
        if found < 0:
            return self._hold(text, len(text) - overlap(text, closing, at))
        self._state = "closing"
        return found + len(closing)

    def _in_closing(self, text: str, at: int) -> int:
        """After a closing tag and maybe blanks: what comes fits, or the tag was text of the value."""
        at = _after_blanks(text, at)
        for literal in self._after_value:
            if text.startswith(literal, at):
                if literal != self._outline.start:
                    return at + len(literal)
                self._state = "head"
                return at
        if any(literal.startswith(text[at:]) for literal in self._after_value):
            return self._hold(text, at)
        self._state = "value"
        return at

    def _outside(self, text: str, at: int) -> int:
        at = _after_blanks(text, at)
        start = self._outline.start
        found = text.find(start, at)
        if found != at and not start.startswith(text[at:]):
            self._breaks()
        if found < 0:
            return self._hold(text, len(text) - overlap(text, start, at))
        self._state = "head"
        if self.begins is None:
            self.begins = True
        return found

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
        self.broken = True
        if self.begins is None:
            self.begins = False


def _after_blanks(text: str, at: int) -> int:
    return BLANKS.match(text, at).end()  # type: ignore[union-attr]


STEPS = {
    "outside": TagStructure._outside,
    "head": TagStructure._in_head,
    "value": TagStructure._in_value,
    "closing": TagStructure._in_closing,
}
