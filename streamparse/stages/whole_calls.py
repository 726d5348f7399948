"""The calls of a list that were whole when the generation ended inside the list.

In: a field and the text of its region so far. Out: the part of the text that is calls which another one follows, closed
as a list, so that it can be read like any other.
"""

from __future__ import annotations

from typing import NamedTuple

from streamparse.stages.structure.table import STRUCTURES
from streamparse.template.model import Field

LISTS = frozenset({"json", "python-call-list"})


class WholeCalls(NamedTuple):
    """The calls as a text of their own, and how much of the region's text they are."""

    text: str
    size: int


def whole_calls(field: Field, text: str) -> WholeCalls | None:
    """The calls before the one that the generation ended in; None where the field has no lists, or no call is whole."""
    if field.policy.calls is None:
        return None
    readings = [(field.content, field.content_arguments)]
    readings += [(reading.content, dict(reading.arguments)) for reading in field.policy.alternatives]
    for content, arguments in readings:
        if content not in LISTS:
            continue
        reader = STRUCTURES[content](arguments)
        reader.feed(text)
        if reader.whole_items is not None:
            close = "]" if arguments.get("brackets", True) else ""
            return WholeCalls(text[: reader.whole_items] + close, reader.whole_items)
    return None
