"""The stages behind the region tokenizer: deltas, content parsing, transform, call ids and the message, composed.

In:  batches of what the region tokenizer gives.
Out: events, and the message that is folded from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from streamparse.arguments import Options
from streamparse.errors import LimitError, ParseError
from streamparse.events import RawEvent as Event
from streamparse.limits import Limits, how_to_raise
from streamparse.stages.call_ids import CallIds
from streamparse.stages.content_stage import ContentStage
from streamparse.stages.deltas import DeltaStage
from streamparse.stages.message import MessageFold
from streamparse.stages.region import RegionEnd, up_to_each_end
from streamparse.stages.schema_typing import ToolSchemas
from streamparse.stages.transform_stage import TransformStage
from streamparse.template import ResponseTemplate
from streamparse.template.model import Field


@dataclass(frozen=True, slots=True)
class PipelineStage:
    """One stage of the pipeline as a machine: an item in, what takes its place out; and what is left at the end."""

    name: str
    feed: Callable[[Any], list[Any]]
    finish: Callable[[], list[Any]] = list


class Downstream:
    """Makes events of regions."""

    __slots__ = ("_call_ids", "_events", "_limits", "_one_by_one", "_transform", "content", "deltas", "fold")

    def __init__(
        self, template: ResponseTemplate, tools: Sequence[Any] | None, options: Options, limits: Limits
    ) -> None:
        lenient = options.lenient
        schemas = ToolSchemas.from_tools(tools)
        if options.errors == "repair":
            schemas = schemas.mending()
        self._call_ids = CallIds(template, options.call_seed) if options.call_ids else None
        made_id = None if self._call_ids is None else self._call_ids.of_delta
        self.deltas = (
            DeltaStage(template, schemas, lenient=lenient, keep_captures=options.spans, made_id=made_id)
            if options.deltas
            else None
        )
        self.content = ContentStage(template.fields, lenient=lenient, repair=options.errors == "repair", limits=limits)
        self._transform = TransformStage(
            schemas, lenient=lenient, spans=options.spans, deltas=self.deltas, limits=limits
        )
        self.fold = MessageFold(template, lenient=lenient)
        self._events = 0
        self._limits = limits
        self._one_by_one = not lenient or self.deltas is not None

    def feed(self, items: list[Any]) -> list[Event]:
        """The events of a batch; an error has those before it.

        One region goes through all stages after the other: the first error in the text is raised, whichever stage
        finds it, and the calls of a region are counted before those of the next. The lenient modes raise at limits
        only, and take the batch at once.
        """
        if len(items) < 2 or not self._one_by_one:
            return self.fold.feed(self._typed(items))
        events: list[Event] = []
        try:
            for batch in up_to_each_end(items):
                if len(batch) > 1 and isinstance(batch[-1], RegionEnd):
                    events += self.fold.feed(self._typed(batch[:-1]))
                    batch = batch[-1:]
                events += self.fold.feed(self._typed(batch))
        except ParseError as error:
            error.events = [*events, *error.events]
            raise
        return events

    def count(self, events: int, position: int) -> None:
        """Count events up to that position; raises LimitError if there are too many.

        Deltas don't count, as each goes with a chunk.
        """
        self._events += events
        if self._events > self._limits.events:
            reason = f"more than {self._limits.events} events; {how_to_raise('events')}"
            raise LimitError(reason, limit="events", position=max(position, 0))

    def stages(self) -> list[PipelineStage]:
        """The stages one by one.

        With deltas those that make a region's value are one stage: the last deltas of a call are known with its value,
        and count the calls before the first of the next region.
        """
        content, fold = self.content, self.fold
        message = PipelineStage("message", lambda event: fold.feed([event]), fold.finish)
        if self.deltas is not None:
            return [PipelineStage("transform", lambda item: self._typed([item])), message]
        return [
            PipelineStage("content", lambda item: content.feed([item])),
            PipelineStage("transform", lambda item: self._transformed([item])),
            message,
        ]

    def snapshot(self, *, message: bool) -> dict[str, Any]:
        """The state as JSON-able data, without the message if that is not wanted."""
        return {
            "events": self._events,
            "content": self.content.snapshot(),
            "transform": self._transform.snapshot(),
            "deltas": self.deltas.snapshot() if self.deltas is not None else None,
            "call_ids": self._call_ids.snapshot() if self._call_ids is not None else None,
            "message": self.fold.snapshot(message=message),
        }

    def restore(self, state: dict[str, Any], open_field: Field | None) -> None:
        """Take up a state that :meth:`snapshot` gave while a region of ``open_field`` was open."""
        self._events = state["events"]
        self.content.restore(state["content"], open_field)
        self._transform.restore(state["transform"])
        if self._call_ids is not None:
            self._call_ids.restore(state["call_ids"])
        if self.deltas is not None:  # after the ids, of which it makes some again
            self.deltas.restore(state["deltas"], state["content"]["body"])
        self.fold.restore(state["message"])

    def _typed(self, items: list[Any]) -> list[Event]:
        """The events of a batch, with its deltas, and with the values of the regions that end in it."""
        if self.deltas is not None:
            items = self.deltas.feed(items)
        parsed = self.content.feed(items)
        if self.deltas is not None and self.content.too_long:
            self.deltas.give_up()
        if parsed is items and self._call_ids is None:
            # the content stage gives its batch back where it has only events, and then nothing is left to do
            return cast("list[Event]", parsed)
        return self._transformed(parsed)

    def _transformed(self, parsed: list[Any]) -> list[Event]:
        events = self._transform.feed(parsed)
        return events if self._call_ids is None else self._call_ids.feed(events)
