"""A structure that is read in several ways at once, until it is clear which of them it is.

In: the readers of a field's own reading and of its alternatives. Out: what the first of them that still fits knows.
"""

from __future__ import annotations

from typing import Any

from streamparse.stages.structure import Structure

_FIRST_PART = 256
"""Characters of a piece that alternatives read before they are asked whether it can still begin so."""


class EitherStructure:
    """The first of several readers whose text can still begin so, or, when it has begun, the first that began."""

    def __init__(self, readers: list[Structure]) -> None:
        self._readers = readers

    @property
    def begins(self) -> bool | None:
        """True where one reader says so, False where all deny it."""
        answers = [reader.begins for reader in self._readers]
        return True if True in answers else None if None in answers else False

    @property
    def inside(self) -> bool:
        """As the reader that fits says."""
        return self._fitting.inside

    @property
    def complete(self) -> bool:
        """As the reader that fits says."""
        return self._fitting.complete

    @property
    def end(self) -> int | None:
        """As the reader that fits says."""
        return self._fitting.end

    @property
    def open_ended(self) -> bool:
        """As the reader that fits says."""
        return self._fitting.open_ended

    @property
    def whole_items(self) -> int | None:
        """As the reader that fits says."""
        return self._fitting.whole_items

    @property
    def broken(self) -> bool:
        """Whether no reader fits any more."""
        return self._fitting.broken

    @property
    def broken_inside(self) -> bool:
        """As the reader that fits says."""
        return self._fitting.broken_inside

    @property
    def tolerances(self) -> int:
        """As the reader that fits says."""
        return self._fitting.tolerances

    def feed(self, text: str) -> None:
        """Let every reader follow, but for alternatives that the text does not begin like: they never fit again."""
        own, *alternatives = self._readers
        own.feed(text)
        for reader in alternatives:
            # a long piece in growing parts, as its first words mostly tell that it begins otherwise
            start, size = 0, _FIRST_PART
            while start < len(text) and reader.begins is not False:
                reader.feed(text[start : start + size] if len(text) > _FIRST_PART else text)
                start += size
                size *= 4

    def copy(self) -> EitherStructure:
        """Another one with the same state."""
        return EitherStructure([reader.copy() for reader in self._readers])

    def snapshot(self) -> dict[str, Any]:
        """The state as JSON-able data."""
        return {"readers": [reader.snapshot() for reader in self._readers]}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that :meth:`snapshot` gave."""
        for reader, saved in zip(self._readers, state["readers"], strict=True):
            reader.restore(saved)

    @property
    def _fitting(self) -> Structure:
        readers = self._readers
        fitting = (reader for reader in readers if reader.begins and not reader.broken)
        return next(fitting, None) or next((reader for reader in readers if reader.begins is not False), readers[0])
