"""The grammars of what nests in brackets: quotes, and what may follow what, in tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from streamparse.formats import whole
from streamparse.formats.strings import PLAIN_QUOTES, Quote, StringForm, form_of
from streamparse.stages.content import plain_entries
from streamparse.stages.content.python_call_list import MAX_DEPTH

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
NOTHING_OPEN = dict.fromkeys("]})", 0)
LEADS = {("colon", ":"), ("equals", "=")}
# What must come before the bracket that closes what it is due in.
OWED = frozenset({"colon", "member", "paren"})
# Where a word or string can begin, and where a word has to be a value.
ITEMS = frozenset(AFTER)
VALUES = frozenset({"value", "member"})
DEPTH_AT_MOST = 500

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
    depth_at_most: int = field(init=False)

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
        put(self, "depth_at_most", MAX_DEPTH if self.calls else DEPTH_AT_MOST)
        put(self, "single_quotes", "".join(quote.opening for quote in self.quotes if len(quote.opening) == 1))

    @property
    def whole(self) -> re.Pattern[str] | None:
        """Matches a whole value of the grammar; None where strings may be written otherwise."""
        if self.calls:
            return whole.call()
        return None if self.marks else whole.json_object()
