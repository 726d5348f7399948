"""A tolerant reader of one value, with all that is nested in it: JSON, its dialects, and the values of Python calls.

In comes a text and a place in it, out goes the value, while the reading notes what was mended. It never guesses: where
a value is missing, a word has no quotes, or a string has no certain end, it raises ContentError. It keeps a stack of
its own, goes through the text once, and reads integers exactly.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from streamparse.errors import LimitError
from streamparse.formats.reading import Reading
from streamparse.formats.scalars import read_scalar
from streamparse.limits import how_to_raise
from streamparse.repair.bare_text import bare_end, doubled_end
from streamparse.repair.frame import Frame
from streamparse.repair.strings import DOUBLE, SINGLE, Quote, closing_after, read_string
from streamparse.stages.content import plain_entries

BARE_KEY = re.compile(r"[\w$][\w$.-]*+")
DIALECT_KEY = re.compile(r"\w++")
DIALECT_KEY_TEXT = re.compile(r"""[\w$][^:{}\[\](),"'<>=\n\r\\/#]*+""")
ARGUMENT = re.compile(r"[A-Za-z_]\w*+\s*+=(?!=)")
TRIPLES = (Quote('"""', '"""'), Quote("'''", "'''"))
PREFIXED = tuple(
    Quote(prefix + quote.opening, quote.closing, raw=prefix in "rR")
    for prefix in "rRuU"
    for quote in (*TRIPLES, DOUBLE, SINGLE)
)
PYTHON_QUOTES = (*TRIPLES, DOUBLE, SINGLE, *PREFIXED)
ENDS_STRING = frozenset(",:]}")
TOO_MANY = "a closing bracket too many"


@dataclass(frozen=True)
class Grammar:
    """What is read: ``quotes`` of a dialect go before the plain ones; ``python`` allows what only Python has."""

    quotes: tuple[Quote, ...] = ()
    unquoted_keys: bool = False
    python: bool = False
    depth_limit: int = 512
    allow_truncated: bool = False


