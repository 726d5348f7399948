r"""A pattern of the ``regex`` module as a tree.

The dialect is that of the response template format: the ``regex`` module, version 0, Unicode, DOTALL. In comes the
pattern's source, out comes a ``Node``. What only ``regex`` itself understands (recursion, fuzzy matching, conditionals,
named lists, branch reset, ``\K`` …) raises ``UnsupportedSyntax``. Which characters a class holds is not decided here:
a ``Chars`` keeps its source text and asks ``regex``, so that ``\w``, ``\p{L}`` and ``(?i)`` mean what they mean there.
"""

from __future__ import annotations

import regex

from streamparse.matching.tree import (
    EMPTY,
    Alternatives,
    Assertion,
    Atomic,
    BackReference,
    Chars,
    Group,
    Look,
    Node,
    Repeat,
    Sequence,
    children,
    literal_text,
    newline,
    walk,
    width,
)

__all__ = [
    "EMPTY",
    "Alternatives",
    "Assertion",
    "Atomic",
    "BackReference",
    "Chars",
    "Group",
    "Look",
    "Node",
    "Repeat",
    "Sequence",
    "UnsupportedSyntax",
    "children",
    "literal_text",
    "newline",
    "parse",
    "walk",
    "width",
]


class UnsupportedSyntax(ValueError):
    """The pattern uses what only the ``regex`` module itself understands."""


def parse(pattern: str) -> Node:
    r"""The tree of a pattern that ``regex`` compiles with DOTALL.

    >>> parse("<t>").items[0]
    Chars(source='<', flags=16, literal='<')
    >>> parse("a*?").mode
    'lazy'

    Raises UnsupportedSyntax for what only ``regex`` understands; a pattern that ``regex`` refuses is not looked for.
    """
    return _Parser(pattern).pattern()


_FLAG_LETTERS = {
    "i": regex.IGNORECASE,
    "s": regex.DOTALL,
    "m": regex.MULTILINE,
    "x": regex.VERBOSE,
    "a": regex.ASCII,
    "u": regex.UNICODE,
}
# Flags that change what one character matches; the others are settled while the pattern is read.
_CHARACTER_FLAGS = int(regex.IGNORECASE | regex.ASCII | regex.UNICODE | regex.DOTALL)

_CONTROL = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_CLASS_LETTERS = "dDsSwW"
_PLACES = {"A": "start", "Z": "end", "z": "end", "b": "boundary", "B": "inside"}
_QUANTIFIERS = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_MODES = {"?": "lazy", "+": "possessive"}
_LOOKS = {"(?=": (True, False), "(?!": (True, True), "(?<=": (False, False), "(?<!": (False, True)}
_COUNTED = regex.compile(r"\{\s*(?:(\d+)\s*(,)?\s*(\d*)|(,)\s*(\d*))\s*\}")
_INLINE_FLAGS = regex.compile(r"\(\?([a-zA-Z0-9]*)(?:-([a-zA-Z0-9]+))?([:)])")
_NAMED = regex.compile(r"\(\?P?<(\w+)>")
_POSIX = regex.compile(r"\[:\^?[\w ]+:\]")
_PROPERTY = regex.compile(r"[pPN](?:\{[^}]*\}|[A-Z])")


