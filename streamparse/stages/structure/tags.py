"""The structure reader of ``xml-inline``, for tags whose shape is known."""

from __future__ import annotations

import re
from typing import Any, Self

from .literal import find_first, overlap
from .tag_shape import TagShape

BLANKS = re.compile(r"\s*+")


class TagStructure:
    """Follows a body of tags (see :class:`Structure`).

    A closing tag ends a value only where another tag's beginning, the end of the body, or what follows the body
    (``ends``) comes next; anywhere else it is text of the value. An empty body is a value without tags, which can't be
    told from the beginning of one, so ``begins`` stays None.

    >>> reader = TagStructure(TagShape("<p=", (">",), "</p>", True, True))
    >>> reader.feed("<p=a> </p> in ")
    >>> reader.begins, reader.inside, reader.complete
    (True, True, False)
    >>> reader.feed("a value</p>")
    >>> reader.inside, reader.complete
    (False, True)
    """

    def __init__(self, shape: TagShape, ends: tuple[str, ...] = ()) -> None:
        self._shape = shape
        self._middle = (shape.middle[0], *(text for part in shape.middle[1:] if (text := part.strip())))
        self._in_keys = (self._middle[0], shape.opening, shape.closing, "\n")
        self._after_value = (shape.opening, *ends)
        # "outside" any tag; in the "key"; in the "middle" between key and value; in the "value"; or "closing": the
        # closing tag has come, and what follows decides whether it counts.
        self._state = "outside"
        self._place = 0  # which of the literals in the middle is due
        self._held = ""  # the beginning of a literal, until it is known whether it is one
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
        return {name: self.__dict__[name] for name in ("_state", "_place", "_held", "begins", "broken")}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that :meth:`snapshot` gave."""
        self.__dict__.update(state)

    def _in_value(self, text: str, at: int) -> int:
        closing = self._shape.closing
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
                self._state = "key" if literal == self._shape.opening else "closing"
                return at + len(literal)
        if any(literal.startswith(text[at:]) for literal in self._after_value):
            return self._hold(text, at)
        self._state = "value"
        return at

    def _outside(self, text: str, at: int) -> int:
        at = _after_blanks(text, at)
        opening = self._shape.opening
        found, literal = find_first(text, (opening,), at)
        if found > at:
            self._breaks()
        if literal is None:
            return self._hold(text, found)
        self._state = "key"
        if self.begins is None:
            self.begins = True
        return found + len(opening)

    def _in_key(self, text: str, at: int) -> int:
        found, literal = find_first(text, self._in_keys, at)
        if literal is None:
            return self._hold(text, found)
        if literal == self._middle[0]:
            self._state, self._place = "middle", 1
        else:
            self._breaks()
            if literal == self._shape.closing:
                self._state = "outside"
        return found + len(literal)

    def _in_middle(self, text: str, at: int) -> int:
        if self._place == len(self._middle):
            self._state = "value"
            return at
        at = _after_blanks(text, at)
        literal = self._middle[self._place]
        if text.startswith(literal, at):
            self._place += 1
            return at + len(literal)
        if literal.startswith(text[at:]):
            return self._hold(text, at)
        self._state = "key"  # what looked like the key's end was a stray tag
        return at

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
    "key": TagStructure._in_key,
    "middle": TagStructure._in_middle,
    "value": TagStructure._in_value,
    "closing": TagStructure._in_closing,
}
