r"""One delimiter: a list of literals, of which the longest wins, or a pattern of the ``regex`` module.

In come the strings of a template, out comes a ``Delimiter`` that says how it can be found in a stream (``kind``) and
what its author should know about it (``lint``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import regex

from streamparse.matching.syntax import Alternatives, Chars, Node, Sequence, UnsupportedSyntax, parse

#: Unicode and DOTALL, not MULTILINE, as the response template format says; version 0 of ``regex``'s behaviour.
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
        """Any of the literals, which must not be empty; raises ValueError if one is, or if there are none."""
        longest_first = tuple(sorted(set(literals), key=lambda literal: (-len(literal), literal)))
        if not longest_first or "" in longest_first:
            raise ValueError("a literal delimiter needs at least one literal, and none may be empty")
        pattern = "|".join(regex.escape(literal) for literal in longest_first)
        return cls(longest_first, pattern, regex.compile(pattern, PATTERN_FLAGS), frozenset())

    @classmethod
    def of_pattern(cls, source: str) -> Delimiter:
        """A pattern of the ``regex`` module; raises ``regex.error`` if it is faulty."""
        compiled = regex.compile(source, PATTERN_FLAGS)
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
