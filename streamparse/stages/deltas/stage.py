"""The delta stage: while a tool call is being written, gives out what is already certain of it.

In: batches of what the region tokenizer gives out, with captures on ``region_open``. Out: the same, and after each
piece of a call's text ``region_delta`` events with what it made certain: the call's id, its name, and pieces of its
arguments as compact JSON text. When the region ends with a value, ``rest`` gives what is left of it; the pieces of one
call's arguments then add up to their compact JSON text, apart from keys that were written twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from streamparse.stages.deltas.arguments import ToolArguments
from streamparse.stages.deltas.plan import is_call_field
from streamparse.stages.deltas.region_deltas import RegionDeltas
from streamparse.stages.deltas.walk import Steps, Walk
from streamparse.stages.region import Prefill, RegionEnd
from streamparse.stages.region_writer import Item
from streamparse.stages.schema_typing import ToolSchemas
from streamparse.template.model import ResponseTemplate

Event = dict[str, Any]


class DeltaStage:
    """Adds ``region_delta`` events; ``index`` counts the calls of the message.

    ``lenient`` says that regions are parsed leniently. Captures are taken off the events unless ``keep_captures``.
    ``made_id`` makes the id of the call with an index, if ids are to be made. ``walk`` knows what pieces of text do to
    the arguments that are being written, if any are: whoever gives out a piece of the region that its present step
    knows may do what :meth:`chunk` does in its stead.
    """

    def __init__(
        self,
        template: ResponseTemplate,
        schemas: ToolSchemas,
        *,
        lenient: bool = False,
        keep_captures: bool = False,
        made_id: Callable[[int], str] | None = None,
    ) -> None:
        self._template = template
        self._tools = ToolArguments(schemas, lenient=lenient)
        self._lenient = lenient
        self._made_id = made_id
        self._keep_captures = keep_captures
        self._watched = {name for name, field in template.fields.items() if is_call_field(field)}
        self._known: dict[str, dict[int, Steps]] = {}
        self._region: RegionDeltas | None = None
        self._ended: tuple[RegionEnd, RegionDeltas] | None = None
        self.walk: Walk | None = None
        self._calls = 0

    def feed(self, batch: list[Item]) -> list[Item]:
        """The batch with its deltas.

        A batch has at most one :class:`RegionEnd`, as its last item (see ``up_to_each_end``): the calls of a region are
        counted when its last deltas are out.
        """
        if self._ended is not None:
            self._calls, self._ended = self._ended[1].next_index, None
        if len(batch) == 1 and type(chunk := batch[0]) is dict and chunk["type"] == "region_chunk":
            return cast("list[Item]", self.chunk(chunk))
        result: list[Item] = []
        for item in batch:
            result.append(item)
            result += self._deltas(item)
        self.walk = None if self._region is None else self._region.walk
        return result

    def chunk(self, event: Event) -> list[Event]:
        """The ``region_chunk`` event with its deltas; ``feed`` for the commonest batch, at less cost."""
        if self._region is None:
            return [event]
        walk = self.walk
        if walk is not None and (piece := walk.take(event["text"])) is not None:
            return [event, *walk.events(piece)]
        deltas = self._region.follow(event["text"])
        self.walk = self._region.walk
        return [event, *deltas]

    def give_up(self) -> None:
        """Give out nothing more of the open region: it is too long, so it will have no value, and is not kept."""
        if self._region is not None:
            self._calls = self._region.next_index
            self._region = self.walk = None

    def rest(self, end: RegionEnd, value: Any) -> list[Event]:
        """The deltas that are left when the region has ended with its final value, for before its ``region_close``.

        Raises ContentError where the value is no continuation of what was given out.
        """
        if self._ended is None or self._ended[0] is not end:
            return []
        return self._ended[1].rest(end, value)

    def snapshot(self) -> dict[str, Any]:
        """The state as JSON-able data, without the text of the open region, which the content stage keeps."""
        region = self._region
        calls = self._calls if self._ended is None else self._ended[1].next_index
        state: dict[str, Any] = {"calls": calls, "region": None}
        if region is not None:
            state["region"] = {"field": region.field.name, "captures": region.captures}
        return state

    def restore(self, state: dict[str, Any], text: str) -> None:
        """Take up a state that :meth:`snapshot` gave; ``text`` is the text of the open region so far."""
        self._calls = state["calls"]
        self._region = self.walk = None
        if state["region"] is not None:
            self._open(state["region"]["field"], state["region"]["captures"])
            assert self._region is not None, "a region was open"
            self._region.feed(text)
            self.walk = self._region.walk

    def _deltas(self, item: Item) -> list[Event]:
        """What an item makes certain."""
        if isinstance(item, RegionEnd):
            if self._region is not None and item.field is self._region.field:
                self._ended = item, self._region
            self._region = None
        elif isinstance(item, Prefill):
            return self._region.feed(item.text) if self._region is not None else []
        elif item["type"] == "region_chunk":
            return self._region.feed(item["text"]) if self._region is not None else []
        elif item["type"] == "region_open":
            captures = item["captures"] if self._keep_captures else item.pop("captures")
            if item["field"] in self._watched:
                return self._open(item["field"], captures)
        return []

    def _open(self, name: str, captures: dict[str, str]) -> list[Event]:
        field = self._template.fields[name]
        known = self._known.setdefault(name, {})
        self._region = RegionDeltas(
            field,
            captures,
            self._tools,
            self._calls,
            lenient=self._lenient,
            made_id=self._made_id,
            known=known,
        )
        return self._region.feed("")
