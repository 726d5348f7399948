"""What a reader of brackets tells its handler of strings, keys, words and entries: in the form of compact JSON.

In: the parts as they are written, with their faults. Out: the same, to the ``Handler``; each fault only where
``tolerates`` lets the reader go on, otherwise NotCertain is raised.
"""

from __future__ import annotations

import json
import re
from typing import Any

from streamparse.errors import ContentError
from streamparse.formats.bracket_grammar import OBJECT, VALUES, Grammar, Tolerates
from streamparse.formats.compact import COMPACT_WORD, SLOT, compact, string_body
from streamparse.formats.escapes import read_escape
from streamparse.formats.reader import Handler, NotCertain
from streamparse.formats.reading import Reading
from streamparse.formats.scalars import read_scalar
from streamparse.formats.strings import (
    LOOSE_BACKSLASH,
    PYTHON_ESCAPE,
    PYTHON_ESCAPE_SO_FAR,
    Quote,
    StringForm,
    compact_piece,
    unusual_kind,
)
from streamparse.stages.content import plain_entries
from streamparse.stages.content.python_call_list import NAME
from streamparse.stages.content.python_call_list import Reader as CallsParser
from streamparse.stages.structure.literal import overlap

DIALECT_KEY = re.compile(r"\w++")
BARE_KEY = re.compile(r"[\w$][\w$.-]*+")
WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,14}")


