r"""Strings as models write them: where one ends, and what it says.

A quote ends a string only where what follows fits; any other is a quote that the model forgot to escape. It is taken
for one only where quotes inside the string come in pairs, as they do in ``"say "hi" now"``. A string with a single one
may as well be two strings with something missing between them, so it is in doubt and not mended.

Where one backslash of a string starts no escape (``\d+\b``, ``C:\Users\new``), the model wrote none of them as one: all
of that string's backslashes are text, but for those before a quote that would otherwise end it. A line break or a tab
is itself. Python's escapes (``\x1b``) are read in Python calls and in single quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from streamparse.formats.reading import Reading

Ends = Callable[[int], bool]
"""Whether what follows a place lets a string end there."""


class Quote(NamedTuple):
    """What opens and closes a string, whether a backslash escapes a quote in it, and whether nothing else (``raw``)."""

    opening: str
    closing: str
    escapes: bool = True
    raw: bool = False


DOUBLE, SINGLE = Quote('"', '"'), Quote("'", "'")

UP_TO_QUOTE = {
    quote: re.compile(rf"[^{quote[0]}\\]*+(?:(?:\\.|{quote[0]}(?!{quote[1:]}))[^{quote[0]}\\]*+)*+{quote}", re.DOTALL)
    if len(quote) > 1
    else re.compile(rf"[^{quote}\\]*+(?:\\.[^{quote}\\]*+)*+{quote}", re.DOTALL)
    for quote in ('"', "'", '"""', "'''")
}
HEX = "[0-9a-fA-F]"
ESCAPE = re.compile(
    rf"\\(?:u([dD][89abAB]{HEX}{{2}})\\u([dD][c-fC-F]{HEX}{{2}})|u({HEX}{{4}})|(?:x({HEX}{{2}})|U(00{HEX}{{6}}))|(.))",
    re.DOTALL,
)
ESCAPED = {"\\": "\\", '"': '"', "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "'": "'"}
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
SURROGATE = re.compile("[\ud800-\udfff]")
LARGEST_CODE = 0x10FFFF


def read_string(reading: Reading, quote: Quote, ends: Ends, *, python: bool) -> str:
    """Read the string that ``quote`` opens here; ``python`` says that it stands in a list of Python calls.

    Raises TooDoubtful where it can't be told where the string ends.
    """
    text, start = reading.text, reading.position
    first = at = start + len(quote.opening)
    inside: list[int] = []
    length = len(quote.closing)
    up_to_quote = UP_TO_QUOTE[quote.closing].match if quote.escapes else None
    while True:
        if up_to_quote is None:
            after = closing_after(text, quote, at)
        else:
            match = up_to_quote(text, at)
            after = -1 if match is None else match.end()
        if after == -1:
            reading.doubt("the string is not closed", start)
        if ends(after):
            break
        inside.append(after - length)
        at = after
    last = after - length
    if inside:
        check_quotes_inside(reading, quote, inside)
        reading.mends("a quote in a string that is not escaped")
    reading.position = after
    return body_of(reading, quote, text[first:last], python=python)


def closing_after(text: str, quote: Quote, at: int) -> int:
    """Find where the next closing quote ends; -1 where there is none."""
    if not quote.escapes:
        found = text.find(quote.closing, at)
        return found if found == -1 else found + len(quote.closing)
    match = UP_TO_QUOTE[quote.closing].match(text, at)
    return match.end() if match else -1


def check_quotes_inside(reading: Reading, quote: Quote, places: list[int]) -> None:
    """Refuse a string whose quotes inside are no pairs; an apostrophe within a word is none of them."""
    text, length = reading.text, len(quote.closing)
    if quote.escapes:
        if quote.closing == SINGLE.closing:
            places = [at for at in places if not (text[at - 1].isalnum() and text[at + 1].isalnum())]
        opens = False
        for at in places:
            before, after = text[at - 1], text[at + length : at + length + 1]
            opens = not opens
            if after.isspace() or before.isalnum() if opens else before.isspace() or after.isalnum():
                reading.doubt("a quote in the string may be the end of it", at)
    if len(places) % 2:
        reading.doubt("a quote in the string may be the end of it", places[-1])


def body_of(reading: Reading, quote: Quote, body: str, *, python: bool) -> str:
    """Give what a string says whose text between the quotes is ``body``."""
    if not quote.escapes:
        if CONTROL.search(body):
            reading.mends("a raw control character in a string")
        return as_quote_characters(quote, body)
    if "\n" in body or "\r" in body:
        reading.mends("a raw line break in a string")
    if not python and "\t" in body:
        reading.mends("a raw tab in a string")
    if not python and CONTROL.search(body):
        reading.mends("a raw control character in a string")
    if python and SURROGATE.search(body):
        reading.fail("the string has a lone surrogate in it")
    if quote.raw or "\\" not in body:
        return body
    return unescaped(reading, body, python=python, single=quote.closing[0] == "'")


def as_quote_characters(quote: Quote, body: str) -> str:
    """Give a string of a dialect, in which its delimiters stand for the quote character that they are made of."""
    character = next((it for it in quote.closing if it in "\"'"), None)
    return body if character is None else body.replace(quote.closing, character).replace(quote.opening, character)


def starts_no_escape(match: re.Match[str], *, python: bool) -> bool:
    """Whether a backslash starts no escape; before a line break, where shells write it, it tells nothing."""
    short_or_long, character = match[4] or match[5], match[6]
    if short_or_long:
        return not python or int(short_or_long, 16) > LARGEST_CODE
    return character is not None and character not in ESCAPED and character not in "\r\n"


def unescaped(reading: Reading, body: str, *, python: bool, single: bool) -> str:
    """Replace the escapes of a string, ``single`` saying that it stands in single quotes."""

    if any(starts_no_escape(match, python=python or single) for match in ESCAPE.finditer(body)):
        reading.mends("a backslash that starts no escape")
        quote = "'" if single else '"'
        return ESCAPE.sub(lambda match: quote if match[6] == quote else match[0], body)

    def replaced(match: re.Match[str]) -> str:
        high, low, code, short, long, character = match.groups()
        if high:
            return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))
        if code:
            if python and SURROGATE.match(chr(int(code, 16))):
                reading.fail("the string has a lone surrogate in it")
            return chr(int(code, 16))
        if short or long:
            reading.mends("an escape that only Python has")
            return chr(int(short or long, 16))
        if character == "'" and not (python or single):
            reading.mends("an escaped apostrophe")
        if character not in ESCAPED:
            reading.mends("a backslash that starts no escape")
            return match[0]
        return ESCAPED[character]

    return ESCAPE.sub(replaced, body)
