"""The structure reader of JSON, its dialects, and Python call lists: one machine for all that is nested in brackets.

A string ends at a quote only where what follows fits (a comma, or the bracket that closes what the string stands in),
so quotes that the model forgot to escape, and string delimiters that it writes about, stay inside. In a valid text
every closing quote is followed so. A key and its colon fit too: the comma before them is missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from streamparse.snapshot import expect_like
from streamparse.stages.content import plain_entries
from streamparse.stages.structure import words
from streamparse.stages.structure.literal import overlap


class Quote(NamedTuple):
    """What opens and closes a string, and whether a backslash takes the next character's meaning away."""

    opening: str
    closing: str
    escapes: bool


PLAIN_QUOTES = (Quote('"', '"', True), Quote("'", "'", True))


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
    quotes_by_character: dict[str, list[int]] = field(init=False)
    names_are_plain: bool = field(init=False)

    def __post_init__(self) -> None:
        """Sort the quotes by their first characters."""
        table: dict[str, list[int]] = {}
        for index, quote in enumerate(self.quotes):
            table.setdefault(quote.opening[0], []).append(index)
        object.__setattr__(self, "quotes_by_character", table)
        object.__setattr__(self, "names_are_plain", not any(map(plain_entries.in_named_members, table)))


BLANKS = re.compile(r"[ \t\n\r]*+")
WORD = re.compile(r"[\w.+-]++")
FENCE = re.compile(r"`{3}\w{0,16}[ \t]{0,16}\n")
FENCE_SO_FAR = re.compile(r"`{1,2}|`{3}\w{0,16}[ \t]{0,16}")
UNESCAPED = {quote.closing: re.compile(rf"[^{quote.closing}\\]*+") for quote in PLAIN_QUOTES}
KEY_TEXT = {quote.closing: re.compile(rf"[^{quote.closing}\\\n]*+") for quote in PLAIN_QUOTES}

# What stands on the stack for each thing that can be open, the character that closes it, and what is due in it at its
# beginning and after a comma.
LIST, OBJECT, CALLS, ARGUMENTS, TUPLE = "[", "{", "C", "(", "T"
CLOSES = {LIST: "]", OBJECT: "}", CALLS: "]", ARGUMENTS: ")", TUPLE: ")"}
DUE = {LIST: "value", OBJECT: "key", CALLS: "call", ARGUMENTS: "argument", TUPLE: "value"}
# What is due after a word or a string that came where the first was due.
AFTER = {"value": "next", "member": "next", "key": "colon", "call": "paren", "argument": "equals"}
# The plain entries that are passed over at once, by what is due and the brackets that it is due in.
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
# Where a list of calls may have a tuple.
TUPLES = frozenset({"value", "member", "argument"})
_NOTHING_OPEN = dict.fromkeys("]})", 0)
# The characters that lead to the value of a member or an argument.
LEADS = {("colon", ":"), ("equals", "=")}
# What must come before the bracket that closes what it is due in.
OWED = frozenset({"colon", "member", "paren"})
# Where a word or string can stand.
ITEMS = frozenset(AFTER)
# Where a word stands for a value, and has to be one.
VALUES = frozenset({"value", "member"})


