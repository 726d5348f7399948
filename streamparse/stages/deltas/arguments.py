"""Writes the arguments of one call as compact JSON text, as far as they are certain.

In come the parts of the arguments as a reader finds them: the beginning and end of objects and lists, keys, words
(numbers and names, as JSON text), and strings in pieces. Out goes text in ``out``; a value whose type shows only at its
end is withheld until then.
"""

from __future__ import annotations

import json
from typing import Any

from streamparse.formats.compact import compact
from streamparse.stages.deltas.places import ArgumentsPlace, Inner, Place, TextFate, Whole
from streamparse.stages.schema_typing import ToolSchemas

_NULLS = ("null", "None")
_CLOSES = {"{": "}", "[": "]"}


class Frame:
    """An object or a list that is open, in what stands around it, with the places of its entries.

    ``count`` is how many entries it has had, as far as that makes a difference: to whether a comma is due, and to the
    place of the next one. What makes no difference is the same object, whenever it comes.
    """

    __slots__ = ("_inside", "_next", "bracket", "count", "depth", "inner", "outer")

    def __init__(self, outer: Frame | None = None, bracket: str = "", inner: Inner | None = None, count: int = 0):
        self.outer = outer
        self.bracket = bracket
        self.inner = inner
        self.count = count
        self.depth: int = 0 if outer is None else outer.depth + 1
        self._inside: dict[tuple[str, Inner | None], Frame] = {}
        self._next: Frame | None = None

    def inside(self, bracket: str, inner: Inner | None) -> Frame:
        """The frame of an object or a list that begins here."""
        frame = self._inside.get((bracket, inner))
        if frame is None:
            frame = self._inside[bracket, inner] = Frame(self, bracket, inner)
        return frame

    def after_entry(self) -> Frame:
        """The frame with one entry more."""
        if self._next is None:
            own_places = self.inner.own_places if self.inner is not None else 0
            differs = self.count < max(1, own_places)
            self._next = Frame(self.outer, self.bracket, self.inner, self.count + 1) if differs else self
        return self._next


class Arguments:
    """The text of one value, written part by part; ``place`` says what becomes of it.

    ``target`` is where pieces of the present string go; ``complete`` when the value has ended.

    >>> arguments = Arguments(None)
    >>> arguments.begin("{"); arguments.key("a"); arguments.string_begins(); arguments.piece("x")
    >>> "".join(arguments.out)
    '{"a":"x'
    """

    __slots__ = ("_doubt", "_frame", "_held_at", "_held_place", "_place", "complete", "out", "target")

    def __init__(self, place: Place | None, outermost: Frame | None = None) -> None:
        self._place = place  # of the value that comes next
        self._frame = outermost or Frame()
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
        self._frame = self._frame.inside(bracket, inner)
        self.target.append(bracket)

    def end(self) -> None:
        """The innermost object or list ends."""
        frame = self._frame
        assert frame.outer is not None, "an object or a list is open"
        self.target.append(_CLOSES[frame.bracket])
        self._frame = frame.outer
        self._value_ended()

    def key(self, key: str) -> None:
        """A member's key; its value comes next."""
        frame = self._frame
        self.target.append(f"{',' if frame.count else ''}{compact(key)}:")
        self._frame = frame.after_entry()
        self._place = frame.inner.at(key) if frame.inner is not None else None

    def word(self, text: str) -> None:
        """A number, or a name such as ``true``, as compact JSON."""
        place = self._take_place()
        if not self._frame.depth and place is not None:
            self._withhold(place)
        self.target.append(text)
        self._value_ended()

    def value(self, value: Any) -> None:
        """A whole value that is not to be cast any more."""
        self._take_place()
        self.target.append(compact(value))
        self._value_ended()

    @property
    def takes_entries(self) -> bool:
        """Whether entries of what is open go out as they stand: nothing in it is cast or withheld."""
        return self._frame.inner is None and self.target is self.out

    def entries(self, text: str) -> None:
        """Whole entries of the innermost object or list, as compact JSON, each with its comma."""
        frame = self._frame
        self.target.append(f"{',' if frame.count else ''}{text[:-1]}")
        self._frame = frame.after_entry()

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

    @property
    def point(self) -> tuple[Frame, Place | None]:
        """Where the writing is, while it passes on: from the same point on, the same parts are written the same."""
        return self._frame, self._place

    def go_to(self, point: tuple[Frame, Place | None]) -> None:
        """Go to a point that the writing has been at, while it passes on."""
        self._frame, self._place = point

    def _take_place(self) -> Place | None:
        """The place of the value that begins; None where nothing is to be done about it."""
        place, self._place = self._place, None
        frame = self._frame
        if frame.bracket == "[":
            if frame.count:
                self.target.append(",")
            place = frame.inner.at(frame.count) if frame.inner is not None else None
            self._frame = frame.after_entry()
        return place if self._held_at < 0 else None

    def _withhold(self, place: Place) -> None:
        self._held_at, self._held_place = self._frame.depth, place
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
        if self._held_at == self._frame.depth:
            place = self._held_place
            assert place is not None, "a value is withheld because of its place"
            self.out.append(compact(place.cast(json.loads("".join(self._release())))))
        if not self._frame.depth:
            self.complete = True


class ToolArguments:
    """Makes the ``Arguments`` of calls, with what the tools' schemas make of them; they share their frames.

    ``lenient`` says which of the two ways of casting is meant (see ``ToolSchemas``).
    """

    def __init__(self, schemas: ToolSchemas, *, lenient: bool) -> None:
        self.names = schemas.names
        self._schemas = schemas
        self._lenient = lenient
        self._outermost = Frame()
        self._places: dict[str, ArgumentsPlace] = {}

    def begin(self, name: str) -> Arguments:
        """The arguments of a call, before their first part."""
        return Arguments(self._place(name), self._outermost)

    def cast(self, name: str, arguments: Any) -> Any:
        """Cast the arguments of a call, or some of them; raises ContentError as ``ToolSchemas.cast`` does."""
        return self._place(name).cast(arguments)

    def _place(self, name: str) -> ArgumentsPlace:
        place = self._places.get(name)
        if place is None:
            place = ArgumentsPlace(self._schemas, name, lenient=self._lenient)
            if name in self.names:
                self._places[name] = place
        return place
