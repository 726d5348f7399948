"""The reader of all that nests in brackets: JSON, its dialects, and lists of Python calls.

In: a region's text, in any pieces. Out: what is known of it (see ``reader.py``) and, to a handler if there is one, the
parts of the value; a call of a Python list is told as an object with ``name`` and ``arguments``.

One machine, whose states are in ``STEPS``. Where the text leaves the grammar in a way that has one reading only, the
machine goes on, and asks ``tolerates`` whether the handler may be told what follows. Anything else breaks the value;
with a handler it raises NotCertain, and nothing more is told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from streamparse.errors import ContentError
from streamparse.formats import words
from streamparse.formats.compact import COMPACT_WORD, SLOT, Passing, compact, string_body
from streamparse.formats.escapes import read_escape
from streamparse.formats.reader import Handler, NotCertain, TooDeep
from streamparse.formats.strings import (
    LOOSE_BACKSLASH,
    LOOSE_QUOTE,
    PLAIN_QUOTES,
    PYTHON_ESCAPE,
    PYTHON_ESCAPE_SO_FAR,
    Quote,
    StringForm,
    compact_piece,
    fits,
    form_of,
    may_be_read_otherwise,
    unusual_kind,
)
from streamparse.repair.reading import Reading
from streamparse.repair.scalars import read_scalar
from streamparse.snapshot import expect_like
from streamparse.stages.content import plain_entries
from streamparse.stages.content.python_call_list import MAX_DEPTH, NAME
from streamparse.stages.content.python_call_list import Reader as CallsParser
from streamparse.stages.structure.literal import overlap

BLANKS = re.compile(r"[ \t\n\r]*+")
WORD = re.compile(r"[\w.+-]++")
DIALECT_KEY = re.compile(r"\w++")
BARE_KEY_TEXT = re.compile(r"""[^:{}\[\](),"'<>=\n\r\\/#]*+""")
BARE_KEY = re.compile(r"[\w$][\w$.-]*+")
WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,14}")
UNESCAPED = {quote.closing: re.compile(rf"[^{quote.closing}\\]*+") for quote in PLAIN_QUOTES}
OTHER_BLANKS = re.compile(r"[\s\ufeff\u200b]++")
BEFORE_VALUE = re.compile(r"`{3,}[ \t]{0,16}\w{0,16}(?:\s|(?=[\[{]))|(?i:json)\b[ \t]*+:?")
BEFORE_VALUE_SO_FAR = re.compile(r"(?:`++|`{3,}[ \t]{0,16}\w{0,16}|(?i:j|js|jso|json)|(?i:json)[ \t]++)\Z")
DEPTH_AT_MOST = 500
POINT_AT_MOST = 64
"""How long keys and words are at most at a point: a longer one is in none."""

CONSTANTS = ("true", "false", "null", "True", "False", "None")
"""Words that are values, and no numbers."""

# What stands on the stack for each thing that can be open, the character that closes it, and what is due in it at its
# beginning and after a comma. A doubled object has two braces at each end, as in a template of Python; in a dialect
# whose keys have no quotes an object may be in parentheses, as the arguments of a call are.
LIST, OBJECT, DOUBLED, PARENTHESES, CALLS, ARGUMENTS, TUPLE = "[", "{", "D", "P", "C", "(", "T"
CLOSES = {LIST: "]", OBJECT: "}", DOUBLED: "}", PARENTHESES: ")", CALLS: "]", ARGUMENTS: ")", TUPLE: ")"}
DUE = {
    LIST: "value",
    OBJECT: "key",
    DOUBLED: "key",
    PARENTHESES: "key",
    CALLS: "call",
    ARGUMENTS: "argument",
    TUPLE: "value",
}
OBJECTS = frozenset({OBJECT, DOUBLED, PARENTHESES})
# What is due after a word or a string that came where the first was due.
AFTER = {"value": "next", "member": "next", "key": "colon", "call": "paren", "argument": "equals"}
# The plain entries that are taken at once, by what is due and the brackets that it is due in.
PLAIN = {
    ("key", OBJECT): plain_entries.MEMBERS,
    ("value", LIST): plain_entries.ITEMS,
    ("argument", ARGUMENTS): plain_entries.ARGUMENTS,
}
# The brackets that open something, by what is due.
OPENS = {
    **{(due, bracket): bracket for due in ("value", "member", "argument") for bracket in (LIST, OBJECT)},
    ("list", "["): CALLS,
    ("paren", "("): ARGUMENTS,
}
TUPLES = frozenset({"value", "member", "argument"})
_NOTHING_OPEN = dict.fromkeys("]})", 0)
LEADS = {("colon", ":"), ("equals", "=")}
# What must come before the bracket that closes what it is due in.
OWED = frozenset({"colon", "member", "paren"})
# Where a word or string can begin, and where a word has to be a value.
ITEMS = frozenset(AFTER)
VALUES = frozenset({"value", "member"})
COMMENT_ENDS = {"//": "\n", "/*": "*/", "#": "\n"}

