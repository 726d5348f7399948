"""The reader of all that nests in brackets: JSON, its dialects, and lists of Python calls.

In: a region's text, in any pieces. Out: what is known of it (see ``reader.py``) and, to a handler if there is one, the
parts of the value; a call of a Python list is told as an object with ``name`` and ``arguments``.

One machine, whose states are in ``STEPS``. Where the text leaves the grammar in a way that has one reading only, the
machine goes on, and asks ``tolerates`` whether the handler may be told what follows. Anything else breaks the value;
with a handler it raises NotCertain, and nothing more is told.
"""

from __future__ import annotations

import re
from typing import Any, Self

from streamparse.formats import words
from streamparse.formats.between import before_value, between_tokens
from streamparse.formats.bracket_grammar import (
    AFTER,
    ARGUMENTS,
    CALLS,
    CLOSES,
    DOUBLED,
    DUE,
    ITEMS,
    LEADS,
    LIST,
    NOTHING_OPEN,
    OBJECT,
    OBJECTS,
    OPENS,
    OWED,
    PARENTHESES,
    PLAIN,
    TUPLE,
    TUPLES,
    VALUES,
    Grammar,
    Tolerates,
)  # fmt: skip
from streamparse.formats.compact import Passing, string_body
from streamparse.formats.parts import Parts
from streamparse.formats.reader import Handler, NotCertain, TooDeep
from streamparse.formats.strings import LOOSE_QUOTE, PLAIN_QUOTES, fits, may_be_read_otherwise
from streamparse.snapshot import expect_like
from streamparse.stages.content import plain_entries
from streamparse.stages.structure.literal import overlap

BLANKS = re.compile(r"[ \t\n\r]*+")
WORD = re.compile(r"[\w.+-]++")
BARE_KEY_TEXT = re.compile(r"""[^:{}\[\](),"'<>=\n\r\\/#]*+""")
UNESCAPED = {quote.closing: re.compile(rf"[^{quote.closing}\\]*+") for quote in PLAIN_QUOTES}
POINT_AT_MOST = 64
"""How long keys and words are at most at a point: a longer one is in none."""

