"""Finds the tags of ``xml-inline`` in a text.

In comes a ``tag_pattern``; out goes a function that gives a text's tags in order, each with its key, its value, and
where the value stands. The tags are exactly those that ``regex`` finds. A pattern with a known shape (``tag_shape``)
is scanned for in time linear in the text; any other is searched for by ``regex``, for a limited time.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

import regex

from streamparse.errors import ContentError, LimitError
from streamparse.limits import how_to_raise
from streamparse.stages.content.tag_parts import (
    Edge,
    LineBreak,
    Literal,
    Step,
    character_test,
    run_ends,
    run_step,
    sequence_step,
)
from streamparse.stages.content.tag_pattern import compile_tag_pattern
from streamparse.stages.content.tag_shape import TagShape, recognise


class Tag(NamedTuple):
    """One tag: its key, its value (None where the group took no part in the match), and where the value starts.

    ``start`` and ``end`` are where the tag itself stands, maybe without what can be left out at its edges; ``kind`` is
    what it says that its value is, if that is asked for (``KIND_GROUPS``).
    """

    key: str
    value: str | None
    position: int
    start: int
    end: int
    kind: str | None = None


KIND_GROUPS = ("string", "type")
"""The groups of a tag pattern that say what a value is: whether it is a string, or its type."""

FindTags = Callable[[str], Iterator[Tag]]


def tag_finder(pattern: str, seconds: float, *, kinds: bool = False) -> FindTags:
    r"""Make the function that finds the tags of ``pattern``, with ``kinds`` also theirs; raises FaultyPattern.

    >>> [*tag_finder(r"<(?P<key>\w+)>(?P<value>.*?)</\1>", 1.0)("<a>1</a> <b>2</b>")]  # doctest: +NORMALIZE_WHITESPACE
    [Tag(key='a', value='1', position=3, start=0, end=8, kind=None),
     Tag(key='b', value='2', position=12, start=9, end=17, kind=None)]
    """
    compiled = compile_tag_pattern(pattern)
    kind_group = next((name for name in KIND_GROUPS if kinds and name in compiled.groupindex), None)
    shape = recognise(pattern)
    if shape is None:
        return pattern_finder(compiled, seconds, kind_group)
    return shape_finder(shape, kind_reader(compiled, shape, kind_group) if kind_group else None)


def kind_reader(pattern: regex.Pattern[str], shape: TagShape, group: str) -> Callable[[str, str], str | None]:
    """Make the function from a tag's head and key to its kind: it matches the tag without the value."""

    def read(head: str, key: str) -> str | None:
        closing = shape.closing if shape.closing_end is None else shape.closing + key + shape.closing_end
        match = pattern.match(head + closing)
        return match[group] if match is not None else None

    return read


def pattern_finder(pattern: regex.Pattern[str], seconds: float, kind_group: str | None = None) -> FindTags:
    """Make a function that searches with ``regex`` itself, for at most ``seconds`` a text."""
    groups = pattern.groupindex

    def find(text: str) -> Iterator[Tag]:
        try:
            for match in pattern.finditer(text, timeout=seconds):
                key = match["key"] if "key" in groups else None
                if key is None:
                    reason = f"tag_pattern needs a group 'key' that takes part in every match: {pattern.pattern}"
                    raise ContentError(reason, position=match.start())
                value, position = (match["value"], match.start("value")) if "value" in groups else ("", match.start())
                yield Tag(key, value, position, *match.span(), match[kind_group] if kind_group else None)
        except TimeoutError:
            reason = f"tag_pattern took more than {seconds} s; make it simpler, or {how_to_raise('pattern_seconds')}"
            raise LimitError(reason, limit="pattern_seconds") from None

    return find


def shape_finder(shape: TagShape, kind_of: Callable[[str, str], str | None] | None = None) -> FindTags:
    """Make a function that scans for tags of a known shape; ``kind_of`` gives a tag's kind by its head and key.

    Each part ends in one way only, so the first closing text after a value's start ends it, and where there is none,
    there is none for any later tag either.
    """
    first = shape.opening[0]
    assert isinstance(first, Literal)
    opening = first.text

    def find(text: str) -> Iterator[Tag]:
        start = text.find(opening)
        if start == -1:
            return
        opened, ends_of_value = sequence_step(shape.opening), closings(shape, text)
        keys = any_keys(shape, text) if shape.key is None else run_keys(shape, text)
        while start != -1:
            position = opened(text, start)
            found = keys(position) if position != -1 else AGAIN
            if found is NEVER:
                return
            key_end, value_start = found
            end = ends_of_value(text[position:key_end], value_start) if found is not AGAIN else AGAIN
            if end is NEVER:
                return
            if end is AGAIN:
                start = text.find(opening, start + 1)
                continue
            value_end, tag_end = end
            key = text[position:key_end]
            kind = kind_of(text[start:value_start], key) if kind_of else None
            yield Tag(key, text[value_start:value_end], value_start, start, tag_end, kind)
            start = text.find(opening, tag_end)

    return find


