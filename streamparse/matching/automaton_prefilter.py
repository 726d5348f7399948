r"""Prefilter for the lazy DFA: skips text in which no delimiter starts, with a compiled search.

In:  the lazy DFA of a delimiter set.
Out: a search for the positions at which a delimiter may start (``find``: its first few characters, or as many of them
     as there are before the end of the text).

A delimiter that starts with a run such as ``\s*`` could start nearly anywhere. Its run is not stepped through either:
the search finds what follows the run, and the start of the run is found by reading backwards from there. The state
inside a run is known in advance.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import regex

from streamparse.matching.instructions import Accept, Choice, Neighbour, Take
from streamparse.matching.lazy_dfa import LazyDFA, State
from streamparse.matching.syntax import Chars

#: How many characters of a delimiter are compared before the automaton takes over.
_HEAD_LENGTH = 4
_MOST_BRANCHES = 64

Search = Callable[..., Any]


class Members(dict[str, bool]):
    """Whether a character is in a set, looked up once a character."""

    def __init__(self, chars: Chars) -> None:
        super().__init__()
        self.chars = chars

    def __missing__(self, character: str) -> bool:
        found = self.chars.contains(character)
        if len(self) < 10_000:
            self[character] = found
        return found


class AutomatonPrefilter:
    """Finds the end of idle text, in which no delimiter starts.

    ``find(text, at)`` finds the next place at which a delimiter may start; None if it may start anywhere. ``letters``
    are all characters that one can start with, where they are few. ``run`` is the state within a leading run (None:
    there is no such run), ``in_run`` its characters, ``run_start`` and ``run_end`` look back and forth over it.
    """

    def __init__(self, automaton: LazyDFA) -> None:
        self.automaton = automaton
        self.find: Search | None = None
        self.letters: tuple[str, ...] | None = None
        self.run: State | None = None
        self.in_run: Members | None = None
        self.run_start: Search | None = None
        self.run_end: Search | None = None
        places = self.waiting(automaton.programs.entries)
        if places is None:
            return
        run, run_places = self.leading_run(places)
        if run is not None:
            places = [at for at in dict.fromkeys(places + run_places) if self.chars_at(at) != (run,)]
        self.prepare_search(places)
        if self.find is None:
            return
        automaton.start_over(skippable=True)
        if run is not None:
            self.run = automaton.pin_run(run)
            self.in_run = Members(run)
            self.run_start = regex.compile(f"(?r)(?:{pattern_of([run])})*", regex.DOTALL).match
            self.run_end = regex.compile(f"(?:{pattern_of([run])})*+", regex.DOTALL).match

    def waiting(self, starts: Iterable[int]) -> list[int] | None:
        """The instructions that wait for a character once nothing else is left; None if a match needs no character.

        This holds beyond the beginning of the text, where ``^`` fails.
        """
        found: list[int] = []
        seen: set[int] = set()
        stack = list(starts)
        while stack:
            at = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            instruction = self.automaton.programs.code[at]
            if isinstance(instruction, Take):
                found.append(at)
            elif isinstance(instruction, Accept):
                return None
            elif isinstance(instruction, Choice):
                stack += instruction.follow
            elif isinstance(instruction, Neighbour) and not instruction.negative and instruction.ahead:
                found.append(at)
            elif isinstance(instruction, Neighbour) and not instruction.negative and instruction.wanted == (None,):
                continue
            else:
                stack.append(instruction.follow)
        return found

    def chars_at(self, at: int) -> tuple[Chars, ...]:
        """The sets of characters that a waiting instruction can go on with."""
        instruction = self.automaton.programs.code[at]
        if isinstance(instruction, Take):
            return (instruction.chars,)
        assert isinstance(instruction, Neighbour)
        return tuple(chars for chars in instruction.wanted if chars is not None)

    def leading_run(self, places: list[int]) -> tuple[Chars | None, list[int]]:
        """The one class that delimiters begin with any number of, if there is one, and what waits within its run."""
        runs = {self.chars_at(at)[0] for at in places if self.returns_to(at)}
        if len(runs) != 1 or self.automaton.programs.looks_back:
            return None, []
        run = runs.pop()
        state = self.automaton.run_state(run)
        if state is None or pattern_of([run]) is None:
            return None, []
        return run, [at for at, _, _ in state.threads]

    def returns_to(self, at: int) -> bool:
        """Whether an instruction that takes a character is among those that can take the next one."""
        instruction = self.automaton.programs.code[at]
        if not isinstance(instruction, Take):
            return False
        following = self.waiting([instruction.follow])
        return following is not None and at in following

    def prepare_search(self, places: list[int]) -> None:
        """Makes the search for what the waiting instructions can go on with."""
        sets = [chars for at in places for chars in self.chars_at(at)]
        letters = [chars.literal for chars in sets if chars.literal is not None]
        if len(letters) == len(sets):
            self.letters = tuple(dict.fromkeys(letters))
        head = self.heads(places, _HEAD_LENGTH)
        if head is None:
            head = pattern_of(sets)
            self.find = regex.compile(head, regex.DOTALL).search if head is not None else None
        else:
            self.find = re.compile(head).search

    def heads(self, places: list[int], depth: int) -> str | None:
        """A pattern for the first characters of what the instructions can match; None if they are not all literal."""
        branches: dict[str, list[int]] = {}
        for at in places:
            instruction = self.automaton.programs.code[at]
            for chars in self.chars_at(at):
                if chars.literal is None:
                    return None
                follow = branches.setdefault(chars.literal, [])
                follow.append(instruction.follow if isinstance(instruction, Take) else -1)
        if len(branches) > _MOST_BRANCHES:
            return None
        parts = [re.escape(letter) + self.rest(follow, depth - 1) for letter, follow in branches.items()]
        return f"(?:{'|'.join(parts)})" if parts else "(?!)"

    def rest(self, follow: list[int], depth: int) -> str:
        """A pattern for what may come after a character of a head: more of it, or the end of the text."""
        places = self.waiting(follow) if depth and -1 not in follow else None
        heads = self.heads(places, depth) if places else None
        return "" if heads is None else rf"(?:{heads}|\Z)"


def pattern_of(sets: list[Chars]) -> str | None:
    """One pattern for a character of any of the sets; None if their flags can't be written into one pattern.

    Negated classes are kept apart: ``regex`` joins ``[^a]|[^b]`` into one set that holds neither ``a`` nor ``b``.
    """
    parts = []
    for chars in sets:
        if chars.flags & ~int(regex.UNICODE | regex.DOTALL | regex.IGNORECASE):
            return None
        source = regex.escape(chars.literal) if chars.literal is not None else chars.source
        on = "i" if chars.flags & regex.IGNORECASE else ""
        off = "" if chars.flags & regex.DOTALL else "-s"
        part = f"(?{on}{off}:{source})"
        parts.append(f"(?>{part})" if source.startswith("[^") else part)
    return "|".join(parts) if parts else "(?!)"
