"""What JSON and Python call lists have in common when they are read part by part: brackets, strings, words, names.

In: a region's text, in any pieces. Out: the parts of the value, to a ``CallDocument``. Where the text leaves the
grammar, nothing more is said before the region has ended.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from streamparse.stages.content import plain_entries
from streamparse.stages.deltas.compact import Passing, string_body
from streamparse.stages.deltas.document import CallDocument, NotCertain
from streamparse.stages.deltas.escapes import read_escape

BLANKS = re.compile(r"[ \t\n\r]*+")
WORD = re.compile(r"[-+.\w]++")

CONSTANTS = ("true", "false", "null", "True", "False", "None")
"""Words that are values, and no numbers."""

CALLS, ARGUMENTS, LIST, OBJECT = "C", "(", "[", "{"
"""What stands on the stack for each thing that is open; a list of calls and a call's arguments are those of Python."""

PLAIN = {
    (OBJECT, "key"): plain_entries.MEMBERS,
    (LIST, "value"): plain_entries.ITEMS,
    (ARGUMENTS, "argument"): plain_entries.ARGUMENTS,
}
"""The plain entries that are taken at once, by what they stand in and what is due there behind a comma."""

CLOSES = {CALLS: "]", ARGUMENTS: ")", LIST: "]", OBJECT: "}"}

VALUES = frozenset({"value", "first value"})
KEYS = frozenset({"key", "first key"})

POINT_AT_MOST = 64
"""How long keys and words are at most at a point: a longer one is in none."""


@dataclass(frozen=True, eq=False)
class StringForm:
    """How strings of one kind are read.

    ``stretch`` matches what goes out as ``encode`` says, up to the ``closing`` character or an escape, of which
    ``letters`` are those of one letter. With ``surrogates`` a lone one may stand in the string.
    """

    closing: str
    stretch: re.Pattern[str]
    encode: Callable[[str], str]
    letters: dict[str, str]
    surrogates: bool
    passing: Passing


Point = tuple[Any, ...]
Step = Callable[[Any, str, int], int]
"""Reads on from a place in a text; to the place from which the next step reads."""