Found = tuple[int, int]
AGAIN: Found = (-1, -1)
"""There is nothing for this tag; another one may have it."""
NEVER: Found = (-2, -2)
"""There is nothing for this tag or any after it."""


def run_keys(shape: TagShape, text: str) -> Callable[[int], Found]:
    """Make the function from where a key of one class starts to where it ends and where the value starts."""
    assert shape.key is not None
    key_step = run_step(shape.key)
    after_key = between_step(shape)

    def find(position: int) -> Found:
        end = key_step(text, position)
        value_start = after_key(text, end) if end != -1 else -1
        return (end, value_start) if value_start != -1 else AGAIN

    return find


def any_keys(shape: TagShape, text: str) -> Callable[[int], Found]:
    """Make the function from where a key of any text starts to where it ends and where the value starts."""
    first = shape.between[0]
    assert isinstance(first, Literal)
    mark = first.text
    after_key = between_step(shape)

    def find(position: int) -> Found:
        end = text.find(mark, position + shape.key_minimum)
        while end != -1:
            value_start = after_key(text, end)
            if value_start != -1:
                return end, value_start
            end = text.find(mark, end + 1)
        return NEVER

    return find


def closings(shape: TagShape, text: str) -> Callable[[str, int], Found]:
    """Make the function from a key and where its value starts to where the value and the tag end."""
    find_closing = closing_by_key(shape, text) if shape.closing_end is not None else None
    length = len(shape.closing)
    trim = trimmed_end(shape.after_value)

    def find(key: str, start: int) -> Found:
        if find_closing is not None:
            closing = find_closing(key, start)
            if closing == -1:
                return AGAIN
            return trim(text, start, closing), closing + length + len(key) + len(shape.closing_end or "")
        closing = text.find(shape.closing, start)
        return (trim(text, start, closing), closing + length) if closing != -1 else NEVER

    return find


def closing_by_key(shape: TagShape, text: str) -> Callable[[str, int], int]:
    """Make the function that finds the closing text with a certain key in it; all of them are listed in one pass."""
    assert shape.key is not None
    places: defaultdict[str, list[int]] = defaultdict(list)
    key_step = run_step(shape.key)
    place = text.find(shape.closing)
    while place != -1:
        start = place + len(shape.closing)
        end = key_step(text, start)
        if end != -1 and text.startswith(shape.closing_end or "", end):
            places[text[start:end]].append(place)
        place = text.find(shape.closing, start)

    def find(key: str, start: int) -> int:
        of_key = places.get(key, ())
        index = bisect.bisect_left(of_key, start)
        return of_key[index] if index < len(of_key) else -1

    return find


def trimmed_end(run: Edge) -> Callable[[str, int, int], int]:
    """Make the function that takes a run's characters off the end of a value, given text, start and end."""
    if run is None:
        return lambda _text, _start, end: end
    if isinstance(run, LineBreak):
        return without_line_break
    characters = character_test(run.chars)

    def trim(text: str, start: int, end: int) -> int:
        least = start if run.maximum is None else max(start, end - run.maximum)
        while end > least and characters(text[end - 1]):
            end -= 1
        return end

    return trim


def without_line_break(text: str, start: int, end: int) -> int:
    r"""Find where a value ends without the line break at its end.

    >>> without_line_break("a\r\n", 0, 3), without_line_break("a\n", 0, 2), without_line_break("a\r", 0, 2)
    (1, 1, 2)
    """
    if end > start and text[end - 1] == "\n":
        end -= 1
        if end > start and text[end - 1] == "\r":
            end -= 1
    return end


def after_line_break(text: str, start: int) -> int:
    """Find where a value starts behind the line break at its start, if there is one."""
    if text.startswith("\n", start):
        return start + 1
    return start + 2 if text.startswith("\r\n", start) else start


def between_step(shape: TagShape) -> Step:
    """Make the step from the end of a key to the start of its value."""
    between = sequence_step(shape.between)
    run = shape.before_value
    if run is None:
        return between
    if isinstance(run, LineBreak):

        def over_line_break(text: str, position: int) -> int:
            start = between(text, position)
            return start if start == -1 else after_line_break(text, start)

        return over_line_break
    run_end = run_ends(run.chars)

    def step(text: str, position: int) -> int:
        start = between(text, position)
        if start == -1:
            return -1
        end = run_end(text, start)
        if end - start < run.minimum:
            return -1
        return end if run.maximum is None else min(end, start + run.maximum)

    return step