Tolerates = Callable[[str], bool]
"""Whether parts may be told behind a deviation of this kind."""


@dataclass(frozen=True)
class Grammar:
    """What is read: a JSON value, or with ``calls`` a list of calls.

    Without ``scalars`` only a list or an object can be the value. Without ``brackets`` a list of calls is calls with
    white space between them. ``quotes`` are the dialect's before the plain ones.
    """

    quotes: tuple[Quote, ...] = PLAIN_QUOTES
    calls: bool = False
    scalars: bool = False
    brackets: bool = True
    unquoted_keys: bool = False
    forms: tuple[StringForm, ...] = field(init=False)
    quotes_by_character: dict[str, list[int]] = field(init=False)
    names_are_plain: bool = field(init=False)
    marks: str = field(init=False)
    single_quotes: str = field(init=False)

    def __post_init__(self) -> None:
        """Sort the quotes by their first characters."""
        table: dict[str, list[int]] = {}
        for index, quote in enumerate(self.quotes):
            table.setdefault(quote.opening[0], []).append(index)
        marks = "".join(sorted({quote.opening[0] for quote in self.quotes if not quote.escapes}))
        forms = [form_of(quote, python=self.calls, marks=marks if quote.escapes else "") for quote in self.quotes]
        put = object.__setattr__
        put(self, "forms", tuple(forms))
        put(self, "quotes_by_character", table)
        put(self, "names_are_plain", not any(map(plain_entries.in_named_members, table)))
        put(self, "marks", marks)
        put(self, "single_quotes", "".join(quote.opening for quote in self.quotes if len(quote.opening) == 1))


