"""Reads a Python call list part by part while the text is being written.

In: a region's text, in any pieces. Out: to a ``CallDocument``, the parts of the value that the content parser
``python-call-list`` makes of it: a list of objects with ``name`` and ``arguments``. Where the text leaves the grammar,
nothing more is said before the region has ended.
"""

from __future__ import annotations

import json
import re
from typing import Any

from streamparse.errors import ContentError
from streamparse.stages.content.python_call_list import MAX_DEPTH, NAME, SPACE, Reader
from streamparse.stages.deltas.compact import Passing, compact, search_for_other, string_body
from streamparse.stages.deltas.document import CallDocument, NotCertain
from streamparse.stages.deltas.escapes import PYTHON_LETTERS, read_escape
from streamparse.stages.deltas.json_reader import IN_STRING

WORD = re.compile(r"[-+.\w]++")
UNESCAPED = {quote: re.compile(rf"[^{quote}\\\n\r\ud800-\udfff]*+") for quote in "\"'"}

CLOSES = {"calls": "]", "(": ")", "[": "]", "{": "}"}
AFTER_COMMA = {"calls": "call", "(": "argument", "[": "value", "{": "key"}
MAY_CLOSE = frozenset({"first call", "first argument", "first value", "first key", "next"})
VALUES = frozenset({"value", "first value"})
KEYS = frozenset({"key", "first key"})
NAMES = frozenset({"call", "first call", "argument", "first argument"})
FIRST = {"calls": "first call", "(": "first argument", "[": "first value", "{": "first key"}

IN_QUOTES = {'"': IN_STRING, "'": Passing(search_for_other("'"), lambda _text: None)}


