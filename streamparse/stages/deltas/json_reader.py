"""Reads JSON and its dialects part by part while the text is being written.

In: a region's text, in any pieces. Out: the parts of the value, to a ``CallDocument``. A text is followed as strictly
as the content parser ``json`` reads it; where it leaves the grammar, nothing more is said before the region has ended.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

from streamparse.stages.content.plain_entries import NAMED_MEMBERS, in_named_members
from streamparse.stages.deltas.bracket_reader import (
    BLANKS,
    CLOSES,
    KEYS,
    OBJECT,
    VALUES,
    WORD,
    BracketReader,
    Step,
    StringForm,
)
from streamparse.stages.deltas.compact import AS_WRITTEN, COMPACT_WORD, Passing, compact, search_for_other, string_body
from streamparse.stages.deltas.document import CallDocument, NotCertain
from streamparse.stages.deltas.escapes import LETTERS
from streamparse.stages.structure.literal import overlap

KEY = re.compile(r"\w++")
DEPTH_AT_MOST = 500

# What is due at the beginning of a list or an object, and after an item in it.
FIRST = {"[": "first value", "{": "first key"}
AFTER_COMMA = {"[": "value", "{": "key"}
# What is due again after an entry, by what is due where one may stand.
DUE = {FIRST[bracket]: due for bracket, due in AFTER_COMMA.items()} | {due: due for due in AFTER_COMMA.values()}
# Where a bracket may close what it stands in.
MAY_CLOSE = frozenset({"first value", "first key", "next"})


def as_written(text: str) -> str | None:
    """The text, if it goes out as it is."""
    return text if AS_WRITTEN.fullmatch(text) else None


QUOTED = StringForm('"', AS_WRITTEN, str, LETTERS, surrogates=True, passing=Passing(search_for_other(), as_written))


@lru_cache(64)
def delimited(closing: str) -> StringForm:
    """How a string of a dialect is read: as it stands, up to what closes it."""
    first = closing[0]
    passing = Passing(search_for_other(first), lambda text: None if first in text else string_body(text))
    stretch = re.compile(f"[^{re.escape(first)}]*+")
    return StringForm(closing, stretch, string_body, {}, surrogates=True, passing=passing)


class TooDeep(NotCertain):
    """Lists and objects enclose one another deeper than they are followed."""


class JsonReader(BracketReader):
    """Follows JSON text; with ``delimiters`` and ``unquoted_keys`` a dialect of it."""

    def __init__(
        self,
        document: CallDocument | Any,
        delimiters: tuple[tuple[str, str], ...] = (),
        *,
        unquoted_keys: bool = False,
        lenient: bool = False,
    ) -> None:
        super().__init__(document, "value", lenient=lenient)
        self._delimiters = delimiters
        self._unquoted_keys = unquoted_keys
        self._has_names = unquoted_keys and not any(in_named_members(opening[0]) for opening, _ in delimiters)

    def compact_word(self, word: str) -> str:
        """The value that a word stands for, as compact JSON; raises NotCertain where it stands for none."""
        if COMPACT_WORD.fullmatch(word):
            return word
        try:
            return compact(json.loads(word))
        except ValueError:
            raise NotCertain from None

    def _plain_entries(self, bracket: str, due: str, character: str) -> re.Pattern[str] | None:
        """Those of JSON, unless strings have other delimiters, and members whose keys have no quotes."""
        if self._has_names and bracket == OBJECT and character != '"':
            return NAMED_MEMBERS
        return None if self._delimiters else super()._plain_entries(bracket, due, character)

    def _take_name(self, name: str) -> None:
        """A name is a key without quotes."""
        if KEY.fullmatch(name) is None:
            raise NotCertain
        self._key_ends(name)

    def _in_delimited(self, text: str, at: int) -> int:
        assert self._form is not None, "a string is open"
        closing = self._form.closing
        found = text.find(closing, at)
        end = len(text) - overlap(text, closing, at) if found < 0 else found
        if end > at:
            self._piece(string_body(text[at:end]))
        return self._hold(text, end) if found < 0 else self._may_end(found + len(closing))

    def _at_token(self, text: str, at: int) -> int:
        if text[at] <= " ":
            at = BLANKS.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            return at
        state, character = self._state, text[at]
        if state == "next" and character == ",":
            self._state = AFTER_COMMA[self._stack[-1]]
            return at + 1
        if state == "colon" and character == ":":
            self._state = "value"
            return at + 1
        if state in DUE:
            end = self._after_plain_entries(text, at, DUE[state], DEPTH_AT_MOST)
            if end > at:
                return end
        if state in VALUES or state in KEYS:
            opened = self._string_begins(text, at)
            if opened:
                return opened
            if state in VALUES and character in FIRST:
                return self._opens_at(character, at)
            if state in VALUES and WORD.match(character):
                self._state = "word"
                return self._in_word(text, at)
            if state in KEYS and self._unquoted_keys and KEY.match(character):
                self._state = "name"
                return self._in_name(text, at)
        if state not in MAY_CLOSE or character != CLOSES[self._stack[-1]]:
            raise NotCertain
        self._bracket_ends()
        return at + 1

    def _opens_at(self, bracket: str, at: int) -> int:
        if len(self._stack) == DEPTH_AT_MOST:
            raise TooDeep
        self._opens(bracket)
        self._state = FIRST[bracket]
        return at + 1

    def _string_begins(self, text: str, at: int) -> int:
        """The place after an opening quote, if one stands here; 0 if none does."""
        for opening, closing in self._delimiters:
            if text.startswith(opening, at):
                self._begin_string("delimited", delimited(closing))
                return at + len(opening)
            if len(text) - at < len(opening) and opening.startswith(text[at:]):
                return self._hold(text, at)
        if text[at] != '"':
            return 0
        if self._delimiters:
            raise NotCertain  # a delimiter counts within such a string too, whatever that makes of it
        self._begin_string("string", QUOTED)
        return at + 1

    steps: ClassVar[Mapping[str, Step]] = {
        **dict.fromkeys([*VALUES, *KEYS, "colon", "next"], _at_token),
        "string": BracketReader._in_string,
        "delimited": _in_delimited,
        "closing": BracketReader._in_closing,
        "word": BracketReader._in_word,
        "name": BracketReader._in_name,
        "done": BracketReader._in_done,
    }