class NestedStructure:
    """Follows a text that is nested in brackets (see :class:`Structure`).

    >>> reader = NestedStructure(Grammar())
    >>> reader.feed('{"a": "x')
    >>> reader.begins, reader.inside, reader.complete
    (True, True, False)
    >>> reader.feed('"} ')
    >>> reader.complete, reader.end
    (True, 10)
    """

    open_ended = False

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._stack: list[str] = [] if grammar.brackets else [CALLS]
        self._closable = _NOTHING_OPEN.copy()  # how often each bracket could close what is on the stack
        # What is due; or "string", "escape", "closing" (a quote came that may end the string), "next key" (a word came
        # after it, which may be a key), "quoted key" (or a string did) and "key's colon", "word", "done", "trailing".
        self._state = ("list" if grammar.brackets else "call") if grammar.calls else "value"
        self._due = ""  # what was due where the present string or word stands
        self._quote = 0
        self._word: str | None = None
        self._held = ""  # the beginning of a delimiter, until it is known whether it is one
        self._length = 0
        self._plain_from = 0  # the place in the present text from which on plain entries are searched for
        self.begins: bool | None = None
        self.end: int | None = None
        self.whole_items: int | None = None
        self.broken = self.broken_inside = False
        self.tolerances = 0

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
        """Follow the next piece of text."""
        self._length += len(text)
        if self._held:
            text = self._held + text
            self._held = ""
        at, size = 0, len(text)
        self._plain_from = 0
        steps = STEPS
        while at < size:
            at = steps[self._state](self, text, at)

    def copy(self) -> Self:
        """Another reader with the same state."""
        other = type(self)(self._grammar)
        other.__dict__.update(self.__dict__)
        other._stack, other._closable = self._stack.copy(), self._closable.copy()
        return other

    def snapshot(self) -> dict[str, Any]:
        """The state as JSON-able data."""
        state = self.__dict__ | {"_stack": "".join(self._stack)}
        del state["_grammar"], state["_plain_from"], state["_closable"]
        return state

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that :meth:`snapshot` gave."""
        expect_like(state, self.snapshot(), "reader", nullable=True)
        self.__dict__.update(state)
        self._stack = [] if self._grammar.brackets else [CALLS]
        self._closable = _NOTHING_OPEN.copy()
        for what in state["_stack"][len(self._stack) :]:
            self._push(what)

    def _in_string(self, text: str, at: int) -> int:
        """Go on in a string, up to a quote that may end it or an escape."""
        quote = self._grammar.quotes[self._quote]
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
        if self._stack and self._due != "key":
            self._state = "closing"
        else:
            self._item_ends(text, at)
        return at

    def _in_closing(self, text: str, at: int) -> int:
        if text[at] <= " ":
            at = BLANKS.match(text, at).end()  # type: ignore[union-attr]
        if at < len(text):
            inner = self._stack[-1]
            if text[at] == "," or text[at] == CLOSES[inner]:
                self._item_ends(text, at)
            elif inner == OBJECT and WORD.match(text, at) and not self._grammar.quotes[self._quote].escapes:
                self._state = "next key"
            elif inner == OBJECT and text[at] == self._grammar.quotes[self._quote].closing:
                self._state = "quoted key"
                at += 1
            else:
                self._tolerates("string")
        return at

    def _in_next_key(self, text: str, at: int) -> int:
        """A word follows a closing delimiter: where it is a key, a comma is missing before it."""
        match = WORD.match(text, at)
        if match is not None:
            return match.end()
        if text[at] <= " ":
            at = BLANKS.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            return at
        if text[at] != ":":
            self._tolerates("string")
            return at
        self._tolerates("member")
        return at + 1

    def _in_quoted_key(self, text: str, at: int) -> int:
        """Another quote follows a quote: where a key and its colon do, a comma is missing between the two."""
        quote = self._grammar.quotes[self._quote].closing
        at = KEY_TEXT[quote].match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            return at
        if text[at] != quote:
            self._tolerates("string")
            return at
        self._state = "key's colon"
        return at + 1

    def _at_keys_colon(self, text: str, at: int) -> int:
        if text[at] <= " ":
            at = BLANKS.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            return at
        if text[at] != ":":
            self._tolerates("closing")  # the last quote may be the one that ends the string
            return at
        self._tolerates("member")
        return at + 1

    def _in_word(self, text: str, at: int) -> int:
        match = WORD.match(text, at)
        if match is not None:
            at = match.end()
            self._word = words.advance(self._word, match[0])
        if at < len(text):
            if self._due in VALUES:
                if self._word in words.WHOLE:
                    self._is_sure()
                else:
                    self._breaks()
            self._item_ends(text, at)
        return at

    def _item_ends(self, text: str, at: int) -> None:
        """A string, a word, or what a bracket closed is over; what follows begins at ``at``."""
        if self._stack:
            self._state = AFTER[self._due]
        else:
            self._state = "done"
            self.end = self._length - (len(text) - at)

    def _item_follows(self, text: str, at: int) -> None:
        """Another item follows in the outermost brackets, so that those before ``at`` are whole."""
        if len(self._stack) == 1 and self._stack[0] != OBJECT and not self.broken:
            self.whole_items = self._length - (len(text) - at)

    def _in_done(self, text: str, at: int) -> int:
        if not text[at:].isspace():
            self._state = "trailing"
        return len(text)

    def _in_trailing(self, text: str, _at: int) -> int:
        return len(text)

    def _at_token(self, text: str, at: int) -> int:
        """Take what stands where a token is due."""
        if text[at] <= " ":
            at = BLANKS.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            return at
        character, state = text[at], self._state
        if state == "next":
            return self._between(text, at)
        if (state, character) in LEADS:
            self._state = "member"
            self._is_sure()
            return at + 1
        if state not in ITEMS:
            pass
        elif (
            len(text) - at >= plain_entries.AT_LEAST
            and at >= self._plain_from
            and (end := self._after_plain_entries(text, at)) > at
        ):
            return end
        elif character in self._grammar.quotes_by_character and (opened := self._string_opens(text, at)):
            return opened
        elif self._stack and (bracket := OPENS.get((state, character))) is not None:
            return self._opens(bracket, at)
        elif self._stack and WORD.match(character):
            self._due, self._state, self._word = state, "word", words.START
            return self._in_word(text, at)
        if not self._stack and character == "`":
            return self._after_fence(text, at)
        if state == "key" and character == "{" and self._stack == [OBJECT] and self.begins is None:
            self._tolerates(state)  # doubled braces, as in a template of Python
            self._push(OBJECT)
            return at + 1
        if not self._stack and not self._can_begin(character):
            self._breaks()
            self._state = "trailing"
            return len(text)
        if state in ITEMS and WORD.match(character):
            self._due, self._state, self._word = state, "word", words.START
            return self._in_word(text, at)
        if (state, character) in OPENS:
            return self._opens(OPENS[state, character], at)
        if character == "(" and self._grammar.calls and state in TUPLES:
            return self._opens(TUPLE, at)
        return self._between(text, at)

    def _after_plain_entries(self, text: str, at: int) -> int:
        """The place after the plain entries that stand here; those of an outermost list are told of one by one."""
        stack = self._stack
        if not self.begins or not stack or (len(stack) == 1 and stack[0] != OBJECT):
            return at
        entries = PLAIN.get((self._state, stack[-1]))
        if entries is plain_entries.MEMBERS and text[at] != '"' and self._grammar.names_are_plain:
            entries = plain_entries.NAMED_MEMBERS
        end = at if entries is None else plain_entries.end_of(entries, text, at)
        if end == at:
            self._plain_from = at + plain_entries.TRY_AGAIN_AFTER
        return end

    def _after_fence(self, text: str, at: int) -> int:
        """The place after a code fence that the value stands in."""
        line = text.find("\n", at) + 1
        if FENCE.fullmatch(text, at, line):
            return line
        if not line and FENCE_SO_FAR.fullmatch(text, at):
            self._held = text[at:]
            return len(text)
        self._breaks()
        self._state = "trailing"
        return len(text)

    def _can_begin(self, character: str) -> bool:
        grammar = self._grammar
        if grammar.calls:
            return character == "["
        return character in "[{" or (grammar.scalars and WORD.match(character) is not None)

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
                self._state, self._quote = "string", index
                self._is_sure()
                return at + len(opening)
            if len(text) - at < len(opening) and opening.startswith(text[at:]):
                self._held = text[at:]
                return len(text)
        return 0

    def _opens(self, what: str, at: int) -> int:
        if self._stack:
            self._is_sure()
        self._push(what)
        self._state = DUE[what]
        return at + 1

    def _push(self, what: str) -> None:
        self._stack.append(what)
        self._closable[CLOSES[what]] += 1

    def _between(self, text: str, at: int) -> int:
        """Take what stands between items: a comma, a closing bracket, or what doesn't belong there."""
        character, state, inner = text[at], self._state, self._stack[-1]
        if state == "next" and character == ",":
            self._item_follows(text, at)
            self._state = DUE[inner]
            return at + 1
        if state == "equals":  # a value without a name
            if self._word not in words.WHOLE:
                self._breaks()
            self._state = "next"
        elif character in "]})":
            self._closes(text, at)
            return at + 1
        elif state != "next":
            self._breaks()
            if state in ("colon", "paren"):
                self._state = "next"
            else:
                return at + 1
        elif WORD.match(character) or character in "[{(" or character in self._grammar.quotes_by_character:
            if inner == CALLS and not self._grammar.brackets:
                self._item_follows(text, at)
                self._state = DUE[inner]
            else:
                self._tolerates(DUE[inner])  # the comma is missing
        else:
            self._breaks()
            return at + 1
        return at

    def _closes(self, text: str, at: int) -> None:
        """Close what a bracket closes, and all that stands open in it."""
        stack, closable, bracket = self._stack, self._closable, text[at]
        if not closable[bracket]:
            self._breaks()
            return
        opened = len(stack) - 1
        while CLOSES[stack[opened]] != bracket:
            opened -= 1
        if opened < len(stack) - 1 or self._state in OWED:
            self._breaks(at_the_end=not opened)
        elif stack[-1] != CALLS:
            self._is_sure()
        for what in stack[opened:]:
            closable[CLOSES[what]] -= 1
        del stack[opened:]
        self._due = "value"
        self._item_ends(text, at + 1)

    def _is_sure(self) -> None:
        if self.begins is None:
            self.begins = True

    def _tolerates(self, state: str) -> None:
        """Go on where a strict reader would stop."""
        self.tolerances += 1
        self._state = state

    def _breaks(self, *, at_the_end: bool = False) -> None:
        self.broken = True
        self.broken_inside = self.broken_inside or not at_the_end
        if self.begins is None:
            self.begins = False


STEPS = {
    **dict.fromkeys(["list", "next", "colon", "equals", "paren", *ITEMS], NestedStructure._at_token),
    "string": NestedStructure._in_string,
    "escape": NestedStructure._in_escape,
    "closing": NestedStructure._in_closing,
    "next key": NestedStructure._in_next_key,
    "quoted key": NestedStructure._in_quoted_key,
    "key's colon": NestedStructure._at_keys_colon,
    "word": NestedStructure._in_word,
    "done": NestedStructure._in_done,
    "trailing": NestedStructure._in_trailing,
}
