"""The contract of every content format: one incremental reader, and a handler for the parts that it finds.

A reader gets a region's text in any pieces, looks at each character a bounded number of times, and answers the
questions of all of its users at once. The same text gives the same answers however it is cut.

**Where the region ends** (asked by the region tokenizer, between pieces). ``begins`` is None until the text decides
whether a value of the format can begin like this; it never changes after that, and False means "this is no call, give
the text back". ``inside`` says that a delimiter here is probably a part of a string. ``end`` is the offset behind the
first whole value, where the syntax tells it; ``complete`` that nothing but blanks follows it. These are independent: a
value can be complete and open-ended, or broken and complete, so there is no single status.

**What a strict reader would not have read.** Each place where a strict reader would have stopped and this one goes on
is a deviation, and ``tolerances`` counts them. ``broken`` says that no continuation makes the text a value, and never
becomes false again.

**The parts of the value** (told to the ``Handler``, while the text comes). Parts are told in the order of the text, and
each only once it is certain: nothing that was told is taken back. Behind a deviation that may be read in two ways the
reader raises NotCertain and tells nothing more. Without a handler it builds no part.

**State.** ``snapshot`` gives JSON-able data; a reader made with the same arguments restores it. ``copy`` gives a reader
without a handler, to ask what a continuation would do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

from streamparse.stages.content.table import Check, Prepare


class NotCertain(Exception):
    """Nothing more can be told of the region before it has ended."""


class TooDeep(NotCertain):
    """Lists and objects enclose one another deeper than they are followed."""


class Handler(Protocol):
    """Takes the parts of a value: the beginning and end of lists and objects, keys, words, strings in pieces."""

    @property
    def takes_entries(self) -> bool:
        """Whether :meth:`entries` may be called here: nothing inside the open list or object has to be looked at."""

    def begin(self, bracket: str, /) -> None:
        """An object (``{``) or a list (``[``) begins."""

    def end(self) -> None:
        """The innermost object or list ends."""

    def key(self, key: str, /) -> None:
        """A member's key; its value comes next."""

    def word(self, text: str, /) -> None:
        """A number or a name such as ``true``, as compact JSON."""

    def string_begins(self) -> None:
        """A string begins."""

    def piece(self, text: str, /) -> None:
        """A piece of the string, as it appears in JSON text; no escape is cut."""

    def string_ends(self) -> None:
        """The string ends."""

    def entries(self, text: str, /) -> None:
        """Whole entries of the innermost object or list, as compact JSON, each with its comma."""


class Reader(Protocol):
    """Follows the text of one region (see the rules above)."""

    @property
    def begins(self) -> bool | None:
        """Whether a value can begin like the text so far; None where that is not decided yet."""

    @property
    def inside(self) -> bool:
        """Whether the text has reached the inside of a string or value, where a delimiter is probably just text."""

    @property
    def complete(self) -> bool:
        """Whether the text so far is a whole value, blanks at its ends aside."""

    @property
    def end(self) -> int | None:
        """The offset just behind the first whole value, where the value's own syntax tells it."""

    @property
    def open_ended(self) -> bool:
        """Whether more of the value may always follow a complete one, as another tag may."""

    @property
    def whole_items(self) -> int | None:
        """The offset behind the whole items of an outermost list which another item follows."""

    @property
    def broken(self) -> bool:
        """Whether no continuation makes the text a value, even for a tolerant reader."""

    @property
    def broken_inside(self) -> bool:
        """Whether it was broken before its end: not only by the bracket that ends it, as where others are missing."""

    @property
    def tolerances(self) -> int:
        """At how many places a strict reader would have stopped, and this one went on."""

    def feed(self, text: str) -> None:
        """Follow the next piece of text."""

    def copy(self) -> Self:
        """Another reader with the same state."""

    def snapshot(self) -> dict[str, Any]:
        """The state as JSON-able data."""

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that :meth:`snapshot` gave, of a reader made in the same way."""


MakeReader = Callable[[Mapping[str, Any], tuple[str, ...]], Reader]
"""A field's ``content_args``, and literals that come where the region ends, to a new reader without a handler."""


@dataclass(frozen=True, slots=True)
class Format:
    """One content format: its reader, how strict mode makes a value of a whole text, and the check of its arguments."""

    new_reader: MakeReader
    strict_value: Prepare
    check: Check