class CallListReader:
    """Follows a call list, without ``brackets`` calls with white space between them; ``lenient`` as for JSON."""

    def __init__(self, document: CallDocument, *, brackets: bool = True, lenient: bool = False) -> None:
        self._document = document
        self._lenient = lenient
        self._stack: list[str] = []
        # What is due; or "string", "closing", "word" (a value), "name" (of a call or an argument), "done".
        self._state = "list"
        self._quote = ""
        self._key: list[str] | None = None
        self._word: list[str] = []
        self._named = ""  # what the present name is the name of
        self._held = ""
        self._brackets = brackets
        if not brackets:
            self._opens("calls")

    @property
    def passing(self) -> Passing | None:
        """How text goes out that is simply more of the present string; None outside strings."""
        if self._state != "string" or self._key is not None or self._held:
            return None
        return IN_QUOTES[self._quote]

    def feed(self, text: str) -> None:
        """Follow the next piece of text; raises NotCertain where it can't be followed."""
        if self._held:
            text = self._held + text
            self._held = ""
        at, size = 0, len(text)
        while at < size:
            at = STEPS[self._state](self, text, at)

    def finish(self) -> None:
        """The text has ended, and with it a list without brackets; one with them says by itself where it ends."""
        if not self._brackets and self._state == "next" and self._stack == ["calls"]:
            self._document.end()

    def _in_string(self, text: str, at: int) -> int:
        end = UNESCAPED[self._quote].match(text, at).end()  # type: ignore[union-attr]
        if end > at:
            self._piece(string_body(text[at:end]))
        if end == len(text):
            return end
        if text[end] == self._quote:
            if self._key is None and self._lenient:
                self._state = "closing"
            else:
                self._string_ends()
            return end + 1
        if text[end] != "\\":
            raise NotCertain
        try:
            escape = read_escape(text, end, PYTHON_LETTERS)
        except ValueError:
            raise NotCertain from None
        if escape is None:
            self._held = text[end:]
            return len(text)
        if escape.text.startswith("\\ud"):
            raise NotCertain
        self._piece(escape.text)
        return escape.end

    def _piece(self, text: str) -> None:
        if self._key is None:
            self._document.piece(text)
        else:
            self._key.append(text)

    def _in_closing(self, text: str, at: int) -> int:
        at = SPACE.match(text, at).end()  # type: ignore[union-attr]
        if at < len(text):
            if text[at] != "," and text[at] != CLOSES[self._stack[-1]]:
                raise NotCertain
            self._string_ends()
        return at

    def _string_ends(self) -> None:
        if self._key is None:
            self._document.string_ends()
            self._state = "next"
        else:
            key = json.loads(f'"{"".join(self._key)}"')
            self._key = None
            self._document.key(key)
            self._state = "colon"

    def _in_word(self, text: str, at: int) -> int:
        match = WORD.match(text, at)
        if match is not None:
            self._word.append(match[0])
            at = match.end()
        if at < len(text):
            self._document.word(compact(_value_of("".join(self._word))))
            self._word.clear()
            self._state = "next"
        return at

    def _in_name(self, text: str, at: int) -> int:
        match = WORD.match(text, at)
        if match is not None:
            self._word.append(match[0])
            at = match.end()
        if at < len(text):
            name = "".join(self._word)
            self._word.clear()
            if NAME.fullmatch(name) is None:
                raise NotCertain
            self._take_name(name)
        return at

    def _take_name(self, name: str) -> None:
        document = self._document
        if self._named == "call":
            document.begin("{")
            document.key("name")
            document.string_begins()
            document.piece(name)
            document.string_ends()
            self._state = "paren"
        else:
            document.key(name)
            self._state = "equals"

    def _at_token(self, text: str, at: int) -> int:
        at = SPACE.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            return at
        state, character = self._state, text[at]
        if (state in VALUES or state in KEYS) and character in UNESCAPED:
            self._begin_string(character)
        elif state in VALUES and character in "[{":
            self._opens(character)
        elif state in VALUES and WORD.match(character):
            self._state = "word"
            return at
        elif state in NAMES and WORD.match(character):
            self._named = state.removeprefix("first ")
            self._state = "name"
            return at
        elif state == "next" and character == ",":
            self._state = AFTER_COMMA[self._stack[-1]]
        elif state in MAY_CLOSE and character == CLOSES[self._stack[-1]]:
            self._close()
        elif state == "next" and not self._brackets and self._stack == ["calls"] and WORD.match(character):
            self._state = "call"
            return at
        elif (state, character) in {("colon", ":"), ("equals", "=")}:
            self._state = "value"
        elif (state, character) == ("list", "["):
            self._opens("calls")
        elif (state, character) == ("paren", "("):
            self._document.key("arguments")
            self._opens("(")
        else:
            raise NotCertain
        return at + 1

    def _begin_string(self, quote: str) -> None:
        if self._state in KEYS:
            self._key = []
        else:
            self._document.string_begins()
        self._state, self._quote = "string", quote

    def _opens(self, what: str) -> None:
        if len(self._stack) > MAX_DEPTH:
            raise NotCertain
        self._stack.append(what)
        self._document.begin("[" if what in ("calls", "[") else "{")
        self._state = FIRST[what]

    def _close(self) -> None:
        what = self._stack.pop()
        if what == "calls" and not self._brackets:
            raise NotCertain
        self._document.end()
        if what == "(":
            self._document.end()
        self._state = "next" if self._stack else "done"

    def _in_done(self, text: str, at: int) -> int:
        if text[at:].strip(" \t\n\r"):
            raise NotCertain
        return len(text)


def _value_of(word: str) -> Any:
    """The value that a number or a name stands for."""
    reader = Reader(word)
    try:
        value = reader.value(0)
    except ContentError:
        raise NotCertain from None
    if reader.position != len(word):
        raise NotCertain
    return value


STEPS: dict[str, Any] = {
    **dict.fromkeys([*VALUES, *KEYS, *NAMES, "list", "colon", "equals", "paren", "next"], CallListReader._at_token),
    "string": CallListReader._in_string,
    "closing": CallListReader._in_closing,
    "word": CallListReader._in_word,
    "name": CallListReader._in_name,
    "done": CallListReader._in_done,
}
