r"""Mends the content of ``xml-inline`` regions: a tag for each key.

In comes a text, and the ``tag_pattern`` that its tags should be written by; out come the values that it certainly
stands for. Such a text nearly always parses, whatever is wrong with it: tags that aren't whole are passed over, and a
value ends at the first closing tag. So what counts is what the markup says:

- A closing tag, or a whole tag, that is quoted in a value is text of the value. Beginnings and closing tags belong
  together as brackets do, and the closing tag that counts is the last one before the next tag or the end.
- A value without a closing tag ends where the next tag begins, at the start of a line; and at the end of the text, if
  the region's close has been seen: after a line break, or anywhere if what follows shows that it is the close.
- A closing tag of a similar name (``</param>``) in that place counts. Doubled ones are dropped, and so are tags at the
  edges of a key. Tags that close around the text (``</function>``) may stand at its end.
- Text between tags, a tag that isn't whole (``<parameter=path`` without its ``>``), and a key with a tag in it can't be
  mended: an argument may have been lost there, and a call without it must not run.
- A text without tags that is a JSON object is the arguments, written as JSON.

A pattern whose tags have no known shape, or have the key in their closing tag too, is only checked for text between.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import regex

from streamparse.errors import ContentError, ParseError
from streamparse.repair.json_repair import mend_json
from streamparse.repair.outcome import Damaged, Mended
from streamparse.repair.tag_likeness import (
    closing_name,
    may_begin_a_tag,
    misspelt_at_end,
    remains_of_closing,
    resembles,
)
from streamparse.repair.tag_marks import Mark, marks_in
from streamparse.repair.tag_spelling import respelled
from streamparse.repair.values import value_mender
from streamparse.stages.content.table import content_error
from streamparse.stages.content.tag_parts import Literal
from streamparse.stages.content.tag_pattern import FaultyPattern, compile_tag_pattern
from streamparse.stages.content.tag_scanner import KIND_GROUPS, Tag, kind_reader, tag_finder, trimmed_end
from streamparse.stages.content.xml_inline import assembler
from streamparse.stages.structure.tag_outline import TagOutline, tag_outline

CLOSING_TAGS = regex.compile(r"(?:\s*+</[^<>\s]++>)*+\s*+")
LAST_CLOSING_TAG = regex.compile(r"</([^<>\s]++)>\Z")
FOLLOWS = regex.compile(r"(?P<blanks>\s*+)(?!</)(?P<line>[^\n]{1,100})")
LONGEST_WRAPPER = 100
WRONG_CLOSING = regex.compile(r"<[/\\ ]*+([^<>\s/\\][^<>\n]{0,60})>")
QUOTED_TAG, QUOTED_CLOSING = "a tag inside a value", "a closing tag inside a value"
QUOTED = frozenset({QUOTED_TAG, QUOTED_CLOSING})


compiled_once = lru_cache(256)(compile_tag_pattern)


def mend_tags(damaged: Damaged) -> Mended:
    r"""Read a text as tags, by what its markup says.

    >>> pattern = r"<p=(?P<key>\w+)>\n?(?P<value>.*?)\n?</p>"
    >>> mend_tags(Damaged("<p=a>\n1\n<p=b>\n2\n</p>", {"tag_pattern": pattern}))
    Mended(value={'a': '1', 'b': '2'}, repaired=['a missing closing tag'], faults=[])
    >>> mend_tags(Damaged("<p=a>\nquotes </p> here\n</p>", {"tag_pattern": pattern})).value
    {'a': 'quotes </p> here'}
    """
    pattern = damaged.arguments.get("tag_pattern")
    if not isinstance(pattern, str):
        raise ContentError("xml-inline needs the argument tag_pattern")
    try:
        compiled = compiled_once(pattern)
    except FaultyPattern as error:
        raise ContentError(f"tag_pattern can't be compiled: {error}") from None
    outline = tag_outline(pattern)
    followed = outline is not None and outline.shape.closing_end is None
    if not damaged.text.strip():
        return Mended({})
    repaired: dict[str, None] = {}
    if outline is not None and (text := respelled(damaged.text, outline)) != damaged.text:
        damaged = replace(damaged, text=text)
        repaired["misspelt tags"] = None
    if not (outline is not None and outline.start in damaged.text) and (arguments := json_object(damaged)) is not None:
        return arguments
    tags = (
        followed_tags(damaged, outline, compiled, repaired)
        if outline is not None and followed
        else found_tags(damaged, pattern)
    )
    preparation = value_mender(damaged, repaired)
    values = assembler(damaged.arguments, preparation)([*tags])
    return Mended(values, [*repaired])


def check_tags(text: str, arguments: Mapping[str, Any]) -> str | None:
    r"""Say what the markup of a text that parsed shows to be wrong with it; None where all of it is tags.

    For the mode that mends nothing: such a text may have lost arguments.

    >>> pattern = r"<p=(?P<key>\w+)>\n?(?P<value>.*?)\n?</p>"
    >>> check_tags("<p=a>1</p> <p=b", {"tag_pattern": pattern})
    'the tag is not whole'
    >>> check_tags("<p=a>1</p>\n<p=b>2</p>", {"tag_pattern": pattern}) is None
    True
    """
    try:
        mended = mend_tags(Damaged(text, without_value_parser(arguments), allow_truncated=True))
    except ParseError as error:
        return error.reason
    return ", ".join(mended.repaired) or None


def read_quoting_tags(damaged: Damaged) -> Mended | None:
    r"""Read a text whose values quote tags; None where anything else is wrong with it.

    That a tag ends a value only where what follows fits is how such a text is written, so that no mode that mends is
    needed for it.

    >>> pattern = r"<p=(?P<key>\w+)>\n?(?P<value>.*?)\n?</p>"
    >>> read_quoting_tags(Damaged("<p=a>quotes </p> here</p>", {"tag_pattern": pattern})).value
    {'a': 'quotes </p> here'}
    >>> read_quoting_tags(Damaged("<p=a>1</p></p>", {"tag_pattern": pattern}))
    """
    try:
        mended = mend_tags(damaged)
    except ParseError:
        return None
    return mended if QUOTED.issuperset(mended.repaired) else None


def without_value_parser(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Give the arguments with values as text: what they say is of no interest."""
    return {key: value for key, value in arguments.items() if key != "value_parser"}


