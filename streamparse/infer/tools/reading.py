"""A reading of how tool calls are written, and the parts that readings are made of: patterns, transforms."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as default
from typing import Any

from streamparse.infer.compare import is_mark, pieces
from streamparse.infer.conversation import FIRST

BEFORE_OBJECT = r"(?=\s*\{)"
"""Ends the opening of a call that no mark sets off: only an object behind it shows that it is one."""


@dataclass(frozen=True)
class Surroundings:
    """What stands around calls: ``section`` before the first and after the last, ``call`` around each of them."""

    section_open: str
    call_open: str
    call_close: str
    section_close: str
    separator: str = ""


@dataclass(frozen=True)
class Reading:
    """One way to read the tool calls of a chat template.

    ``construct`` names it; ``field`` is the response template's field; ``noise`` are literals around the calls that
    belong to no field; ``opening`` is the text that a call begins with; ``markers`` say what was found, for people.
    ``policy`` is what version 1 has no words for: the field's part of the key ``streamparse``; ``beyond`` says why
    strict mode can't read such calls although the template keeps to version 1.
    """

    construct: str
    field: dict[str, Any]
    noise: tuple[str, ...] = ()
    opening: str = ""
    markers: Mapping[str, str] = default(default_factory=dict)
    policy: Mapping[str, Any] = default(default_factory=dict)
    beyond: str = ""


def flexible(text: str) -> str:
    """A pattern for a literal whose line breaks may be any white space.

    >>> flexible("<call>\\n<f=")
    '<call>\\\\s*<f='
    """
    parts = re.split(r"(\s*\n\s*)", text)
    return "".join(r"\s*" if at % 2 else quoted(part) for at, part in enumerate(parts))


def quoted(text: str) -> str:
    """A literal as a pattern, with no more escapes than needed."""
    return re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", text)


def anything_but(*followers: str) -> str:
    """A class of all characters but the first ones of what may follow."""
    firsts = dict.fromkeys(follower[0] for follower in followers if follower)
    return "[^" + "".join(_in_class(char) for char in firsts) + "]" if firsts else r"[^\s]"


def _in_class(char: str) -> str:
    if char in "\\]^-[":
        return "\\" + char
    return {"\n": r"\n", "\t": r"\t", "\r": r"\r"}.get(char, char)


def varying(first: str, second: str) -> str:
    """A pattern for two texts at the same place in two calls: the same text, or one that differs in a number or a
    word.
    """
    if first == second:
        return flexible(first)
    one, two = re.split(r"(\d+)", first), re.split(r"(\d+)", second)
    if len(one) == len(two) and one[::2] == two[::2]:
        return "".join(r"\d+" if at % 2 else flexible(part) for at, part in enumerate(one))
    start = 0
    while start < min(len(first), len(second)) and first[start] == second[start]:
        start += 1
    end = 0
    while end < min(len(first), len(second)) - start and first[-1 - end] == second[-1 - end]:
        end += 1
    tail = first[len(first) - end :] if end else ""
    return f"{flexible(first[:start])}{anything_but(tail)}*{flexible(tail)}"


def call_transform(name: str, arguments: str, identifier: str | None) -> dict[str, Any]:
    """The transform that makes an OpenAI-style call of what was captured and parsed."""
    transform: dict[str, Any] = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return transform if identifier is None else {"id": identifier, **transform}


def opening_keys(opening: str, pattern: str | None = None) -> dict[str, Any]:
    """``open`` or ``open_pattern`` of a field."""
    return {"open": opening.strip()} if pattern is None else {"open_pattern": pattern}


def closing_keys(around: Surroundings, ends: Sequence[str], again: str = "") -> dict[str, Any]:
    """``close_pattern`` of a field.

    Where the calls' own close is no mark, a region ends before the next call (``again`` is the pattern of its
    opening), with what closes the section, or with the turn.
    """
    if close := closing_pattern(around.call_close):
        return {"close_pattern": close}
    separators = [around.separator.strip()] if is_mark(around.separator) else []
    last = either([closing_mark(around.section_close), *separators, *ends])
    alternatives = [f"(?={again})"] * bool(again) + [last] * bool(last)
    return {"close_pattern": "|".join(alternatives)} if alternatives else {}


MAX_CLOSING_MARKS = 4
"""More marks than these behind a call are no close of it."""


def closing_pattern(closing: str) -> str:
    """A pattern for the marks that end a region; all but the last may be missing."""
    words = [word for word in closing.split() if is_mark(word)][:MAX_CLOSING_MARKS]
    if not words:
        return ""
    return "".join(rf"(?:{_slotted(word)}\s*)?" for word in words[:-1]) + rf"{_slotted(words[-1])}\s*"


def _slotted(text: str) -> str:
    """A literal as a pattern, with slots where the call's name and id stand."""
    parts = re.split(f"({FIRST.name}|{FIRST.id})", text)
    pattern = ""
    for part, behind in zip(parts, [*parts[1:], ""], strict=True):
        if part == FIRST.name:
            pattern += anything_but(behind) + "*"
        elif part == FIRST.id:
            pattern += f"(?P<id>{anything_but(behind)}*)"
        else:
            pattern += quoted(part)
    return pattern


def closing_mark(closing: str) -> str:
    """The mark that ends a region: the last of those that white space separates."""
    marks = [word for word in closing.split() if is_mark(word)]
    return marks[-1] if marks else ""


def either(literals: Sequence[str]) -> str:
    """A pattern for any of the literals and the white space behind it, the longest first; empty if there are none."""
    texts = sorted(dict.fromkeys(text for text in literals if text), key=len, reverse=True)
    alternatives = "|".join(quoted(text) for text in texts)
    return rf"(?:{alternatives})\s*" if len(texts) > 1 else rf"{alternatives}\s*" if texts else ""


def noise(*texts: str) -> tuple[str, ...]:
    """The marks among the texts around calls: each tag for itself, anything else as far as white space goes."""
    marks: list[str] = []
    for word in " ".join(texts).split():
        parts = pieces(word)
        tags = all(len(part) >= 3 and is_mark(part) for part in parts)
        marks.extend(parts if tags else [word] if is_mark(word) else [])
    return tuple(dict.fromkeys(marks))
