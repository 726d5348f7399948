"""Reads a Python call list part by part while the text is being written.

In: a region's text, in any pieces. Out: to a ``CallDocument``, the parts of the value that the content parser
``python-call-list`` makes of it: a list of objects with ``name`` and ``arguments``. Where the text leaves the grammar,
nothing more is said before the region has ended.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from streamparse.errors import ContentError
from streamparse.stages.content.python_call_list import MAX_DEPTH, NAME, Reader
from streamparse.stages.deltas.bracket_reader import (
    ARGUMENTS,
    BLANKS,
    CALLS,
    CLOSES,
    KEYS,
    LIST,
    OBJECT,
    VALUES,
    WORD,
    BracketReader,
    Step,
    StringForm,
)
from streamparse.stages.deltas.compact import SLOT, Passing, compact, search_for_other, string_body
from streamparse.stages.deltas.document import CallDocument, NotCertain
from streamparse.stages.deltas.escapes import PYTHON_LETTERS
from streamparse.stages.deltas.json_reader import as_written

# What is due at the beginning of what a bracket opens, and after a comma in it.
FIRST = {CALLS: "first call", ARGUMENTS: "first argument", LIST: "first value", OBJECT: "first key"}
AFTER_COMMA = {CALLS: "call", ARGUMENTS: "argument", LIST: "value", OBJECT: "key"}
# What is due again after an entry, by what is due where one may stand.
DUE = {FIRST[what]: due for what, due in AFTER_COMMA.items()} | {due: due for due in AFTER_COMMA.values()}
MAY_CLOSE = frozenset({*FIRST.values(), "next"})
WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")
"""Words that are compact as they stand, and by far the most frequent ones."""
NAMES = frozenset({"call", "first call", "argument", "first argument"})

PASSING = {
    '"': Passing(search_for_other(), as_written),
    "'": Passing(search_for_other("'"), lambda _text: None),
}
QUOTES = {
    quote: StringForm(
        quote,
        re.compile(rf"[^{quote}\\\n\r\ud800-\udfff]*+"),
        string_body,
        PYTHON_LETTERS,
        surrogates=False,
        passing=passing,
    )
    for quote, passing in PASSING.items()
}


class CallListReader(BracketReader):
    """Follows a call list, without ``brackets`` calls with white space between them."""

    def __init__(self, document: CallDocument, *, brackets: bool = True, lenient: bool = False) -> None:
        super().__init__(document, "list", lenient=lenient)
        self._brackets = brackets
        if not brackets:
            self._begin(CALLS)

    def finish(self) -> None:
        """The text has ended, and with it a list without brackets; one with them says by itself where it ends."""
        if not self._brackets and self._state == "next" and self._stack == CALLS:
            self._document.end()

    def compact_word(self, word: str) -> str:
        """The value that a word stands for, as compact JSON; raises NotCertain where it stands for none."""
        if word == SLOT or WHOLE_NUMBER.fullmatch(word):
            return word
        reader = Reader(word)
        try:
            value = reader.value(0)
        except ContentError:
            raise NotCertain from None
        if reader.position != len(word):
            raise NotCertain
        return compact(value)

    def _take_name(self, name: str) -> None:
        """A name is that of a call or of an argument."""
        if NAME.fullmatch(name) is None:
            raise NotCertain
        document = self._document
        if self._stack[-1] == CALLS:
            document.begin(OBJECT)
            document.key("name")
            document.string_begins()
            document.piece(name)
            document.string_ends()
            self._state = "paren"
        else:
            document.key(name)
            self._state = "equals"

    def _at_token(self, text: str, at: int) -> int:
        if text[at] <= " ":
            at = BLANKS.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            return at
        state, character = self._state, text[at]
        if state == "next" and character == ",":
            self._state = AFTER_COMMA[self._stack[-1]]
        elif (state == "colon" and character == ":") or (state == "equals" and character == "="):
            self._state = "value"
        elif state in DUE and (end := self._after_plain_entries(text, at, DUE[state], MAX_DEPTH)) > at:
            return end
        elif (state in VALUES or state in KEYS) and character in QUOTES:
            self._begin_string("string", QUOTES[character])
        elif state in VALUES and character in (LIST, OBJECT):
            self._begin(character)
        elif state in VALUES and WORD.match(character):
            self._state = "word"
            return self._in_word(text, at)
        elif state in NAMES and WORD.match(character):
            self._state = "name"
            return self._in_name(text, at)
        elif state in MAY_CLOSE and character == CLOSES[self._stack[-1]]:
            self._close()
        elif state == "next" and not self._brackets and self._stack == CALLS and WORD.match(character):
            self._state = "call"
            return at
        elif (state, character) == ("list", "["):
            self._begin(CALLS)
        elif (state, character) == ("paren", "("):
            self._document.key("arguments")
            self._begin(ARGUMENTS)
        else:
            raise NotCertain
        return at + 1

    def _begin(self, what: str) -> None:
        if len(self._stack) > MAX_DEPTH:
            raise NotCertain
        self._opens(what)
        self._state = FIRST[what]

    def _close(self) -> None:
        what = self._stack[-1]
        if what == CALLS and not self._brackets:
            raise NotCertain
        self._bracket_ends()
        if what == ARGUMENTS:
            self._document.end()

    steps: ClassVar[Mapping[str, Step]] = {
        **dict.fromkeys([*VALUES, *KEYS, *NAMES, "list", "colon", "equals", "paren", "next"], _at_token),
        "string": BracketReader._in_string,
        "closing": BracketReader._in_closing,
        "word": BracketReader._in_word,
        "name": BracketReader._in_name,
        "done": BracketReader._in_done,
    }
