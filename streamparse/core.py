"""The core: its stages composed, for one generation. ``ResponseParser`` is what users see of it.

In:  the prefix, then pieces of the generation.
Out: events, and the message that is folded from them. Text that is plain need not come here piece by piece: ``skip``
     takes what a caller has given out by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from streamparse.arguments import Options
from streamparse.errors import ArgumentError, LimitError, ParseError
from streamparse.events import RawEvent as Event
from streamparse.limits import Limits, how_to_raise
from streamparse.matching.plain import PlainText
from streamparse.stages.anchor import AnchorTrim
from streamparse.stages.call_ids import CallIds
from streamparse.stages.content_stage import ContentStage
from streamparse.stages.deltas import DeltaStage
from streamparse.stages.detokenize import MAY_BE_EMPTY, Detokenizer
from streamparse.stages.message import MessageFold
from streamparse.stages.recovery import RecoveringTokenizer
from streamparse.stages.region import RegionEnd, up_to_each_end
from streamparse.stages.regions import RegionTokenizer
from streamparse.stages.schema_typing import ToolSchemas
from streamparse.stages.token_stage import TokenStage
from streamparse.stages.transform_stage import TransformStage
from streamparse.statistics import ParserStatistics
from streamparse.template import ResponseTemplate, TemplateSource, load_response_template, within_limits, without_fields
from streamparse.tokens.marks import TokenMarks

_NO_TOKENS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CoreStage:
    """One stage of the core as a machine: an item in, what takes its place out; and what is left at the end."""

    name: str
    feed: Callable[[Any], list[Any]]
    finish: Callable[[], list[Any]] = list


class Core:
    """The stages of one parser."""

    __slots__ = (
        "_anchor_found",
        "_call_ids",
        "_content",
        "_events",
        "_limits",
        "_message",
        "_options",
        "_regions",
        "_tokens",
        "_transform",
        "after_text",
        "deltas",
        "detokenizer",
        "template",
    )

    def __init__(
        self,
        response_template: TemplateSource,
        tools: Sequence[Any] | None,
        options: Options,
        tokenizer: Any,
        limits: Limits,
    ) -> None:
        if not isinstance(limits, Limits):
            raise ArgumentError(f"limits must be a Limits, such as Limits(regions=1000), not {limits!r}")
        lenient, spans = options.lenient, options.spans
        self._options = options.shared()
        self._limits = limits
        template = within_limits(without_fields(load_response_template(response_template), options.without), limits)
        self.template: ResponseTemplate = template
        """The loaded template, without the fields that are switched off."""
        marks = None if tokenizer is None else TokenMarks.for_template(template.source, tokenizer)
        self.detokenizer = None if tokenizer is None else Detokenizer(tokenizer, marks=marks, offsets=spans)
        self._anchor_found: bool | None = None
        captures = spans or options.deltas
        tokens = frozenset(marks.texts.values()) if marks is not None else _NO_TOKENS
        self._regions: RegionTokenizer | RecoveringTokenizer = (
            RecoveringTokenizer(template, spans=spans, captures=captures, limits=limits, tokens=tokens)
            if lenient
            else RegionTokenizer(template, spans=spans, captures=captures, limits=limits)
        )
        self.after_text = False
        """Whether there was text already when the first piece comes that has to be decoded."""
        self._tokens = None if self.detokenizer is None else TokenStage(marks, self.detokenizer.offsets)
        schemas = ToolSchemas.from_tools(tools)
        if options.errors == "repair":
            schemas = schemas.mending()
        self._call_ids = CallIds(template, options.call_seed) if options.call_ids else None
        made_id = None if self._call_ids is None else self._call_ids.of_delta
        self.deltas = (
            DeltaStage(template, schemas, lenient=lenient, keep_captures=spans, made_id=made_id)
            if options.deltas
            else None
        )
        self._content = ContentStage(template.fields, lenient=lenient, repair=options.errors == "repair", limits=limits)
        self._transform = TransformStage(schemas, lenient=lenient, spans=spans, deltas=self.deltas, limits=limits)
        self._message = MessageFold(template, lenient=lenient)
        self._events = 0

    @property
    def message(self) -> dict[str, Any]:
        """The message as it stands."""
        return self._message.message

    @property
    def problems(self) -> list[dict[str, Any]]:
        """What went wrong so far (lenient modes)."""
        return self._message.problems

    @property
    def held(self) -> int:
        """Characters held back because they may still become part of a delimiter."""
        return self._regions.held

    @property
    def room(self) -> int:
        """How many characters the open region may still have."""
        return self._content.room

    @property
    def snapshot_size(self) -> int:
        """How many bytes a snapshot may have."""
        return self._limits.snapshot_size

    @property
    def marked(self) -> bool:
        """Whether text that came from token ids has marks in it."""
        return self.detokenizer is not None and self.detokenizer.marked

    def feed_prefix(self, prefix: str) -> list[Event]:
        """The events of the prompt."""
        events: list[Event] = []
        anchor = AnchorTrim(
            self.template.start_anchor,
            keep_unanchored=not self._options.lenient,
            seconds=self._limits.pattern_seconds,
        )
        for text in anchor.feed(prefix) if prefix else ():
            events += self._after_regions(self._regions.feed_prefix(text))
        if not prefix and isinstance(self._regions, RecoveringTokenizer):
            self._regions.begin_unknown()
        self._anchor_found = anchor.found
        if anchor.found is False and self._options.lenient:
            self.problems.append(
                {"type": "anchor_missing", "error": "the start anchor does not occur in the prefix, which was left out"}
            )
        return events

    def decode(self, piece: Any) -> list[str]:
        """The text of bytes or token ids (or of text, where that is what the detokenizer has seen so far)."""
        if self.detokenizer is None:
            if isinstance(piece, MAY_BE_EMPTY) and not piece:
                return []
            self.detokenizer = Detokenizer(after_text=self.after_text)
        return self.detokenizer.feed(piece)

    def feed(self, text: str) -> list[Event]:
        """The events that the next text decides."""
        return self._after_regions(self._of_regions(self._regions.feed, text))

    def plain_text(self) -> PlainText | None:
        """What plain text may be told by from here on, where it can be."""
        return self._regions.plain_text()

    def skip(self, text: str, field: str, pieces: int) -> None:
        """Note plain text of the open region, whose events were given out already, one for each piece."""
        self._regions.skip(text)
        self._content.take(text, field)
        self._count_events(pieces)

    def finish(self, rest: str, finish_reason: str | None) -> list[Event]:
        """The last events: those of the text that is left, and of the end."""
        events: list[Event] = []
        try:
            for text in (rest, *(self.detokenizer.finish() if self.detokenizer is not None else ())):
                events += self._after_regions(self._of_regions(self._regions.feed, text))
            events += self._after_regions(self._of_regions(self._end_regions, finish_reason))
            self._message.finish()
        except ParseError as error:
            error.events = [*events, *error.events]
            raise
        return events

    def statistics(self, passed: int, held: int) -> ParserStatistics:
        """What was seen so far; ``passed`` characters more are not noted here, and ``held`` are held back in all."""
        writer, message = self._regions.writer, self._message
        return ParserStatistics(
            characters=max(writer.position + passed + held, 0),
            held=held,
            open_region=None if writer.open_field is None else writer.open_field.name,
            regions=message.regions,
            malformed=message.malformed,
            repaired=message.repaired,
        )

    def snapshot(self, *, message: bool) -> dict[str, Any]:
        """The state as JSON-able data, without the message if that is not wanted."""
        return {
            "template": self.template.digest,
            "options": {**asdict(self._options), "without": list(self._options.without)},
            "events": self._events,
            "detokenizer": self.detokenizer.snapshot() if self.detokenizer is not None else None,
            "anchor": {"found": self._anchor_found},
            "regions": self._regions.snapshot(),
            "content": self._content.snapshot(),
            "transform": self._transform.snapshot(),
            "deltas": self.deltas.snapshot() if self.deltas is not None else None,
            "call_ids": self._call_ids.snapshot() if self._call_ids is not None else None,
            "message": self._message.snapshot(message=message),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that :meth:`snapshot` gave, of the same template and options."""
        self._events = state["events"]
        if state["detokenizer"] is not None:
            self.detokenizer = self.detokenizer or Detokenizer()
            self.detokenizer.restore(state["detokenizer"])
        self._anchor_found = state["anchor"]["found"]
        self._regions.restore(state["regions"])
        self._content.restore(state["content"], self._regions.writer.open_field)
        self._transform.restore(state["transform"])
        if self._call_ids is not None:
            self._call_ids.restore(state["call_ids"])
        if self.deltas is not None:  # after the ids, of which it makes some again
            self.deltas.restore(state["deltas"], state["content"]["body"])
        self._message.restore(state["message"])

    def stages(self, finish_reason: Callable[[], str | None]) -> list[CoreStage]:
        """The stages one by one; ``finish_reason`` is asked when the source has ended.

        With deltas those that make a region's value are one stage: the last deltas of a call are known with its value,
        and count the calls before the first of the next region.
        """
        content, message = self._content, self._message

        def regions(items: list[Any]) -> list[Any]:
            if self._tokens is not None:
                items = self._tokens.feed(items, marked=self.marked)
            self._count_events(len(items))
            return items

        def end_regions() -> list[Any]:
            return regions(self._of_regions(self._end_regions, finish_reason(), made=regions))

        stages = [
            CoreStage("detokenize", self.decode, lambda: self.detokenizer.finish() if self.detokenizer else []),
            CoreStage(
                "regions", lambda text: regions(self._of_regions(self._regions.feed, text, made=regions)), end_regions
            ),
        ]
        if self.deltas is None:
            stages += [
                CoreStage("content", lambda item: content.feed([item])),
                CoreStage("transform", lambda item: self._transformed([item])),
            ]
        else:
            stages.append(CoreStage("transform", lambda item: self._typed([item])))
        return [
            *stages,
            CoreStage("message", lambda event: message.feed([event]), message.finish),
        ]

    def _of_regions(
        self, step: Callable[..., list[Any]], *arguments: Any, made: Callable[[list[Any]], list[Any]] | None = None
    ) -> list[Any]:
        """What a step of the regions' stage gives; an error gets the events of what was read before it."""
        try:
            return step(*arguments)
        except ParseError as error:
            items = self._regions.writer.take_items()
            error.events = (made or self._after_regions)(items)
            raise

    def _end_regions(self, finish_reason: str | None) -> list[Any]:
        """What the end of the generation decides; a region that ends with it says why that was."""
        if isinstance(self._regions, RecoveringTokenizer):
            self._regions.cut_off = finish_reason == "length"
        items = self._regions.finish()
        for item in items:
            if isinstance(item, RegionEnd):
                item.finish_reason = finish_reason
        return items

    def _after_regions(self, items: list[Any]) -> list[Event]:
        """The events of what the regions' stage has made."""
        if self._tokens is not None:
            items = self._tokens.feed(items, marked=self.marked)
        if not items:
            return []
        self._count_events(len(items))
        return self._parsed(items)

    def _count_events(self, count: int) -> None:
        """Count events; raises LimitError if there are too many. Deltas don't count, as each goes with a chunk."""
        self._events += count
        if self._events > self._limits.events:
            reason = f"more than {self._limits.events} events; {how_to_raise('events')}"
            raise LimitError(reason, limit="events", position=max(self._regions.writer.position, 0))

    def _parsed(self, items: list[Any]) -> list[Event]:
        """The events of a batch; an error has those before it.

        One region goes through all stages after the other: the first error in the text is raised, whichever stage
        finds it, and the calls of a region are counted before those of the next. The lenient modes raise at limits
        only, and take the batch at once.
        """
        if len(items) < 2 or (self._options.lenient and self.deltas is None):
            return self._after_tokens(items)
        events: list[Event] = []
        try:
            for batch in up_to_each_end(items):
                if len(batch) > 1 and isinstance(batch[-1], RegionEnd):
                    events += self._after_tokens(batch[:-1])
                    batch = batch[-1:]
                events += self._after_tokens(batch)
        except ParseError as error:
            error.events = [*events, *error.events]
            raise
        return events

    def _after_tokens(self, items: list[Any]) -> list[Event]:
        return self._message.feed(self._typed(items))

    def _typed(self, items: list[Any]) -> list[Event]:
        """The events of a batch, with its deltas, and with the values of the regions that end in it."""
        if self.deltas is not None:
            items = self.deltas.feed(items)
        parsed = self._content.feed(items)
        if self.deltas is not None and self._content.too_long:
            self.deltas.give_up()
        if parsed is items and self._call_ids is None:
            # the content stage gives its batch back where it has only events, and then nothing is left to do
            return cast("list[Event]", parsed)
        return self._transformed(parsed)

    def _transformed(self, parsed: list[Any]) -> list[Event]:
        events = self._transform.feed(parsed)
        return events if self._call_ids is None else self._call_ids.feed(events)
