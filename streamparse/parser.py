"""The parser: one generation in, events and a message out; synchronous, without I/O.

``ResponseParser`` has the interface of transformers' (``transformers.utils.chat_parsing``), so that changing the
import is all that moving takes. Its short forms are in ``short_forms.py``, the stages that it runs in ``core.py``.
What is its own is the short way for plain text, which nearly every piece takes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any, Self, TypeVar

from streamparse.arguments import ErrorMode, Options, as_text, field_names, template_for
from streamparse.core import Core, CoreStage
from streamparse.errors import (
    FinalizedError,
    ParseError,
    PrefixError,
    SnapshotError,
    StreamparseError,
    TemplateError,
)
from streamparse.events import Event, RawEvent
from streamparse.limits import DEFAULT_LIMITS, Limits
from streamparse.matching.plain import PIECE_AT_MOST, PIECES_AT_MOST, PLAIN_PIECE_AT_MOST, TOGETHER, PlainText
from streamparse.snapshot import expect_like, state_from_bytes, state_to_bytes
from streamparse.statistics import ParserStatistics
from streamparse.template import ResponseTemplate, TemplateSource, load_response_template

Result = TypeVar("Result")


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
    call whose model wrote none; with a text in place of True they are made of it, and are the same in each run.
    ``without`` names fields that are switched off for this generation: their markup is
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
    __slots__ = ("__dict__", "__weakref__", "_deltas", "_passed", "_room", "_straight", "_tail", "last_used")

    last_used: float
    """A moment that whoever keeps many parsers may note here; the parser itself has no clock."""

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
        call_ids: bool | str = False,
        without: Collection[str] = (),
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        options = Options(errors, deltas, spans, call_ids, field_names(without))
        core = Core(template_for(response_template, tokenizer), tools, options, tokenizer, limits)
        if prefix is None:
            raise PrefixError(
                "the prefix (the prompt that the model was given) is needed, because chat templates often write the "
                "beginning of the message themselves, such as an open <think>, and without it the output would be read "
                'wrongly; pass prefix="" if the generation is the whole message'
            )
        self._begin(core, core.feed_prefix(as_text(prefix, tokenizer)))

    def __repr__(self) -> str:
        """The template, where the parser stands, and counts.

        >>> parser = ResponseParser("qwen3", prefix="")
        >>> events = parser.feed("<think>Hm</think>Hi")
        >>> parser
        <ResponseParser qwen3, open in 'content', 19 characters, 1 region>
        """
        seen = self.statistics()
        state = "ended" if self._ended else f"open in {seen.open_region!r}" if seen.open_region else "open"
        return (
            f"<{type(self).__name__} {self.template.name}, {state}, {seen.characters} characters, "
            f"{seen.regions} region{'' if seen.regions == 1 else 's'}>"
        )

    def _begin(self, core: Core, initial_events: Sequence[RawEvent] = (), *, restored: bool = False) -> None:
        self._core = core
        self._restored = restored
        self._deltas = core.deltas
        self._initial_events = initial_events or ()
        self._ended: str | None = None
        self._plain: PlainText | None = None
        self._straight: PlainText | None = None  # the same where the source gives text, and nothing was kept back
        self._room = 0  # how many pieces of plain text may pass before _put_together has to be asked for more
        self._passed = ""  # their text, as far as it is not in _passed_before
        self._passed_before = ""
        self._granted = self._granted_at_most = 0  # pieces that might pass so far, and may in all
        self._tail = ""  # the end of the text so far where it may be the beginning of a delimiter, not yet given out
        self.last_used = 0.0

    def feed(self, text: str | bytes | int | Sequence[int]) -> list[Event]:
        """The events that the next piece of the generation decides.

        ``text`` is a piece of text, of UTF-8 bytes (cut anywhere), or, with ``tokenizer``, a token id or several; all
        pieces of one generation are of the same kind. Raises :class:`ParseError` in strict mode for what can't be
        parsed (its ``events`` are those before the fault), :class:`LimitError` at a limit, and :class:`FinalizedError`
        after the end.
        """
        plain = self._straight
        if plain is not None and type(text) is str:
            room = self._room or self._put_together()
            if room and (text in plain.known or plain.passes(text)):
                self._room = room - 1
                self._passed += text
                event: RawEvent = plain.event.copy()
                event["text"] = text
                deltas = self._deltas
                if deltas is None:
                    return [event]
                walk = deltas.walk
                if walk is None or (known := walk.step.get(text)) is None:
                    events: list[RawEvent] = deltas.chunk(event)
                    return events
                piece, walk.step = known
                if not piece:
                    return [event]
                walk.note(piece)
                delta: RawEvent = walk.event.copy()
                delta["arguments"] = piece
                return [event, delta]
        return self._feed(text)

    def finalize(self, finish_reason: str | None = None) -> tuple[dict[str, Any], list[Event]]:
        """End the generation: the message, and the last events.

        ``finish_reason`` is why the generation ended, where that is known: ``"length"`` says that it was cut off, so in
        the lenient modes a tool call that is still open does not count. Raises like :meth:`feed`, and
        :class:`ParseError` in strict mode where a required field is missing.
        """
        if self._ended is not None:
            raise FinalizedError(self._ended)
        events = self._watched(self._finish, finish_reason)
        self._ended = "the parser has been finalized; start a new one for the next generation"
        return self._core.message, events

    @property
    def initial_events(self) -> list[Event]:
        """The events of the prefix, to be shown before those of the first :meth:`feed`."""
        return list(self._initial_events)

    @property
    def problems(self) -> list[dict[str, Any]]:
        """What went wrong so far (lenient modes): malformed regions, missing fields, a prefix without its anchor."""
        return self._core.problems

    @property
    def template(self) -> ResponseTemplate:
        """The loaded template, without the fields that are switched off."""
        return self._core.template

    @property
    def held(self) -> int:
        """Characters held back because they may still become part of a delimiter."""
        return self._core.held + len(self._tail)

    def statistics(self) -> ParserStatistics:
        """What the parser has seen since it was made or restored."""
        passed = len(self._passed_before) + len(self._passed)
        return self._core.statistics(passed, self.held)

    def snapshot(self, *, message: bool = True) -> bytes:
        """The parser's state, to be taken up elsewhere with :meth:`restore`; between any two pieces.

        JSON: the open region, the held text, and the message so far, which ``message=False`` leaves out for those who
        keep only events.
        """
        tail = self._watched(self._settle)
        try:
            return state_to_bytes(self._state(tail, message=message), self._core.snapshot_size)
        except Exception as error:
            self._blame_snapshot(error)
            raise
        finally:
            self._tail = tail

    def _state(self, tail: str, *, message: bool) -> dict[str, Any]:
        """The state as JSON-able data."""
        return {"ended": self._ended, "tail": tail, **self._core.snapshot(message=message)}

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
        try:
            options = Options(**{**state["options"], "without": field_names(state["options"]["without"])})
            parser._begin(Core(template, tools, options, tokenizer, limits), restored=True)
            if state["template"] != parser.template.digest:
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
        self._tail = state["tail"]
        self._core.restore(state)

    def stages(self, finish_reason: Callable[[], str | None]) -> list[CoreStage]:
        """The stages of the core one by one, for a graph that runs each as a task; the parser is not fed any more then.

        ``finish_reason`` is asked when the source has ended. The prefix has been through them already.
        """
        self._ended = "the stages of this parser run by themselves"
        return self._core.stages(finish_reason)

    @property
    def message(self) -> dict[str, Any]:
        """The message as it stands."""
        return self._core.message

    def _feed(self, piece: Any) -> list[RawEvent]:
        """Feed a piece that is not plain text: through the detokenizer, if it is not text, and all stages."""
        if self._ended is not None:
            raise FinalizedError(self._ended)
        if type(piece) is str and self._core.detokenizer is None:
            events = None if self._plain is None else self._pass(piece)
            return self._watched(self._feed_text, piece) if events is None else events
        return self._watched(self._feed_other, piece)

    def _feed_text(self, text: str) -> list[RawEvent]:
        core = self._core
        if self._plain is not None or self._tail:
            text = self._settle() + text
        events = core.feed(text)
        plain = core.plain_text()
        if plain is not None:
            room = core.room // PLAIN_PIECE_AT_MOST  # so that what passes can not make a region too long
            self._plain = plain if room else None
            self._straight = self._plain if self._takes_text else None
            self._granted_at_most = min(room, PIECES_AT_MOST)
            self._granted = self._room = min(self._granted_at_most, TOGETHER)
        return events

    @property
    def _takes_text(self) -> bool:
        """Whether text that the source gives is text of the generation."""
        detokenizer = self._core.detokenizer
        return detokenizer is None or detokenizer.takes_text

    def _feed_other(self, piece: Any) -> list[RawEvent]:
        """Feed token ids, bytes, or text where the detokenizer is asked for it."""
        core, fresh = self._core, self._core.detokenizer is None
        if fresh:
            core.after_text = self.statistics().characters > 0
        try:
            texts = core.decode(piece)
        finally:
            if fresh and core.detokenizer is not None:
                self._straight = None  # text is seen by the detokenizer from here on, which minds what comes after it
        events: list[RawEvent] = []
        try:
            for text in texts:
                taken = None if self._plain is None or core.marked else self._pass(text)
                events += self._feed_text(text) if taken is None else taken
        except ParseError as error:
            error.events = [*events, *error.events]
            raise
        return events

    def _finish(self, finish_reason: str | None) -> list[RawEvent]:
        return self._core.finish(self._settle(), finish_reason)

    def _watched(self, step: Callable[..., Result], *arguments: Any) -> Result:
        """Do a step; after a ParseError nothing more can be fed."""
        try:
            return step(*arguments)
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

    def _pass(self, text: str) -> list[RawEvent] | None:
        """The events of a piece of text; None where it isn't plain, and then nothing has happened.

        ``feed`` does the commonest case itself, as a call would cost as much again.
        """
        plain = self._plain
        assert plain is not None, "plain text is only looked for where it can be told"
        if not 0 < len(text) < PIECE_AT_MOST or not (self._room or self._put_together()):
            return None
        tail = self._tail
        text = tail + text
        cut = plain.cut(text)
        if cut is None:
            return None
        text, self._tail = text[:cut], text[cut:]
        if tail or self._tail:
            self._straight = plain if not self._tail and self._takes_text else None
        if not text:
            return []
        self._room -= 1
        self._passed += text
        event: RawEvent = {**plain.event, "text": text}
        return [event] if self._deltas is None else self._deltas.chunk(event)

    def _put_together(self) -> int:
        """Keep what has passed in another place, as a text that grows is copied; give how many more may pass."""
        self._passed_before += self._passed
        self._passed = ""
        self._room = min(self._granted_at_most - self._granted, TOGETHER)
        self._granted += self._room
        return self._room

    def _settle(self) -> str:
        """Note what has passed as plain text, and give back its tail, which is to be fed next."""
        tail, self._tail = self._tail, ""
        if self._plain is not None:
            field = self._plain.event["field"]
            self._plain = self._straight = None
            count, self._granted, self._room = self._granted - self._room, 0, 0
            text, self._passed, self._passed_before = self._passed_before + self._passed, "", ""
            if text:
                self._core.skip(text, field, count)
        return tail


def feed_each(
    batch: Iterable[tuple[Hashable, Any]],
    parser_of: Callable[[Hashable], ResponseParser | None],
    otherwise: Callable[[Hashable, Any, float], list[Event]],
    failed: Callable[[Hashable, ResponseParser, Exception, float], list[Event]],
    now: float,
    pairs: list[tuple[Hashable, list[Event]]],
) -> tuple[int, bool]:
    """Feed the text in a batch of ``(key, chunk)`` to many parsers.

    ``otherwise(key, chunk, now)`` takes all other chunks, and those of keys that have no parser; ``failed(key, parser,
    error, now)`` what a parser raises. Both give events.

    A pair ``(key, events)`` is added to ``pairs`` for each chunk that has events. Gives the number of events, and
    whether a key may have several pairs, as it has if it was seen before in this batch: its parser's ``last_used`` is
    this very ``now`` then, the same object. Of keys without a parser nothing is known.

    Plain text is taken as by :meth:`ResponseParser.feed`, but here in the loop: with thousands of parsers that have a
    token each, to call it would cost as much again. (``_pass`` is the same for text of which an end is kept back.)
    """
    repeated, count = False, 0
    for key, chunk in batch:
        parser = parser_of(key)
        if parser is None or parser.last_used is now:
            repeated = True
        else:
            parser.last_used = now
        if parser is not None and type(chunk) is str:
            plain = parser._straight
            if plain is not None and parser._deltas is None:
                room = parser._room or parser._put_together()
                if room and (chunk in plain.known or plain.passes(chunk)):
                    parser._room = room - 1
                    parser._passed += chunk
                    event: RawEvent = plain.event.copy()
                    event["text"] = chunk
                    pairs.append((key, [event]))
                    count += 1
                    continue
            try:
                events = parser.feed(chunk)
            except Exception as error:
                events = failed(key, parser, error, now)
        else:
            events = otherwise(key, chunk, now)
        if events:
            pairs.append((key, events))
            count += len(events)
    return count, repeated


def _damaged(error: Exception) -> SnapshotError:
    """What is raised where a snapshot turns out to describe no state that there can be."""
    return SnapshotError(f"the snapshot is damaged: {type(error).__name__}: {error}")


def _stopped_at(error: ParseError) -> str:
    """What to say to those who go on after an error."""
    return f"the parser stopped at an error ({error}); start a new one, or use errors='report'"
