r"""Mends the content of ``json`` regions: one JSON value, or several one after another.

In comes a text that isn't JSON; out comes the value that it certainly stands for. What is mended: raw line breaks, tabs
and control characters in strings, backslashes that start no escape, quotes that weren't escaped but come in pairs,
single quotes, keys without quotes or, in a dialect, with blanks, arguments in parentheses, line breaks that are spelled
``\n`` between tokens, Python's literals, numbers that JSON writes otherwise, commas that are missing,
doubled or trailing, equals signs for colons, doubled braces, comments, wrong or additional brackets at the end, a code
fence around the value or the word ``json`` before it, text after it, and several values, which become a list. In a
dialect, a string delimiter inside a string is a quote character.

Where a list of calls can't be read as a whole, ``listed_calls`` reads its calls one by one.

What is not: strings that aren't closed, values that are missing or are words without quotes, and (unless the region's
close has been seen) missing brackets at the end, since a truncated call must never count as a call. Nor text after the
value that may be part of it, as in ``{"name": "f"}, "arguments": {}``.

Why no library does this: ``json-repair`` (0.64) makes a value of everything. It closes strings and objects that were
cut off, also in its strict mode, puts ``""`` for a missing value, reads ``NaN`` as a text and ``"x \n"`` as ``"x"``,
drops what it can't place, and takes minutes for 100 kB of ``"a","b"``, again and again. ``fast-json-repair`` guesses
more (``\d`` loses its backslash). ``json5``, ``demjson3`` and ``dirtyjson`` are readers of other dialects, without
missing commas or Python's literals.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from streamparse.errors import ContentError
from streamparse.formats.reading import Reading
from streamparse.formats.scalars import MENDED_NUMBERS
from streamparse.repair.listed_calls import mend_listed_calls
from streamparse.repair.nested import TOO_MANY, Grammar, NestedReader
from streamparse.repair.outcome import Damaged, Mended
from streamparse.repair.strings import Quote
from streamparse.stages.content.json_dialect import string_delimiters

FENCE = re.compile(r"`++[ \t]*+\w*+\s*+")
CLOSING_FENCE = re.compile(r"\s*+`++\s*+")
WORD_BEFORE = re.compile(r"(?i:json)\b\s*+:?\s*+")
BRACKETS_AT_END = re.compile(r"[\]}][\]}\s]*+(?:`++\s*+)?\Z")
# What text after a value may not have in it, nor begin with, lest it is a part of the value or another one.
BRACKET = re.compile(r"[\[{]")
CONTINUES = tuple(",:=;\"'`)]}")


def mend_json(damaged: Damaged) -> Mended:
    r"""Read a text as JSON, tolerantly.

    >>> mend_json(Damaged(r'''```json
    ... {'pattern': '\d+', "all": True,}
    ... ```''')).value
    {'pattern': '\\d+', 'all': True}
    """
    try:
        return mend_whole(damaged)
    except ContentError:
        listed = mend_one_by_one(damaged) if damaged.lists_calls else None
        if listed is None:
            raise
        return listed


def mend_one_by_one(damaged: Damaged) -> Mended | None:
    """Read the calls of a list by themselves; None where the text is no such list."""
    reading = Reading(damaged.text)
    reader = NestedReader(reading, replace(grammar_of(damaged), allow_truncated=False))
    before_value(reading)
    return mend_listed_calls(reading, reader.value, closed=damaged.allow_truncated)


def mend_whole(damaged: Damaged) -> Mended:
    """Read all of a text; raises ContentError."""
    reading = Reading(damaged.text)
    reader = NestedReader(reading, grammar_of(damaged))
    before_value(reading)
    values = [reader.value()]
    if isinstance(values[0], (int, float)) and not MENDED_NUMBERS.isdisjoint(reading.repaired):
        reading.fail("the number may not be whole")  # outside lists and objects nothing shows its end
    while isinstance(values[-1], (list, dict)) and another_follows(reading):
        values.append(reader.value())
    after_values(reading, reader, values[-1])
    check_brackets_at_end(reading, reader, damaged, several=len(values) > 1)
    return Mended(joined(values, damaged), [*reading.repaired])


def grammar_of(damaged: Damaged) -> Grammar:
    """Give the grammar that a JSON region's arguments choose."""
    arguments = damaged.arguments
    try:
        pairs = string_delimiters(arguments.get("string_delims", ()))
    except ValueError:
        pairs = ()
    quotes = tuple(Quote(opening, closing, escapes=False) for opening, closing in pairs if opening and closing)
    unquoted = bool(arguments.get("unquoted_keys", False))
    return Grammar(quotes, unquoted, False, damaged.limits.json_depth, damaged.allow_truncated)


def before_value(reading: Reading) -> None:
    """Pass over a code fence and the word ``json``, if they stand before a value."""
    reading.blanks()
    if fence := FENCE.match(reading.text, reading.position):
        reading.position = fence.end()
        reading.mends("a code fence around the value")
    elif word := WORD_BEFORE.match(reading.text, reading.position):
        reading.position = word.end()
        reading.mends("the word json before the value")
    reading.blanks()


def another_follows(reading: Reading) -> bool:
    """Pass over what stands between values, if a list or an object follows: blanks, a comma or semicolon, a fence."""
    start = reading.position
    if fence := CLOSING_FENCE.match(reading.text, reading.position):
        reading.position = fence.end()
    reading.blanks()
    if reading.take(",") or reading.take(";"):
        reading.blanks()
    if fence := FENCE.match(reading.text, reading.position):
        reading.position = fence.end()
    if reading.at(("{", "[")):
        reading.mends("several values")
        return True
    reading.position = start
    return False


def after_values(reading: Reading, reader: NestedReader, last: Any) -> None:
    """Pass over what may be dropped after the last value; raises ContentError for what may belong to it."""
    reading.blanks()
    if isinstance(last, (list, dict)):
        if brackets := BRACKETS_AT_END.match(reading.text, reading.position):
            reader.too_many.update(bracket for bracket in brackets[0] if bracket in "]}")
            reading.position = brackets.end()
            reading.mends(TOO_MANY)
        elif reading.at((",", ";")) and not reading.text[reading.position + 1 :].strip(" \t\n\r`"):
            reading.position += 1
            reading.mends("a comma after the value")
    if fence := CLOSING_FENCE.match(reading.text, reading.position):
        reading.position = fence.end()
    reading.blanks()
    if reading.ended:
        return
    may_continue = reading.at(CONTINUES) or BRACKET.search(reading.text, reading.position)
    if may_continue or not isinstance(last, (list, dict)):
        reading.fail("there is more after the value, which may be a part of it")
    reading.mends("text after the value")


def check_brackets_at_end(reading: Reading, reader: NestedReader, damaged: Damaged, *, several: bool) -> None:
    """Refuse a bracket too many at the end where an earlier one may be it: then members would be in a wrong place."""
    if TOO_MANY not in reading.repaired:
        return
    if reader.resumed.intersection(reader.too_many) or (
        several and not (damaged.lists_calls and reader.too_many == {"]"})
    ):
        reading.fail("one closing bracket is too many, and it may be any of several")


def joined(values: list[Any], damaged: Damaged) -> Any:
    """Make one value of all of them."""
    if len(values) == 1:
        return values[0]
    if not damaged.lists_calls:
        return values
    return [item for value in values for item in (value if isinstance(value, list) else [value])]