class BracketReader:
    """Follows a text that is nested in brackets (see ``Reader``).

    With ``exact`` a closing quote ends its string whatever follows, as in a text that is only read as it should be.

    >>> reader = BracketReader(Grammar())
    >>> reader.feed('{"a": "x')
    >>> reader.begins, reader.inside, reader.complete
    (True, True, False)
    >>> reader.feed('"} ')
    >>> reader.complete, reader.end
    (True, 10)
    """

    open_ended = False

    def __init__(
        self,
        grammar: Grammar,
        handler: Handler | None = None,
        tolerates: Tolerates | None = None,
        *,
        exact: bool = False,
    ) -> None:
        self._grammar = grammar
        self._handler = handler
        self._tolerates = tolerates
        self._exact = exact
        self._stack: list[str] = [] if grammar.brackets else [CALLS]
        self._closable = _NOTHING_OPEN.copy()  # how often each bracket could close what is on the stack
        self._state = ("list" if grammar.brackets else "call") if grammar.calls else "value"
        self._due = ""  # what was due where the present string or word stands
        self._quote = 0
        self._word: str | None = None  # the state of the present word (see ``words``)
        self._after_comma = False
        self._bare_keys = grammar.unquoted_keys
        self._comment = ""  # what ends the comment that is open, whose place is in ``_resume``
        self._resume = ""
        self._held = ""  # what can't be read before more text comes
        self._length = 0
        self._plain_from = 0  # the place in the present text from which on plain entries are searched for
        # What the handler has not been told yet: the pieces of a key and of a word. ``_escaped`` says that the present
        # string has had an escape, ``_literal`` that its backslashes are text.
        self._key: list[str] | None = None
        self._text: list[str] = []
        self._escaped = self._literal = False
        self.begins: bool | None = None
        self.end: int | None = None
        self.whole_items: int | None = None
        self.broken = self.broken_inside = False
        self.tolerances = 0
        if handler is not None and not grammar.brackets:
            handler.begin("[")

    @property
    def inside(self) -> bool:
        """Whether the text has reached the inside of a string."""
        return self._state in ("string", "escape")

    @property
    def complete(self) -> bool:
        """Whether the text so far is one value and nothing else."""
        if self.broken:
            return False
        if not self._grammar.brackets:
            return self._stack == [CALLS] and self._state == "next"
        if self._stack:
            return False
        return self._state == "done" or (self._state == "word" and self._word in words.WHOLE)

    def feed(self, text: str) -> None:
        """Follow the next piece of text; with a handler it raises NotCertain where it can't be told what follows."""
        self._length += len(text)
        if self._held:
            text = self._held + text
            self._held = ""
        at, size = 0, len(text)
        self._plain_from = 0
        steps = STEPS
        while at < size:
            at = steps[self._state](self, text, at)

    def finish(self) -> None:
        """The text has ended, and with it a list of calls without brackets."""
        if (
            not self._grammar.brackets
            and self._handler is not None
            and self._state == "next"
            and self._stack == [CALLS]
        ):
            self._handler.end()

    def copy(self) -> Self:
        """Another reader with the same state, without a handler."""
        other = type(self)(self._grammar)
        other.__dict__.update(self.__dict__)
        other._stack, other._closable, other._handler = self._stack.copy(), self._closable.copy(), None
        other._text, other._key = [], None
        return other

    def snapshot(self) -> dict[str, Any]:
        """The state of a reader without a handler as JSON-able data."""
        state = self.__dict__ | {"_stack": "".join(self._stack)}
        for name in _NOT_SAVED:
            del state[name]
        return state

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that :meth:`snapshot` gave."""
        expect_like(state, self.snapshot(), "reader", nullable=True)
        self.__dict__.update(state)
        self._stack = [] if self._grammar.brackets else [CALLS]
        self._closable = _NOTHING_OPEN.copy()
        for what in state["_stack"][len(self._stack) :]:
            self._push(what)

    # What a walk through pieces that come again needs (see ``deltas/walk.py``).

    @property
    def passing(self) -> Passing | None:
        """How text goes out that is simply more of the present string; None outside strings."""
        if self._state != "string" or self._key is not None or self._held or self._literal:
            return None
        return self._grammar.forms[self._quote].passing

    @property
    def point(self) -> tuple[Any, ...] | None:
        """Where the reading is, but for the ``word``: from the same point on, the same text is read the same."""
        key, name_or_constant = None if self._key is None else "", ""
        if self._key and (len(self._key) >= POINT_AT_MOST or len(key := "".join(self._key)) > POINT_AT_MOST):
            return None
        if len(self._held) > POINT_AT_MOST:
            return None
        if self._text:
            if len(self._text) >= POINT_AT_MOST or len(word := "".join(self._text)) > POINT_AT_MOST:
                return None
            name_or_constant = word if self._due not in VALUES or word in CONSTANTS else ""
        flags = self._after_comma, self._bare_keys, self._escaped, self._literal, self._comment, self._resume
        return self._state, "".join(self._stack), self._due, self._quote, key, name_or_constant, self._held, flags

    def go_to(self, point: tuple[Any, ...], word: str) -> None:
        """Go to a point that the reading has been at, with the word of a value so far."""
        self._state, stack, self._due, self._quote, key, name_or_constant, self._held, flags = point
        self._after_comma, self._bare_keys, self._escaped, self._literal, self._comment, self._resume = flags
        self._stack = list(stack)
        self._key = None if key is None else [key]
        self._text = [part for part in (name_or_constant, word) if part]

    @property
    def word(self) -> str | None:
        """The word of a value that is being read; None where none is, and where it is so far one of ``CONSTANTS``."""
        word = "".join(self._text) if self._state == "word" and self._due in VALUES else None
        return None if word in CONSTANTS else word

    def compact_word(self, word: str) -> str:
        """The value that a word stands for, as compact JSON; raises NotCertain where it stands for none."""
        if word == SLOT or (WHOLE_NUMBER if self._grammar.calls else COMPACT_WORD).fullmatch(word):
            return word
        try:
            return compact(self._strict_word(word))
        except (ValueError, ContentError):
            return self._mended_word(word)

    def _strict_word(self, word: str) -> Any:
        """The value of a word by the format's own rules."""
        if not self._grammar.calls:
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
            value, source = read_scalar(reading, python=self._grammar.calls)
        except ContentError:
            raise NotCertain from None
        if source is not None or not reading.ended:
            raise NotCertain
        for kind in reading.repaired:
            self._deviates(kind)
        return compact(value)

    # Strings.

    def _in_string(self, text: str, at: int) -> int:
        """Go on in a string, up to a quote that may end it or an escape."""
        quote = self._grammar.quotes[self._quote]
        if self._handler is not None:
            return self._tell_string(text, at, self._grammar.forms[self._quote])
        if not quote.escapes:
            found = text.find(quote.closing, at)
            if found < 0:
                self._held = text[len(text) - overlap(text, quote.closing, at) :]
                return len(text)
            return self._may_end(text, found + len(quote.closing))
        at = UNESCAPED[quote.closing].match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            return at
        if text[at] == "\\":
            self._state = "escape"
            return at + 1
        return self._may_end(text, at + 1)

    def _in_escape(self, _text: str, at: int) -> int:
        self._state = "string"
        return at + 1

    def _tell_string(self, text: str, at: int, form: StringForm) -> int:
        """The same, telling the handler what the string says."""
        quote = form.quote
        if not quote.escapes:
            found = text.find(quote.closing, at)
            end = len(text) - overlap(text, quote.closing, at) if found < 0 else found
            if end > at:
                self._piece(string_body(text[at:end]))
            return self._hold(text, end) if found < 0 else self._may_end(text, found + len(quote.closing))
        end = (form.literal if self._literal else form.stretch).match(text, at).end()  # type: ignore[union-attr]
        if end > at:
            self._tell_stretch(text[at:end], form)
        if end == len(text):
            return end
        character = text[end]
        if character == quote.closing:
            return self._may_end(text, end + 1)
        if character == "\\":
            return self._tell_escape(text, end, form)
        raise NotCertain  # a dialect's delimiter counts within such a string too, whatever that makes of it

    def _tell_stretch(self, stretch: str, form: StringForm) -> None:
        if "\\" in stretch and "\\" in stretch.replace('\\"', ""):
            self._escaped = True
        if (unusual := form.unusual.search(stretch)) is not None:
            if unusual[0] > " ":
                raise NotCertain
            self._deviates(unusual_kind(unusual[0]))
        self._piece(compact_piece(stretch))

    def _tell_escape(self, text: str, at: int, form: StringForm) -> int:
        if self._literal:
            if at + 1 == len(text):
                return self._hold(text, at)
            escaped = text[at + 1]
            self._piece(string_body(escaped if escaped == form.quote.closing else text[at : at + 2]))
            return at + 2
        try:
            escape = read_escape(text, at, form.letters)
        except ValueError:
            return self._tell_loose_escape(text, at, form)
        if escape is None:
            return self._hold(text, at)
        if form.python and escape.text.startswith("\\ud"):
            raise NotCertain
        if text[at + 1] != form.quote.closing:
            self._escaped = True
        self._piece(escape.text)
        return escape.end

    def _tell_loose_escape(self, text: str, at: int, form: StringForm) -> int:
        """A backslash that starts no escape of the format: one of Python, or a string whose backslashes are text."""
        if text[at + 1] in "\r\n":
            self._deviates(unusual_kind("\n"))
            self._piece(string_body(text[at : at + 2]))
            return at + 2
        if form.python or form.quote.closing == "'":
            if (code := PYTHON_ESCAPE.match(text, at)) is not None:
                if (number := int(code[1] or code[2], 16)) > 0x10FFFF:
                    raise NotCertain
                self._deviates("an escape that only Python has")
                self._escaped = True
                self._piece(string_body(chr(number)))
                return code.end()
            if PYTHON_ESCAPE_SO_FAR.match(text, at):
                return self._hold(text, at)
        if text[at + 1] == "'":
            self._deviates("an escaped apostrophe")
            self._escaped = True
            self._piece("'")
            return at + 2
        if self._escaped:
            raise NotCertain
        self._deviates(LOOSE_BACKSLASH)
        self._literal = True
        return at

    def _piece(self, text: str) -> None:
        if self._key is None:
            self._handler.piece(text)  # type: ignore[union-attr]
        else:
            self._key.append(text)

    def _may_end(self, text: str, at: int) -> int:
        """A closing quote came: that of a key or a scalar counts at once, that of any other value by what follows."""
        if self._stack and self._due != "key" and not self._exact:
            self._state = "closing"
        else:
            self._string_ends(text, at)
        return at

    def _in_closing(self, text: str, at: int) -> int:
        inner = self._stack[-1]
        ends = fits(
            text,
            at,
            CLOSES[inner],
            in_object=inner in OBJECTS,
            in_list=inner == LIST,
            bare_keys=self._bare_keys,
            quotes=self._grammar.single_quotes,
        )
        if ends is None:
            return self._hold(text, at)
        if ends:
            self._string_ends(text, at)
            return at
        if self._handler is not None:
            if may_be_read_otherwise(text, at, marks=self._grammar.marks, python=self._grammar.calls):
                raise NotCertain
            self._deviates(LOOSE_QUOTE)
            self._piece(string_body(self._grammar.forms[self._quote].quote_character))
        self._tolerate(LOOSE_QUOTE, "string")
        return at

    def _string_ends(self, text: str, at: int) -> None:
        if self._handler is not None:
            if self._key is None:
                self._handler.string_ends()
            else:
                key, self._key = json.loads(f'"{"".join(self._key)}"'), None
                self._handler.key(key)
        self._item_ends(text, at)

    def _string_opens(self, text: str, at: int) -> int:
        """The place after an opening quote, if one stands here; 0 if none does."""
        if not self._stack and not self._grammar.scalars:
            return 0
        for index in self._grammar.quotes_by_character.get(text[at], ()):
            opening = self._grammar.quotes[index].opening
            if text.startswith(opening, at):
                if self._state == "call":
                    self._breaks()
                self._due = "value" if self._state == "argument" else self._state
                if self._handler is not None:
                    self._tell_opening(self._grammar.quotes[index])
                self._state, self._quote, self._after_comma = "string", index, False
                self._is_sure()
                return at + len(opening)
            if len(text) - at < len(opening) and opening.startswith(text[at:]):
                return self._hold(text, at)
        return 0

    def _tell_opening(self, quote: Quote) -> None:
        """Tell that a string begins, if it begins where it may be told."""
        if self._state == "argument":
            raise NotCertain  # a value without a name
        if quote.escapes and not self._grammar.calls:
            if quote.opening == "'":
                self._deviates("single quotes")
            elif self._grammar.marks:
                self._deviates("plain quotes")
        self._escaped = self._literal = False
        if self._due == "key":
            self._key = []
        else:
            self._handler.string_begins()  # type: ignore[union-attr]

    # Words.

    def _word_begins(self, text: str, at: int) -> int:
        self._due, self._state, self._word, self._after_comma = self._state, "word", words.START, False
        return self._in_word(text, at)

    def _in_word(self, text: str, at: int) -> int:
        match = WORD.match(text, at)
        if match is not None:
            at = match.end()
            if self._handler is None or self._due == "argument":
                self._word = words.advance(self._word, match[0])
            if self._handler is not None:
                self._text.append(match[0])
        if at < len(text):
            if self._handler is not None:
                self._tell_word("".join(self._text))
                self._text.clear()
                self._is_sure()
            elif self._due in VALUES:
                if self._word in words.WHOLE:
                    self._is_sure()
                else:
                    self._breaks()
            if self._due == "key":
                self._bare_keys = True
            self._item_ends(text, at)
        return at

    def _in_bare_key(self, text: str, at: int) -> int:
        """Go on in a key of a dialect whose keys have no quotes, up to its colon."""
        end = BARE_KEY_TEXT.match(text, at).end()  # type: ignore[union-attr]
        if self._handler is not None:
            self._text.append(text[at:end])
        if end < len(text):
            if self._handler is not None:
                key = "".join(self._text).rstrip()
                self._text.clear()
                if DIALECT_KEY.fullmatch(key) is None:
                    self._deviates("a key with blanks" if " " in key else "a key without quotes")
                self._handler.key(key)
            self._state = "colon"
        return end

    def _tell_word(self, word: str) -> None:
        """Tell a word that is whole: a value, a key, or a name."""
        handler = self._handler
        assert handler is not None, "there is a handler to be told"
        if self._due in VALUES:
            handler.word(self.compact_word(word))
        elif self._due == "key":
            if not (self._grammar.unquoted_keys and DIALECT_KEY.fullmatch(word)):
                if BARE_KEY.fullmatch(word) is None:
                    raise NotCertain
                self._deviates("a key without quotes")
            handler.key(word)
        elif NAME.fullmatch(word) is None:
            raise NotCertain
        elif self._due == "call":
            handler.begin(OBJECT)
            handler.key("name")
            handler.string_begins()
            handler.piece(word)
            handler.string_ends()
        else:
            handler.key(word)

    def _item_ends(self, text: str, at: int) -> None:
        """A string, a word, or what a bracket closed is over; what follows begins at ``at``."""
        if self._stack:
            self._state = AFTER[self._due]
        else:
            self._state = "done"
            self.end = self._length - (len(text) - at)

    def _item_follows(self, text: str, at: int) -> None:
        """Another item follows in the outermost brackets, so that those before ``at`` are whole."""
        if len(self._stack) == 1 and self._stack[0] not in OBJECTS and not self.broken:
            self.whole_items = self._length - (len(text) - at)

    def _in_done(self, text: str, at: int) -> int:
        if text[at:].strip(" \t\n\r"):
            if self._handler is not None:
                raise NotCertain
            self._state = "trailing"
        return len(text)

    def _in_trailing(self, text: str, _at: int) -> int:
        return len(text)

    # Between strings and words.

    def _at_token(self, text: str, at: int) -> int:
        """Take what stands where a token is due."""
        if text[at] <= " ":
            at = BLANKS.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            return at
        character, state = text[at], self._state
        if state == "next" and character == ",":
            return self._between(text, at)
        if (state, character) in LEADS:
            self._state = "member"
            self._is_sure()
            return at + 1
        if character in "]})" and self._stack:
            return self._between(text, at)
        if state in ITEMS:
            if (
                len(text) - at >= plain_entries.AT_LEAST
                and at >= self._plain_from
                and (end := self._after_plain_entries(text, at)) > at
            ):
                return end
            if character in self._grammar.quotes_by_character and (opened := self._string_opens(text, at)):
                return opened
            if (bracket := OPENS.get((state, character))) is not None:
                return self._opens(bracket, at)
            if self._stack and WORD.match(character):
                if state == "key" and self._grammar.unquoted_keys:
                    self._due, self._state, self._after_comma = state, "bare key", False
                    return self._in_bare_key(text, at)
                return self._word_begins(text, at)
        return self._at_rare_token(text, at)

    def _at_rare_token(self, text: str, at: int) -> int:
        """The same for what is rarely due: what is passed over, what begins a value, and what doesn't belong there."""
        character, state = text[at], self._state
        passed = self._pass_over(text, at)
        if passed != at:
            return passed
        if not self._stack and (passed := self._pass_before_value(text, at)) != at:
            return passed
        if state == "key" and character == "{" and self._stack[-1] == OBJECT and not self._after_comma:
            self._tolerate("doubled braces", state)
            self._stack[-1] = DOUBLED
            return at + 1
        if character == "(" and not self._stack and self._grammar.unquoted_keys:
            self._deviates("arguments in parentheses")
            return self._opens(PARENTHESES, at)
        if not self._stack and not self._can_begin(character):
            self._breaks()
            self._state = "trailing"
            return len(text)
        if state in ITEMS and WORD.match(character):
            return self._word_begins(text, at)
        if (bracket := OPENS.get((state, character))) is not None:
            return self._opens(bracket, at)
        if character == "(" and self._grammar.calls and state in TUPLES:
            if self._handler is not None:
                raise NotCertain
            return self._opens(TUPLE, at)
        return self._between(text, at)

    def _pass_over(self, text: str, at: int) -> int:
        """The place after a comment's beginning, blanks that JSON does not know, or a line break that is spelled."""
        character = text[at]
        if character == "\\":
            if at + 1 == len(text):
                return self._hold(text, at)
            if self._stack and text[at + 1] in "nrt":
                self._deviates("an escape outside strings")
                return at + 2
        elif character == "#" or text.startswith(("//", "/*"), at):
            opening = "#" if character == "#" else text[at : at + 2]
            self._deviates("a comment")
            self._comment, self._resume, self._state = COMMENT_ENDS[opening], self._state, "comment"
            return at + len(opening)
        elif character == "/" and at + 1 == len(text):
            return self._hold(text, at)
        elif (blanks := OTHER_BLANKS.match(text, at)) is not None:
            self._deviates("blanks that JSON does not know")
            return blanks.end()
        return at

    def _in_comment(self, text: str, at: int) -> int:
        found = text.find(self._comment, at)
        if found < 0:
            return self._hold(text, len(text) - overlap(text, self._comment, at))
        self._state = self._resume
        return found + len(self._comment)

    def _pass_before_value(self, text: str, at: int) -> int:
        """The place after a code fence or the word json, which are passed over before a value."""
        before = BEFORE_VALUE.match(text, at)
        if before is not None and (before.end() < len(text) or before[0][-1] in "\n:"):
            self._deviates("a code fence around the value" if before[0][0] == "`" else "the word json before the value")
            return before.end()
        if (before is not None or BEFORE_VALUE_SO_FAR.match(text, at)) and len(text) - at <= POINT_AT_MOST:
            return self._hold(text, at)
        return at

    def _after_plain_entries(self, text: str, at: int) -> int:
        """The place after the plain entries that stand here, which the handler is told."""
        stack, handler = self._stack, self._handler
        if not self.begins or not stack or (len(stack) == 1 and stack[0] not in OBJECTS):
            return at
        entries = PLAIN.get((self._state, stack[-1]))
        if entries is plain_entries.MEMBERS and text[at] != '"' and self._grammar.names_are_plain:
            entries = plain_entries.NAMED_MEMBERS
        if entries is None or (handler is not None and not self._may_tell_entries(entries)):
            return at
        end = plain_entries.end_of(entries, text, at)
        if end == at:
            self._plain_from = at + plain_entries.TRY_AGAIN_AFTER
            return at
        if handler is not None:
            handler.entries(plain_entries.compact(entries, text[at:end]))
        self._after_comma = True
        return end

    def _may_tell_entries(self, entries: re.Pattern[str]) -> bool:
        """Whether the handler may be told such entries at once."""
        handler, grammar = self._handler, self._grammar
        if handler is None or not handler.takes_entries:
            return False
        if entries is plain_entries.NAMED_MEMBERS:
            allowed = grammar.unquoted_keys
        else:
            allowed = not grammar.marks or entries is plain_entries.ARGUMENTS
        return allowed and len(self._stack) + plain_entries.NESTED_AT_MOST < self._depth_at_most

    @property
    def _depth_at_most(self) -> int:
        return MAX_DEPTH if self._grammar.calls else DEPTH_AT_MOST

    def _can_begin(self, character: str) -> bool:
        grammar = self._grammar
        if grammar.calls:
            return character == "["
        return character in "[{" or (grammar.scalars and WORD.match(character) is not None)

    def _opens(self, what: str, at: int) -> int:
        if self._stack:
            self._is_sure()
        if self._handler is not None:
            if len(self._stack) >= self._depth_at_most + self._grammar.calls:
                raise TooDeep
            if self._state == "argument":
                raise NotCertain
            if what == ARGUMENTS:
                self._handler.key("arguments")
            self._handler.begin("[" if what in (CALLS, LIST) else "{")
        self._push(what)
        self._state, self._after_comma = DUE[what], False
        return at + 1

    def _push(self, what: str) -> None:
        self._stack.append(what)
        self._closable[CLOSES[what]] += 1

    def _between(self, text: str, at: int) -> int:
        """Take what stands between items: a comma, a closing bracket, or what doesn't belong there."""
        character, state, inner = text[at], self._state, self._stack[-1]
        if state == "next" and character == ",":
            self._item_follows(text, at)
            self._state, self._after_comma = DUE[inner], True
            return at + 1
        if state == "equals":  # a value without a name
            if self._handler is not None or self._word not in words.WHOLE:
                self._breaks()
            self._state = "next"
        elif character in "]})":
            return self._closes(text, at)
        elif state == "key" and character == "," and self._after_comma:
            self._deviates("a doubled comma")
            return at + 1
        elif state == "colon" and character == "=":
            if at + 1 == len(text):
                return self._hold(text, at)
            self._deviates("an equals sign in place of a colon")
            self._state = "member"
            return at + 1 + (text[at + 1] == ">")
        elif state != "next":
            self._breaks()
            if state in ("colon", "paren"):
                self._state = "next"
            else:
                return at + 1
        elif WORD.match(character) or character in "[{(" or character in self._grammar.quotes_by_character:
            self._comma_is_missing(text, at)
        else:
            self._breaks()
            return at + 1
        return at

    def _comma_is_missing(self, text: str, at: int) -> None:
        inner, grammar = self._stack[-1], self._grammar
        if inner == CALLS and not grammar.brackets:
            self._item_follows(text, at)
            self._state = DUE[inner]
            return
        if self._handler is not None and inner in (LIST, TUPLE):
            is_value = text[at] in "[{" or (not grammar.calls and text[at] in grammar.quotes_by_character)
            if not is_value:
                raise NotCertain
        self._tolerate("a missing comma", DUE[inner])
        self._after_comma = True

    def _closes(self, text: str, at: int) -> int:
        """Close what a bracket closes, and all that stands open in it."""
        stack, closable, bracket = self._stack, self._closable, text[at]
        if self._handler is not None:
            return self._tell_close(text, at)
        if not closable[bracket]:
            self._breaks()
            return at + 1
        opened = len(stack) - 1
        while CLOSES[stack[opened]] != bracket:
            opened -= 1
        if opened < len(stack) - 1 or self._state in OWED:
            self._breaks(at_the_end=not opened)
        elif stack[-1] != CALLS:
            self._is_sure()
        if stack[opened] == DOUBLED and self._state != "second brace":
            for what in stack[opened + 1 :]:
                closable[CLOSES[what]] -= 1
            del stack[opened + 1 :]
            self._state = "second brace"
            return at + 1
        for what in stack[opened:]:
            closable[CLOSES[what]] -= 1
        del stack[opened:]
        self._due, self._after_comma = "value", False
        self._item_ends(text, at + 1)
        return at + 1

    def _tell_close(self, text: str, at: int) -> int:
        """Close the innermost thing, where its own bracket does."""
        handler, stack = self._handler, self._stack
        assert handler is not None, "there is a handler to be told"
        what = stack[-1]
        is_outermost = what == CALLS and not self._grammar.brackets
        if CLOSES[what] != text[at] or self._state in OWED or is_outermost or self._state == "equals":
            raise NotCertain
        if self._after_comma:
            self._deviates("a trailing comma")
        if what == DOUBLED and self._state != "second brace":
            self._state, self._after_comma = "second brace", False
            return at + 1
        self._is_sure()
        stack.pop()
        handler.end()
        if what == ARGUMENTS:
            handler.end()
        self._due, self._after_comma = "value", False
        self._item_ends(text, at + 1)
        return at + 1

    def _at_second_brace(self, text: str, at: int) -> int:
        """The first of two closing braces came."""
        if text[at] <= " ":
            at = BLANKS.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            return at
        if text[at] == "}":
            return self._closes(text, at)
        self._breaks()
        self._stack[-1], self._state = OBJECT, "next"
        return at

    def _hold(self, text: str, at: int) -> int:
        self._held = text[at:]
        return len(text)

    def _is_sure(self) -> None:
        if self.begins is None:
            self.begins = True

    def _deviates(self, kind: str) -> None:
        """Go on where a strict reader would stop, if the handler may be told what follows."""
        if self._handler is not None and (self._tolerates is None or not self._tolerates(kind)):
            raise NotCertain

    def _tolerate(self, kind: str, state: str) -> None:
        """The same where the text before may have ended otherwise."""
        self._deviates(kind)
        self.tolerances += 1
        self._state = state

    def _breaks(self, *, at_the_end: bool = False) -> None:
        if self._handler is not None:
            raise NotCertain
        self.broken = True
        self.broken_inside = self.broken_inside or not at_the_end
        if self.begins is None:
            self.begins = False


_NOT_SAVED = (
    "_grammar", "_handler", "_tolerates", "_exact", "_plain_from", "_closable", "_key", "_text", "_escaped", "_literal",
)  # fmt: skip

STEPS = {
    **dict.fromkeys(["list", "next", "colon", "equals", "paren", *ITEMS], BracketReader._at_token),
    "string": BracketReader._in_string,
    "escape": BracketReader._in_escape,
    "closing": BracketReader._in_closing,
    "word": BracketReader._in_word,
    "bare key": BracketReader._in_bare_key,
    "comment": BracketReader._in_comment,
    "second brace": BracketReader._at_second_brace,
    "done": BracketReader._in_done,
    "trailing": BracketReader._in_trailing,
}
