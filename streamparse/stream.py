"""parse_stream: events from a source of text, while it is being written.

In:  a source of text, bytes or token ids, and a response template.
Out: the events of ``ResponseParser``, then one ``message`` event, by asynchronous iteration.

The parser is a synchronous stage like any other; ``graph/`` reads the source, runs the stages and cleans up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamparse.arguments import ErrorMode
from streamparse.errors import StreamparseError
from streamparse.events import Event, RawEvent, message_event
from streamparse.graph import CAPACITY, End, Graph, GraphStatistics, Source, SourceReader, Stage
from streamparse.limits import DEFAULT_LIMITS, Limits
from streamparse.parser import ResponseParser
from streamparse.statistics import ParserStatistics
from streamparse.template import TemplateSource

__all__ = ["End", "ParseStream", "parse_stream"]


def parse_stream(
    source: Source,
    template: TemplateSource | None = None,
    *,
    prefix: str | Sequence[int] | Any | None,
    tools: Sequence[Any] | None = None,
    errors: ErrorMode = "report",
    tokenizer: Any = None,
    chat_template: str | None = None,
    deltas: bool = False,
    spans: bool = False,
    call_ids: bool | str = False,
    without: Collection[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    stages: Iterable[Any] = (),
    input_stages: Iterable[Any] = (),
    inner_stages: Mapping[str, Iterable[Any]] | None = None,
    chaining: bool = True,
    blocking: bool = False,
    read_ahead: bool = False,
    capacity: int = CAPACITY,
) -> ParseStream:
    """Parse what a source gives while it gives it; iterate over the result for events.

    ``source`` is an iterable or asynchronous iterable of pieces: text, UTF-8 bytes (cut anywhere), or, with
    ``tokenizer``, token ids, one or a list of them at a time. It may end with ``End(finish_reason=…)``. One text is a
    source too, and so is a ``Channel`` that pieces are sent into from elsewhere. A source is pulled as the events are
    asked for; one that blocks while it waits for text would block the event loop, and is read in a thread with
    ``blocking``.

    ``template`` (a dict, a path, the name of a bundled template, or a loaded one), ``prefix``, ``tools``, ``errors``
    (here ``"report"`` if nothing else is said), ``tokenizer``, ``deltas``, ``spans``, ``call_ids``, ``without`` and
    ``limits`` are those of ``ResponseParser``. Instead of a template, ``chat_template`` may be given: the response
    template is then inferred from it (``infer_response_template``), with a warning where that can't be verified.

    ``stages`` are stages of the user's own between the parser and the sink, ``input_stages`` between the source and
    the parser, ``inner_stages`` behind the named stage of the core (``detokenize``, ``regions``, ``content``,
    ``transform`` or ``message``; with ``deltas`` there is no ``content``, as all that makes a value is one stage): what
    changes a chunk behind ``regions`` changes the value too. The prefill's events don't pass them.
    ``streamparse.graph.stage`` says what a stage may be. ``chaining``, ``read_ahead`` and ``capacity`` are those of
    ``Graph``.

    Raises what ``ResponseParser`` raises for its arguments, and SourceError for what can't be a source.

    >>> import asyncio
    >>> async def show() -> None:
    ...     async with parse_stream(["<think>Hm", "m</think>Hello"], "qwen3", prefix="") as stream:
    ...         async for event in stream:
    ...             print(event["type"], event.get("field"), event.get("text"))
    ...     print(stream.message)
    >>> asyncio.run(show())
    region_open reasoning_content None
    region_chunk reasoning_content Hm
    region_chunk reasoning_content m
    region_close reasoning_content None
    region_open content None
    region_chunk content Hello
    region_close content None
    message None None
    {'role': 'assistant', 'reasoning_content': 'Hmm', 'content': 'Hello'}
    """
    if template is None and chat_template is not None:
        from streamparse.infer import infer_response_template  # it needs Jinja, which is an extra

        template = infer_response_template(chat_template).to_use()
    parser = ResponseParser(
        template,
        prefix,
        tools=tools,
        errors=errors,
        tokenizer=tokenizer,
        deltas=deltas,
        spans=spans,
        call_ids=call_ids,
        without=without,
        limits=limits,
    )
    reader = SourceReader(source, blocking=blocking, capacity=capacity)
    parsing = _Parsing(parser, reader)
    return ParseStream(
        parsing,
        [*input_stages, *parsing.stages(inner_stages or {}, chaining=chaining), *stages],
        chaining=chaining,
        read_ahead=read_ahead,
        capacity=capacity,
    )


@dataclass(frozen=True)
class StreamStatistics(GraphStatistics):
    """What a stream has seen so far; ``dataclasses.asdict`` makes a dict of it."""

    parser: ParserStatistics


class ParseStream(Graph[Event]):
    """The events of one generation: an asynchronous iterator, and an asynchronous context manager.

    The events of the prefill come first, then those of the generation, then one of type ``message`` with the whole
    ``message``, the ``problems`` and the ``finish_reason``. ``parse_stream`` makes it.

    **How it ends.** The source is closed (its ``aclose`` or ``close`` is awaited, even under cancellation, for a few
    seconds at most; a file is left open) before the last event is given. It is closed, and every task and thread has
    ended,

    - before an error is raised;
    - before the cancellation of an ``async for`` propagates;
    - before ``async with`` is left, or ``aclose()`` returns.

    ``stop()`` ends the generation and still gives its last events and the message.

    **Waiting with a deadline.** Cancelling ``await anext(stream)`` cancels that wait and nothing else: the source, of
    which a piece may have been asked, is not cancelled, and what comes is there at the next call, so a heartbeat is
    ``await asyncio.wait_for(anext(stream), 15)``, or the same in ``anyio.move_on_after``. The stream then ends when
    ``async with`` is left, by ``aclose()``, or when it is no longer referenced, as below. An ``async for`` that is
    cancelled has closed the stream, as its source is read in the reader's own task; to iterate again raises an error
    that says so. (``anext`` over a source that can't be cancelled without harm, as most can't, asks it in a task of
    the stream's own, which costs a few microseconds a piece.)

    A bare ``break`` without ``async with`` runs nothing. The source is closed soon after the last reference to the
    stream is gone (in CPython, with the ``break``), by a task of the event loop; a thread (``blocking``) ends at its
    source's next piece. On asyncio a loop that ends right after the ``break`` may cut that closing short, as it does
    for every asynchronous generator; trio waits for it. Streams that run tasks can't be iterated without ``async with``
    at all.

    A stream that was closed or has failed is at its end. Its events go to one reader.
    """

    __slots__ = ("_parsing",)

    def __init__(self, parsing: _Parsing, stages: Iterable[Any], **options: Any) -> None:
        super().__init__(parsing.reader, stages, **options)
        self._parsing = parsing

    def __repr__(self) -> str:
        """The template, the state of the stream, and counts."""
        return f"<ParseStream {self._parsing.parser.template.name}, {self._told()}>"

    @property
    def message(self) -> dict[str, Any] | None:
        """The message, from when the source has ended; None before."""
        return self._parsing.message

    @property
    def problems(self) -> list[dict[str, Any]]:
        """What went wrong so far, in the lenient modes."""
        return self._parsing.parser.problems

    @property
    def end(self) -> End | None:
        """What the source ended with, once it has, if it gave an ``End``."""
        return self._parsing.reader.end

    def stop(self, finish_reason: str = "stop") -> None:
        """End the generation now: what was read is still parsed, and then its last events and ``message`` come.

        The source is asked for nothing more, and is closed before the last event is given, as at its own end.
        ``finish_reason`` is what the ``message`` event then says; the generation counts as cut off whatever it is, so a
        tool call that is still open does not become one. May be called at any time by any task of the event loop,
        whether another one waits for an event or not, and before the first event too; after the end of the source it
        does nothing. From another thread, call it through the event loop (``loop.call_soon_threadsafe(stream.stop)``).
        (On trio, ``async for`` over a source that waits for a task group of its own goes on to that source's next
        piece.)

        >>> import asyncio
        >>> async def show() -> None:
        ...     async with parse_stream(["Hello ", "world", "!"], "qwen3", prefix="") as stream:
        ...         async for event in stream:
        ...             if event.get("text") == "world":
        ...                 stream.stop()
        ...     print(event["message"], event["finish_reason"])
        >>> asyncio.run(show())
        {'role': 'assistant', 'content': 'Hello world'} stop
        """
        self._end_source(End(finish_reason, cut_off=True))

    def statistics(self) -> StreamStatistics:
        """What the stream has seen so far: pieces, events, what each stage and each channel did, and the parser."""
        return StreamStatistics(**vars(super().statistics()), parser=self._parsing.parser.statistics())


class _Parsing:
    """The parser as a stage: the prefill's events first, the message last."""

    def __init__(self, parser: ResponseParser, reader: SourceReader) -> None:
        self.parser = parser
        self.reader = reader
        self.message: dict[str, Any] | None = None
        self.feed = parser.pipeline.feed  # not by way of the parser: this is the fast path

    def start(self) -> list[Event]:
        return self.parser.initial_events

    def finish(self) -> list[Event]:
        self.message, events = self.parser.finalize(self.how_it_ended())
        return [*events, self.message_event()]

    def finish_reason(self) -> str | None:
        return self.reader.end.finish_reason if self.reader.end is not None else None

    def how_it_ended(self) -> str | None:
        """The finish reason as the parser takes it."""
        return self.reader.end.for_parser if self.reader.end is not None else None

    def message_event(self) -> RawEvent:
        return message_event(self.message, self.parser.problems, self.finish_reason())

    def stages(self, inner: Mapping[str, Iterable[Any]], *, chaining: bool) -> list[Any]:
        """The core as one stage, or stage by stage where each is a task or others stand between them."""
        if chaining and not inner:
            return [Stage(self, "parse")]
        core = self.parser.stages(self.how_it_ended)
        unknown = inner.keys() - {stage.name for stage in core}
        if unknown:
            known = ", ".join(stage.name for stage in core)
            raise StreamparseError(f"the core has no stage {', '.join(sorted(unknown))}; its stages are {known}")
        declared = [work for stage in core for work in (stage, *inner.get(stage.name, ()))]
        return [*declared, Stage(_Ends(self), "ends")]


class _Ends:
    """The first and the last events of a stream whose core runs stage by stage."""

    def __init__(self, parsing: _Parsing) -> None:
        self._parsing = parsing

    def start(self) -> list[Event]:
        return self._parsing.parser.initial_events

    def feed(self, event: Event) -> list[Event]:
        return [event]

    def finish(self) -> list[Event]:
        self._parsing.message = self._parsing.parser.message
        return [self._parsing.message_event()]
