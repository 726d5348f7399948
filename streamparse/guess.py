"""Which bundled templates read an output, best first, and why.

In: the raw output of a model, whole or cut off, whose template nobody remembers. Out: a ``Guess`` for each bundled
template.

Each template parses the text, and three things are counted: markup that is left over in what a person would be shown,
regions that can't be read, and tool calls. *Markup* is what looks like a delimiter of any bundled template: the literal
parts of their delimiters, such as ``<think>`` or ``[TOOL_CALLS]``. The right template leaves none of it over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import regex

from streamparse.arguments import ErrorMode
from streamparse.errors import ParseError
from streamparse.events import RawEvent as Event
from streamparse.matching.delimiter import Delimiter
from streamparse.parser import ResponseParser
from streamparse.template import ResponseTemplate, get_response_template, response_template_names
from streamparse.template.end_mark import is_end_mark
from streamparse.template.literals import literal_parts, marks_of

READ_AT_MOST = 200_000
"""Characters of the text that are looked at; what is longer is treated as if it had been cut off there."""

_LEFT_AT_MOST = 5


@dataclass(frozen=True, slots=True)
class Guess:
    """How well one bundled template reads a text.

    ``rank`` is 1 for the best, and the same for templates that read the text equally well. ``prefix`` is how the
    prompt must have ended for this reading: empty, or an open delimiter such as ``<think>`` after the start anchor.
    ``message`` is what the template makes of the text, ``regions`` counts its regions by field, ``calls`` the tool
    calls that could be read, ``cut_off`` those that the end of the text interrupts, ``malformed`` the regions
    that can't be read, ``left`` the markup left over in the text, most frequent first, with how often it stands there
    in ``left_count``. ``markup`` counts the markup in the whole text; it is 0 where the text has none at all.
    """

    template: str
    rank: int
    prefix: str
    message: dict[str, Any]
    regions: dict[str, int]
    calls: int
    cut_off: int
    malformed: int
    left: tuple[str, ...]
    left_count: int
    markup: int

    @property
    def complete(self) -> bool:
        """Whether the template reads everything: nothing is malformed, and no markup is left over."""
        return not self.malformed and not self.left_count

    @property
    def tells(self) -> bool:
        """Whether the text says anything about its template: it has markup, or a call was read."""
        return self.markup > 0 or self.calls > 0 or self.cut_off > 0

    def reasons(self) -> list[str]:
        """Why it has this rank, in words.

        >>> guess_response_template("<think>Hm.</think>Hi<|im_end|>")[0].reasons()
        ['reads reasoning_content, content', 'no markup is left over']
        """
        read = [field for field in self.regions if field != "tool_calls"]
        read += [_counted(self.calls, "tool call")] if self.calls else []
        read += [f"{_counted(self.cut_off, 'tool call')} cut off by the end"] if self.cut_off else []
        said = [f"reads {', '.join(read)}" if read else "reads nothing"]
        said += [f"if the prompt ended with {self.prefix!r}"] if self.prefix else []
        said += [f"{_counted(self.malformed, 'region')} malformed"] if self.malformed else []
        if self.left_count:
            said.append(f"leaves {', '.join(self.left)} in the text")
        else:
            said.append("no markup is left over" if self.markup else "the text has no markup")
        return said


def guess_response_template(
    text: str, *, tools: Sequence[Any] | None = None, errors: ErrorMode = "report"
) -> list[Guess]:
    """Every bundled template, the one that reads ``text`` best first.

    ``text`` is the raw output of a model, special tokens included; it may end anywhere. Templates that read it equally
    well have the same ``rank`` and come by name: a text without markup is read alike by nearly all of them, and
    ``tells`` is false then. ``tools`` and ``errors`` are those of :class:`ResponseParser`. In strict mode a template
    that raises has one malformed region. Never raises for what a model wrote.

    >>> best, *others = guess_response_template("[TOOL_CALLS]add[ARGS]{\\"a\\": 1}</s>")
    >>> best.template, best.rank, best.calls, others[0].rank
    ('mistral', 1, 1, 2)
    """
    text = text[:READ_AT_MOST]
    markup = _markup_in([text]).total()
    readings = []
    for name in response_template_names():
        readings.append((name, _best(get_response_template(name), text, tools, errors)))
    readings.sort(key=lambda named: (named[1].order(), named[0]))
    orders = [reading.order() for _, reading in readings]
    return [reading.guess(name, orders.index(reading.order()) + 1, markup) for name, reading in readings]


@dataclass(frozen=True, slots=True)
class _Reading:
    """What one template makes of the text behind one prefix."""

    prefix: str
    message: dict[str, Any]
    regions: Counter[str]
    calls: int
    begun: int
    cut_off: int
    malformed: int
    left: Counter[str]

    def order(self) -> tuple[int, int]:
        """What readings are sorted by: least left over or malformed first, then most calls, read or named at least."""
        return self.left.total() + 2 * self.malformed, -self.calls - self.begun

    def guess(self, name: str, rank: int, markup: int) -> Guess:
        """The reading as it is given out."""
        left = tuple(text for text, _ in self.left.most_common(_LEFT_AT_MOST))
        return Guess(
            template=name,
            rank=rank,
            prefix=self.prefix,
            message=self.message,
            regions=dict(self.regions),
            calls=self.calls,
            cut_off=self.cut_off,
            malformed=self.malformed,
            left=left,
            left_count=self.left.total(),
            markup=markup,
        )


def _best(template: ResponseTemplate, text: str, tools: Sequence[Any] | None, errors: ErrorMode) -> _Reading:
    """The template's reading of the text; with an open region in the prompt only where that reads it better."""
    reading = _read(template, "", text, tools, errors)
    if reading.left or reading.malformed:
        others = [_read(template, prefix, text, tools, errors) for prefix in _prefixes(template)]
        reading = min([reading, *others], key=_Reading.order)
    return reading