CONSTANTS = ("true", "false", "null", "True", "False", "None")
"""Words that are values, and no numbers."""


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
        self._parts = None if handler is None else Parts(grammar, handler, tolerates)
        self._exact = exact
        self._stack: list[str] = [] if grammar.brackets else [CALLS]
        self._closable = NOTHING_OPEN.copy()  # how often each bracket could close what is on the stack
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
        parts = self._parts
        if not self._grammar.brackets and parts is not None and self._state == "next" and self._stack == [CALLS]:
            parts.handler.end()

    def copy(self) -> Self:
        """Another reader with the same state, without a handler."""
        other = type(self)(self._grammar)
        other.__dict__.update(self.__dict__)
        other._stack, other._closable, other._parts = self._stack.copy(), self._closable.copy(), None
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
        self._closable = NOTHING_OPEN.copy()
        for what in state["_stack"][len(self._stack) :]:
            self._push(what)

    # What a walk through pieces that come again needs (see ``deltas/walk.py``).

    @property
    def passing(self) -> Passing | None:
        """How text goes out that is simply more of the present string; None outside strings."""
        parts = self._parts
        if self._state != "string" or parts is None or parts.key is not None or self._held or parts.literal:
            return None
        return self._grammar.forms[self._quote].passing

    @property
    def point(self) -> tuple[Any, ...] | None:
        """Where the reading is, but for the ``word``: from the same point on, the same text is read the same."""
        parts = self._parts
        if parts is None or len(self._held) > POINT_AT_MOST:
            return None
        key, name_or_constant = None if parts.key is None else "", ""
        if parts.key and (len(parts.key) >= POINT_AT_MOST or len(key := "".join(parts.key)) > POINT_AT_MOST):
            return None
        if parts.text:
            if len(parts.text) >= POINT_AT_MOST or len(word := "".join(parts.text)) > POINT_AT_MOST:
                return None
            name_or_constant = word if self._due not in VALUES or word in CONSTANTS else ""
        flags = self._after_comma, self._bare_keys, parts.escaped, parts.literal, self._comment, self._resume
        return self._state, "".join(self._stack), self._due, self._quote, key, name_or_constant, self._held, flags

    def go_to(self, point: tuple[Any, ...], word: str) -> None:
        """Go to a point that the reading has been at, with the word of a value so far."""
        parts = self._told
        self._state, stack, self._due, self._quote, key, name_or_constant, self._held, flags = point
        self._after_comma, self._bare_keys, parts.escaped, parts.literal, self._comment, self._resume = flags
        self._stack = list(stack)
        parts.key = None if key is None else [key]
        parts.text = [part for part in (name_or_constant, word) if part]

    @property
    def word(self) -> str | None:
        """The word of a value that is being read; None where none is, and where it is so far one of ``CONSTANTS``."""
        word = "".join(self._told.text) if self._state == "word" and self._due in VALUES else None
        return None if word in CONSTANTS else word

    def compact_word(self, word: str) -> str:
        """The value that a word stands for, as compact JSON; raises NotCertain where it stands for none."""
        return self._told.compact_word(word)

    @property
    def _told(self) -> Parts:
        assert self._parts is not None, "there is a handler to be told"
        return self._parts

    # Strings.

    def _in_string(self, text: str, at: int) -> int:
        """Go on in a string, up to a quote that may end it or an escape."""
        quote = self._grammar.quotes[self._quote]
        if self._parts is not None:
            at = self._parts.string(text, at, self._grammar.forms[self._quote])
            if text.startswith(quote.closing, at):
                return self._may_end(text, at + len(quote.closing))
            return self._hold(text, at)
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
        if self._parts is not None:
            if may_be_read_otherwise(text, at, marks=self._grammar.marks, python=self._grammar.calls):
                raise NotCertain
            self._deviates(LOOSE_QUOTE)
            self._parts.piece(string_body(self._grammar.forms[self._quote].quote_character))
        self._tolerate(LOOSE_QUOTE, "string")
        return at

    def _string_ends(self, text: str, at: int) -> None:
        if self._parts is not None:
            self._parts.string_ends()
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
                if self._parts is not None:
                    if self._state == "argument":
                        raise NotCertain  # a value without a name
                    self._parts.string_begins(self._grammar.quotes[index], is_key=self._due == "key")
                self._state, self._quote, self._after_comma = "string", index, False
                self._is_sure()
                return at + len(opening)
            if len(text) - at < len(opening) and opening.startswith(text[at:]):
                return self._hold(text, at)
        return 0

    # Words.

    def _word_begins(self, text: str, at: int) -> int:
        self._due, self._state, self._word, self._after_comma = self._state, "word", words.START, False
        return self._in_word(text, at)

    def _in_word(self, text: str, at: int) -> int:
        match = WORD.match(text, at)
        if match is not None:
            at = match.end()
            if self._parts is None:
                self._word = words.advance(self._word, match[0])
            else:
                self._parts.text.append(match[0])
        if at < len(text):
            if self._parts is not None:
                self._parts.word_ends(self._due)
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
        if self._parts is not None:
            self._parts.text.append(text[at:end])
        if end < len(text):
            if self._parts is not None:
                self._parts.bare_key_ends()
            self._state = "colon"
        return end

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
            if self._parts is not None:
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
                return self._opens(bracket, at) if self._stack else self._value_opens(bracket, text, at)
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
            return self._opens(bracket, at) if self._stack else self._value_opens(bracket, text, at)
        if character == "(" and self._grammar.calls and state in TUPLES:
            if self._parts is not None:
                raise NotCertain
            return self._opens(TUPLE, at)
        return self._between(text, at)

    def _pass_over(self, text: str, at: int) -> int:
        """The place behind what is passed over here; the place itself where nothing is."""
        passed = between_tokens(text, at, nested=bool(self._stack))
        if passed is None and not self._stack:
            passed = before_value(text, at)
        if passed is None:
            return at
        if not passed.kind:
            return self._hold(text, at)
        self._deviates(passed.kind)
        if passed.comment_end:
            self._comment, self._resume, self._state = passed.comment_end, self._state, "comment"
        return passed.end

    def _in_comment(self, text: str, at: int) -> int:
        found = text.find(self._comment, at)
        if found < 0:
            return self._hold(text, len(text) - overlap(text, self._comment, at))
        self._state = self._resume
        return found + len(self._comment)

    def _after_plain_entries(self, text: str, at: int) -> int:
        """The place after the plain entries that stand here, which the handler is told."""
        stack, parts = self._stack, self._parts
        if not self.begins or not stack or (len(stack) == 1 and stack[0] not in OBJECTS):
            return at
        entries = PLAIN.get((self._state, stack[-1]))
        if entries is plain_entries.MEMBERS and text[at] != '"' and self._grammar.names_are_plain:
            entries = plain_entries.NAMED_MEMBERS
        if entries is None or (parts is not None and not parts.takes_entries(entries, len(stack))):
            return at
        end = plain_entries.end_of(entries, text, at)
        if end == at:
            self._plain_from = at + plain_entries.TRY_AGAIN_AFTER
            return at
        if parts is not None:
            parts.handler.entries(plain_entries.compact(entries, text[at:end]))
        self._after_comma = True
        return end

    def _can_begin(self, character: str) -> bool:
        grammar = self._grammar
        if grammar.calls:
            return character == "["
        return character in "[{" or (grammar.scalars and WORD.match(character) is not None)

    def _value_opens(self, what: str, text: str, at: int) -> int:
        """The outermost bracket; where all of the value is there already, it is passed over."""
        pattern = self._grammar.whole
        if self._parts is None and pattern is not None and (match := pattern.match(text, at)) is not None:
            self._due, self._state, self.begins, at = "value", "done", True, match.end()
            self.end = self._length - (len(text) - at)
            return at
        return self._opens(what, at)

    def _opens(self, what: str, at: int) -> int:
        if self._stack:
            self._is_sure()
        if self._parts is not None:
            if len(self._stack) >= self._grammar.depth_at_most + self._grammar.calls:
                raise TooDeep
            if self._state == "argument":
                raise NotCertain
            if what == ARGUMENTS:
                self._parts.handler.key("arguments")
            self._parts.handler.begin("[" if what in (CALLS, LIST) else "{")
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
            if self._parts is not None or self._word not in words.WHOLE:
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
        if self._parts is not None and inner in (LIST, TUPLE):
            is_value = text[at] in "[{" or (not grammar.calls and text[at] in grammar.quotes_by_character)
            if not is_value:
                raise NotCertain
        self._tolerate("a missing comma", DUE[inner])
        self._after_comma = True

    def _closes(self, text: str, at: int) -> int:
        """Close what a bracket closes, and all that stands open in it."""
        stack, closable, bracket = self._stack, self._closable, text[at]
        if self._parts is not None:
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
        handler, stack = self._told.handler, self._stack
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
        if self._parts is not None:
            self._parts.deviates(kind)

    def _tolerate(self, kind: str, state: str) -> None:
        """The same where the text before may have ended otherwise."""
        self._deviates(kind)
        self.tolerances += 1
        self._state = state

    def _breaks(self, *, at_the_end: bool = False) -> None:
        if self._parts is not None:
            raise NotCertain
        self.broken = True
        self.broken_inside = self.broken_inside or not at_the_end
        if self.begins is None:
            self.begins = False


_NOT_SAVED = ("_grammar", "_parts", "_exact", "_plain_from", "_closable")

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