class _Parser:
    """Reads a pattern from left to right; ``at`` is the next character to be read."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.groups = 0
        self.group_numbers: dict[str, int] = {}

    def pattern(self) -> Node:
        flags = self.leading_flags()
        node = self.alternatives(flags)
        if self.at < len(self.source):
            raise UnsupportedSyntax(f"unexpected {self.source[self.at]!r} at {self.at}")
        return node

    def leading_flags(self) -> int:
        flags = int(regex.DOTALL)
        while (found := _INLINE_FLAGS.match(self.source, self.at)) and found[3] == ")":
            flags = self.changed_flags(flags, found[1], found[2])
            self.at = found.end()
        return flags

    def changed_flags(self, flags: int, on: str, off: str | None) -> int:
        for letter in on + (off or ""):
            if letter not in _FLAG_LETTERS:
                raise UnsupportedSyntax(f"the flag {letter!r}")
        for letter in on:
            if letter in "au":
                flags &= ~int(regex.ASCII | regex.UNICODE)
            flags |= int(_FLAG_LETTERS[letter])
        for letter in off or "":
            flags &= ~int(_FLAG_LETTERS[letter])
        return flags

    def alternatives(self, flags: int) -> Node:
        branches = [self.sequence(flags)]
        while self.source.startswith("|", self.at):
            self.at += 1
            branches.append(self.sequence(flags))
        return branches[0] if len(branches) == 1 else Alternatives(tuple(branches))

    def sequence(self, flags: int) -> Node:
        items: list[Node] = []
        while True:
            self.skip_ignored(flags)
            if self.at >= len(self.source) or self.source[self.at] in "|)":
                break
            items.append(self.quantified(self.atom(flags), flags))
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def skip_ignored(self, flags: int) -> None:
        """Steps over comments and, in verbose mode, white space."""
        while self.at < len(self.source):
            if self.source.startswith("(?#", self.at):
                end = self.source.find(")", self.at)
                self.at = len(self.source) if end < 0 else end + 1
            elif flags & regex.VERBOSE and self.source[self.at].isspace():
                self.at += 1
            elif flags & regex.VERBOSE and self.source[self.at] == "#":
                end = self.source.find("\n", self.at)
                self.at = len(self.source) if end < 0 else end + 1
            else:
                break

    def quantified(self, node: Node, flags: int) -> Node:
        self.skip_ignored(flags)
        bounds = self.quantifier(flags)
        if bounds is None:
            return node
        self.skip_ignored(flags)
        mode = _MODES.get(self.source[self.at : self.at + 1], "greedy")
        if mode != "greedy":
            self.at += 1
        return Repeat(node, bounds[0], bounds[1], mode)

    def quantifier(self, flags: int) -> tuple[int, int | None] | None:
        """The counts of a quantifier, which is stepped over; None if none stands here."""
        character = self.source[self.at : self.at + 1]
        if character in _QUANTIFIERS:
            self.at += 1
            return _QUANTIFIERS[character]
        if character != "{":
            return None
        counted = _COUNTED.match(self.source, self.at)
        if counted is None:
            # Either plain text or fuzzy matching: `regex` knows which.
            raise UnsupportedSyntax("a brace that is no repeat count; write \\{ for the character")
        if regex.search(r"\s", counted[0]) and not flags & regex.VERBOSE:
            raise UnsupportedSyntax("a repeat count with blanks in it")
        self.at = counted.end()
        least, comma, most, bare_comma, bare_most = counted.groups()
        if bare_comma:
            return 0, int(bare_most) if bare_most else None
        if comma:
            return int(least), int(most) if most else None
        return int(least), int(least)

    def atom(self, flags: int) -> Node:
        character = self.source[self.at]
        if character == "(":
            return self.group(flags)
        if character == "[":
            return self.character_class(flags)
        if character == "\\":
            return self.escape(flags)
        self.at += 1
        if character == "^":
            return Assertion("line start" if flags & regex.MULTILINE else "start", flags)
        if character == "$":
            return Assertion("line end" if flags & regex.MULTILINE else "last line end", flags)
        if character == ".":
            return Chars(".", flags & _CHARACTER_FLAGS)
        return self.literal(character, flags)

    def literal(self, character: str, flags: int) -> Chars:
        if flags & regex.IGNORECASE:
            return Chars(regex.escape(character), flags & _CHARACTER_FLAGS)
        return Chars(character, flags & _CHARACTER_FLAGS, character)

    def character_class(self, flags: int) -> Chars:
        start = self.at
        self.at += 1
        if self.source.startswith("^", self.at):
            self.at += 1
        first = self.at
        while self.at < len(self.source):
            character = self.source[self.at]
            if character == "]" and self.at > first:
                break
            if character == "\\":
                self.at += 2
            elif found := _POSIX.match(self.source, self.at):
                self.at = found.end()
            else:
                self.at += 1
        self.at += 1
        return Chars(self.source[start : self.at], flags & _CHARACTER_FLAGS)

    def escape(self, flags: int) -> Node:
        letter = self.source[self.at + 1]
        start = self.at
        if letter.isascii() and letter.isdigit():
            return self.numeric_escape(flags)
        if letter in _HEX_DIGITS:
            self.at += 2 + _HEX_DIGITS[letter]
            return self.literal(chr(int(self.source[start + 2 : self.at], 16)), flags)
        if found := _PROPERTY.match(self.source, self.at + 1):
            self.at = found.end()
            return Chars(self.source[start : self.at], flags & _CHARACTER_FLAGS)
        self.at += 2
        if letter in _PLACES:
            return Assertion(_PLACES[letter], flags)
        if letter in _CLASS_LETTERS:
            return Chars(self.source[start : self.at], flags & _CHARACTER_FLAGS)
        if letter in _CONTROL:
            return self.literal(_CONTROL[letter], flags)
        if letter.isascii() and letter.isalpha():
            raise UnsupportedSyntax(f"\\{letter}")
        return self.literal(letter, flags)

    def numeric_escape(self, flags: int) -> Node:
        digits = regex.compile(r"[0-7]{3}|0[0-7]?|[0-9]+").match(self.source, self.at + 1)
        assert digits is not None
        self.at = digits.end()
        text = digits[0]
        if text[0] == "0" or (len(text) == 3 and set(text) <= set("01234567")):
            return self.literal(chr(int(text, 8)), flags)
        if len(text) > 2 or int(text) > self.groups:
            raise UnsupportedSyntax(f"\\{text}")
        return BackReference(int(text), flags & _CHARACTER_FLAGS)

    def group(self, flags: int) -> Node:
        start = self.at
        for opening, (ahead, negative) in _LOOKS.items():
            if self.source.startswith(opening, self.at):
                body = self.body(len(opening), flags)
                return Look(body, ahead, negative, self.source[start : self.at], flags)
        if self.source.startswith("(?>", self.at):
            return Atomic(self.body(3, flags))
        if named := _NAMED.match(self.source, self.at):
            return self.capture(named[1], len(named[0]), flags)
        if found := regex.compile(r"\(\?P=(\w+)\)").match(self.source, self.at):
            self.at = found.end()
            return BackReference(found[1], flags & _CHARACTER_FLAGS)
        if (found := _INLINE_FLAGS.match(self.source, self.at)) and found[3] == ":":
            return self.body(len(found[0]), self.changed_flags(flags, found[1], found[2]))
        if self.source.startswith(("(?", "(*"), self.at):
            raise UnsupportedSyntax(self.source[self.at : self.at + 4])
        return self.capture(None, 1, flags)

    def capture(self, name: str | None, opening: int, flags: int) -> Group:
        if name is not None and name in self.group_numbers:
            index = self.group_numbers[name]
        else:
            self.groups += 1
            index = self.groups
        if name is not None:
            self.group_numbers[name] = index
        return Group(self.body(opening, flags), index, name)

    def body(self, opening: int, flags: int) -> Node:
        self.at += opening
        node = self.alternatives(flags)
        self.at += 1
        return node
