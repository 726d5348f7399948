r"""The marks in a text of tags: where tags begin, where closing tags stand, and which belong together.

In comes a text and the outline of its tags; out go the marks in order. A tag's beginning counts where a tag may stand:
at the start of a line, after a closing tag, at the start of the text, and anywhere if it is made of several tags, which
nobody writes by chance. One that isn't whole counts in a value only where it looks like one whose ``>`` is missing.
Beginnings and closing tags belong together as brackets do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import regex

from streamparse.repair.tag_likeness import closing_name, resembles
from streamparse.stages.content.tag_parts import Step
from streamparse.stages.content.tag_scanner import between_step
from streamparse.stages.structure.tag_outline import HEAD_AT_MOST, TagOutline

WHOLE_TAGS_OF_A_HEAD = 3
"""How many ``<`` a beginning has that can't be there by chance, as in ``<arg_key>a</arg_key><arg_value>``."""

LIKE_A_HEAD = regex.compile(r"[\w.-]++[\"'>]*+[ \t]*+(?:\n|\Z)")
"""What follows the literal that tags begin with where a beginning isn't whole, but isn't quoted in a value either."""

LONGEST_CLOSING = 60
CLOSING_BEFORE = regex.compile(rf"<[/\\ ]++([^<>]{{1,{LONGEST_CLOSING}}})>\Z")


@dataclass(slots=True)
class Mark:
    """A tag's beginning, whole or not, or a closing tag: where it starts and ends.

    A whole beginning has a ``key``, and ends where its value starts. ``partner`` is the number of the mark that it
    belongs to, or None.
    """

    opens: bool
    start: int
    end: int
    key: str | None = None
    partner: int | None = None


def marks_in(text: str, outline: TagOutline) -> list[Mark]:
    r"""Find the marks of a text.

    >>> from streamparse.stages.structure.tag_outline import tag_outline
    >>> outline = tag_outline(r"<p=(?P<key>\w+)>\n?(?P<value>.*?)\n?</p>")
    >>> [(mark.opens, mark.key, mark.partner) for mark in marks_in("<p=a>\n1\n<p=b>\n2</p>", outline)]
    [(True, 'a', None), (True, 'b', 2), (False, None, 1)]
    """
    marks: list[Mark] = []
    unclosed: list[int] = []
    head = head_reader(text, outline)
    closing, name = outline.shape.closing, closing_name(outline.shape.closing)
    opened, closed = text.find(outline.start), text.find(closing)
    while opened != -1 or closed != -1:
        if opened == -1 or (closed != -1 and closed < opened):
            mark = Mark(False, closed, closed + len(closing))
            if unclosed:
                mark.partner = unclosed.pop()
                marks[mark.partner].partner = len(marks)
            marks.append(mark)
            done = mark.end
        else:
            mark = head(opened)
            since = marks[-1].end if marks and not marks[-1].opens else 0
            counts = made_of_tags(text, mark) or may_stand(text, opened, since, name)
            if counts and (mark.key is not None or not unclosed or LIKE_A_HEAD.match(text, mark.end)):
                unclosed.append(len(marks))
                marks.append(mark)
                done = mark.end
            else:
                done = opened + 1
        opened = text.find(outline.start, done) if -1 < opened < done else opened
        closed = text.find(closing, done) if -1 < closed < done else closed
    return marks


def made_of_tags(text: str, mark: Mark) -> bool:
    """Whether a whole beginning is made of so many tags that it isn't there by chance."""
    return mark.key is not None and text.count("<", mark.start, mark.end) >= WHOLE_TAGS_OF_A_HEAD


def head_reader(text: str, outline: TagOutline) -> Callable[[int], Mark]:
    """Make the function that reads the beginning that stands at a place of the text."""
    to_value: Step = between_step(outline.shape)

    def read(at: int) -> Mark:
        match = outline.pattern.match(text, at, min(len(text), at + HEAD_AT_MOST))
        value_start = to_value(text, match.end("key")) if match else -1
        if match is None or value_start == -1 or reaches_another(match["key"], outline):
            return Mark(True, at, at + len(outline.start))
        return Mark(True, at, value_start, match["key"])

    return read


def reaches_another(key: str, outline: TagOutline) -> bool:
    """Whether what was taken for a key goes on into another tag; a beginning that is doubled doesn't."""
    while key.startswith(outline.start):
        key = key.removeprefix(outline.start)
    return outline.start in key or outline.shape.closing in key


def may_stand(text: str, place: int, since: int, base: str) -> bool:
    """Whether a tag may stand at a place: at the start of a line, after the last closing tag, or after a wrong one.

    ``since`` is where the last closing tag ends, or 0; ``base`` is the name in closing tags.
    """
    before = place
    while before > since and text[before - 1] in " \t":
        before -= 1
    if before == since or text[before - 1] == "\n":
        return True
    wrong = (
        CLOSING_BEFORE.search(text, max(since, before - LONGEST_CLOSING), before) if text[before - 1] == ">" else None
    )
    return wrong is not None and resembles(wrong[1], base)
