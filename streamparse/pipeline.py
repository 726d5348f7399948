"""The pipeline: all stages of one generation composed, and the fast path for plain text.

In:  the prefix, then pieces of the generation: text, bytes or token ids.
Out: events, and the message.

Nearly every piece is plain text: no delimiter begins in it. The fast path gives its ``region_chunk`` event out at once,
without a visit to any stage, and keeps the text; at the first piece that isn't plain, the stages are brought up to date
(``_catch_up``). It has three forms, all here: ``feed`` and ``feed_each`` for whole pieces after which nothing is held
back, ``_pass`` for those of which an end is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from streamparse.arguments import Options
from streamparse.downstream import Downstream, PipelineStage
from streamparse.errors import ArgumentError, FinalizedError, ParseError, StreamparseError
from streamparse.events import RawEvent as Event
from streamparse.limits import Limits
from streamparse.matching.plain import PIECE_AT_MOST, PIECES_AT_MOST, PLAIN_PIECE_AT_MOST, TOGETHER, PlainText
from streamparse.snapshot import damaged
from streamparse.stages.anchor import AnchorTrim
from streamparse.stages.detokenize import MAY_BE_EMPTY, Detokenizer
from streamparse.stages.recovery import RecoveringTokenizer
from streamparse.stages.region import RegionEnd
from streamparse.stages.regions import RegionTokenizer
from streamparse.stages.token_stage import TokenStage
from streamparse.statistics import ParserStatistics
from streamparse.template import ResponseTemplate, TemplateSource, load_response_template, within_limits, without_fields
from streamparse.tokens.marks import TokenMarks

Result = TypeVar("Result")


class Pipeline:
    """The stages of one parser. ``ended`` says why nothing more can be fed, once that is so."""

    # When thousands of generations take turns, time goes by the number of cache lines that a piece touches. So the few
    # attributes that the fast path needs are side by side in the object itself, and all others in its dict.
    __slots__ = ("__dict__", "_deltas", "_passed", "_room", "_straight", "last_used")

    def __init__(
        self,
        response_template: TemplateSource,
        tools: Sequence[Any] | None,
        options: Options,
        tokenizer: Any,
        limits: Limits,
        *,
        restored: bool = False,
    ) -> None:
        if not isinstance(limits, Limits):
            raise ArgumentError(f"limits must be a Limits, such as Limits(regions=1000), not {limits!r}")
        lenient, spans = options.lenient, options.spans
        self._options, self._limits = options.shared(), limits
        template = within_limits(without_fields(load_response_template(response_template), options.without), limits)
        self.template: ResponseTemplate = template
        """The loaded template, without the fields that are switched off."""
        marks = None if tokenizer is None else TokenMarks.for_template(template.source, tokenizer)
        self._detokenizer = None if tokenizer is None else Detokenizer(tokenizer, marks=marks, offsets=spans)
        self._anchor_found: bool | None = None
        captures = spans or options.deltas
        tokens = frozenset[str]() if marks is None else frozenset(marks.texts.values())
        self._regions: RegionTokenizer | RecoveringTokenizer = (
            RecoveringTokenizer(template, spans=spans, captures=captures, limits=limits, tokens=tokens)
            if lenient
            else RegionTokenizer(template, spans=spans, captures=captures, limits=limits)
        )
        self._tokens = None if self._detokenizer is None else TokenStage(marks, self._detokenizer.offsets)
        self.downstream = Downstream(template, tools, options, limits)
        self._deltas = self.downstream.deltas
        self.ended: str | None = None
        self._restored = restored
        self.last_used = 0.0
        """For the owner of many pipelines: the time of the last use; the pipeline itself has no clock."""
        self._plain: PlainText | None = None
        self._straight: PlainText | None = None  # the same where the source gives text, and nothing is held back
        self._room = 0  # how many pieces of plain text may pass before _grant has to be asked for more
        self._passed = ""  # their text, without what is in _passed_before
        self._passed_before = ""
        self._granted = self._granted_at_most = 0  # pieces that might pass so far, and may in all
        self._tail = ""  # the end of the text so far where it may be the beginning of a delimiter, not yet given out

    @property
    def held(self) -> int:
        """Characters held back because they may still become part of a delimiter."""
        return self._regions.held + len(self._tail)

    def feed_prefix(self, prefix: str) -> list[Event]:
        """The events of the prompt."""
        events: list[Event] = []
        lenient, seconds = self._options.lenient, self._limits.pattern_seconds
        anchor = AnchorTrim(self.template.start_anchor, keep_unanchored=not lenient, seconds=seconds)
        for text in anchor.feed(prefix) if prefix else ():
            events += self._after_regions(self._regions.feed_prefix(text))
        if not prefix and isinstance(self._regions, RecoveringTokenizer):
            self._regions.begin_unknown()
        self._anchor_found = anchor.found
        if anchor.found is False and lenient:
            self.downstream.fold.problems.append(
                {"type": "anchor_missing", "error": "the start anchor does not occur in the prefix, which was left out"}
            )
        return events

    def feed(self, piece: Any) -> list[Event]:
        """The events that the next piece decides; raises as ``ResponseParser.feed`` does."""
        plain = self._straight
        if plain is not None and type(piece) is str:
            room = self._room or self._grant()
            if room and (piece in plain.known or plain.passes(piece)):
                self._room = room - 1
                self._passed += piece
                event: Event = plain.event.copy()
                event["text"] = piece
                deltas = self._deltas
                if deltas is None:
                    return [event]
                walk = deltas.walk
                if walk is None or (known := walk.step.get(piece)) is None:
                    events: list[Event] = deltas.chunk(event)
                    return events
                added, walk.step = known
                if not added:
                    return [event]
                walk.note(added)
                delta: Event = walk.event.copy()
                delta["arguments"] = added
                return [event, delta]
        if self.ended is not None:
            raise FinalizedError(self.ended)
        if type(piece) is str and self._detokenizer is None:
            taken = self._pass(piece)
            return self.guard(self._feed_text, piece) if taken is None else taken
        return self.guard(self._feed_other, piece)

    def finish(self, finish_reason: str | None) -> list[Event]:
        """The last events: those of the text that is left, and of the end."""
        events: list[Event] = []
        try:
            rest = self._catch_up()
            for text in (rest, *(self._detokenizer.finish() if self._detokenizer is not None else ())):
                events += self._after_regions(self._read(self._regions.feed, text))
            events += self._after_regions(self._read(self._end_regions, finish_reason))
            self.downstream.fold.finish()
        except ParseError as error:
            error.events = [*events, *error.events]
            raise
        return events

    def guard(self, step: Callable[..., Result], *arguments: Any) -> Result:
        """Do a step; after a ParseError nothing more can be fed."""
        try:
            return step(*arguments)
        except ParseError as error:
            self.ended = f"the parser stopped at an error ({error}); start a new one, or use errors='report'"
            raise
        except Exception as error:
            self.blame_snapshot(error)
            raise

    def blame_snapshot(self, error: Exception) -> None:
        """Raise SnapshotError for an error that is none of streamparse's own, in a pipeline that was restored."""
        if self._restored and not isinstance(error, StreamparseError):
            raise damaged(error) from error

    def statistics(self) -> ParserStatistics:
        """What was seen so far."""
        writer, fold, held = self._regions.writer, self.downstream.fold, self.held
        return ParserStatistics(
            characters=max(writer.position + len(self._passed_before) + len(self._passed) + held, 0),
            held=held,
            open_region=None if writer.open_field is None else writer.open_field.name,
            regions=fold.regions,
            malformed=fold.malformed,
            repaired=fold.repaired,
        )

    def snapshot(self, *, message: bool) -> dict[str, Any]:
        """The state as JSON-able data, without the message if that is not wanted."""
        self._tail = self.guard(self._catch_up)
        return {
            "ended": self.ended,
            "tail": self._tail,
            "template": self.template.digest,
            "options": {**asdict(self._options), "without": list(self._options.without)},
            "detokenizer": self._detokenizer.snapshot() if self._detokenizer is not None else None,
            "anchor": {"found": self._anchor_found},
            "regions": self._regions.snapshot(),
            **self.downstream.snapshot(message=message),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that :meth:`snapshot` gave, of the same template and options."""
        self.ended = state["ended"]
        self._tail = state["tail"]
        if state["detokenizer"] is not None:
            self._detokenizer = self._detokenizer or Detokenizer()
            self._detokenizer.restore(state["detokenizer"])
        self._anchor_found = state["anchor"]["found"]
        self._regions.restore(state["regions"])
        self.downstream.restore(state, self._regions.writer.open_field)

    def stages(self, finish_reason: Callable[[], str | None]) -> list[PipelineStage]:
        """The stages one by one; ``finish_reason`` is asked when the source has ended."""
        regions, read, counted = self._regions, self._read, self._counted
        return [
            PipelineStage("detokenize", self._decode, lambda: self._detokenizer.finish() if self._detokenizer else []),
            PipelineStage(
                "regions",
                lambda text: counted(read(regions.feed, text, made=counted)),
                lambda: counted(read(self._end_regions, finish_reason(), made=counted)),
            ),
            *self.downstream.stages(),
        ]

    def _feed_text(self, text: str) -> list[Event]:
        """Feed text through all stages, and look whether what follows may take the fast path."""
        if self._plain is not None or self._tail:
            text = self._catch_up() + text
        events = self._after_regions(self._read(self._regions.feed, text))
        plain = self._regions.plain_text()
        if plain is not None:
            # so that what passes can not make a region too long
            room = self.downstream.content.room // PLAIN_PIECE_AT_MOST
            self._plain = plain if room else None
            self._straight = self._plain if self._takes_text else None
            self._granted_at_most = min(room, PIECES_AT_MOST)
            self._granted = self._room = min(self._granted_at_most, TOGETHER)
        return events

    def _feed_other(self, piece: Any) -> list[Event]:
        """Feed token ids, bytes, or text where the detokenizer is asked for it."""
        texts = self._decode(piece)
        events: list[Event] = []
        try:
            for text in texts:
                marked = self._detokenizer is not None and self._detokenizer.marked
                taken = None if marked else self._pass(text)
                events += self._feed_text(text) if taken is None else taken
        except ParseError as error:
            error.events = [*events, *error.events]
            raise
        return events

    def _decode(self, piece: Any) -> list[str]:
        """The text of bytes or token ids (or of text, where that is what the detokenizer has seen so far)."""
        if self._detokenizer is None:
            if isinstance(piece, MAY_BE_EMPTY) and not piece:
                return []
            self._detokenizer = Detokenizer(after_text=self.statistics().characters > 0)
            self._straight = None  # from here on text goes through the detokenizer, which may hold bytes
        return self._detokenizer.feed(piece)

    @property
    def _takes_text(self) -> bool:
        """Whether text that the source gives is text of the generation."""
        return self._detokenizer is None or self._detokenizer.takes_text

    def _pass(self, text: str) -> list[Event] | None:
        """The events of a piece of text on the fast path; None where it isn't plain, and then nothing has happened."""
        plain = self._plain
        if plain is None or not 0 < len(text) < PIECE_AT_MOST or not (self._room or self._grant()):
            return None
        tail = self._tail
        text = tail + text
        cut = plain.cut(text)
        if cut is None:
            return None
        text, self._tail = text[:cut], text[cut:]
        if tail or self._tail:
            self._straight = plain if self._takes_text and not self._tail else None
        if not text:
            return []
        self._room -= 1
        self._passed += text
        event: Event = {**plain.event, "text": text}
        return [event] if self._deltas is None else self._deltas.chunk(event)

    def _grant(self) -> int:
        """Keep what has passed in another place, as a text that grows is copied; give how many more may pass."""
        self._passed_before += self._passed
        self._passed = ""
        self._room = min(self._granted_at_most - self._granted, TOGETHER)
        self._granted += self._room
        return self._room

    def _catch_up(self) -> str:
        """Bring the stages up to date with what took the fast path; give its tail, which is to be fed next."""
        tail, self._tail = self._tail, ""
        if self._plain is not None:
            field = self._plain.event["field"]
            self._plain = self._straight = None
            count, self._granted, self._room = self._granted - self._room, 0, 0
            text, self._passed, self._passed_before = self._passed_before + self._passed, "", ""
            if text:
                self._regions.skip(text)
                self.downstream.content.take(text, field)
                self.downstream.count(count, self._regions.writer.position)
        return tail

    def _read(
        self, step: Callable[..., list[Any]], *arguments: Any, made: Callable[[list[Any]], list[Any]] | None = None
    ) -> list[Any]:
        """What a step of the regions' stage gives; an error gets the events of what was read before it."""
        try:
            return step(*arguments)
        except ParseError as error:
            error.events = (made or self._after_regions)(self._regions.writer.take_items())
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
        items = self._counted(items)
        return self.downstream.feed(items) if items else []

    def _counted(self, items: list[Any]) -> list[Any]:
        """Those items, with the places of their tokens, as events that were counted."""
        if self._tokens is not None and self._detokenizer is not None:
            items = self._tokens.feed(items, marked=self._detokenizer.marked)
        self.downstream.count(len(items), self._regions.writer.position)
        return items


def feed_each(
    batch: Iterable[tuple[Hashable, Any]],
    pipeline_of: Callable[[Hashable], Pipeline | None],
    otherwise: Callable[[Hashable, Any, float], list[Event]],
    failed: Callable[[Hashable, Exception, float], list[Event]],
    now: float,
    pairs: list[tuple[Hashable, list[Event]]],
) -> tuple[int, bool]:
    """Feed a batch of ``(key, chunk)`` to many pipelines, and add ``(key, events)`` to ``pairs`` where there are any.

    ``otherwise(key, chunk, now)`` gives the events of chunks that are no text or have no pipeline, ``failed(key, error,
    now)`` those of an error. Gives the number of events, and whether a key may have several pairs: it may if it was
    seen before in this batch, as its ``last_used`` is this very ``now`` then, the same object, or has no pipeline.
    """
    repeated, count = False, 0
    for key, chunk in batch:
        pipeline = pipeline_of(key)
        if pipeline is None or pipeline.last_used is now:
            repeated = True
        else:
            pipeline.last_used = now
        if pipeline is None or type(chunk) is not str:
            events = otherwise(key, chunk, now)
        else:
            plain = pipeline._straight
            if plain is not None and pipeline._deltas is None:  # as in feed: with thousands of keys, a call costs
                room = pipeline._room or pipeline._grant()
                if room and (chunk in plain.known or plain.passes(chunk)):
                    pipeline._room = room - 1
                    pipeline._passed += chunk
                    event: Event = plain.event.copy()
                    event["text"] = chunk
                    pairs.append((key, [event]))
                    count += 1
                    continue
            try:
                events = pipeline.feed(chunk)
            except Exception as error:
                events = failed(key, error, now)
        if events:
            pairs.append((key, events))
            count += len(events)
    return count, repeated
