"""The parser: one generation in, events and a message out; synchronous, without I/O.

``ResponseParser`` has the interface of transformers' (``transformers.utils.chat_parsing``), so that changing the
import is all that moving takes. It has the arguments, the life cycle and the snapshots; parsing itself is in
``pipeline.py``, the short forms in ``short_forms.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Self

from streamparse.arguments import ErrorMode, Options, as_text, field_names, template_for
from streamparse.downstream import PipelineStage
from streamparse.errors import FinalizedError, PrefixError, SnapshotError, TemplateError
from streamparse.events import Event
from streamparse.limits import DEFAULT_LIMITS, Limits
from streamparse.pipeline import Pipeline
from streamparse.snapshot import damaged, expect_like, state_from_bytes, state_to_bytes
from streamparse.statistics import ParserStatistics
from streamparse.template import ResponseTemplate, TemplateSource, load_response_template


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

    __slots__ = ("__dict__", "__weakref__", "_initial_events", "_limits", "pipeline")

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
        pipeline = Pipeline(template_for(response_template, tokenizer), tools, options, tokenizer, limits)
        if prefix is None:
            raise PrefixError(
                "the prefix (the prompt that the model was given) is needed, because chat templates often write the "
                "beginning of the message themselves, such as an open <think>, and without it the output would be read "
                'wrongly; pass prefix="" if the generation is the whole message'
            )
        self.pipeline = pipeline
        self._limits = limits
        self._initial_events = pipeline.feed_prefix(as_text(prefix, tokenizer))

    def __repr__(self) -> str:
        """The template, the state of the parser, and counts.

        >>> parser = ResponseParser("qwen3", prefix="")
        >>> events = parser.feed("<think>Hm</think>Hi")
        >>> parser
        <ResponseParser qwen3, open in 'content', 19 characters, 1 region>
        """
        seen = self.statistics()
        state = "ended" if self.pipeline.ended else f"open in {seen.open_region!r}" if seen.open_region else "open"
        return (
            f"<{type(self).__name__} {self.template.name}, {state}, {seen.characters} characters, "
            f"{seen.regions} region{'' if seen.regions == 1 else 's'}>"
        )

    def feed(self, text: str | bytes | int | Sequence[int]) -> list[Event]:
        """The events that the next piece of the generation decides.

        ``text`` is a piece of text, of UTF-8 bytes (cut anywhere), or, with ``tokenizer``, a token id or several; all
        pieces of one generation are of the same kind. Raises :class:`ParseError` in strict mode for what can't be
        parsed (its ``events`` are those before the fault), :class:`LimitError` at a limit, and :class:`FinalizedError`
        after the end.
        """
        return self.pipeline.feed(text)

    def finalize(self, finish_reason: str | None = None) -> tuple[dict[str, Any], list[Event]]:
        """End the generation: the message, and the last events.

        ``finish_reason`` is why the generation ended, where that is known: ``"length"`` says that it was cut off, so in
        the lenient modes a tool call that is still open does not count. Raises like :meth:`feed`, and
        :class:`ParseError` in strict mode where a required field is missing.
        """
        pipeline = self.pipeline
        if pipeline.ended is not None:
            raise FinalizedError(pipeline.ended)
        events = pipeline.guard(pipeline.finish, finish_reason)
        pipeline.ended = "the parser has been finalized; start a new one for the next generation"
        return self.message, events

    @property
    def initial_events(self) -> list[Event]:
        """The events of the prefix, to be shown before those of the first :meth:`feed`."""
        return list(self._initial_events)

    @property
    def problems(self) -> list[dict[str, Any]]:
        """What went wrong so far (lenient modes): malformed regions, missing fields, a prefix without its anchor."""
        return self.pipeline.downstream.fold.problems

    @property
    def template(self) -> ResponseTemplate:
        """The loaded template, without the fields that are switched off."""
        return self.pipeline.template

    @property
    def held(self) -> int:
        """Characters held back because they may still become part of a delimiter."""
        return self.pipeline.held

    def statistics(self) -> ParserStatistics:
        """What the parser has seen since it was made or restored."""
        return self.pipeline.statistics()

    def snapshot(self, *, message: bool = True) -> bytes:
        """The parser's state, to be taken up elsewhere with :meth:`restore`; between any two pieces.

        JSON: the open region, the held text, and the message so far, which ``message=False`` leaves out for those who
        keep only events.
        """
        try:
            return state_to_bytes(self.pipeline.snapshot(message=message), self._limits.snapshot_size)
        except Exception as error:
            self.pipeline.blame_snapshot(error)
            raise

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
            parser.pipeline = Pipeline(template, tools, options, tokenizer, limits, restored=True)
            parser._limits = limits
            parser._initial_events = []
            if state["template"] != parser.template.digest:
                raise SnapshotError(
                    "the snapshot was taken with another response template; give the one it was taken with"
                )
            fresh = parser.pipeline.snapshot(message="message" in state["message"])
            expect_like(state, fresh, "state")
            parser.pipeline.restore(state)
        except SnapshotError:
            raise
        except Exception as error:
            if isinstance(error, TemplateError) and state.get("template") != template.digest:
                raise SnapshotError(
                    f"the snapshot belongs to another response template, or is damaged: {error}"
                ) from error
            raise damaged(error) from error
        return parser

    def stages(self, finish_reason: Callable[[], str | None]) -> list[PipelineStage]:
        """The stages one by one, for a graph that runs each as a task; the parser is not fed any more then.

        ``finish_reason`` is asked when the source has ended. The prefix has been through them already.
        """
        self.pipeline.ended = "the stages of this parser run by themselves"
        return self.pipeline.stages(finish_reason)

    @property
    def message(self) -> dict[str, Any]:
        """The message so far."""
        return self.pipeline.downstream.fold.message