def json_object(damaged: Damaged) -> Mended | None:
    """Read a text without tags as a JSON object; None where it is none."""
    try:
        mended = mend_json(replace(damaged, arguments={}, allow_truncated=False))
    except ParseError:
        return None
    if not isinstance(mended.value, dict):
        return None
    return Mended(mended.value, ["arguments written as JSON", *mended.repaired])


def found_tags(damaged: Damaged, pattern: str) -> Iterator[Tag]:
    """Find the tags of a pattern that can only be searched for; raises ContentError for any text between them."""
    text, place = damaged.text, 0
    for tag in tag_finder(pattern, damaged.limits.pattern_seconds, kinds=True)(text):
        refuse_text(text, place, tag.start)
        place = tag.end
        yield tag
    if not CLOSING_TAGS.fullmatch(text, place) or not place:
        refuse_text(text, place, len(text))


def refuse_text(text: str, start: int, end: int) -> None:
    """Raise ContentError where there is more than blanks."""
    between = text[start:end]
    if between.strip():
        raise content_error("there is text between the tags", text, start + len(between) - len(between.lstrip()))


def followed_tags(
    damaged: Damaged, outline: TagOutline, pattern: regex.Pattern[str], repaired: dict[str, None]
) -> Iterator[Tag]:
    """Give the tags of a text whose marks tell where they end."""
    text = damaged.text
    marks = marks_in(text, outline)
    kind_group = next((name for name in KIND_GROUPS if name in pattern.groupindex), None)
    kind_of = kind_reader(pattern, outline.shape, kind_group) if kind_group else None
    ends = TagEnds(damaged, outline, marks, repaired)
    trim = trimmed_end(outline.shape.after_value)
    number = place = 0
    while number < len(marks):
        mark = marks[number]
        refuse_text(text, place, mark.start)
        if not mark.opens:
            raise content_error("a closing tag has no beginning", text, mark.start)
        if mark.key is None:
            raise content_error("the tag is not whole", text, mark.start)
        value_end, place, number = ends.of(number)
        key = clean_key(mark.key, outline, repaired, text, mark.start)
        kind = kind_of(text[mark.start : mark.end], mark.key) if kind_of else None
        value = text[mark.end : trim(text, mark.end, value_end)]
        yield Tag(key, value, mark.end, mark.start, place, kind)
    rest = CLOSING_TAGS.match(text, place) if marks else None
    refuse_text(text, rest.end() if rest else place, len(text))


