"""The calls of a list that were whole when the generation ended inside the list.

In: a field and the text of its region so far. Out: the part of the text that is calls which another one follows, closed
as a list, so that it can be read like any other; the last call is one of them if only the list's bracket is missing,
unless the generation is known to be cut off.
"""

from __future__ import annotations

from typing import NamedTuple

from streamparse.formats import FORMATS
from streamparse.template.model import Field

LISTS = frozenset({"json", "python-call-list"})
ENDS_OF_CALLS = ("}", ")")


class WholeCalls(NamedTuple):
    """The calls as a text of their own, and how much of the region's text they are."""

    text: str
    size: int


def whole_calls(field: Field, text: str, *, cut_off: bool = True) -> WholeCalls | None:
    """The calls before the one that the generation ended in; None where the field has no lists, or no call is whole."""
    if field.policy.calls is None:
        return None
    readings = [(field.content, field.content_arguments)]
    readings += [(reading.content, dict(reading.arguments)) for reading in field.policy.alternatives]
    for content, arguments in readings:
        if content not in LISTS:
            continue
        reader = FORMATS[content].new_reader(arguments, ())
        reader.feed(text)
        whole = reader.whole_items
        if not cut_off and text.rstrip().endswith(ENDS_OF_CALLS):
            reader.feed("]")
            if reader.complete:
                return WholeCalls(text + "]", len(text))
        if whole is not None:
            close = "]" if arguments.get("brackets", True) else ""
            return WholeCalls(text[:whole] + close, whole)
    return None
