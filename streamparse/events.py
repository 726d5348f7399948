"""The events that a parser gives out: plain dicts, described here for type checkers and readers.

The first three are those of transformers' parser (``transformers.utils.chat_parsing``) and have exactly its keys,
unless more was asked for. Keys marked NotRequired come with ``spans=True`` or in the lenient modes only.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class RegionOpen(TypedDict):
    """A region opened: at its open delimiter, or, for the implicit field, with its first character."""

    type: Literal["region_open"]
    field: str
    start: NotRequired[int]
    end: NotRequired[int]
    token_start: NotRequired[int]
    token_end: NotRequired[int]
    captures: NotRequired[dict[str, str]]


class RegionChunk(TypedDict):
    """A piece of the open region's raw text. ``dirty`` means that only the parsed value is fit to show."""

    type: Literal["region_chunk"]
    field: str
    text: str
    dirty: bool
    start: NotRequired[int]
    end: NotRequired[int]
    token_start: NotRequired[int]
    token_end: NotRequired[int]


class RegionClose(TypedDict):
    """A region ended; ``value`` is what its text parsed to. ``repaired`` lists what was mended, if anything was.

    ``unclosed`` is true, in the lenient modes, where a text such as reasoning ended without its close delimiter.
    """

    type: Literal["region_close"]
    field: str
    value: Any
    repaired: NotRequired[list[str]]
    unclosed: NotRequired[bool]
    start: NotRequired[int]
    end: NotRequired[int]
    token_start: NotRequired[int]
    token_end: NotRequired[int]


class RegionMalformed(TypedDict):
    """A region ended whose text has no value (lenient modes, in place of ``region_close``).

    ``text`` is the raw text, ``open`` and ``close`` are the delimiters around it as they were written (the empty text
    where there was none; of one call of a list, those of the list). ``error`` says what is wrong with it, ``position``
    where (a character of the generation, or None), ``partial`` what could be read, ``incomplete`` whether the
    generation ended inside.
    """

    type: Literal["region_malformed"]
    field: str
    text: str
    open: str
    close: str
    error: str
    position: int | None
    captures: dict[str, str]
    partial: Any
    incomplete: bool
    start: NotRequired[int]
    end: NotRequired[int]
    token_start: NotRequired[int]
    token_end: NotRequired[int]


class RegionDelta(TypedDict):
    """What has become certain of a tool call while it is written (with ``deltas=True``).

    ``index`` counts the calls. The ``arguments`` of one call, put together, are the JSON text of its arguments.
    """

    type: Literal["region_delta"]
    field: str
    index: int
    id: NotRequired[str]
    name: NotRequired[str]
    arguments: NotRequired[str]


class RegionUnclaimed(TypedDict):
    """Text that no field claims (lenient modes).

    ``mark`` is true where it is a mark of the family's own that delimits nothing; it is also among the problems.
    """

    type: Literal["region_unclaimed"]
    text: str
    start: int
    end: int
    mark: NotRequired[bool]


class Message(TypedDict):
    """The last event of a generation: the message, what went wrong, and why the generation ended.

    ``usage``, where many generations are parsed at once, is that of the generation's ``End``, if it had one.
    """

    type: Literal["message"]
    message: dict[str, Any]
    problems: list[dict[str, Any]]
    finish_reason: str | None
    usage: NotRequired[Any]


class Error(TypedDict):
    """The last event of a generation that failed, where many are parsed at once, in place of ``message``.

    ``error`` says what went wrong, ``kind`` is the name of the error's class, ``message`` what had been read by
    then, without the region that was open if it was the parser that stopped.
    """

    type: Literal["error"]
    error: str
    kind: str
    message: dict[str, Any]
    problems: list[dict[str, Any]]


class ConsumerDropped(TypedDict):
    """The last event of a consumer of a broadcast that was dropped: ``last`` is the number of the last that it got."""

    type: Literal["consumer_dropped"]
    error: str
    last: int


Event: TypeAlias = (
    RegionOpen
    | RegionChunk
    | RegionClose
    | RegionMalformed
    | RegionDelta
    | RegionUnclaimed
    | Message
    | Error
    | ConsumerDropped
)
"""Any of the above. To compare ``event["type"]``, or to ``match`` on it, tells type checkers which one it is."""

RawEvent: TypeAlias = Any
"""An event inside of the package, where stages make one kind of another step by step: a dict with the keys above."""


def message_event(
    message: dict[str, Any] | None, problems: list[dict[str, Any]], finish_reason: str | None
) -> RawEvent:
    """The last event of a generation."""
    return {"type": "message", "message": message, "problems": problems, "finish_reason": finish_reason}


def error_event(error: Exception, message: dict[str, Any], problems: list[dict[str, Any]]) -> Error:
    """The last event of a generation that failed.

    >>> error_event(ValueError("too bad"), {"role": "assistant"}, [])  # doctest: +NORMALIZE_WHITESPACE
    {'type': 'error', 'error': 'too bad', 'kind': 'ValueError', 'message': {'role': 'assistant'}, 'problems': []}
    """
    text, kind = str(error), type(error).__name__
    return {"type": "error", "error": text or kind, "kind": kind, "message": message, "problems": problems}


def consumer_dropped_event(error: str, last: int) -> ConsumerDropped:
    """The last event of a consumer that was dropped, whose generation goes on."""
    return {"type": "consumer_dropped", "error": error, "last": last}