class NestedReader:
    """Reads values of one text.

    >>> NestedReader(Reading("{'a': [1, None,], b: 'it's'}"), Grammar()).value()
    {'a': [1, None], 'b': "it's"}
    """

    def __init__(self, reading: Reading, grammar: Grammar) -> None:
        self.reading = reading
        self._grammar = grammar
        self._quotes_from: dict[str, list[Quote]] = {}
        for quote in grammar.quotes + (PYTHON_QUOTES if grammar.python else (DOUBLE, SINGLE)):
            self._quotes_from.setdefault(quote.opening[0], []).append(quote)
        self._bare_keys = grammar.unquoted_keys
        # Only brackets, blanks and a fence stand from here on: whichever bracket is wrong, the value is the same.
        self._closing_brackets = len(reading.text.rstrip("`").rstrip(" \t\n\r]}"))
        self._plain_from = 0
        self.source: str | None = None
        """The text of the last value, where that says more than the value: a number with leading zeros."""
        self.too_many: set[str] = set()
        """The closing brackets at the end that nothing was open for."""
        self.resumed: set[str] = set()
        """The closing brackets after which an item followed in a list or object of the same kind as they close.

        Such a bracket may be the one too many where there is one at the end: the item may belong in what it closed.
        """

    def value(self, within: Frame | None = None) -> Any:
        """Read the value that stands here, in the parentheses of a call or in nothing."""
        stack = [within] if within is not None else []
        bottom = len(stack)
        while True:
            value, source = None, None
            opening = self.reading.text[self.reading.position : self.reading.position + 1]
            in_parentheses = opening == "(" and self._grammar.unquoted_keys and not stack
            if opening in ("[", "{") or (opening == "(" and self._grammar.python) or in_parentheses:
                if len(stack) >= self._grammar.depth_limit:
                    raise too_deep(self._grammar.depth_limit, self.reading.position)
                self.reading.position += 1
                if in_parentheses:
                    self.reading.mends("arguments in parentheses")
                stack.append(Frame("{" if in_parentheses else opening))
                if in_parentheses:
                    stack[-1].closing = ")"
                if self._item_follows(stack, first=True):
                    continue
                value = self._closed(stack.pop())
            else:
                value, source = self._scalar(stack[-1] if stack else None)
            while len(stack) > bottom:
                stack[-1].add(value, source)
                if self._item_follows(stack):
                    if type(value) is type(stack[-1].value):
                        self.resumed.add(stack[-1].closing)
                    break
                value, source = self._closed(stack.pop()), None
            else:
                self.source = source
                return value

    def _scalar(self, frame: Frame | None) -> tuple[Any, str | None]:
        """Read a string, a number or a name."""
        quote = self._quote_here()
        in_dialect = (
            frame is not None
            and isinstance(frame.value, dict)
            and (quote in self._grammar.quotes if quote is not None else bool(self._grammar.quotes))
        )
        if in_dialect and (end := bare_end(self.reading.text, self.reading.position, quote)) is not None:
            return self._bare_text(quote, end), None
        if quote is None:
            return read_scalar(self.reading, python=self._grammar.python)
        if in_dialect and (end := doubled_end(self.reading.text, self.reading.position, quote)) is not None:
            return self._closed_twice(quote, end), None
        text = self._string(quote, frame)
        if self._grammar.python:
            text += "".join(self._concatenated(frame))
        elif quote == SINGLE:
            self.reading.mends("single quotes")
        return text, None

    def _bare_text(self, quote: Quote | None, end: int) -> str:
        """Read a text of a dialect that has no quotes, or no closing one."""
        reading = self.reading
        start = reading.position + (0 if quote is None else len(quote.opening))
        reading.mends("a text without quotes" if quote is None else "a string without its closing quote")
        reading.looked(end - start)
        reading.position = end
        return reading.text[start:end].rstrip()

    def _closed_twice(self, quote: Quote, end: int) -> str:
        """Read a string of a dialect with its closing quote written twice, the first time at ``end``."""
        reading, start = self.reading, self.reading.position + len(quote.opening)
        reading.mends("a quote closed twice")
        reading.looked(end - start)
        reading.position = end + 2 * len(quote.closing)
        return reading.text[start:end]

    def _string(self, quote: Quote, frame: Frame | None) -> str:
        if len(quote.closing) == 3 and quote.escapes:
            self.reading.mends("triple quotes")
            return read_string(self.reading, quote, lambda _after: True, python=True)
        if quote in PREFIXED:
            self.reading.mends("a prefix of a string")
        python = self._grammar.python
        return read_string(self.reading, quote, lambda after: self._ends_string(after, frame), python=python)

    def _concatenated(self, frame: Frame | None) -> list[str]:
        """Read the strings that follow a string of Python, with or without ``+`` between them."""
        parts = []
        while frame is not None and frame.closing == ")":
            after = self.reading.skip(self.reading.position)
            plus = self.reading.text.startswith("+", after)
            after = self.reading.skip(after + plus)
            quote = self._quote_at(after)
            if quote is None:
                break
            self.reading.position = after
            self.reading.mends("strings that are joined")
            parts.append(self._string(quote, frame))
        return parts

    def _quote_here(self) -> Quote | None:
        return self._quote_at(self.reading.position)

    def _quote_at(self, position: int) -> Quote | None:
        text = self.reading.text
        for quote in self._quotes_from.get(text[position : position + 1], ()):
            if len(quote.opening) == 1 or text.startswith(quote.opening, position):
                return quote
        return None

    def _ends_string(self, after: int, frame: Frame | None) -> bool:
        """Whether a string may end at a place: at a comma or bracket, or where another item begins without a comma."""
        text = self.reading.text
        if text.startswith(("#", "//"), after):
            return False  # a tag or an address that is quoted, rather than a comment that hides the rest of the string
        place = self.reading.skip(after)
        if place == len(text) or text[place] in ENDS_STRING or (frame is not None and text[place] == frame.closing):
            return True
        if self._grammar.python:
            return text[place] == ")" or self._argument_or_string_at(place, frame, spaced=place > after)
        if frame is None:
            return text[place] in ";`"
        if isinstance(frame.value, dict):
            return self._key_at(place)
        return place > after and (text[place] in "[{" or self._quote_at(place) is not None)

    def _argument_or_string_at(self, place: int, frame: Frame | None, *, spaced: bool) -> bool:
        if frame is not None and isinstance(frame.value, dict):
            return self._key_at(place)
        if self.reading.text.startswith("+", place):
            place = self.reading.skip(place + 1)
            return self._quote_at(place) is not None
        return spaced and (
            self._quote_at(place) is not None or ARGUMENT.match(self.reading.text, place, place + 200) is not None
        )

    def _key_at(self, place: int) -> bool:
        """Whether a key with its colon stands at a place."""
        reading, text = self.reading, self.reading.text
        quote = self._quote_at(place)
        if quote is not None:
            end = closing_after(text, quote, place + len(quote.opening))
        else:
            match = BARE_KEY.match(text, place) if self._bare_keys else None
            end = match.end() if match else -1
        reading.looked((len(text) if quote else place) - place if end == -1 else end - place)
        return end != -1 and text.startswith(":", reading.skip(end))

    def _item_follows(self, stack: list[Frame], *, first: bool = False) -> bool:
        """Pass over what stands before an item, its key included; false where the innermost frame has been closed."""
        reading, frame = self.reading, stack[-1]
        is_object = isinstance(frame.value, dict)
        reading.blanks()
        comma = not first and reading.take(",")
        if comma:
            frame.commas += 1
            reading.blanks()
            while is_object and reading.take(","):
                reading.mends("a doubled comma")
                reading.blanks()
        elif first and is_object and reading.take("{"):
            frame.doubled = True
            reading.mends("doubled braces")
            reading.blanks()
        if self._closes(stack, first=first):
            if comma and not (frame.closing == ")" and len(frame.value) == 1):
                reading.mends("a trailing comma")
            return False
        if not first and not comma:
            self._comma_is_missing(is_object)
        if is_object:
            self._take_plain_members(frame)
            frame.key = self._key()
            reading.blanks()
        return True

    def _take_plain_members(self, frame: Frame) -> None:
        """Read the members that are plain JSON, up to one that is not, or the last one."""
        reading, start = self.reading, self.reading.position
        if self._grammar.quotes or start < self._plain_from:
            return
        end = plain_entries.end_of(plain_entries.SCALAR_MEMBERS, reading.text, start)
        if end > start:
            members = reading.text[start:end].rstrip()
            for key, value in json.loads(f"{{{members[:-1]}}}").items():
                frame.key = key
                frame.add(value, None)
            reading.looked(end - start)
            reading.position = end
        else:
            self._plain_from = start + plain_entries.TRY_AGAIN_AFTER

    def _comma_is_missing(self, is_object: bool) -> None:
        """Refuse whatever is not certainly the next item."""
        reading = self.reading
        follows = self._key_at(reading.position) if is_object else reading.at(("[", "{")) or bool(self._quote_here())
        if not follows or (self._grammar.python and not is_object and not reading.at(("[", "{"))):
            reading.fail("expected a comma or a closing bracket")
        reading.mends("a missing comma")

    def _closes(self, stack: list[Frame], *, first: bool) -> bool:
        """Pass over what closes the innermost frame, if it is closed here; what has just opened needs its bracket."""
        reading, frame = self.reading, stack[-1]
        while reading.position >= self._closing_brackets and not self._grammar.python:
            if reading.at(frame.closing) or not reading.at(("]", "}")):
                break
            closing = reading.text[reading.position]
            if first:
                reading.fail("expected an item or a closing bracket")
            if any(outer.closing == closing for outer in stack[:-1]):
                reading.mends("a missing closing bracket")
                return True
            reading.mends(TOO_MANY)
            self.too_many.add(closing)
            reading.position += 1
            reading.blanks()
        if reading.take(frame.closing):
            if frame.doubled:
                reading.blanks()
                if not reading.take(frame.closing):
                    reading.fail("expected two closing braces")
            return True
        if reading.ended or reading.at("```"):
            if first or not self._grammar.allow_truncated:
                reading.fail("the text ends before the value does")
            reading.mends("a missing closing bracket")
            return True
        return False

    def _closed(self, frame: Frame) -> Any:
        """Give the value of a frame that has been closed."""
        if frame.closing == ")" and isinstance(frame.value, list):
            if len(frame.value) == 1 and not frame.commas:
                return frame.value[0]
            self.reading.mends("a tuple")
        return frame.value

    def _key(self) -> str:
        """Read a key with its colon."""
        reading = self.reading
        quote = self._quote_here()
        if quote is not None:
            key = read_string(reading, quote, lambda _after: True, python=self._grammar.python)
            if quote == SINGLE and not self._grammar.python:
                reading.mends("single quotes")
        else:
            of_key = DIALECT_KEY_TEXT if self._grammar.unquoted_keys else BARE_KEY
            match = of_key.match(reading.text, reading.position)
            if match is None:
                reading.fail("expected a key")
            key = match[0].rstrip()
            if not (self._grammar.unquoted_keys and DIALECT_KEY.fullmatch(key)):
                reading.mends("a key with blanks" if " " in key else "a key without quotes")
            self._bare_keys = True
            reading.position = match.end()
        reading.blanks()
        if not reading.take(":"):
            if not (reading.take("=>") or reading.take("=")):
                reading.fail("expected a colon after the key")
            reading.mends("an equals sign in place of a colon")
        return key


def too_deep(limit: int, position: int) -> LimitError:
    """Make the error for values that are nested too deep."""
    return LimitError(
        f"lists and objects are nested more than {limit} deep; {how_to_raise('json_depth')}",
        limit="json_depth",
        position=position,
    )
