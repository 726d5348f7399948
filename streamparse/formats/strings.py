r"""Quotes and escapes of JSON, of its dialects and of Python calls: where a string ends, and what its text says.

A closing quote ends a string only where what follows fits: a comma, the bracket that closes what the string stands in,
or another item whose comma is missing. Any other quote is one that the model forgot to escape. In a valid text every
closing quote is followed so.

Where one backslash of a string starts no escape (``\d+``, ``C:\Users``), none of them does: all are text, but for those
before the string's own quote. A string that had an escape before that is in doubt.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from streamparse.formats.compact import AS_WRITTEN, Passing, search_for_other, string_body
from streamparse.formats.escapes import LETTERS, PYTHON_LETTERS

LOOKAHEAD = 256
"""How far is looked ahead of a closing quote; a longer key without a comma before it is none."""

BLANKS = re.compile(r"(?:[ \t\n\r]|\\[nrt])*+")
_KEY = r'(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"|\'[^\'\\]*+(?:\\.[^\'\\]*+)*+\')'
_BARE_KEY = r"[\w$][\w$.-]*+"
QUOTED_KEY = re.compile(rf"{_KEY}[ \t\n\r]*+:", re.DOTALL)
QUOTED_KEY_SO_FAR = re.compile(
    rf"""(?:{_KEY}[ \t\n\r]*+|"[^"\\]*+(?:\\.[^"\\]*+)*+\\?|'[^'\\]*+(?:\\.[^'\\]*+)*+\\?)\Z""", re.DOTALL
)
BARE_KEY = re.compile(rf"{_BARE_KEY}[ \t\n\r]*+:")
BARE_KEY_SO_FAR = re.compile(rf"{_BARE_KEY}[ \t\n\r]*+\Z")

UNUSUAL = re.compile("[\x00-\x1f\ud800-\udfff]")
LINE_BREAK, TAB = "a raw line break in a string", "a raw tab in a string"
CONTROL = "a raw control character in a string"
LOOSE_BACKSLASH = "a backslash that starts no escape"
LOOSE_QUOTE = "a quote in a string that is not escaped"
PYTHON_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|U(00[0-9a-fA-F]{6}))")
PYTHON_ESCAPE_SO_FAR = re.compile(r"\\(?:x[0-9a-fA-F]?|U[0-9a-fA-F]{0,7})\Z")


class Quote(NamedTuple):
    """What opens and closes a string, and whether a backslash takes the next character's meaning away."""

    opening: str
    closing: str
    escapes: bool


PLAIN_QUOTES = (Quote('"', '"', True), Quote("'", "'", True))


@dataclass(frozen=True)
class StringForm:
    """How the strings of one quote are read in one grammar.

    ``python`` says that it stands in a list of Python calls. ``marks`` are the first characters of a dialect's
    delimiters, which mean something inside plain quotes too.
    """

    quote: Quote
    python: bool = False
    marks: str = ""

    def __hash__(self) -> int:
        """Forms are compared by what they say, and made once each."""
        return hash((self.quote, self.python, self.marks))

    @cached_property
    def stretch(self) -> re.Pattern[str]:
        """What has no end and nothing special in it."""
        first = re.escape(self.quote.closing[0])
        if not self.quote.escapes:
            return re.compile(f"[^{first}]*+")
        plain = rf"[^{first}\\{re.escape(self.marks)}]*+"
        if self.quote.closing == '"' and not self.python:
            return re.compile(rf'{plain}(?:\\["\\bfnrt]{plain})*+')
        return re.compile(plain)

    @cached_property
    def literal(self) -> re.Pattern[str]:
        """The same where backslashes are text."""
        return re.compile(rf"[^{re.escape(self.quote.closing[0] + self.marks)}\\]*+")

    @cached_property
    def unusual(self) -> re.Pattern[str]:
        """The characters that a strict reader refuses."""
        if not self.quote.escapes:
            return re.compile("(?!)")
        return re.compile("[\n\r\ud800-\udfff]" if self.python else "[\x00-\x1f]")

    @cached_property
    def letters(self) -> dict[str, str]:
        """The escapes of one letter, and what stands for each in compact JSON."""
        return PYTHON_LETTERS if self.python or self.quote.closing == "'" else LETTERS

    @cached_property
    def quote_character(self) -> str:
        """What a closing delimiter inside the string says: the quote character that it is made of."""
        return next((it for it in self.quote.closing if it in "\"'"), self.quote.closing)

    @cached_property
    def passing(self) -> Passing:
        """How text goes out that is simply more of such a string."""
        closing = self.quote.closing[0]
        search = search_for_other(("" if closing == '"' else closing) + self.marks)
        if not self.quote.escapes:
            return Passing(search, lambda text: None if closing in text else string_body(text))
        return Passing(search, lambda _text: None)


@lru_cache(128)
def form_of(quote: Quote, *, python: bool = False, marks: str = "") -> StringForm:
    """The form, the same object each time."""
    return StringForm(quote, python, marks)


def compact_piece(text: str) -> str:
    """A stretch of a string, in which backslashes only start escapes of JSON, as it appears in compact JSON."""
    if "\\" not in text:
        return string_body(text)
    return text if AS_WRITTEN.fullmatch(text) else UNUSUAL.sub(lambda match: json.dumps(match[0])[1:-1], text)


def unusual_kind(character: str) -> str:
    """What is mended where such a character stands in a string."""
    return LINE_BREAK if character in "\n\r" else TAB if character == "\t" else CONTROL


def fits(
    text: str, at: int, closing: str, *, in_object: bool, in_list: bool, bare_keys: bool, quotes: str
) -> bool | None:
    """Whether what follows a closing quote lets the string end there; None where more text has to tell.

    ``closing`` is the bracket that closes what the string stands in, ``quotes`` are the characters that open a string.

    >>> options = {"in_object": True, "in_list": False, "bare_keys": False, "quotes": '"'}
    >>> [fits(after, 0, "}", **options) for after in (" }", "hi", ' "b"')]
    [True, False, None]
    """
    end = min(len(text), at + LOOKAHEAD)
    is_cut = end == len(text) and end - at < LOOKAHEAD
    place = BLANKS.match(text, at, end).end()  # type: ignore[union-attr]
    if place == end:
        return None if is_cut else True
    character = text[place]
    if character == "," or character == closing:
        return True
    if character == "\\" and place + 1 == end:
        return None if is_cut else False
    if in_object:
        if character in quotes:
            whole, so_far = QUOTED_KEY, QUOTED_KEY_SO_FAR
        elif bare_keys:
            whole, so_far = BARE_KEY, BARE_KEY_SO_FAR
        else:
            return False
        if whole.match(text, place, end):
            return True
        return None if is_cut and so_far.match(text, place, end) else False
    return in_list and place > at and (character in "[{" or character in quotes)


ARGUMENT_SO_FAR = re.compile(r"[A-Za-z_]\w*+\s*+(?:=|\Z)")


def may_be_read_otherwise(text: str, at: int, *, marks: str, python: bool) -> bool:
    """Whether a quote that seems not to end its string may do so all the same, by what follows it.

    >>> may_be_read_otherwise(': 1}', 0, marks="", python=False), may_be_read_otherwise('hi', 0, marks="", python=False)
    (True, False)
    """
    place = BLANKS.match(text, at).end()  # type: ignore[union-attr]
    character = text[place : place + 1]
    if not character or character in f":]}}/#\ufeff\u200b{marks}" or character.isspace():
        return True
    if not python:
        return False
    spaced = place > at and (character in "\"'" or ARGUMENT_SO_FAR.match(text, place) is not None)
    return spaced or character in ")+"
