r"""How a content parser's format writes values: quotes, keys, words and the marks between members.

A dialect knows the smallest things: a fixed text, a text that a pattern or a length describes, any text, a key. How
they make up a value of a schema is in ``schemas``. The dialects are those that the content parsers read: JSON, JSON
with string delimiters and keys of its own (Gemma), and Python's literals.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import regex

from streamparse.grammar import numbers
from streamparse.grammar.characters import CONTROLS, HEX, difference, none_of, of
from streamparse.grammar.nodes import (
    EMPTY,
    Both,
    Chars,
    FreeText,
    Node,
    Quoted,
    Relaxation,
    Repeat,
    Rule,
    Text,
    choice,
    sequence,
)
from streamparse.grammar.patterns import encoded

WHITE_SPACE: Node = choice(
    [EMPTY, Text(" "), sequence("\n", Repeat(Text("\n"), 0, 1), Repeat(Chars(of(" \t")), 0, 20))]
)
"""What may stand between the parts of a value: one blank, or line breaks with an indent."""

WHITE_SPACE_RULE = Rule("ws")
"""The rule that every grammar has for it."""

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}
_CONTROL_ESCAPES = {chr(c): f"\\u{c:04x}" for c in range(0x20)}
_SPECIAL = {**_CONTROL_ESCAPES, **_ESCAPES}
_SURROGATE_PAIR = sequence(
    Chars(of("dD")), Chars(of("89abAB")), HEX, HEX, "\\u", Chars(of("dD")), Chars(of("cdefCDEF")), HEX, HEX
)
_UNIT = choice(
    [
        sequence(Chars(difference(HEX.ranges, of("dD"))), HEX, HEX, HEX),
        sequence(Chars(of("dD")), Chars(of("01234567")), HEX, HEX),
        _SURROGATE_PAIR,
    ]
)
_ESCAPE = sequence("\\", choice([Chars(of('"\\/bfnrt')), sequence("u", _UNIT)]))


@dataclass(frozen=True, slots=True)
class Length:
    """How many characters a text has."""

    minimum: int = 0
    maximum: int | None = None


ANY_LENGTH = Length()


class Json:
    r"""Standard JSON, with ``marks`` that no string has in it: those that end what the JSON stands in.

    Any text can still be written: ``</p>`` as ``<\\/p>`` or ``\\u003c/p>``. A string with a pattern or a length has the
    marks' first characters escaped.
    """

    words: Mapping[Any, str] = {True: "true", False: "false", None: "null"}
    kind = "json"

    def __init__(self, marks: tuple[str, ...] = ()) -> None:
        self.marks = marks
        self._special = {**_SPECIAL, **{mark[0]: f"\\u{ord(mark[0]):04x}" for mark in marks}}

    @property
    def name(self) -> str:
        """A name for the rules of this dialect, one for each set of marks."""
        return self.kind + "".join(f"-{zlib.crc32(mark.encode()):x}" for mark in self.marks)

    def fixed(self, text: str) -> Node | None:
        """A string that is exactly this text; None where the format can't write it."""
        written = json.dumps(text, ensure_ascii=False)
        return Text(written if not any(mark in text for mark in self.marks) else self._escaped(text))

    def _escaped(self, text: str) -> str:
        return '"' + "".join(self._special.get(character, character) for character in text) + '"'

    def any_text(self) -> Node:
        """Any string."""
        return sequence('"', Quoted('"', difference(none_of('"\\').ranges, CONTROLS), _ESCAPE, self.marks))

    def described(self, pattern: Node | None, length: Length, where: str) -> Node:
        """A string whose text matches a pattern and has a length."""
        return self._described('"', self._special, _ESCAPE, pattern, length, where)

    def _described(
        self, quote: str, special: dict[str, str], escape: Node, pattern: Node | None, length: Length, where: str
    ) -> Node:
        plain = difference(none_of(f"\\{quote}").ranges, (*CONTROLS, *of(mark[0] for mark in self.marks)))
        bounded = sequence(quote, Repeat(choice([Chars(plain), escape]), length.minimum, length.maximum), quote)
        if pattern is None:
            return bounded
        matching = sequence(quote, encoded(pattern, special), quote)
        if length == ANY_LENGTH:
            return matching
        return Both(matching, bounded, Relaxation(where, "minLength, maxLength", "beside a pattern or format"))

    def key(self, name: str) -> Node | None:
        """A member's key with what stands between it and the value."""
        written = json.dumps(name, ensure_ascii=False)
        if any(mark in name for mark in self.marks):
            written = self._escaped(name)
        return sequence(written, WHITE_SPACE_RULE, ":", WHITE_SPACE_RULE)

    def other_key(self, names: Sequence[str]) -> Node:
        """A key that is none of these names, written without escapes."""
        excluded = '"\\' + "".join(sorted({mark[0] for mark in self.marks}))
        return sequence('"', other_name(names, excluded), '"', WHITE_SPACE_RULE, ":", WHITE_SPACE_RULE)

    def number(self, node: Node) -> Node:
        """A number, of those that the format can write."""
        return node


