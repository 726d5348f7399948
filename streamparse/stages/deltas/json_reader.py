"""Reads JSON and its dialects part by part while the text is being written.

In: a region's text, in any pieces. Out: the parts of the value, to a ``CallDocument``. A text is followed as strictly
as the content parser ``json`` reads it; where it leaves the grammar, nothing more is said before the region has ended.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from streamparse.stages.deltas.compact import AS_WRITTEN, COMPACT_WORD, Passing, compact, search_for_other, string_body
from streamparse.stages.deltas.document import CallDocument, NotCertain
from streamparse.stages.deltas.escapes import LETTERS, read_escape
from streamparse.stages.structure.literal import overlap

BLANKS = re.compile(r"[ \t\n\r]*+")
WORD = re.compile(r"[-+.\w]++")
KEY = re.compile(r"\w++")
DEPTH_AT_MOST = 500

CLOSES = {"[": "]", "{": "}"}
# What is due after an item, by what encloses it.
AFTER_COMMA = {"[": "value", "{": "key"}
# Where a bracket may close what it stands in.
MAY_CLOSE = frozenset({"first value", "first key", "next"})
VALUES = frozenset({"value", "first value"})
KEYS = frozenset({"key", "first key"})


def as_written(text: str) -> str | None:
    """The text, if it goes out as it is."""
    return text if AS_WRITTEN.fullmatch(text) else None


IN_STRING = Passing(search_for_other(), as_written)


@lru_cache(64)
def in_delimited(closing: str) -> Passing:
    """How text goes out in a string of a dialect."""
    first = closing[0]
    return Passing(search_for_other(first), lambda text: None if first in text else string_body(text))


class TooDeep(NotCertain):
    """Lists and objects enclose one another deeper than they are followed."""


class JsonReader:
    """Follows JSON text; with ``delimiters`` and ``unquoted_keys`` a dialect of it.

    ``lenient`` says that a closing quote counts only where what follows fits, because then the text may be mended.
    """

    def __init__(
        self,
        document: CallDocument | Any,
        delimiters: tuple[tuple[str, str], ...] = (),
        *,
        unquoted_keys: bool = False,
        lenient: bool = False,
    ) -> None:
        self._document = document
        self._delimiters = delimiters
        self._unquoted_keys = unquoted_keys
        self._lenient = lenient
        self._stack: list[str] = []
        # What is due; or "string", "delimited" (a string of the dialect), "closing", "word", "bare key", "done".
        self._state = "value"
        self._key: list[str] | None = None  # the pieces of the key that is being read
        self._closing = ""  # the delimiter that closes the present string
        self._word: list[str] = []
        self._held = ""  # what can't be read before more text comes

    @property
    def passing(self) -> Passing | None:
        """How text goes out that is simply more of the present string; None outside strings."""
        if self._key is not None or self._held:
            return None
        if self._state == "string":
            return IN_STRING
        return in_delimited(self._closing) if self._state == "delimited" else None

    def feed(self, text: str) -> None:
        """Follow the next piece of text; raises NotCertain where it can't be followed."""
        if self._held:
            text = self._held + text
            self._held = ""
        at, size = 0, len(text)
        while at < size:
            at = STEPS[self._state](self, text, at)

    def finish(self) -> None:
        """The text has ended; JSON says by itself what is complete."""

    def _in_string(self, text: str, at: int) -> int:
        end = AS_WRITTEN.match(text, at).end()  # type: ignore[union-attr]
        if end > at:
            self._piece(text[at:end])
        if end == len(text):
            return end
        if text[end] == '"':
            return self._closes(end + 1)
        if text[end] == "\\":
            return self._escape(text, end)
        if text[end] < " ":
            raise NotCertain
        self._piece(string_body(text[end]))
        return end + 1

    def _escape(self, text: str, at: int) -> int:
        try:
            escape = read_escape(text, at, LETTERS)
        except ValueError:
            raise NotCertain from None
        if escape is None:
            self._held = text[at:]
            return len(text)
        self._piece(escape.text)
        return escape.end

    def _in_delimited(self, text: str, at: int) -> int:
        closing = self._closing
        found = text.find(closing, at)
        end = len(text) - overlap(text, closing, at) if found < 0 else found
        if end > at:
            self._piece(string_body(text[at:end]))
        if found < 0:
            self._held = text[end:]
            return len(text)
        return self._closes(found + len(closing))

    def _piece(self, text: str) -> None:
        if self._key is None:
            self._document.piece(text)
        else:
            self._key.append(text)

    def _closes(self, at: int) -> int:
        """A closing quote came."""
        if self._key is None and self._lenient and self._stack:
            self._state = "closing"
        else:
            self._string_ends()
        return at

    def _in_closing(self, text: str, at: int) -> int:
        at = BLANKS.match(text, at).end()  # type: ignore[union-attr]
        if at < len(text):
            if text[at] != "," and text[at] != CLOSES[self._stack[-1]]:
                raise NotCertain
            self._string_ends()
        return at

    def _string_ends(self) -> None:
        if self._key is None:
            self._document.string_ends()
            self._value_ends()
        else:
            self._key_ends(json.loads(f'"{"".join(self._key)}"'))

    def _key_ends(self, key: str) -> None:
        self._key = None
        self._document.key(key)
        self._state = "colon"

    def _in_word(self, text: str, at: int) -> int:
        match = WORD.match(text, at)
        if match is not None:
            self._word.append(match[0])
            at = match.end()
        if at < len(text):
            word = "".join(self._word)
            self._word.clear()
            if COMPACT_WORD.fullmatch(word) is None:
                try:
                    word = compact(json.loads(word))
                except ValueError:
                    raise NotCertain from None
            self._document.word(word)
            self._value_ends()
        return at

    def _in_bare_key(self, text: str, at: int) -> int:
        match = KEY.match(text, at)
        if match is not None:
            self._word.append(match[0])
            at = match.end()
        if at < len(text):
            key = "".join(self._word)
            self._word.clear()
            self._key_ends(key)
        return at

    def _value_ends(self) -> None:
        self._state = "next" if self._stack else "done"

    def _at_token(self, text: str, at: int) -> int:
        at = BLANKS.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            return at
        state, character = self._state, text[at]
        if state in VALUES or state in KEYS:
            opened = self._string_begins(text, at)
            if opened:
                return opened
            if state in VALUES and character in CLOSES:
                return self._opens(character, at)
            if state in VALUES and WORD.match(character):
                self._state = "word"
                return at
            if state in KEYS and self._unquoted_keys and KEY.match(character):
                self._state = "bare key"
                return at
        if state == "colon" and character == ":":
            self._state = "value"
        elif state == "next" and character == ",":
            self._state = AFTER_COMMA[self._stack[-1]]
        elif state in MAY_CLOSE and character == CLOSES[self._stack[-1]]:
            self._stack.pop()
            self._document.end()
            self._value_ends()
        else:
            raise NotCertain
        return at + 1

    def _opens(self, bracket: str, at: int) -> int:
        if len(self._stack) == DEPTH_AT_MOST:
            raise TooDeep
        self._stack.append(bracket)
        self._document.begin(bracket)
        self._state = "first value" if bracket == "[" else "first key"
        return at + 1

    def _string_begins(self, text: str, at: int) -> int:
        """The place after an opening quote, if one stands here; 0 if none does."""
        for opening, closing in self._delimiters:
            if text.startswith(opening, at):
                self._begin("delimited", closing)
                return at + len(opening)
            if opening.startswith(text[at:]):
                self._held = text[at:]
                return len(text)
        if text[at] != '"':
            return 0
        if self._delimiters:
            raise NotCertain  # a delimiter counts within such a string too, whatever that makes of it
        self._begin("string", "")
        return at + 1

    def _begin(self, state: str, closing: str) -> None:
        if self._state in KEYS:
            self._key = []
        else:
            self._document.string_begins()
        self._state, self._closing = state, closing

    def _in_done(self, text: str, at: int) -> int:
        if not text[at:].isspace():
            raise NotCertain
        return len(text)


STEPS: dict[str, Any] = {
    **dict.fromkeys([*VALUES, *KEYS, "colon", "next"], JsonReader._at_token),
    "string": JsonReader._in_string,
    "delimited": JsonReader._in_delimited,
    "closing": JsonReader._in_closing,
    "word": JsonReader._in_word,
    "bare key": JsonReader._in_bare_key,
    "done": JsonReader._in_done,
}
