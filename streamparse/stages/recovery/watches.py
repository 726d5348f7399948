"""What the lenient tokenizer watches in each of its modes; built once a template, when first needed.

The entries of a watch are (what it is, field, delimiter); what it is: ``open``, ``close``, ``again`` (the open
delimiter of the region that is open already), ``turn`` (the implicit field's close: the end of the turn) or ``part``
(a literal of the open region's close delimiter: text, which comes in one piece) or ``stray`` (the close delimiter of a
region, or a part of it, where none is open) or ``own`` (a mark of the family that is none of these here).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamparse.matching.delimiter import Delimiter
from streamparse.stages.recovery.own_marks import own_marks
from streamparse.stages.recovery.terminators import has_tags, terminators_of
from streamparse.template.model import Field, ResponseTemplate, Watched, watched

Entry = tuple[str, Field, Any]

_ENDS_OF_VALUES = ("]", "}")
"""What values end with whose syntax tells their end."""


class Watches:
    """The watches of one template."""

    def __init__(self, template: ResponseTemplate) -> None:
        by_name = sorted(template.fields.values(), key=lambda field: field.name)
        self._opens = [("open", field, field.open) for field in by_name if field.open is not None]
        self._calls = [entry for entry in self._opens if not entry[1].streams]
        self._call_ends = [("close", field, field.close) for _, field, _ in self._calls if field.close is not None]
        self._parts_of_calls = [part for _, call, _ in self._calls for part in _parts(call)]
        implicit = template.implicit
        self._turn: list[Entry] = (
            [("turn", implicit, implicit.close)] if implicit is not None and implicit.close is not None else []
        )
        strays = [entry for _, field, _ in self._opens for entry in _strays(field)]
        ends: list[Entry] = [("close", field, close) for _, field, close in self._turn]
        marks = own_marks(template)
        self.own_texts = frozenset(text for found in marks for text in found.literals or ())
        """The family's own marks, as far as they are fixed texts."""
        self._own: list[Entry] = [("own", by_name[0], found) for found in marks]
        self.outside = watched([*self._opens, *ends, *strays, *self._own])
        self._built: dict[tuple[str, str], Watched] = {}

    def talking(self, field: Field) -> Watched:
        """In a region of text: its close, its own open again, calls, the end of the turn, the family's other marks."""
        others = [("again", field, field.open), *self._calls, *self._turn, *self._own]
        return self._get("talking", field, lambda: others)

    def aside(self, field: Field) -> Watched:
        """In a call inside a region of text: the region's close, and calls with their ends."""
        return self._get("aside", field, lambda: [*self._calls, *self._call_ends, *self._parts_of_calls])

    def calling(self, field: Field) -> Watched:
        """In a structured region: its close, every open, the end of the turn."""
        return self._get("calling", field, lambda: [*self._opens, *_parts(field), *self._turn], _ENDS_OF_VALUES)

    def beginning(self, field: Field) -> Watched:
        """Where a generation may have begun inside a region: its close, every open, the end of the turn."""
        return self._get("beginning", field, lambda: [*self._opens, *self._turn])

    def _get(self, mode: str, field: Field, others: Callable[[], list[Entry]], marks: tuple[str, ...] = ()) -> Watched:
        built = self._built.get((mode, field.name))
        if built is None:
            close: list[Entry] = [("close", field, field.close)] if field.close is not None else []
            entries = close + [entry for entry in others() if entry[2] is not None]
            built = self._built[mode, field.name] = watched(entries, marks)
        return built


def _strays(field: Field) -> list[Entry]:
    """What closes a field's regions, for where none is open: a text's close as it is, of others only its marks."""
    marks = terminators_of(field.close)
    if field.close is None or not marks or field.close.context:
        return []
    return [("stray", field, field.close if field.streams else Delimiter.of_literals(marks))]


def _parts(field: Field) -> list[Entry]:
    """Where tags may end: at a part of their close delimiter."""
    terminators = terminators_of(field.close)
    return [("part", field, Delimiter.of_literals(terminators))] if terminators and has_tags(field) else []


def watches_of(template: ResponseTemplate) -> Watches:
    """The template's watches, kept with it."""
    if template.recovery_watches is None:
        object.__setattr__(template, "recovery_watches", Watches(template))
    watches: Watches = template.recovery_watches
    return watches