class Parts:
    """Tells ``handler`` the parts of a value.

    ``key`` has the pieces of the key that is being read, ``text`` those of a word. ``escaped`` says that the present
    string has had an escape, ``literal`` that its backslashes are text.
    """

    __slots__ = ("escaped", "grammar", "handler", "key", "literal", "text", "tolerates")

    def __init__(self, grammar: Grammar, handler: Handler, tolerates: Tolerates | None) -> None:
        self.grammar = grammar
        self.handler = handler
        self.tolerates = tolerates
        self.key: list[str] | None = None
        self.text: list[str] = []
        self.escaped = self.literal = False

    def deviates(self, kind: str) -> None:
        """Go on behind a fault of this kind, if the handler may be told what follows."""
        if self.tolerates is None or not self.tolerates(kind):
            raise NotCertain

    def string_begins(self, quote: Quote, *, is_key: bool) -> None:
        """A string begins."""
        if quote.escapes and not self.grammar.calls:
            if quote.opening == "'":
                self.deviates("single quotes")
            elif self.grammar.marks:
                self.deviates("plain quotes")
        self.escaped = self.literal = False
        if is_key:
            self.key = []
        else:
            self.handler.string_begins()

    def string(self, text: str, at: int, form: StringForm) -> int:
        """Tell what the string says up to its closing quote, or to an escape or a quote that isn't whole yet."""
        quote = form.quote
        if not quote.escapes:
            found = text.find(quote.closing, at)
            end = len(text) - overlap(text, quote.closing, at) if found < 0 else found
            if end > at:
                self.piece(string_body(text[at:end]))
            return end
        while True:
            end = (form.literal if self.literal else form.stretch).match(text, at).end()  # type: ignore[union-attr]
            if end > at:
                self._stretch(text[at:end], form)
            if end == len(text) or text[end] == quote.closing:
                return end
            if text[end] != "\\":
                raise NotCertain  # a dialect's delimiter counts within such a string too, whatever that makes of it
            at = self._escape(text, end, form)
            if at == end and not self.literal:
                return at
            if at == end and at + 1 == len(text):
                return at

    def _stretch(self, stretch: str, form: StringForm) -> None:
        if "\\" in stretch and "\\" in stretch.replace('\\"', ""):
            self.escaped = True
        if (unusual := form.unusual.search(stretch)) is not None:
            if unusual[0] > " ":
                raise NotCertain
            self.deviates(unusual_kind(unusual[0]))
        self.piece(compact_piece(stretch))

    def _escape(self, text: str, at: int, form: StringForm) -> int:
        if self.literal:
            if at + 1 == len(text):
                return at
            escaped = text[at + 1]
            self.piece(string_body(escaped if escaped == form.quote.closing else text[at : at + 2]))
            return at + 2
        try:
            escape = read_escape(text, at, form.letters)
        except ValueError:
            return self._loose_escape(text, at, form)
        if escape is None:
            return at
        if form.python and escape.text.startswith("\\ud"):
            raise NotCertain
        if text[at + 1] != form.quote.closing:
            self.escaped = True
        self.piece(escape.text)
        return escape.end

    def _loose_escape(self, text: str, at: int, form: StringForm) -> int:
        """A backslash that starts no escape of the format: one of Python, or a string whose backslashes are text."""
        if text[at + 1] in "\r\n":
            self.deviates(unusual_kind("\n"))
            self.piece(string_body(text[at : at + 2]))
            return at + 2
        if form.python or form.quote.closing == "'":
            if (code := PYTHON_ESCAPE.match(text, at)) is not None:
                if (number := int(code[1] or code[2], 16)) > 0x10FFFF:
                    raise NotCertain
                self.deviates("an escape that only Python has")
                self.escaped = True
                self.piece(string_body(chr(number)))
                return code.end()
            if PYTHON_ESCAPE_SO_FAR.match(text, at):
                return at
        if text[at + 1] == "'":
            self.deviates("an escaped apostrophe")
            self.escaped = True
            self.piece("'")
            return at + 2
        if self.escaped:
            raise NotCertain
        self.deviates(LOOSE_BACKSLASH)
        self.literal = True
        return at

    def piece(self, text: str) -> None:
        """Tell a piece of the string, or keep it where that is a key."""
        if self.key is None:
            self.handler.piece(text)
        else:
            self.key.append(text)

    def string_ends(self) -> None:
        """The string ends."""
        if self.key is None:
            self.handler.string_ends()
        else:
            key, self.key = json.loads(f'"{"".join(self.key)}"'), None
            self.handler.key(key)

    def word_ends(self, due: str) -> None:
        """Tell the word that is whole: a value, a key, or a name, by what is due."""
        handler, word = self.handler, "".join(self.text)
        self.text.clear()
        if due in VALUES:
            handler.word(self.compact_word(word))
        elif due == "key":
            if not (self.grammar.unquoted_keys and DIALECT_KEY.fullmatch(word)):
                if BARE_KEY.fullmatch(word) is None:
                    raise NotCertain
                self.deviates("a key without quotes")
            handler.key(word)
        elif NAME.fullmatch(word) is None:
            raise NotCertain
        elif due == "call":
            handler.begin(OBJECT)
            handler.key("name")
            handler.string_begins()
            handler.piece(word)
            handler.string_ends()
        else:
            handler.key(word)

    def bare_key_ends(self) -> None:
        """Tell a key of a dialect whose keys have no quotes."""
        key = "".join(self.text).rstrip()
        self.text.clear()
        if DIALECT_KEY.fullmatch(key) is None:
            self.deviates("a key with blanks" if " " in key else "a key without quotes")
        self.handler.key(key)

    def compact_word(self, word: str) -> str:
        """The value that a word stands for, as compact JSON; raises NotCertain where it stands for none."""
        if word == SLOT or (WHOLE_NUMBER if self.grammar.calls else COMPACT_WORD).fullmatch(word):
            return word
        try:
            return compact(self._strict_word(word))
        except (ValueError, ContentError):
            return self._mended_word(word)

    def _strict_word(self, word: str) -> Any:
        """The value of a word by the format's own rules."""
        if not self.grammar.calls:
            return json.loads(word)
        parser = CallsParser(word)
        value = parser.value(0)
        if parser.position != len(word):
            raise ValueError(word)
        return value

    def _mended_word(self, word: str) -> str:
        """The value of a word that only a tolerant reader takes for one."""
        reading = Reading(word)
        try:
            value, source = read_scalar(reading, python=self.grammar.calls)
        except ContentError:
            raise NotCertain from None
        if source is not None or not reading.ended:
            raise NotCertain
        for kind in reading.repaired:
            self.deviates(kind)
        return compact(value)

    def takes_entries(self, entries: re.Pattern[str], depth: int) -> bool:
        """Whether the handler may be told such entries at once."""
        grammar = self.grammar
        if not self.handler.takes_entries:
            return False
        if entries is plain_entries.NAMED_MEMBERS:
            allowed = grammar.unquoted_keys
        else:
            allowed = not grammar.marks or entries is plain_entries.ARGUMENTS
        return allowed and depth + plain_entries.NESTED_AT_MOST < grammar.depth_at_most
