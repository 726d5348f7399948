"""The parser: the stages of the core composed, synchronous, without I/O.

``ResponseParser`` has the interface of transformers' (``transformers.utils.chat_parsing``), so that changing the
import is all that moving takes. Its short forms are in ``short_forms.py``.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self, cast

from streamparse.arguments import ErrorMode, Options, as_text, field_names, template_for
from streamparse.errors import (
    ArgumentError,
    FinalizedError,
    LimitError,
    ParseError,
    PrefixError,
    SnapshotError,
    StreamparseError,
    TemplateError,
)
from streamparse.limits import DEFAULT_LIMITS, LARGE_TEXT, Limits, how_to_raise
from streamparse.matching.plain import PIECE_AT_MOST, PIECES_AT_MOST, PLAIN_PIECE_AT_MOST, TOGETHER, PlainText
from streamparse.snapshot import expect_like, state_from_bytes, state_to_bytes
from streamparse.stages.anchor import AnchorTrim
from streamparse.stages.call_ids import CallIds
from streamparse.stages.content_stage import ContentStage
from streamparse.stages.deltas import DeltaStage
from streamparse.stages.detokenize import Detokenizer
from streamparse.stages.message import MessageFold
from streamparse.stages.recovery import RecoveringTokenizer
from streamparse.stages.region import RegionEnd, up_to_each_end
from streamparse.stages.regions import RegionTokenizer
from streamparse.stages.schema_typing import ToolSchemas
from streamparse.stages.token_stage import TokenStage
from streamparse.stages.transform_stage import TransformStage
from streamparse.statistics import ParserStatistics
from streamparse.template import (
    ResponseTemplate,
    TemplateSource,
    load_response_template,
    within_limits,
    without_fields,
)
from streamparse.tokens.marks import TokenMarks

Event = dict[str, Any]

_NO_TOKENS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CoreStage:
    """One stage of the core as a machine: an item in, what takes its place out; and the last ones at the end."""

    name: str
    feed: Callable[[Any], list[Any]]
    finish: Callable[[], list[Any]]
    parses_regions: bool = False
    """Whether the end of a region may be much work for it."""


class ResponseParser:
    """Parses one generation while it is written: text goes in, events come out, and at the end the message.

    ``response_template`` is whatever :func:`load_response_template` takes. ``prefix`` is the prompt that the model was
    given (text, or token ids with ``tokenizer``); it is needed because chat templates often write the beginning of the
    message (such as an open ``<think>``), and ``""`` says that there is none. ``tools`` are what
    ``apply_chat_template`` takes; with them string arguments are cast to the types that the tools declare.

    ``errors="strict"`` gives the results of transformers and raises :class:`ParseError` where it raises. ``"report"``
    and ``"repair"`` raise nothing for what a model wrote: a region without a value ends with ``region_malformed``,
    text that no field claims is ``region_unclaimed``, and ``problems`` lists what went wrong.

    ``deltas=True`` adds ``region_delta`` events with what is already certain of a tool call while it is written: its
    ``index``, ``id`` and ``name``, and pieces of its arguments as JSON text. ``call_ids=True`` gives an id to each
    call whose model wrote none. ``without`` names fields that are switched off for this generation: their markup is
    text like any other (for ``tool_choice="none"``: ``without=["tool_calls"]``). ``spans=True`` adds ``start`` and
    ``end`` (characters of the generation) to the events, ``token_start`` and ``token_end`` where the source is token
    ids, and captures to ``region_open``. ``limits`` bounds what is kept.

    Raises :class:`TemplateError` for a faulty template, :class:`PrefixError` without a prefix, and
    :class:`ArgumentError` for an argument of a wrong kind.

    >>> parser = ResponseParser("qwen3", prefix="")
    >>> parser.feed("Hello <th")  # doctest: +NORMALIZE_WHITESPACE
    [{'type': 'region_open', 'field': 'content'},
     {'type': 'region_chunk', 'field': 'content', 'text': 'Hello ', 'dirty': False}]
    >>> message, events = parser.finalize()
    >>> message
    {'role': 'assistant', 'content': 'Hello <th'}
    """

    # What nearly every piece needs stands in the object itself: when thousands of parsers take turns, time goes by the
    # number of places in memory that a piece visits.
    __slots__ = ("__dict__", "__weakref__", "_deltas", "_passed", "_room", "_straight", "_tail", "last_used", "waiting")

    last_used: float
    """A moment that whoever keeps many parsers may note here; the parser itself has no clock."""

    initial_events: list[Event]
    """The events of the prefix, to be shown before those of the first :meth:`feed`."""

    _restored = False

    def __init__(
        self,
        response_template: TemplateSource | None = None,
        prefix: str | Sequence[int] | Any | None = None,
        *,
        tools: Sequence[Any] | None = None,
        errors: ErrorMode = "strict",
        tokenizer: Any = None,
        deltas: bool = False,
        spans: bool = False,
        call_ids: bool = False,
        without: Collection[str] = (),
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        options = Options(errors, deltas, spans, call_ids, field_names(without))
        self._compose(template_for(response_template, tokenizer), tools, options, tokenizer, limits)
        if prefix is None:
            raise PrefixError(
                "the prefix (the prompt that the model was given) is needed, because chat templates often write the "
                "beginning of the message themselves, such as an open <think>, and without it the output would be read "
                'wrongly; pass prefix="" if the generation is the whole message'
            )
        self.initial_events = self._feed_prefix(as_text(prefix, tokenizer))

    def _compose(
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
        template = without_fields(load_response_template(response_template), options.without)
        self._template = template = within_limits(template, limits)
        marks = None if tokenizer is None else TokenMarks.for_template(template.source, tokenizer)
        self._detokenizer = None if tokenizer is None else Detokenizer(tokenizer, marks=marks, offsets=spans)
        self._anchor = AnchorTrim(template.start_anchor, keep_unanchored=not lenient, seconds=limits.pattern_seconds)
        captures = spans or options.deltas
        tokens = frozenset(marks.texts.values()) if marks is not None else _NO_TOKENS
        self._regions: RegionTokenizer | RecoveringTokenizer = (
            RecoveringTokenizer(template, spans=spans, captures=captures, limits=limits, tokens=tokens)
            if lenient
            else RegionTokenizer(template, spans=spans, captures=captures, limits=limits)
        )
        self._tokens = None if self._detokenizer is None else TokenStage(marks, self._detokenizer.offsets)
        schemas = ToolSchemas.from_tools(tools)
        if options.errors == "repair":
            schemas = schemas.mending()
        self._call_ids = CallIds(template) if options.call_ids else None
        made_id = None if self._call_ids is None else self._call_ids.of_delta
        self._deltas = (
            DeltaStage(template, schemas, lenient=lenient, keep_captures=spans, made_id=made_id)
            if options.deltas
            else None
        )
        self._content = ContentStage(lenient=lenient, repair=options.errors == "repair", limits=limits)
        self._transform = TransformStage(schemas, lenient=lenient, spans=spans, deltas=self._deltas, limits=limits)
        self._message = MessageFold(template, lenient=lenient)
        self._limits = limits
        self._events = 0
        self._ended: str | None = None
        self._plain: PlainText | None = None
        self._straight: PlainText | None = None  # the same where it is text that the source gives
        self._room = 0  # how many pieces of plain text may pass before _pass has to be asked
        self._passed = ""  # their text, as far as it is not in _passed_before
        self._passed_before: Sequence[str] = ()
        self._granted = self._granted_at_most = 0  # pieces that might pass so far, and may in all
        self._tail = ""  # the end of the text so far where it may be the beginning of a delimiter, not yet given out
        self._large: float = math.inf
        self._tell: Callable[[], object] | None = None
        self._put_off: deque[list[Any]] | None = None
        self.waiting = False
        self.last_used = 0.0

    def _feed_prefix(self, prefix: str) -> list[Event]:
        events: list[Event] = []
        for text in self._anchor.feed(prefix) if prefix else ():
            events += self._after_regions(self._regions.feed_prefix(text))
        if not prefix and isinstance(self._regions, RecoveringTokenizer):
            self._regions.begin_unknown()
        if self._anchor.found is False and self._options.lenient:
            self.problems.append(
                {"type": "anchor_missing", "error": "the start anchor does not occur in the prefix, which was left out"}
            )
        return events

    def feed(self, text: str | bytes | int | Sequence[int]) -> list[Event]:
        """The events that the next piece of the generation decides.

        ``text`` is a piece of text, of UTF-8 bytes (cut anywhere), or, with ``tokenizer``, a token id or several; all
        pieces of one generation are of the same kind. Raises :class:`ParseError` in strict mode for what can't be
        parsed, :class:`LimitError` at a limit, and :class:`FinalizedError` after the end.
        """
        plain = self._straight
        if plain is not None and type(text) is str:
            room = self._room
            if room and not self._tail and (text in plain.known or plain.passes(text)):
                self._room = room - 1
                self._passed += text
                event = plain.event.copy()
                event["text"] = text
                deltas = self._deltas
                if deltas is None:
                    return [event]
                walk = deltas.walk
                if walk is None or (known := walk.step.get(text)) is None:
                    return deltas.chunk(event)
                piece, walk.step = known
                if not piece:
                    return [event]
                walk.note(piece)
                delta = walk.event.copy()
                delta["arguments"] = piece
                return [event, delta]
            events = self._pass(text)
            if events is not None:
                return events
        return self._feed(text)

    def finalize(self, finish_reason: str | None = None) -> tuple[dict[str, Any], list[Event]]:
        """End the generation: the message, and the last events.

        ``finish_reason`` is why the generation ended, where that is known: ``"length"`` says that it was cut off, so in
        the lenient modes a tool call that is still open does not count. Raises like :meth:`feed`, and
        :class:`ParseError` in strict mode where a required field is missing.
        """
        if self._ended is not None:
            raise FinalizedError(self._ended)
        events: list[Event] = []
        try:
            while self.waiting:  # what came before the end knows nothing of how the generation ended
                events += self._parsed(self._next_put_off())
            self._say_how_it_ended(finish_reason)
            self._large = math.inf
            for text in (self._settle(), *(self._detokenizer.finish() if self._detokenizer is not None else ())):
                events += self._after_regions(self._regions.feed(text))
            events += self._after_regions(self._regions.finish())
            self._message.finish()
        except ParseError as error:
            self._ended = _stopped_at(error)
            raise
        except Exception as error:
            self._blame_snapshot(error)
            raise
        self._ended = "the parser has been finalized; start a new one for the next generation"
        return self._message.message, events

    def put_off_large_regions(self, size: int = LARGE_TEXT, tell: Callable[[], object] | None = None) -> None:
        """Let :meth:`feed` not parse a structured region of more than ``size`` characters when it ends.

        It and what follows it are put off until :meth:`work_off` has been called as often as anything is ``waiting``:
        for event loops, which leave such work to a thread. ``tell`` is called, within :meth:`feed`, when something
        begins to wait. :meth:`finalize` does all that waits.
        """
        self._large = size
        self._tell = tell

    @property
    def ends_large(self) -> bool:
        """Whether :meth:`finalize` may have much to do: something waits, or a large structured region is open."""
        if self._content.size <= self._large:
            return self.waiting
        field = self._regions.writer.open_field
        return self.waiting or (field is not None and not field.streams)

    def work_off(self) -> list[Event]:
        """The events of the first of what was put off. Raises like :meth:`feed`; may be called in another thread."""
        try:
            return self._parsed(self._next_put_off())
        except ParseError as error:
            self._put_off = None
            self.waiting = False
            self._ended = _stopped_at(error)
            raise
        except Exception as error:
            self._blame_snapshot(error)
            raise

    def _next_put_off(self) -> list[Any]:
        assert self._put_off is not None, "something waits"
        items = self._put_off.popleft()
        self.waiting = bool(self._put_off)
        return items

    @property
    def problems(self) -> list[dict[str, Any]]:
        """What went wrong so far (lenient modes): malformed regions, missing fields, a prefix without its anchor."""
        return self._message.problems

    @property
    def template(self) -> ResponseTemplate:
        """The loaded template, without the fields that are switched off."""
        return self._template

    @property
    def held(self) -> int:
        """Characters held back because they may still become part of a delimiter."""
        return self._regions.held + len(self._tail)

    def statistics(self) -> ParserStatistics:
        """What the parser has seen since it was made or restored."""
        writer, message = self._regions.writer, self._message
        passed = sum(map(len, self._passed_before)) + len(self._passed)
        return ParserStatistics(
            characters=max(writer.position + passed + self.held, 0),
            held=self.held,
            open_region=None if writer.open_field is None else writer.open_field.name,
            regions=message.regions,
            malformed=message.malformed,
            repaired=message.repaired,
        )

    def snapshot(self, *, message: bool = True) -> bytes:
        """The parser's state, to be taken up elsewhere with :meth:`restore`; between any two pieces.

        JSON: the open region, the held text, and the message so far, which ``message=False`` leaves out for those who
        keep only events.
        """
        if self.waiting:
            raise StreamparseError("something was put off; call work_off() until nothing is waiting")
        tail = self._settle()
        try:
            return state_to_bytes(self._state(tail, message=message), self._limits.snapshot_size)
        except Exception as error:
            self._blame_snapshot(error)
            raise
        finally:
            self._tail = tail

    def _state(self, tail: str, *, message: bool) -> dict[str, Any]:
        """The state as JSON-able data."""
        return {
            "template": self._template.digest,
            "options": {**asdict(self._options), "without": list(self._options.without)},
            "ended": self._ended,
            "events": self._events,
            "tail": tail,
            "detokenizer": self._detokenizer.snapshot() if self._detokenizer is not None else None,
            "anchor": self._anchor.snapshot(),
            "regions": self._regions.snapshot(),
            "content": self._content.snapshot(),
            "transform": self._transform.snapshot(),
            "deltas": self._deltas.snapshot() if self._deltas is not None else None,
            "call_ids": self._call_ids.snapshot() if self._call_ids is not None else None,
            "message": self._message.snapshot(message=message),
        }

    @classmethod
    def restore(
        cls,
        data: bytes,
        response_template: TemplateSource,
        *,
        tools: Sequence[Any] | None = None,
        tokenizer: Any = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> Self:
        """The parser that :meth:`snapshot` saved: the same events follow. ``initial_events`` is empty.

        Raises :class:`SnapshotError` for damaged data, a newer version, or another template; what only shows when it is
        used, because the data was made by hand, is raised by the methods of the parser.

        >>> parser = ResponseParser("qwen3", prefix="")
        >>> events = parser.feed("<think>a")
        >>> again = ResponseParser.restore(parser.snapshot(), "qwen3")
        >>> again.feed("b</think>")[0]["text"], again.finalize()[0]["reasoning_content"]
        ('b', 'ab')
        """
        state = state_from_bytes(data, limits.snapshot_size)
        template = load_response_template(response_template)
        parser = cls.__new__(cls)
        parser.initial_events = []
        parser._restored = True
        try:
            options = Options(**{**state["options"], "without": field_names(state["options"]["without"])})
            parser._compose(template, tools, options, tokenizer, limits)
            if state["template"] != parser._template.digest:
                raise SnapshotError(
                    "the snapshot was taken with another response template; give the one it was taken with"
                )
            parser._restore(state)
        except SnapshotError:
            raise
        except Exception as error:
            if isinstance(error, TemplateError) and state.get("template") != template.digest:
                raise SnapshotError(
                    f"the snapshot belongs to another response template, or is damaged: {error}"
                ) from error
            raise _damaged(error) from error
        return parser

    def _restore(self, state: dict[str, Any]) -> None:
        expect_like(state, self._state("", message="message" in state["message"]), "state")
        self._ended = state["ended"]
        self._events = state["events"]
        self._tail = state["tail"]
        if state["detokenizer"] is not None:
            self._detokenizer = self._detokenizer or Detokenizer()
            self._detokenizer.restore(state["detokenizer"])
        self._anchor.restore(state["anchor"])
        self._regions.restore(state["regions"])
        self._content.restore(state["content"])
        self._transform.restore(state["transform"])
        if self._call_ids is not None:
            self._call_ids.restore(state["call_ids"])
        if self._deltas is not None:  # after the ids, of which it makes some again
            self._deltas.restore(state["deltas"], state["content"]["body"])
        self._message.restore(state["message"])

    def stages(self, finish_reason: Callable[[], str | None]) -> list[CoreStage]:
        """The stages of the core one by one, for a graph that runs each as a task; the parser is not fed any more then.

        ``finish_reason`` is asked when the source has ended. The prefix has been through them already.
        """
        regions, content, message = self._regions, self._content, self._message

        def marked(items: list[Any]) -> list[Any]:
            return items if self._tokens is None else self._tokens.feed(items, marked=self._marked)

        def end_regions() -> list[Any]:
            self._say_how_it_ended(finish_reason())
            return marked(regions.finish())

        def transformed(item: Any) -> list[Event]:
            events = self._transform.feed([item])
            return events if self._call_ids is None else self._call_ids.feed(events)

        self._ended = "the stages of this parser run by themselves"
        stages = [
            CoreStage("detokenize", self._decode, lambda: self._detokenizer.finish() if self._detokenizer else []),
            CoreStage("regions", lambda text: marked(regions.feed(text)), end_regions),
        ]
        if self._deltas is not None:
            deltas = self._deltas
            stages.append(CoreStage("deltas", lambda item: deltas.feed([item]), deltas.finish))
        return [
            *stages,
            CoreStage("content", lambda item: content.feed([item]), content.finish, parses_regions=True),
            CoreStage("transform", transformed, self._transform.finish, parses_regions=True),
            CoreStage("message", lambda event: message.feed([event]), message.finish, parses_regions=True),
        ]

    @property
    def message(self) -> dict[str, Any]:
        """The message as it stands."""
        return self._message.message

    def _feed(self, piece: Any) -> list[Event]:
        """Feed a piece that is not plain text: through the detokenizer, if it is not text, and all stages."""
        if self._ended is not None:
            raise FinalizedError(self._ended)
        try:
            if type(piece) is str and self._detokenizer is None:
                return self._feed_text(piece)
            events: list[Event] = []
            for text in self._decode(piece):
                taken = None if self._plain is None or self._marked else self._pass(text)
                events += self._feed_text(text) if taken is None else taken
            return events
        except ParseError as error:
            self._ended = _stopped_at(error)
            raise
        except Exception as error:
            self._blame_snapshot(error)
            raise

    def _blame_snapshot(self, error: Exception) -> None:
        """Raise SnapshotError for an error that is none of ours, in a parser that was restored."""
        if self._restored and not isinstance(error, StreamparseError):
            raise _damaged(error) from error

    def _feed_text(self, text: str) -> list[Event]:
        if self._plain is not None or self._tail:
            text = self._settle() + text
        events = self._after_regions(self._regions.feed(text), len(text))
        plain = None if self.waiting else self._regions.plain_text()
        if plain is not None:
            room = self._content.room // PLAIN_PIECE_AT_MOST  # so that what passes can not make a region too long
            self._plain = plain if room else None
            self._straight = self._plain if self._detokenizer is None or self._detokenizer.takes_text else None
            self._granted_at_most = min(room, PIECES_AT_MOST)
            self._granted = self._room = min(self._granted_at_most, TOGETHER)
        return events

    def _pass(self, text: str) -> list[Event] | None:
        """The events of a piece of text; None where it isn't plain, and then nothing has happened.

        ``feed`` does the commonest case itself, as a call would cost as much again.
        """
        plain = self._plain
        assert plain is not None, "plain text is only looked for where it can be told"
        if not 0 < len(text) < PIECE_AT_MOST or not (self._room or self._put_together()):
            return None
        text = self._tail + text
        cut = plain.cut(text)
        if cut is None:
            return None
        text, self._tail = text[:cut], text[cut:]
        if not text:
            return []
        self._room -= 1
        self._passed += text
        event = {**plain.event, "text": text}
        return [event] if self._deltas is None else self._deltas.chunk(event)

    def _put_together(self) -> bool:
        """Keep what has passed as one text; tell whether more may pass."""
        self._passed_before = [*self._passed_before, self._passed]
        self._passed = ""
        self._room = min(self._granted_at_most - self._granted, TOGETHER)
        self._granted += self._room
        return self._room > 0

    @property
    def _marked(self) -> bool:
        """Whether text that came from token ids has marks in it."""
        return self._detokenizer is not None and self._detokenizer.marked

    def _settle(self) -> str:
        """Note what has passed as plain text, and give back its tail, which is to be fed next."""
        tail, self._tail = self._tail, ""
        if self._plain is not None:
            field = self._plain.event["field"]
            self._plain = self._straight = None
            count, self._granted, self._room = self._granted - self._room, 0, 0
            text, self._passed = "".join([*self._passed_before, self._passed]), ""
            self._passed_before = ()
            if text:
                self._count_events(count)
                self._regions.skip(text)
                self._content.take(text, field)
        return tail

    def _say_how_it_ended(self, finish_reason: str | None) -> None:
        self._content.finish_reason = finish_reason
        if isinstance(self._regions, RecoveringTokenizer):
            self._regions.cut_off = finish_reason == "length"

    def _decode(self, piece: Any) -> list[str]:
        """The text of bytes or token ids (or of text, where that is what the detokenizer has seen so far)."""
        if self._detokenizer is None:
            if not piece and not isinstance(piece, int):
                return []
            self._detokenizer = Detokenizer(after_text=self.statistics().characters > 0)
        return self._detokenizer.feed(piece)

    def _after_regions(self, items: list[Any], amount: int = 0) -> list[Event]:
        """The events of what the regions' stage has made; ``amount`` is the text of it that no later stage knows."""
        if self._tokens is not None:
            items = self._tokens.feed(items, marked=self._marked)
        if not items and not self.waiting:
            return []
        self._count_events(len(items))
        if self.waiting or (self._content.size + amount > self._large and any(map(_ends_structure, items))):
            self._put_off = self._put_off or deque()
            self._put_off.append(items)
            began, self.waiting = not self.waiting, True
            if began and self._tell is not None:
                self._tell()
            return []
        return self._parsed(items)

    def _parsed(self, items: list[Any]) -> list[Event]:
        if len(items) < 2 or (self._options.lenient and self._deltas is None):
            return self._after_tokens(items)
        # one region goes through all stages after the other: the first error in the text is raised, whichever stage
        # finds it, and the calls of a region are counted before those of the next
        return [event for batch in up_to_each_end(items) for event in self._after_tokens(batch)]

    def _count_events(self, count: int) -> None:
        """Count events; raises LimitError if there are too many. Deltas don't count, as each goes with a chunk."""
        self._events += count
        if self._events > self._limits.events:
            reason = f"more than {self._limits.events} events; {how_to_raise('events')}"
            raise LimitError(reason, limit="events", position=max(self._regions.writer.position, 0))

    def _after_tokens(self, items: list[Any]) -> list[Event]:
        if self._deltas is not None:
            items = self._deltas.feed(items)
        parsed = self._content.feed(items)
        if parsed is items and self._call_ids is None:
            # the content stage gives its batch back where it has only events, and then nothing is left to do
            return cast("list[Event]", parsed)
        events = self._transform.feed(parsed)
        if self._call_ids is not None:
            events = self._call_ids.feed(events)
        return self._message.feed(events)


def _ends_structure(item: Any) -> bool:
    """Whether a region ends whose text has to be parsed."""
    return isinstance(item, RegionEnd) and not item.field.streams


def _damaged(error: Exception) -> SnapshotError:
    """What is raised where a snapshot turns out to describe no state that there can be."""
    return SnapshotError(f"the snapshot is damaged: {type(error).__name__}: {error}")


def _stopped_at(error: ParseError) -> str:
    """What to say to those who go on after an error."""
    return f"the parser stopped at an error ({error}); start a new one, or use errors='report'"
