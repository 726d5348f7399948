"""How a tag that isn't written right is known: by its name, by its likeness to the right one, by what remains of it.

In come texts and the tag that they may be; out goes whether they are, or may be. All texts are short, so that a value's
length doesn't matter.
"""

from __future__ import annotations

from difflib import SequenceMatcher

import regex

ALIKE, ALIKE_BEGINNING = 0.9, 0.6
"""How alike two tags are, as ``difflib`` has it, where one counts as the other misspelt, and where it may be it."""

REMAINS, LONGEST_REMAINS = 5, 100
"""How many characters of a closing tag at the end of a value are what remains of it, and how long such an end is."""

WORDS = regex.compile(r"[^\W\d]\w*+", regex.ASCII)
FIRST_WORD = regex.compile(r"<([^\s<>/]{1,60})")


def closing_name(closing: str) -> str:
    """Give the name in a closing tag: its last word.

    >>> closing_name("</parameter>"), closing_name("</｜DSML｜parameter>")
    ('parameter', 'parameter')
    """
    words = WORDS.findall(closing)
    return words[-1] if words else ""


def resembles(wrong: str, name: str) -> bool:
    """Whether a tag's name looks like another one: one begins or ends with the other, or its last word does.

    >>> [resembles(wrong, "parameter") for wrong in ("param", "parameters", "/parameter", "parameter=path", "div")]
    [True, True, True, True, False]
    """
    return any(
        len(word) >= 3 and (name.startswith(word) or name.endswith(word) or word.startswith(name))
        for word in WORDS.findall(wrong)
    )


def may_begin_a_tag(blanks: str, line: str, start: str) -> bool:
    """Whether a line that follows a closing tag, after ``blanks``, may be the beginning of a tag, right or wrong."""
    word = FIRST_WORD.match(line)
    if start in line or (word is not None and ("\n" in blanks or resembles(word[1], closing_name(start)))):
        return True
    return likeness(line[:1] + line[1 : len(start)].split("<")[0], start) >= ALIKE_BEGINNING


def misspelt_at_end(text: str, start: int, end: int, closing: str) -> int | None:
    """Find where a value's end begins to look like a closing tag: from its last ``<``, or as a line of its own."""
    end = start + len(text[start:end].rstrip())
    floor = max(start, end - 2 * len(closing))
    line = max(text.rfind("\n", floor, end) + 1, start)
    places = [place for place in (text.rfind("<", floor, end), line) if place >= floor]
    ratio, best = max(((likeness(text[place:end], closing), place) for place in places), default=(0.0, 0))
    return best if ratio >= ALIKE else None


def likeness(text: str, tag: str) -> float:
    """How alike two short texts are, from 0 to 1."""
    return SequenceMatcher(None, text, tag, False).ratio()


def remains_of_closing(text: str, start: int, end: int, closing: str) -> bool:
    """Whether a value has a piece of its closing tag in it: all but the last character, or the end of it at its end."""
    if text.find(closing[:-1], start, end) != -1:
        return True
    last = text[max(start, end - LONGEST_REMAINS) : end].rstrip()
    opened = last.rfind("</")
    return last.endswith(closing[-REMAINS:]) or (
        opened != -1 and ">" not in last[opened:] and "\n" not in last[opened:]
    )