class BracketReader:
    """Follows a text; ``steps`` say for each state how it is read on.

    ``lenient`` says that a closing quote counts only where what follows fits, because then the text may be mended.
    """

    steps: ClassVar[Mapping[str, Step]]

    def __init__(self, document: CallDocument | Any, state: str, *, lenient: bool) -> None:
        self._document = document
        self._lenient = lenient
        self._stack = ""
        # What is due; or "string", "closing" (a quote that may end it came), "word" (a value), "name" (a word that is
        # no value), "done", and what else a grammar has.
        self._state = state
        self._form: StringForm | None = None
        self._key: list[str] | None = None  # the pieces of the key that is being read
        self._word: list[str] = []
        self._held = ""  # what can't be read before more text comes
        self._plain_from = 0  # the place in the present text from which on plain entries are searched for

    @property
    def passing(self) -> Passing | None:
        """How text goes out that is simply more of the present string; None outside strings."""
        if self._state != "string" or self._form is None or self._key is not None or self._held:
            return None
        return self._form.passing

    @property
    def point(self) -> Point | None:
        """Where the reading is, but for the ``word``: from the same point on, the same text is read the same."""
        key, name_or_constant = None if self._key is None else "", ""
        if self._key and (len(self._key) >= POINT_AT_MOST or len(key := "".join(self._key)) > POINT_AT_MOST):
            return None
        if self._word:
            if len(self._word) >= POINT_AT_MOST or len(word := "".join(self._word)) > POINT_AT_MOST:
                return None
            name_or_constant = word if self._state != "word" or word in CONSTANTS else ""
        return self._state, self._stack, self._form, key, name_or_constant, self._held

    def go_to(self, point: Point, word: str) -> None:
        """Go to a point that the reading has been at, with the word of a value so far."""
        self._state, self._stack, self._form, key, name_or_constant, self._held = point
        self._key = None if key is None else [key]
        self._word = [part for part in (name_or_constant, word) if part]

    @property
    def word(self) -> str | None:
        """The word of a value that is being read; None where none is, and where it is so far one of ``CONSTANTS``."""
        word = "".join(self._word) if self._state == "word" else None
        return None if word in CONSTANTS else word

    def feed(self, text: str) -> None:
        """Follow the next piece of text; raises NotCertain where it can't be followed."""
        if self._held:
            text = self._held + text
            self._held = ""
        at, size = 0, len(text)
        self._plain_from = 0
        while at < size:
            at = self.steps[self._state](self, text, at)

    def finish(self) -> None:
        """The text has ended; most values say by themselves what is complete."""

    def compact_word(self, word: str) -> str:
        """The value that a word stands for, as compact JSON; raises NotCertain where it stands for none."""
        raise NotImplementedError

    def _take_name(self, name: str) -> None:
        """Take a whole name."""
        raise NotImplementedError

    def _after_plain_entries(self, text: str, at: int, due: str, depth_at_most: int) -> int:
        """The place after the plain entries that stand here, which are taken; ``due`` is what is due behind them."""
        stack = self._stack
        if len(text) - at < plain_entries.AT_LEAST or at < self._plain_from:
            return at
        if not stack or not self._document.takes_entries:
            return at
        entries = self._plain_entries(stack[-1], due, text[at])
        if entries is None or len(stack) + plain_entries.NESTED_AT_MOST >= depth_at_most:
            return at
        end = plain_entries.end_of(entries, text, at)
        if end > at:
            self._document.entries(plain_entries.compact(entries, text[at:end]))
            self._state = due
        else:
            self._plain_from = at + plain_entries.TRY_AGAIN_AFTER
        return end

    def _plain_entries(self, bracket: str, due: str, _character: str) -> re.Pattern[str] | None:
        """The plain entries that may be due in a bracket, if the first one begins with a character."""
        return PLAIN.get((bracket, due))

    def _hold(self, text: str, at: int) -> int:
        self._held = text[at:]
        return len(text)

    def _opens(self, what: str) -> None:
        self._stack += what
        self._document.begin(LIST if what in (CALLS, LIST) else OBJECT)

    def _bracket_ends(self) -> None:
        self._stack = self._stack[:-1]
        self._document.end()
        self._value_ends()

    def _value_ends(self) -> None:
        self._state = "next" if self._stack else "done"

    def _begin_string(self, state: str, form: StringForm | None) -> None:
        if self._state in KEYS:
            self._key = []
        else:
            self._document.string_begins()
        self._state, self._form = state, form

    def _in_string(self, text: str, at: int) -> int:
        form = self._form
        assert form is not None, "a string is open"
        end = form.stretch.match(text, at).end()  # type: ignore[union-attr]
        if end > at:
            self._piece(form.encode(text[at:end]))
        if end == len(text):
            return end
        character = text[end]
        if character == form.closing:
            return self._may_end(end + 1)
        if character == "\\":
            return self._escape(form, text, end)
        if character < " " or not form.surrogates:
            raise NotCertain
        self._piece(string_body(character))
        return end + 1

    def _escape(self, form: StringForm, text: str, at: int) -> int:
        try:
            escape = read_escape(text, at, form.letters)
        except ValueError:
            raise NotCertain from None
        if escape is None:
            return self._hold(text, at)
        if not form.surrogates and escape.text.startswith("\\ud"):
            raise NotCertain
        self._piece(escape.text)
        return escape.end

    def _piece(self, text: str) -> None:
        if self._key is None:
            self._document.piece(text)
        else:
            self._key.append(text)

    def _may_end(self, at: int) -> int:
        """What closes the string came."""
        if self._key is None and self._lenient and self._stack:
            self._state = "closing"
        else:
            self._string_ends()
        return at

    def _in_closing(self, text: str, at: int) -> int:
        if text[at] <= " ":
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
        at, word = self._whole_word(text, at)
        if word is not None:
            self._document.word(self.compact_word(word))
            self._value_ends()
        return at

    def _in_name(self, text: str, at: int) -> int:
        at, name = self._whole_word(text, at)
        if name is not None:
            self._take_name(name)
        return at

    def _whole_word(self, text: str, at: int) -> tuple[int, str | None]:
        """Collect a word; it is whole when something else follows."""
        match = WORD.match(text, at)
        word = "" if match is None else match[0]
        at += len(word)
        if at == len(text):
            self._word.append(word)
            return at, None
        if self._word:
            word = "".join(self._word) + word
            self._word.clear()
        return at, word

    def _in_done(self, text: str, at: int) -> int:
        if text[at:].strip(" \t\n\r"):
            raise NotCertain
        return len(text)
