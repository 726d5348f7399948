"""Calls whose name is in a tag or a header and whose arguments are a JSON object behind it.

What teaches what: the JSON value around the probe's arguments ends the head; one call against two shows which marks
belong to each call and which to all.
"""

from __future__ import annotations

from collections.abc import Iterator

from streamparse.infer.conversation import FIRST, SECOND
from streamparse.infer.tools.head import first_start, head_of, head_pattern, second_start
from streamparse.infer.tools.json_calls import island_with, shape_of
from streamparse.infer.tools.observe import Observed, surroundings
from streamparse.infer.tools.reading import Reading, call_transform, closing_keys, flexible, noise


def read_named_json(observed: Observed) -> Iterator[Reading]:
    """The reading of calls with a name outside and JSON arguments."""
    text = observed.one
    island = island_with(text, dict(FIRST.arguments))
    if island is None or shape_of(island.value, FIRST) is not None or island.value != dict(FIRST.arguments):
        return
    start = first_start(observed)
    if start > island.start:
        return
    second = second_start(observed)
    between, other = None, None
    if observed.two is not None and second >= 0:
        first_island = island_with(observed.two, dict(FIRST.arguments))
        second_island = island_with(observed.two, dict(SECOND.arguments), second)
        if first_island is not None and second_island is not None and first_island.end <= second:
            between = observed.two[first_island.end : second]
            other = head_of(observed.two, SECOND, second, second_island.start)
    around = surroundings(text[:start], between, text[island.end :], observed.ends)
    head = head_of(text, FIRST, start, island.start)
    if head is None:
        return
    opening = next((text for text in (around.call_open, around.section_open, around.separator) if text.strip()), "")
    keys = {
        "open_pattern": head_pattern(opening, head, other, ["{"]),
        **closing_keys(around, observed.ends, flexible(opening.strip())),
    }
    transform = call_transform("{name}", "{content}", "{id}" if "id" in head.kinds or FIRST.id in around.call_close else None)
    field = {**keys, "content": "json", "repeats": True, "transform": transform}
    markers = {
        "section open": around.section_open,
        "call open": around.call_open,
        "call close": around.call_close,
        "section close": around.section_close,
    }
    loose = noise(around.section_open if around.call_open.strip() else "", around.section_close)
    yield Reading("name, then JSON arguments", field, loose, opening.lstrip(), markers)
