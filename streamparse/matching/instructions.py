"""The instructions of a delimiter's program: the nodes of the NFA, and the steps of the backtracking matcher.

In:  nothing. Out: the kinds of instructions, and ``Program``, a list of them with an entry.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import regex

from streamparse.matching.syntax import Chars


@dataclass(frozen=True, slots=True)
class Take:
    """One character of a class, then on."""

    chars: Chars
    follow: int


@dataclass(frozen=True, slots=True)
class Choice:
    """The first of these that leads to a match."""

    follow: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A test of the character before (``ahead`` False) or after this place; None stands for the edge of the text."""

    ahead: bool
    wanted: tuple[Chars | None, ...]
    negative: bool
    follow: int


@dataclass(frozen=True, slots=True)
class Boundary:
    """Whether exactly one of the two neighbours is a word character (``negative``: both or none)."""

    word: Chars
    negative: bool
    follow: int


@dataclass(frozen=True, slots=True)
class Ahead:
    """The match ends here; what follows only has to be there."""

    follow: int


@dataclass(frozen=True, slots=True)
class Accept:
    """The pattern, or the body of a lookaround, is matched."""


@dataclass(frozen=True, slots=True)
class Save:
    """The edge of a capturing group: slot ``2 * index`` for its start, the next one for its end."""

    slot: int
    follow: int


@dataclass(frozen=True, slots=True)
class Enter:
    """A body that is matched for itself (up to its Accept): a lookahead, or an atomic group, whose text is taken."""

    body: int
    negative: bool
    taken: bool
    follow: int


@dataclass(frozen=True, slots=True)
class Behind:
    """A lookbehind, which only needs text that is known: ``regex`` itself answers it."""

    compiled: regex.Pattern[str]
    follow: int


@dataclass(frozen=True, slots=True)
class Again:
    """The text of a capture once more."""

    index: int
    ignore_case: bool
    follow: int


@dataclass(frozen=True, slots=True)
class LastLineEnd:
    """The end of the text, or the newline before it."""

    follow: int


@dataclass(frozen=True, slots=True)
class Mark:
    """Remembers where a round of a loop starts whose body may be empty."""

    slot: int
    follow: int


@dataclass(frozen=True, slots=True)
class Progressed:
    """Goes round again only if the round that started at the mark took something."""

    slot: int
    follow: int
    otherwise: int


Instruction = (
    Take
    | Choice
    | Neighbour
    | Boundary
    | Ahead
    | Accept
    | Save
    | Enter
    | Behind
    | Again
    | LastLineEnd
    | Mark
    | Progressed
)


@dataclass(slots=True)
class Program:
    """Instructions, where to start, and how many slots and characters of context a matcher has to provide.

    ``asks_start`` says whether it matters if a place is the beginning of the text, ``named`` whether there are named
    groups, ``named_ahead`` whether any is in a trailing lookahead; ``names`` gives the groups' numbers.
    """

    code: list[Instruction | None] = field(default_factory=list)
    entry: int = 0
    slots: int = 0
    context: int = 0
    asks_start: bool = False
    named: bool = False
    named_ahead: bool = False
    names: dict[str, int] = field(default_factory=dict)