def _read(
    template: ResponseTemplate, prefix: str, text: str, tools: Sequence[Any] | None, errors: ErrorMode
) -> _Reading:
    parser = ResponseParser(template, prefix, tools=tools, errors=errors, deltas=True)
    events, failed = list(parser.initial_events), 0
    message: dict[str, Any] = {}
    try:
        events += parser.feed(text)
        message, last = parser.finalize()
        events += last
    except ParseError:
        failed = 1
    return _reading(prefix, message, events, failed, template)


def _reading(
    prefix: str, message: dict[str, Any], events: list[Event], failed: int, template: ResponseTemplate
) -> _Reading:
    """Count what the events of a text say."""
    of_type: dict[str, list[Event]] = {}
    for event in events:
        of_type.setdefault(event["type"], []).append(event)
    named = sum("name" in event for event in of_type.get("region_delta", ()))
    broken = of_type.get("region_malformed", [])
    calls = len(message.get("tool_calls") or ())
    malformed = [event for event in broken if not event["incomplete"]]
    begun = min(max(named - calls, 0), 1)
    unlikely = max(len(broken) - len(malformed) - 1, 0)  # the end of a text is within one call at most
    shown = ["".join(event["text"] for event in of_type.get("region_chunk", ()) if not event["dirty"])]
    shown += [event["text"] for event in (malformed if begun else broken)]
    shown += [
        event["text"] for event in of_type.get("region_unclaimed", ()) if not is_end_mark(template, event["text"])
    ]
    return _Reading(
        prefix=prefix,
        message=message,
        regions=Counter(event["field"] for event in of_type.get("region_open", ())),
        calls=calls,
        begun=begun,
        cut_off=len(broken) - len(malformed),
        malformed=len(malformed) + unlikely + failed,
        left=_markup_in(shown),
    )


def _prefixes(template: ResponseTemplate) -> Iterator[str]:
    """How a prompt ends that opens a region of text itself, such as reasoning."""
    anchor = _beginning_of_turn(template.start_anchor)
    for field in template.fields.values():
        opened = _example(field.open) if field.streams else None
        if anchor and opened:
            yield anchor + opened


def _beginning_of_turn(anchor: Delimiter | None) -> str | None:
    """A literal of a start anchor behind which the message begins; one that ends another turn takes in what follows."""
    if anchor is None:
        return None
    if anchor.literals:
        return anchor.literals[-1]
    whole = anchor.compiled.fullmatch
    marks = (part + ending for part in literal_parts(anchor) if part for ending in ("", "\n"))
    return next((mark for mark in marks if whole(mark) and not whole(mark + "x")), None)


def _example(delimiter: Delimiter | None) -> str | None:
    """The shortest literal of a delimiter, or a literal part that its pattern matches as a whole, if there is one."""
    if delimiter is None:
        return None
    if delimiter.literals:
        return delimiter.literals[-1]
    parts = (part + ending for part in literal_parts(delimiter) if part for ending in ("", "\n"))
    return next(filter(delimiter.compiled.fullmatch, parts), None)


def _markup_in(texts: Iterable[str]) -> Counter[str]:
    return Counter(match for text in texts for match in _markup().findall(text))


@cache
def _markup() -> regex.Pattern[str]:
    """Any literal part of a bundled template's delimiter that can hardly be prose, the longest first."""
    parts = frozenset[str]().union(*(marks_of(get_response_template(name)) for name in response_template_names()))
    longest_first = sorted(parts, key=lambda part: (-len(part), part))
    return regex.compile("|".join(map(regex.escape, longest_first)))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