class TagEnds:
    """Finds where the values of one text end."""

    def __init__(self, damaged: Damaged, outline: TagOutline, marks: list[Mark], repaired: dict[str, None]) -> None:
        self._damaged = damaged
        self._text = damaged.text
        self._outline = outline
        self._marks = marks
        self._repaired = repaired
        self._name = closing_name(outline.shape.closing)
        self._inner_tags = [fixed for fixed in fixed_texts(outline)[1:-1] if "<" in fixed]
        self._closing_tags = frozenset(closing_tags_of(outline))

    def of(self, number: int) -> tuple[int, int, int]:
        """Find where a tag's value and the tag end, and the number of the mark after it."""
        partner = self._marks[number].partner
        return self._unclosed(number) if partner is None else self._closed(number, partner)

    def _closed(self, number: int, partner: int) -> tuple[int, int, int]:
        """The value ends at its partner, or at a later closing tag that belongs to no other."""
        marks, text = self._marks, self._text
        if partner > number + 1:
            self._mends(QUOTED_TAG)
        last = partner
        while last + 1 < len(marks) and not marks[last + 1].opens:
            last += 1
        closing = last
        while closing > partner and not text[marks[closing - 1].end : marks[closing].start].strip():
            closing -= 1
        if closing > partner:
            self._refuse_beginnings(marks[partner:closing], marks[closing].start)
            self._mends(QUOTED_CLOSING)
        if last > closing:
            self._mends("a doubled closing tag")
        return marks[closing].start, marks[last].end, last + 1

    def _refuse_beginnings(self, quoted: list[Mark], end: int) -> None:
        """Raise ContentError where what follows a closing tag looks like another tag, which may be an argument."""
        text, start = self._text, self._outline.start
        for mark in quoted:
            follows = FOLLOWS.match(text, mark.end, end)
            if follows and may_begin_a_tag(follows["blanks"], follows["line"], start):
                raise content_error("what follows a closing tag may be another tag", text, mark.end)
        for inner in self._inner_tags:
            if (place := text.find(inner, quoted[0].end, end)) != -1:
                raise content_error("there is a part of a tag in the value", text, place)

    def _unclosed(self, number: int) -> tuple[int, int, int]:
        """The value ends before the next tag, or at the end of the text."""
        marks, text, start = self._marks, self._text, self._marks[number].end
        at_end = number + 1 == len(marks)
        end = self._without_wrappers() if at_end else marks[number + 1].start
        if at_end and not self._damaged.allow_truncated:
            raise content_error("the text ends before the value does", text, start)
        wrong = self._wrong_closing(start, end)
        if wrong is not None:
            self._mends("a wrong closing tag")
            return wrong, end, number + 1
        value_end = start + len(text[start:end].rstrip(" \t"))
        if at_end and not self._damaged.settled and not text.endswith("\n", start, value_end):
            raise content_error("the value has no closing tag", text, start)
        self._mends("a missing closing tag")
        if self._outline.shape.after_value is None and text.endswith("\n", start, value_end):
            value_end -= 1
        return max(value_end, start), end, number + 1

    def _wrong_closing(self, start: int, end: int) -> int | None:
        """Find a closing tag of a similar name at the end of a value; raises ContentError for one in its middle.

        One whose own beginning stands in the value is a part of the value.
        """
        text, closing = self._text, self._outline.shape.closing
        for match in WRONG_CLOSING.finditer(text, start, end):
            if match[0] not in self._closing_tags and not resembles(match[1], self._name):
                continue
            own_beginning = text.find(f"<{match[1]}", start, match.start()) != -1
            if not text[match.end() : end].strip():
                return None if own_beginning else match.start()
            if own_beginning:
                continue
            if match[0][1] in "/\\":
                raise content_error("there is text after a wrong closing tag", text, match.end())
        misspelt = misspelt_at_end(text, start, end, closing)
        if misspelt is None and remains_of_closing(text, start, end, closing):
            raise content_error("the closing tag is not whole", text, start)
        return misspelt

    def _without_wrappers(self) -> int:
        """Find where the text ends without the tags that close around it."""
        text, wrappers = self._text, self._damaged.wrappers
        end = place = len(text)
        while True:
            while place and text[place - 1].isspace():
                place -= 1
            match = LAST_CLOSING_TAG.search(text, max(0, place - LONGEST_WRAPPER), place)
            if match is None or match[1] not in wrappers:
                return end
            end = place = match.start()

    def _mends(self, what: str) -> None:
        self._repaired.setdefault(what)


def closing_tags_of(outline: TagOutline) -> list[str]:
    """List the closing tags that stand in a tag, whose place one may have got wrong."""
    return [text for text in fixed_texts(outline) if text.startswith("</") and text.endswith(">")]


def fixed_texts(outline: TagOutline) -> list[str]:
    """List the fixed texts of a tag."""
    shape = outline.shape
    literals = [part.text for part in (*shape.opening, *shape.between) if isinstance(part, Literal)]
    return [*literals, shape.closing]


def clean_key(key: str, outline: TagOutline, repaired: dict[str, None], text: str, place: int) -> str:
    """Take stray tags off the edges of a key; raises ContentError for a key that has a tag within it."""
    tags = [fixed for fixed in fixed_texts(outline) if fixed.strip("\"'=> \n")]
    cleaned = key
    changed = True
    while changed:
        changed = False
        for tag in tags:
            stripped = cleaned.removeprefix(tag).removesuffix(tag)
            changed = changed or stripped != cleaned
            cleaned = stripped
    if any(tag in cleaned for tag in tags) or "</" in cleaned:
        raise content_error("the key has a tag in it", text, place)
    if cleaned != key:
        repaired.setdefault("a stray tag in a key")
    return cleaned
