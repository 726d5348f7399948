r"""The next call of one pair of marks: right behind a call's value a model goes on with another one, without its mark.

In comes the field, and what stands behind the value. Out comes where the next call's value begins, and the captures of
its open: the field's open delimiter matches once its mark is put back before that text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import regex

from streamparse.stages.recovery.mode import structure_of
from streamparse.stages.recovery.terminators import marks_of
from streamparse.template.model import Field

BETWEEN = re.compile(r"[\s,;]*+")
"""What may stand between two calls."""

LONGEST = 256
"""How much of a text is looked at: a separator, and a name."""


class NextCall(NamedTuple):
    """Behind a value: where the open of the next call begins and ends, and what it captures."""

    start: int
    end: int
    captures: dict[str, str]


def next_call(field: Field, behind: str) -> NextCall | None:
    r"""The next call of the same marks; None where the text behind a value begins none.

    >>> from streamparse import get_response_template
    >>> next_call(get_response_template("gemma4").fields["tool_calls"], ",call:g{b:2}")
    NextCall(start=1, end=7, captures={'name': 'g'})
    """
    text = behind[:LONGEST]
    start = BETWEEN.match(text).end()  # type: ignore[union-attr]
    for match, size in _matches(field, text[start:]):
        end = start + match.end() - size
        if not match.partial and match.end() >= size and _begins(field, text[end:]):
            captures = {name: value for name, value in match.groupdict().items() if value is not None}
            return NextCall(start, end, captures)
    return None


def may_become_next_call(field: Field, behind: str) -> bool:
    """Whether more text may make a next call of what stands behind a value, which is none yet."""
    if len(behind) >= LONGEST:
        return False
    text = behind[BETWEEN.match(behind).end() :]  # type: ignore[union-attr]
    for match, size in _matches(field, text):
        if match.partial or (match.end() >= size and _begins(field, text[match.end() - size :]) is None):
            return True
    return False


def _matches(field: Field, text: str) -> Iterator[tuple[regex.Match[str], int]]:
    """The matches of the open delimiter with each of its marks put before the text, and the marks' sizes."""
    if field.open is None or not (field.open.groups or field.policy.ends_with_value):
        return  # its values follow each other in one region, which the repair of its format reads
    for mark in sorted(marks_of(field.open), key=len, reverse=True):
        match = field.open.compiled.match(mark + text, partial=True)
        if match is not None:
            yield match, len(mark)


def _begins(field: Field, text: str) -> bool | None:
    """Whether a value of the field begins with this text; None where that can't be told yet."""
    reader = structure_of(field)
    reader.feed(text)
    return False if reader.broken else reader.begins
