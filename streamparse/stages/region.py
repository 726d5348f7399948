"""What the region tokenizer hands on besides events: the end of a region, which later stages turn into its value."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from streamparse.errors import ParseError
from streamparse.repair.outcome import Unmended
from streamparse.template.model import Field


@dataclasses.dataclass(slots=True)
class RegionEnd:
    """The end of a region, on its way through the stages that make its value.

    ``start`` and ``end`` are the span of the close delimiter, ``body_start`` is where the region's text begins, all
    in characters of the generation. ``closed`` is false where its close delimiter is missing, ``complete`` then says
    whether the text is complete by its own syntax, None that more could have followed if the generation was cut off.
    ``reading`` says which of the field's readings gave the value: 0 is its own, and then come its alternatives.
    ``settled`` says that what follows the close shows that it is one, although the text is not complete.
    ``finish_reason`` is why the generation ended, where that is what ended the region: unless it is closed, it is
    incomplete with ``"length"``, whatever its text says.
    ``may_go_on`` says that another argument may have followed: nothing shows where a call in tags ends but its close.
    ``delimiters`` are the texts of the open and the close delimiter, each empty where there was none.
    """

    field: Field
    captures: dict[str, str]
    body_start: int
    start: int
    end: int
    closed: bool
    complete: bool | None = True
    settled: bool = False
    delimiters: tuple[str, str] = ("", "")
    text: str = ""
    value: Any = None
    reading: int = 0
    error: ParseError | None = None
    repaired: list[str] = dataclasses.field(default_factory=list)
    faults: list[Unmended] = dataclasses.field(default_factory=list)
    incomplete: bool = False
    may_go_on: bool = False
    token_span: tuple[int, int] | None = None
    finish_reason: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Prefill:
    """Text of a region that stood in the prefix and was undecided at its end: part of the value, not the model's."""

    text: str


def up_to_each_end(items: list[Any]) -> Iterator[list[Any]]:
    """A batch in parts, each of which has at most one :class:`RegionEnd`, as its last item."""
    start = 0
    for place, item in enumerate(items, 1):
        if isinstance(item, RegionEnd):
            yield items[start:place]
            start = place
    if start < len(items):
        yield items[start:] if start else items
