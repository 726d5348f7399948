"""First sets of backtracking programs: the characters that a match can start with, so that it is tried only there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import regex

from streamparse.matching.automaton_prefilter import pattern_of
from streamparse.matching.instructions import (
    Accept,
    Again,
    Choice,
    Enter,
    LastLineEnd,
    Neighbour,
    Program,
    Progressed,
    Take,
)
from streamparse.matching.syntax import Chars, newline

_REMEMBERED_AT_MOST = 10_000


class FirstSet(dict[str, bool]):
    """Whether a match can start with a character, beyond the beginning of the text.

    ``find(text, at)`` finds the next such character; None if a match may start anywhere.
    """

    def __init__(self, program: Program) -> None:
        super().__init__()
        self._sets = tuple(dict.fromkeys(_first_sets(program)))
        pattern = None if None in self._sets else pattern_of([chars for chars in self._sets if chars is not None])
        self.find: Any = None if pattern is None else regex.compile(pattern, regex.DOTALL).search

    def __missing__(self, character: str) -> bool:
        found = self.find is None or any(chars is not None and chars.contains(character) for chars in self._sets)
        if len(self) < _REMEMBERED_AT_MOST:
            self[character] = found
        return found


def _first_sets(program: Program) -> Iterator[Chars | None]:
    """The sets of characters that can come first; None for a match that needs no character, or any."""
    seen: set[tuple[int, tuple[int, ...]]] = set()
    #: An instruction, and where to go on after each body that it is in.
    stack: list[tuple[int, tuple[int, ...]]] = [(program.entry, ())]
    while stack:
        at, after = stack.pop()
        if (at, after) in seen:
            continue
        seen.add((at, after))
        instruction = program.code[at]
        if isinstance(instruction, Take):
            yield instruction.chars
        elif isinstance(instruction, Accept):
            if after:
                stack.append((after[-1], after[:-1]))
            else:
                yield None
        elif isinstance(instruction, Again):
            yield None
        elif isinstance(instruction, Choice):
            stack += [(follow, after) for follow in instruction.follow]
        elif isinstance(instruction, Progressed):
            stack += [(instruction.follow, after), (instruction.otherwise, after)]
        elif isinstance(instruction, Enter) and instruction.taken:
            stack.append((instruction.body, (*after, instruction.follow)))
        elif isinstance(instruction, LastLineEnd):
            yield newline()
        elif isinstance(instruction, Neighbour) and instruction.ahead and not instruction.negative:
            yield from (chars for chars in instruction.wanted if chars is not None)
        elif isinstance(instruction, Neighbour) and not instruction.negative and instruction.wanted == (None,):
            continue
        else:
            assert instruction is not None
            stack.append((instruction.follow, after))
