r"""One delimiter: a list of literals, of which the longest wins, or a pattern of the ``regex`` module.

In come the strings of a template, out comes a ``Delimiter`` that says how it can be found in a stream (``kind``) and
what its author should know about it (``lint``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import regex

from streamparse.matching.backtrack import groups_of
from streamparse.matching.compiling import MAX_SOURCE, compile_pattern
from streamparse.matching.instructions import Program
from streamparse.matching.lint import warnings_of
from streamparse.matching.program import NotLinear, backtracking_program, linear_program
from streamparse.matching.syntax import (
    Alternatives,
    Atomic,
    Chars,
    Group,
    Look,
    Node,
    Repeat,
    Sequence,
    UnsupportedSyntax,
    parse,
    walk,
    width,
)

#: Unicode and DOTALL, not MULTILINE, as the response template format says; version 0 of ``regex``'s behaviour.
#: Seconds that finding the groups of one match may take `regex`; then a matcher takes over that is never exponential.
CAPTURE_SECONDS = 0.5

PATTERN_FLAGS = regex.DOTALL | regex.VERSION0


@dataclass(frozen=True)
class Delimiter:
    r"""What opens or closes a region: ``literals`` (longest first; None for a pattern) and the same as a ``pattern``.

    >>> Delimiter.of_literals(["</a>", "</a>\n"]).pattern
    '</a>\\\n|</a>'
    >>> sorted(Delimiter.of_pattern(r"<(?P<name>\w+)>").groups)
    ['name']
    """

    literals: tuple[str, ...] | None
    pattern: str
    compiled: regex.Pattern[str]
    groups: frozenset[str]

    @classmethod
    def of_literals(cls, literals: Iterable[str]) -> Delimiter:
        """Any of the literals, none of them empty; raises ValueError if one is, if there are none, or far too many."""
        longest_first = tuple(sorted(set(literals), key=lambda literal: (-len(literal), literal)))
        if not longest_first or "" in longest_first:
            raise ValueError("a literal delimiter needs at least one literal, and none may be empty")
        if sum(map(len, longest_first)) > MAX_SOURCE:
            raise ValueError(f"is longer than {MAX_SOURCE} characters")
        pattern = "|".join(regex.escape(literal) for literal in longest_first)
        return cls(longest_first, pattern, regex.compile(pattern, PATTERN_FLAGS), frozenset())

    @classmethod
    def of_pattern(cls, source: str) -> Delimiter:
        """A pattern of the ``regex`` module; raises FaultyPattern."""
        compiled = compile_pattern(source, PATTERN_FLAGS)
        return cls(None, source, compiled, frozenset(compiled.groupindex))

    @cached_property
    def tree(self) -> Node | None:
        """The pattern as a tree; None if only ``regex`` understands it."""
        if self.literals is not None:
            texts = [Sequence(tuple(Chars(c, int(regex.DOTALL), c) for c in literal)) for literal in self.literals]
            return texts[0] if len(texts) == 1 else Alternatives(tuple(texts))
        try:
            return parse(self.pattern)
        except UnsupportedSyntax:
            return None

    @cached_property
    def linear(self) -> Program | None:
        """The program for the automaton, or None."""
        try:
            return linear_program(self.tree) if self.tree is not None else None
        except NotLinear:
            return None

    @cached_property
    def backtracking(self) -> Program | None:
        """The program for the backtracking matcher, or None if only ``regex`` can match the pattern."""
        try:
            return backtracking_program(self.tree) if self.tree is not None else None
        except UnsupportedSyntax:
            return None

    @cached_property
    def not_empty_at_start(self) -> regex.Pattern[str]:
        """The pattern, but for the match of the empty text at the place where the search starts."""
        return regex.compile(rf"(?:{self.pattern})(?!\G)", PATTERN_FLAGS)

    @cached_property
    def before_lookahead(self) -> regex.Pattern[str] | None:
        """The pattern without the lookahead at its end, where that may look far and has no group; else None.

        The first way to match it up to a given end is also the first way to match the whole pattern with that end.
        """
        if not isinstance(self.tree, Sequence) or not self.tree.items:
            return None
        look = self.tree.items[-1]
        if not isinstance(look, Look) or not look.ahead or not self.pattern.endswith(look.source):
            return None
        if width(look.body)[1] is not None or any(isinstance(node, Group) for node in walk(look.body)):
            return None
        return regex.compile(self.pattern.removesuffix(look.source), PATTERN_FLAGS)

    @cached_property
    def optional_groups(self) -> frozenset[str]:
        r"""The named groups that may take no part in a match, as far as the pattern is understood.

        >>> sorted(Delimiter.of_pattern(r"<(?P<name>\w+)( id=(?P<id>\d+))?>").optional_groups)
        ['id']
        """
        return self.groups - _certain_groups(self.tree) if self.tree is not None else frozenset()

    @property
    def kind(self) -> str:
        """How it is found: ``literal`` and ``linear`` each character once, ``bounded`` by trying, ``end`` at the end.

        A ``bounded`` delimiter is tried at each place where it may start, within a budget of steps; an ``end`` one is
        only looked for when the whole text is known.
        """
        if self.literals is not None:
            return "literal"
        if self.linear is not None:
            return "linear"
        return "bounded" if self.backtracking is not None else "end"

    @property
    def context(self) -> int:
        """How many characters before a place the delimiter has to see."""
        program = self.linear or self.backtracking
        return program.context if program is not None else 0

    def captures(self, window: str, base: int, start: int, end: int, before: str = "") -> dict[str, str]:
        """The named groups of the match at these positions, but for those that took no part.

        ``window`` is the text that is known from position ``base`` on, ``before`` the end of the text before it. Raises
        LimitError if it takes too long.
        """
        program = self.backtracking
        # `regex` has to see what precedes the match; one character will do where a pattern only asks whether anything
        # does. Most matches are deep enough in the window, which is then not copied: it may be long, and they many.
        seen = before if before or base == 0 or program is None or not program.asks_start else "\0"
        if program is not None and start - base >= max(program.context, 1):
            seen = ""
        text, shift = (seen + window, len(seen)) if seen else (window, 0)
        first, last = start - base + shift, end - base + shift
        try:
            if self.before_lookahead is not None:
                match = self.before_lookahead.fullmatch(text, first, last, timeout=CAPTURE_SECONDS)
            else:
                match = self.compiled.match(text, first, timeout=CAPTURE_SECONDS)
        except (TimeoutError, MemoryError):
            match = None
        if match is not None and match.end() == last:
            return {name: text for name, text in match.groupdict().items() if text is not None}
        # `regex` takes too long here, errs, or may not match what it would prefer.
        return (groups_of(program, window, base, start, end, before) if program is not None else None) or {}

    def lint(self) -> list[str]:
        """What the author of the delimiter should know, each with what to write instead."""
        return [] if self.literals is not None else warnings_of(self.pattern, self.kind)


def _certain_groups(node: Node) -> frozenset[str]:
    """The named groups that take part in every match of a pattern's part."""
    if isinstance(node, Alternatives):
        return frozenset.intersection(*map(_certain_groups, node.branches))
    if isinstance(node, Sequence):
        return frozenset().union(*map(_certain_groups, node.items))
    if isinstance(node, Group):
        return _certain_groups(node.body) | ({node.name} if node.name is not None else set())
    if isinstance(node, Atomic) or (isinstance(node, Repeat) and node.minimum > 0):
        return _certain_groups(node.body)
    if isinstance(node, Look) and not node.negative:
        return _certain_groups(node.body)
    return frozenset()