class Gemma(Json):
    """JSON with strings between delimiters, as they are, and keys without quotes where they are words."""

    kind = "dialect"

    def __init__(self, delimiters: tuple[str, str] | None, *, bare_keys: bool, marks: tuple[str, ...] = ()) -> None:
        super().__init__(marks)
        self._delimiters = delimiters
        self._bare_keys = bare_keys

    def _unwritable(self) -> tuple[str, ...]:
        assert self._delimiters is not None
        return (self._delimiters[0], "\x01", "\x02", *self.marks)

    def fixed(self, text: str) -> Node | None:
        """A string that is exactly this text."""
        if self._delimiters is None:
            return super().fixed(text)
        if any(mark in text for mark in (*self._unwritable(), self._delimiters[1])):
            return None
        return Text(f"{self._delimiters[0]}{text}{self._delimiters[1]}")

    def any_text(self) -> Node:
        """Any string that has neither delimiter in it."""
        if self._delimiters is None:
            return super().any_text()
        return self.described(None, ANY_LENGTH, "")

    def described(self, pattern: Node | None, length: Length, where: str) -> Node:
        """A string whose text matches a pattern and has a length."""
        if self._delimiters is None:
            return super().described(pattern, length, where)
        opening, closing = self._delimiters
        keywords = [*(["pattern"] if pattern else []), *(["minLength, maxLength"] if length != ANY_LENGTH else [])]
        text = FreeText(closing, self._unwritable(), pattern, length.minimum, length.maximum, where, tuple(keywords))
        return sequence(opening, text)

    def key(self, name: str) -> Node | None:
        """A member's key: a word as it is, any other in quotes."""
        if not self._bare_keys or not regex.fullmatch(r"\w+", name):
            return super().key(name)
        return sequence(name, ":", WHITE_SPACE_RULE)

    def other_key(self, names: Sequence[str]) -> Node:
        """A key that is none of these names: a word."""
        if not self._bare_keys:
            return super().other_key(names)
        return sequence(other_word(names), ":", WHITE_SPACE_RULE)


_PYTHON_NAME = regex.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[-.][A-Za-z0-9_]+)*")
_PYTHON_SPECIAL = {**{c: e for c, e in _SPECIAL.items() if c != '"'}, "'": "\\'"}
_PYTHON_ESCAPE = sequence("\\", choice([Chars(of("'\"\\/bfnrt")), sequence("u", _UNIT)]))


class Python(Json):
    """The literals of ``python-call-list``: strings in either quote, True, False and None."""

    words: Mapping[Any, str] = {True: "True", False: "False", None: "None"}
    kind = "python"

    def fixed(self, text: str) -> Node | None:
        """A string that is exactly this text, in either quote."""
        marked = {mark[0]: f"\\u{ord(mark[0]):04x}" for mark in self.marks if mark in text}
        single = "".join({**_PYTHON_SPECIAL, **marked}.get(character, character) for character in text)
        double = "".join({**_SPECIAL, **marked}.get(character, character) for character in text)
        return choice([Text(f'"{double}"'), Text(f"'{single}'")])

    def any_text(self) -> Node:
        """Any string, in either quote."""
        return choice(
            sequence(
                quote, Quoted(quote, difference(none_of(f"\\{quote}").ranges, CONTROLS), _PYTHON_ESCAPE, self.marks)
            )
            for quote in "\"'"
        )

    def described(self, pattern: Node | None, length: Length, where: str) -> Node:
        """A string whose text matches a pattern and has a length, in either quote."""
        marked = {mark[0]: f"\\u{ord(mark[0]):04x}" for mark in self.marks}
        return choice(
            self._described(quote, {**special, **marked}, _PYTHON_ESCAPE, pattern, length, where)
            for quote, special in (('"', _SPECIAL), ("'", _PYTHON_SPECIAL))
        )

    def argument(self, name: str) -> Node | None:
        """The name of a keyword argument; None where it is no name."""
        return Text(f"{name}=") if _PYTHON_NAME.fullmatch(name) else None

    def other_argument(self, names: Sequence[str]) -> Node:
        """The name of an argument that is none of these."""
        return sequence(other_word(names), "=")

    def number(self, node: Node) -> Node:
        """A number that a double holds exactly: up to 15 digits."""
        if node == numbers.INTEGER:
            return numbers.SHORT_INTEGER
        return numbers.SHORT_NUMBER if node == numbers.NUMBER else node


def other_word(names: Sequence[str]) -> Node:
    """A word that is none of these names.

    It is any word that leaves the tree of the names' characters at some place.
    """
    word = of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")
    start = difference(word, of("0123456789"))
    return _leaving(sorted(set(names)), word, start)


def other_name(names: Sequence[str], excluded: str) -> Node:
    """A text, not empty, that is none of these names and has no excluded characters, nor control characters."""
    allowed = difference(none_of(excluded).ranges, CONTROLS)
    return _leaving(sorted(set(names)), allowed, allowed)


def _leaving(names: list[str], allowed: Any, first: Any) -> Node:
    rest = Repeat(Chars(allowed), 0, None)
    heads = sorted({name[0] for name in names if name})
    branches: list[Node] = []
    for head in heads:
        tails = [name[1:] for name in names if name.startswith(head)]
        longer = _leaving([tail for tail in tails if tail], allowed, allowed)
        inner = longer if "" in tails else choice([EMPTY, longer])
        branches.append(sequence(head, inner))
    others = difference(first, of(heads))
    return choice([*branches, *([sequence(Chars(others), rest)] if others else [])])
