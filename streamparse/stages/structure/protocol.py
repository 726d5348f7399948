"""What a structure reader is: it follows a structured region's text while the text is being written.

A structure reader makes no value. In comes the region's text, in any pieces; out goes what is known of it so far:
whether such a value can begin like this, whether the text has reached the inside of a string, where the value ends. It
follows the text as a tolerant reader would, because what it is asked is where a delimiter may end the region, not
whether the text is right: line breaks in strings, escapes that there are not, Python's quotes and names, and trailing
commas are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, Self


class Structure(Protocol):
    """A structure reader; each character is looked at a bounded number of times, however the text is cut."""

    @property
    def begins(self) -> bool | None:
        """Whether a value can begin like the text so far; None where that can't be said yet."""

    @property
    def inside(self) -> bool:
        """Whether the text has reached the inside of a string or value, where a delimiter is probably just text."""

    @property
    def complete(self) -> bool:
        """Whether the text so far is a whole value, blanks at its ends aside."""

    @property
    def end(self) -> int | None:
        """The offset just after the first whole value, where the value's own syntax tells it."""

    @property
    def open_ended(self) -> bool:
        """Whether more of the value may always follow a complete one, as another tag may."""

    @property
    def whole_items(self) -> int | None:
        """The offset up to which there are whole items of an outermost list, as far as another follows."""

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


MakeStructure = Callable[[Mapping[str, Any]], Structure]
"""A field's ``content_args`` to a new structure reader."""
