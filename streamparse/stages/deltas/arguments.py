"""Writes the arguments of one call as compact JSON text, as far as they are certain.

In come the parts of the arguments as a reader finds them: the beginning and end of objects and lists, keys, words
(numbers and names, as JSON text), and strings in pieces. Out goes text in ``out``; a value whose type shows only at its
end is withheld until then.
"""

from __future__ import annotations

import json
from typing import Any

from streamparse.stages.deltas.compact import compact
from streamparse.stages.deltas.places import Inner, Place, TextFate, Whole

_NULLS = ("null", "None")
_CLOSES = {"{": "}", "[": "]"}


class Frame:
    """An object or a list that is open: how many entries it has so far, and their places."""

    __slots__ = ("bracket", "count", "inner")

    def __init__(self, bracket: str, inner: Inner | None) -> None:
        self.bracket = bracket
        self.count = 0
        self.inner = inner


class Arguments:
    """The text of one value, written part by part; ``place`` says what becomes of it.

    ``target`` is where pieces of the present string go; ``complete`` when the value has ended.

    >>> arguments = Arguments(None)
    >>> arguments.begin("{"); arguments.key("a"); arguments.string_begins(); arguments.piece("x")
    >>> "".join(arguments.out)
    '{"a":"x'
    """

    __slots__ = ("_doubt", "_frames", "_held_at", "_held_place", "_place", "complete", "out", "target")

    def __init__(self, place: Place | None) -> None:
        self._place = place  # of the value that comes next
        self._frames: list[Frame] = []
        self._held_at = -1  # how many frames enclose the value that is withheld
        self._held_place: Place | None = None
        self._doubt: str | None = None  # what came of a text that may yet be null, without its blanks
        self.out: list[str] = []
        self.target = self.out
        self.complete = False

    @property
    def place(self) -> Place | None:
        """The place of the value that comes next, which is a member's."""
        return self._place

    def begin(self, bracket: str) -> None:
        """An object or a list begins."""
        place = self._take_place()
        inner = None
        if place is not None:
            try:
                inner = place.enter(bracket)
            except Whole:
                self._withhold(place)
        self._frames.append(Frame(bracket, inner))
        self.target.append(bracket)

    def end(self) -> None:
        """The innermost object or list ends."""
        self.target.append(_CLOSES[self._frames.pop().bracket])
        self._value_ended()

    def key(self, key: str) -> None:
        """A member's key; its value comes next."""
        frame = self._frames[-1]
        self.target.append(f"{',' if frame.count else ''}{compact(key)}:")
        frame.count += 1
        self._place = frame.inner.at(key) if frame.inner is not None else None

    def word(self, text: str) -> None:
        """A number, or a name such as ``true``, as compact JSON."""
        place = self._take_place()
        if not self._frames and place is not None:
            self._withhold(place)
        self.target.append(text)
        self._value_ended()

    def value(self, value: Any) -> None:
        """A whole value that is not to be cast any more."""
        self._take_place()
        self.target.append(compact(value))
        self._value_ended()

    def string_begins(self) -> None:
        """A string begins."""
        place = self._take_place()
        if place is not None and place.text is not TextFate.STAYS:
            self._withhold(place)
            if place.text is TextFate.STAYS_UNLESS_NULL:
                self._doubt = ""
        self.target.append('"')

    def piece(self, text: str) -> None:
        """A piece of the string, as it stands in JSON text; no escape is cut."""
        self.target.append(text)
        if self._doubt is not None:
            self._doubt_piece(text)

    def string_ends(self) -> None:
        """The string ends."""
        self._doubt = None
        self.target.append('"')
        self._value_ended()

    @property
    def passes_on(self) -> bool:
        """Whether a piece of the present string goes out as it comes."""
        return self.target is self.out

    def _take_place(self) -> Place | None:
        """The place of the value that begins; None where nothing is to be done about it."""
        place, self._place = self._place, None
        if self._frames:
            frame = self._frames[-1]
            if frame.bracket == "[":
                if frame.count:
                    self.target.append(",")
                place = frame.inner.at(frame.count) if frame.inner is not None else None
                frame.count += 1
        return place if self._held_at < 0 else None

    def _withhold(self, place: Place) -> None:
        self._held_at, self._held_place = len(self._frames), place
        self.target = []

    def _release(self) -> list[str]:
        held, self.target = self.target, self.out
        self._held_at, self._held_place = -1, None
        return held

    def _doubt_piece(self, text: str) -> None:
        """See whether the string can still be null."""
        doubt = (self._doubt or "") + json.loads(f'"{text}"')
        doubt = doubt.lstrip()
        word = doubt.rstrip()
        if word in _NULLS:
            self._doubt = word + " " if len(doubt) > len(word) else word
        elif any(null.startswith(doubt) for null in _NULLS):
            self._doubt = doubt
        else:
            self._doubt = None
            self.out += self._release()

    def _value_ended(self) -> None:
        if self._held_at == len(self._frames):
            place = self._held_place
            assert place is not None, "a value is withheld because of its place"
            self.out.append(compact(place.cast(json.loads("".join(self._release())))))
        if not self._frames:
            self.complete = True
