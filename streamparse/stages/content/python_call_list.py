"""The content parser ``python-call-list``: ``[name(key=value, …), …]`` as a list of names and arguments.

The grammar (white space is ``[ \\t\\n\\r]``, and allowed between all tokens)::

    list      "[" [ call ("," call)* ] "]"
    call      name "(" [ argument ("," argument)* ] ")"
    argument  name "=" value                 names of one call differ
    name      ASCII letters, digits and "_", in parts joined by "-" or "."; a letter or "_" first
    value     string | number | "[" … "]" | "{" string ":" value, … "}" | True true False false None null
    string    in ' or ", with JSON's escapes and \\' ; no raw line break, no lone surrogate
    number    as in JSON; integers within ±(2^53 - 1), others must be finite as doubles

There are no trailing commas, and lists and objects enclose one another up to 100 deep.

With ``brackets`` false the calls stand without the outer brackets, one or more, each on a line of its own or after a
comma. transformers ignores this argument, so it counts in the lenient modes only.

>>> PARSER.prepare({})("[add(a=1, b=[True, None]), now()]")
[{'name': 'add', 'arguments': {'a': 1, 'b': [True, None]}}, {'name': 'now', 'arguments': {}}]
>>> PARSER.prepare({"brackets": False}, Preparation(keep_source=True))("now()\\nnow()")
[{'name': 'now', 'arguments': {}}, {'name': 'now', 'arguments': {}}]
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import partial
from typing import Any, NoReturn

from streamparse.errors import LimitError
from streamparse.limits import DEFAULT_LIMITS, how_to_raise
from streamparse.stages.content.table import (
    STRICT,
    ContentParser,
    Findings,
    Parse,
    Preparation,
    content_error,
    known_arguments,
)

ARGUMENTS = {"brackets": bool}

MAX_DEPTH = 100
MAX_INTEGER = 2**53 - 1
MAX_INTEGER_LENGTH = 17  # a sign and 16 digits: longer ones never reach int()

SPACE = re.compile(r"[ \t\n\r]*+")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+(?:[-.][A-Za-z0-9_]++)*+")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)((?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)")
STRING_BODIES = {
    "'": re.compile(r"[^'\\\n\r]*+(?:\\.[^'\\\n\r]*+)*+", re.DOTALL),
    '"': re.compile(r'[^"\\\n\r]*+(?:\\.[^"\\\n\r]*+)*+', re.DOTALL),
}
ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))", re.DOTALL
)
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
ESCAPED = {"\\": "\\", "'": "'", '"': '"', "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
CONSTANTS = {"True": True, "true": True, "False": False, "false": False, "None": None, "null": None}


class Reader:
    """Reads one text from left to right; ``position`` is the first character not read yet."""

    __slots__ = ("depth_limit", "position", "text")

    def __init__(self, text: str, depth_limit: int = DEFAULT_LIMITS.json_depth) -> None:
        self.text = text
        self.position = 0
        self.depth_limit = depth_limit

    def fail(self, reason: str, position: int | None = None) -> NoReturn:
        """Raise ContentError, at the present position unless another is given."""
        raise content_error(reason, self.text, self.position if position is None else position)

    def at(self, character: str) -> bool:
        """Pass over white space, and tell whether ``character`` follows."""
        match = SPACE.match(self.text, self.position)
        self.position = match.end() if match else self.position
        return self.text.startswith(character, self.position)

    def take(self, character: str) -> bool:
        """Pass over white space, and over ``character`` if it follows."""
        found = self.at(character)
        self.position += found
        return found

    def expect(self, character: str) -> None:
        """Pass over ``character``, which has to follow."""
        if not self.take(character):
            self.fail(f"expected {character!r}")

    def ends(self, close: str) -> bool:
        """Pass over what follows an item: ``close`` (then true) or a comma."""
        if self.take(close):
            return True
        self.expect(",")
        return False

    def calls(self) -> list[dict[str, Any]]:
        """Read the whole text, with the outer brackets."""
        calls: list[dict[str, Any]] = []
        self.expect("[")
        ended = self.take("]")
        while not ended:
            calls.append(self.call())
            ended = self.ends("]")
        self.at("")
        if self.position != len(self.text):
            self.fail("there is more after the closing ']'")
        return calls

    def unbracketed_calls(self) -> list[dict[str, Any]]:
        """Read the whole text, without the outer brackets."""
        calls = [self.call()]
        while True:
            end = self.position
            comma = self.take(",")
            if not comma and self.position == len(self.text):
                return calls
            if not comma and "\n" not in self.text[end : self.position]:
                self.fail("expected ',' or a line break between calls")
            calls.append(self.call())

    def call(self) -> dict[str, Any]:
        """Read one call."""
        return {"name": self.name("a function's name"), "arguments": self.arguments()}

    def arguments(self) -> dict[str, Any]:
        """Read a call's arguments with their parentheses."""
        arguments: dict[str, Any] = {}
        self.expect("(")
        ended = self.take(")")
        while not ended:
            name = self.name("an argument's name (no trailing commas, and no values without a name)")
            if name in arguments:
                self.fail(f"the argument {name!r} is repeated", self.position - len(name))
            if not self.take("="):
                self.fail("expected '=' (values without a name are not allowed)")
            arguments[name] = self.value(0)
            ended = self.ends(")")
        return arguments

    def name(self, what: str) -> str:
        """Read a name."""
        self.at("")
        match = NAME.match(self.text, self.position)
        if match is None:
            self.fail(f"expected {what}")
        self.position = match.end()
        return match[0]

    def value(self, depth: int) -> Any:
        """Read a value that ``depth`` lists and objects enclose."""
        self.at("")
        first = self.text[self.position : self.position + 1]
        if first in STRING_BODIES:
            return self.string(first)
        if first in ("[", "{"):
            if depth >= self.depth_limit:
                raise self.too_deep()
            if depth >= MAX_DEPTH:
                self.fail(f"lists and objects are nested more than {MAX_DEPTH} deep")
            self.position += 1
            return self.list(depth + 1) if first == "[" else self.object(depth + 1)
        match = NUMBER.match(self.text, self.position)
        return self.number(match) if match else self.constant()

    def too_deep(self) -> LimitError:
        """Make the error for values that are nested deeper than the limits allow."""
        return LimitError(
            f"lists and objects are nested more than {self.depth_limit} deep; {how_to_raise('json_depth')}",
            limit="json_depth",
            position=self.position,
        )

    def list(self, depth: int) -> list[Any]:
        """Read a list after its opening bracket."""
        items: list[Any] = []
        ended = self.take("]")
        while not ended:
            items.append(self.value(depth))
            ended = self.ends("]")
        return items

    def object(self, depth: int) -> dict[str, Any]:
        """Read an object after its opening brace."""
        members: dict[str, Any] = {}
        ended = self.take("}")
        while not ended:
            self.at("")
            start = self.position
            quote = self.text[start : start + 1]
            if quote not in STRING_BODIES:
                self.fail("expected a string as the key")
            key = self.string(quote)
            if key in members:
                self.fail(f"the key {key!r} is repeated", start)
            self.expect(":")
            members[key] = self.value(depth)
            ended = self.ends("}")
        return members

    def string(self, quote: str) -> str:
        """Read a string that ``quote`` opens here."""
        start = self.position
        match = STRING_BODIES[quote].match(self.text, start + 1)
        end = match.end() if match else start
        if not self.text.startswith(quote, end):
            self.fail("the string is not closed, or has a line break in it")
        body = self.text[start + 1 : end]
        if not body.isascii() and LONE_SURROGATE.search(body):
            self.fail("the string has a lone surrogate in it")
        if "\\" in body:
            body = ESCAPE.sub(self.unescaped, body)
        self.position = end + 1
        return body

    def unescaped(self, escape: re.Match[str]) -> str:
        """Give what an escape stands for, while the position is still at the string's opening quote."""
        high, low, code, character = escape.groups()
        if high:
            return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))
        if code and not 0xD800 <= int(code, 16) <= 0xDFFF:
            return chr(int(code, 16))
        if character in ESCAPED:
            return ESCAPED[character]
        what = "a lone surrogate" if code else "not an escape of this grammar"
        return self.fail(f"{escape[0]!r} is {what}", self.position + 1 + escape.start())

    def number(self, match: re.Match[str]) -> int | float:
        """Read a number that ``match`` found here."""
        digits, tail = match[0], match[1]
        if tail:
            number = float(digits)
            if math.isinf(number):
                self.fail("the number is too large")
            self.position = match.end()
            return number
        if len(digits) > MAX_INTEGER_LENGTH or abs(int(digits)) > MAX_INTEGER:
            self.fail("the integer is outside the range of -(2^53 - 1) to 2^53 - 1")
        self.position = match.end()
        return int(digits)

    def constant(self) -> bool | None:
        """Read one of the names that stand for a value."""
        match = NAME.match(self.text, self.position)
        if match is None or match[0] not in CONSTANTS:
            self.fail("expected a string, number, list, object, True, False or None")
        self.position = match.end()
        return CONSTANTS[match[0]]


def prepare(arguments: Mapping[str, Any], preparation: Preparation = STRICT, /) -> Parse:
    """Make the parse function."""
    limit = preparation.limits.json_depth
    if preparation.keep_source and isinstance(arguments, Mapping) and not arguments.get("brackets", True):
        return partial(parse, limit, brackets=False)
    return partial(parse, limit)


def parse(depth_limit: int, text: str, *, brackets: bool = True) -> list[dict[str, Any]]:
    """Read a list of calls; raises ContentError with the position where the text leaves the grammar."""
    reader = Reader(text, depth_limit)
    try:
        return reader.calls() if brackets else reader.unbracketed_calls()
    except RecursionError:
        raise reader.too_deep() from None


def check(arguments: Mapping[str, Any], path: str, _depth: int = 0, /) -> Findings:
    """Check the arguments."""
    return known_arguments("python-call-list", arguments, path, ARGUMENTS)


PARSER = ContentParser("python-call-list", streams=False, prepare=prepare, check=check, ignores_arguments=True)
