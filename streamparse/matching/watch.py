"""The delimiters that are watched together, with the tables that all parsers share.

In come delimiters, in the order that decides between matches of one text; out comes a ``Watch``, which does not change
but for tables that grow while they are used. It says how idle text is skipped: by a search for the characters that a
delimiter can start with (``triggers``), and by a look back over a leading run such as ``\\s*``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import regex

from streamparse.matching.automaton import Automaton, State
from streamparse.matching.delimiter import Delimiter
from streamparse.matching.program import Accept, Ahead, Boundary, Choice, Neighbour, Take
from streamparse.matching.syntax import Chars


class Watch:
    """What a scanner looks for at a time: ``entries`` in the order of preference among matches of the same text."""

    def __init__(self, entries: Sequence[Delimiter]) -> None:
        self.entries = tuple(entries)
        self.linear = [i for i, entry in enumerate(self.entries) if entry.kind in ("literal", "linear")]
        self.bounded: list[int] = []
        self.deferred = [i for i, entry in enumerate(self.entries) if entry.kind in ("bounded", "end")]
        programs = [entry.linear for entry in self.entries if entry.linear is not None]
        self.automaton = Automaton(programs)
        #: How many characters before the text a scanner has to keep for this watch.
        self.context = max((entry.context for entry in self.entries), default=0)
        self.idle = Idle(self.automaton)


class RunTable(dict[str, bool]):
    """Whether a character belongs to the leading run, looked up once a character."""

    def __init__(self, run: Chars, triggers: Sequence[Chars]) -> None:
        super().__init__()
        self.run = run
        self.triggers = triggers

    def __missing__(self, character: str) -> bool:
        is_run = self.run.contains(character) and not any(t.contains(character) for t in self.triggers)
        if len(self) < 10_000:
            self[character] = is_run
        return is_run


class Idle:
    """How text is skipped in which no delimiter starts.

    ``find`` searches for the next trigger (None: a delimiter may start anywhere), ``letters`` are the triggers where
    they are few characters. ``run`` is the state within a leading run, ``run_start`` looks back over one.
    """

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.find: Callable[..., Any] | None = None
        self.letters: tuple[str, ...] | None = None
        self.run: State | None = None
        self.run_table: RunTable | None = None
        self.run_start: Callable[..., Any] | None = None
        self.run_end: Callable[..., Any] | None = None
        takes = self.first_takes(automaton.entries)
        if takes is None:
            return
        runs = {chars for chars, is_run in takes if is_run}
        triggers = list(dict.fromkeys(chars for chars, is_run in takes if not is_run))
        run = runs.pop() if len(runs) == 1 and not automaton.looks_back else None
        if run is None or not self.prepare_run(run, triggers):
            triggers = list(dict.fromkeys(chars for chars, _ in takes))
        self.prepare_search(triggers)
        if self.find is not None:
            automaton.start_over(skippable=True)
            if run is not None and self.run_table is not None:
                self.run = automaton.pin_run(run)

    def first_takes(self, starts: Sequence[int]) -> list[tuple[Chars, bool]] | None:
        """The sets of characters that can come first, each with whether it runs; None if a match needs no character.

        Only beyond the beginning of the text, where ``^`` fails.
        """
        found: list[tuple[Chars, bool]] = []
        seen: set[int] = set()
        stack = list(reversed(starts))
        while stack:
            at = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            instruction = self.automaton.code[at]
            if isinstance(instruction, Take):
                found.append((instruction.chars, self.runs(at)))
            elif isinstance(instruction, Choice):
                stack += reversed(instruction.follow)
            elif isinstance(instruction, Neighbour) and instruction.ahead and not instruction.negative:
                found += [(chars, False) for chars in instruction.wanted if chars is not None]
            elif isinstance(instruction, Neighbour) and not instruction.negative and instruction.wanted == (None,):
                continue
            elif isinstance(instruction, Accept):
                return None
            else:
                assert isinstance(instruction, Neighbour | Boundary | Ahead)
                stack.append(instruction.follow)
        return found

    def runs(self, at: int) -> bool:
        """Whether the instruction can be reached again right after itself."""
        instruction = self.automaton.code[at]
        assert isinstance(instruction, Take)
        seen: set[int] = set()
        stack = [instruction.follow]
        while stack:
            step = stack.pop()
            if step == at:
                return True
            choice = self.automaton.code[step]
            if step not in seen and isinstance(choice, Choice):
                seen.add(step)
                stack += choice.follow
        return False

    def prepare_run(self, run: Chars, triggers: list[Chars]) -> bool:
        """Whether the run leads to one state and stays there; what else is alive in that state becomes a trigger."""
        state = self.automaton.run_state(run)
        pattern = _class_of([run])
        if state is None or pattern is None:
            return False
        for thread in state.threads:
            instruction = self.automaton.code[thread.at]
            if not isinstance(instruction, Take):
                return False
            if instruction.chars != run and instruction.chars not in triggers:
                triggers.append(instruction.chars)
        self.run_table = RunTable(run, triggers)
        self.run_start = regex.compile(f"(?r)(?:{pattern})*", regex.DOTALL).match
        self.run_end = regex.compile(f"(?:{pattern})*+", regex.DOTALL).match
        return True

    def prepare_search(self, triggers: list[Chars]) -> None:
        literals = [chars.literal for chars in triggers if chars.literal is not None]
        if len(literals) == len(triggers):
            self.letters = tuple(literals)
            if literals:
                self.find = re.compile("[" + "".join(map(re.escape, literals)) + "]").search
            else:
                self.find = re.compile(r"(?!)").search
            return
        pattern = _class_of(triggers)
        if pattern is not None:
            self.find = regex.compile(pattern, regex.DOTALL).search


def _class_of(sets: list[Chars]) -> str | None:
    """One pattern for a character of any of the sets; None if their flags can't be written into one pattern."""
    parts = []
    for chars in sets:
        flags = chars.flags | int(regex.UNICODE)
        if flags & ~int(regex.UNICODE | regex.DOTALL | regex.IGNORECASE):
            return None
        source = regex.escape(chars.literal) if chars.literal is not None else chars.source
        on = "i" if flags & regex.IGNORECASE else ""
        off = "" if flags & regex.DOTALL else "-s"
        parts.append(f"(?{on}{off}:{source})")
    return "|".join(parts)
