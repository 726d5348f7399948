"""JSON decoded in slices, so that a large text doesn't keep the interpreter to itself for a second.

In: JSON text. Out: what ``json.loads`` gives, or its error. The standard decoder is one call in C, during which no
other thread runs. Here it decodes what lies within a window of the text, and Python walks through the lists, objects
and strings that are larger: between two windows other threads get their turn.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]  # it is there, untyped
from typing import Any

from streamparse.errors import LimitError

WINDOW = 65_536
"""Characters that are decoded at once, at most."""

BLANKS = re.compile(r"[ \t\n\r]*+")
STRING_PART = re.compile(r'(?:[^"\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+', re.DOTALL)
HIGH_HALF = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}")
LOW_HALF = re.compile(r"\\u[dD][c-fC-F][0-9a-fA-F]{2}")
TRAILING_COMMA_IS_NAMED = sys.version_info >= (3, 13)

Found = tuple[Any, int]


class SlicedDecoder:
    """Decodes one text; ``parse_int`` is that of ``json.loads``, ``depth_of`` counts how deep a text is nested.

    ``too_deep`` makes the error for more than ``depth_limit`` lists and objects that enclose one another.

    >>> SlicedDecoder('{"a": [1, 2, "three"]}', depth_limit=9, depth_of=len, too_deep=LimitError, window=8).decode()
    {'a': [1, 2, 'three']}
    """

    def __init__(
        self,
        text: str,
        *,
        depth_limit: int,
        depth_of: Callable[[str], int],
        too_deep: Callable[[int], LimitError],
        parse_int: Callable[[str], int] | None = None,
        window: int = WINDOW,
    ) -> None:
        self._text = text
        self._depth_limit = depth_limit
        self._depth_of = depth_of
        self._too_deep = too_deep
        self._scan = json.JSONDecoder(parse_int=parse_int).scan_once  # type: ignore[attr-defined]  # the same
        self._size = window
        self._window, self._start = text[:window], 0
        self._open: list[Any] = []
        self._keys: list[str] = []
        self._same: dict[str, str] = {}
        self._retry_at = self._several_at = 0

    def decode(self) -> Any:
        """The value; raises JSONDecodeError, LimitError, and ValueError for a number too long for Python."""
        if self._text.startswith("\ufeff"):
            raise JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", self._text, 0)
        at = self._past_blanks(0)
        while True:
            found = self._value(at)
            if found is None:
                at = self._descend(at)
                continue
            value, at = found
            following = self._put(value, at)
            if following is not None:
                at = following
                continue
            value, at = self._finished
            at = self._past_blanks(at)
            if at != len(self._text):
                raise JSONDecodeError("Extra data", self._text, at)
            return value

    def _value(self, at: int) -> Found | None:
        """The value that begins here and where it ends; None for a list or an object that has to be walked through."""
        first = self._text[at : at + 1]
        if first == '"':
            return self._string(at)
        if first not in ("[", "{"):
            return self._scalar(at)
        if at < self._retry_at:
            return self._nothing_inside(at)
        self._move_to(at)
        try:
            value, end = self._scan(self._window, at - self._start)
        except (StopIteration, JSONDecodeError):
            # what begins soon after is likely to be too large as well
            self._retry_at = at + self._size // 8
            return self._nothing_inside(at)
        except RecursionError:
            raise self._too_deep(self._depth_limit) from None
        end += self._start
        room = self._depth_limit - len(self._open)
        if end - at > 2 * room and self._depth_of(self._text[at:end]) > room:
            raise self._too_deep(self._depth_limit)
        return value, end

    def _nothing_inside(self, at: int) -> Found | None:
        """The list or the object that begins here, if it is empty."""
        inner = self._past_blanks(at + 1)
        first = self._text[at : at + 1]
        if self._text[inner : inner + 1] != CLOSES[first]:
            return None
        return [] if first == "[" else {}, inner + 1

    def _descend(self, at: int) -> int:
        """Open the list or the object that begins here; where its first value begins."""
        if len(self._open) >= self._depth_limit:
            raise self._too_deep(self._depth_limit)
        inner = self._past_blanks(at + 1)
        if self._text[at] == "[":
            self._open.append([])
            return inner
        self._open.append({})
        return self._key(inner)

    def _put(self, value: Any, at: int) -> int | None:
        """Put a value, which ends here, where it belongs; where the next one begins, or None if that was the last."""
        text = self._text
        while self._open:
            inside = self._open[-1]
            if isinstance(inside, list):
                inside.append(value)
            else:
                inside[self._keys.pop()] = value
            at = self._past_blanks(at)
            following = text[at : at + 1]
            if following == ",":
                at = self._after_comma(inside, at)
                return self._several(inside, at) if isinstance(inside, list) else at
            if following != ("]" if isinstance(inside, list) else "}"):
                raise JSONDecodeError("Expecting ',' delimiter", text, at)
            value, at = self._open.pop(), at + 1
        self._finished = value, at
        return None

    def _several(self, items: list[Any], at: int) -> int:
        """Decode as many of a list's next items at once as seem to end within the window; where the one after begins.

        Each ends as the one before them does, and a comma follows it; whether that is so decoding tells.
        """
        if at < self._several_at:
            return at
        self._move_to(at)
        begin = at - self._start
        mark = ENDS.get(type(items[-1]), "") + ","
        cut = self._window.rfind(mark, begin) + len(mark) - 1
        part = f"[{self._window[begin:cut]}]" if cut > begin else ""
        room = self._depth_limit - len(self._open) + 1
        try:
            decoded, end = self._scan(part, 0)
        except (StopIteration, ValueError, RecursionError):
            decoded, end = [], 0
        brackets = part.count("[") + part.count("{")
        if not decoded or end != len(part) or (brackets > room and self._depth_of(part) > room):
            self._several_at = at + self._size // 4
            return at
        items += decoded
        return self._after_comma(items, self._start + cut)

    def _after_comma(self, inside: Any, comma: int) -> int:
        """Where the value after a comma begins."""
        at = self._past_blanks(comma + 1)
        what = "array" if isinstance(inside, list) else "object"
        if TRAILING_COMMA_IS_NAMED and self._text[at : at + 1] == ("]" if what == "array" else "}"):
            raise JSONDecodeError(f"Illegal trailing comma before end of {what}", self._text, comma)
        return at if what == "array" else self._key(at)

    def _key(self, at: int) -> int:
        """Read a key, and give where its value begins."""
        if self._text[at : at + 1] != '"':
            raise JSONDecodeError("Expecting property name enclosed in double quotes", self._text, at)
        key, at = self._string(at)
        self._keys.append(self._same.setdefault(key, key) if len(self._same) < 10_000 else key)
        at = self._past_blanks(at)
        if self._text[at : at + 1] != ":":
            raise JSONDecodeError("Expecting ':' delimiter", self._text, at)
        return self._past_blanks(at + 1)

    def _scalar(self, at: int) -> Found:
        """The number or the name that begins here."""
        self._move_to(at)
        size = self._size
        while True:
            try:
                value, end = self._scan(self._window, at - self._start)
            except StopIteration:
                end = -1
            whole = self._start + len(self._window) >= len(self._text)
            if whole or 0 <= end < len(self._window) - len("e+"):
                break
            if end < 0 and len(self._window) - (at - self._start) > len("-Infinity"):
                break
            size *= 4  # a number that goes on beyond the window
            self._window, self._start = self._text[at : at + size], at
        if end < 0:
            raise JSONDecodeError("Expecting value", self._text, at)
        return value, end + self._start

    def _string(self, at: int) -> tuple[str, int]:
        """The string that begins here."""
        self._move_to(at)
        try:
            value, end = scanstring(self._window, at - self._start + 1, True)
        except JSONDecodeError:
            return self._long_string(at)
        return value, end + self._start

    def _long_string(self, at: int) -> tuple[str, int]:
        """The same for a string that goes on beyond the window, or has a fault."""
        text, parts, place = self._text, [], at + 1
        while True:
            end = self._part_end(place)
            if text[end : end + 1] in ('"', "") or end == place:
                break
            parts.append(self._decoded(text[place:end] + '"', place, at)[0])
            place = end
        last, size = self._decoded(text[place : end + self._size], place, at)
        return "".join([*parts, last]), place + size

    def _part_end(self, place: int) -> int:
        """Where a part of a string ends, at its closing quote or before that; no escape is cut."""
        text = self._text
        match = STRING_PART.match(text, place, min(len(text), place + self._size))
        end = match.end() if match else place
        if HIGH_HALF.match(text, end - 6, end) and LOW_HALF.match(text, end):
            before = text[place : end - 5]
            if (len(before) - len(before.rstrip("\\"))) % 2:  # it is an escape, not an escaped backslash and letters
                return end + 6
        return end

    def _decoded(self, part: str, place: int, begin: int) -> tuple[str, int]:
        """A part of the string that begins at ``begin``, up to a quote, and how long it is with that quote."""
        try:
            value, end = scanstring(part, 0, True)
        except JSONDecodeError as error:
            unterminated = error.msg.startswith("Unterminated")
            raise JSONDecodeError(error.msg, self._text, begin if unterminated else place + error.pos) from None
        return value, end

    def _move_to(self, at: int) -> None:
        """Have at least half a window of text from here on."""
        if at - self._start > self._size // 2 or len(self._window) > self._size:
            self._window, self._start = self._text[at : at + self._size], at

    def _past_blanks(self, at: int) -> int:
        if self._text[at : at + 1] > " ":
            return at
        match = BLANKS.match(self._text, at)
        return match.end() if match else at


CLOSES = {"[": "]", "{": "}"}
ENDS: dict[type, str] = {list: "]", dict: "}", str: '"'}
