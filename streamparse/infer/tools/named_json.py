"""Calls whose name is in a tag or a header and whose arguments are a JSON object behind it.

What teaches what: the JSON value around the probe's arguments ends the head (``named_call``).
"""

from __future__ import annotations

from collections.abc import Iterator

from streamparse.infer.conversation import FIRST, SECOND
from streamparse.infer.tools.json_values import Island, island_of, island_with, shape_of
from streamparse.infer.tools.named_call import Body, named_call
from streamparse.infer.tools.observe import Observed
from streamparse.infer.tools.reading import Reading


def read_named_json(observed: Observed) -> Iterator[Reading]:
    """The reading of calls with a name outside and JSON arguments."""
    around = island_with(observed.one, dict(FIRST.arguments))
    shape = shape_of(around.value, FIRST) if around is not None else None
    if shape is not None and all(isinstance(step, str) for step in (*shape.name, *shape.arguments)):
        return
    island = island_of(observed.one, FIRST.arguments)
    if island is None:
        return
    call = named_call(observed, _body(island), _bodies(observed), ["{"])
    if call is not None:
        yield call.reading("name, then JSON arguments", {"content": "json"})


def _body(island: Island) -> Body:
    return Body(island.start, island.end)


def _bodies(observed: Observed) -> tuple[Body, Body] | None:
    """The arguments of both calls in the turn that has two."""
    if observed.two is None:
        return None
    first = island_of(observed.two, FIRST.arguments)
    second = island_of(observed.two, SECOND.arguments, first.end) if first is not None else None
    return (_body(first), _body(second)) if first is not None and second is not None else None
