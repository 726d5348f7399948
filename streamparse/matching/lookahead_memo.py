"""A memo of long lookaheads, so that the same text is not read once for each of many matches.

In:  the states and registers of the lazy DFA while a match whose end is known waits for its decision.
Out: the ``Outcome`` of an earlier lookahead that was in the same state at the same position.

Why: a match can be decided far behind its end (``<x>(?=.*Z)``). The text behind its end is then scanned again for the
next match, which is decided at the same far position: quadratic, were each lookahead to read up to there. So a
lookahead records its state at every 64th position, and when it is over, each record gets the outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamparse.matching.lazy_dfa import State

#: Positions at which a lookahead is noted are multiples of this.
SPACING = 64

#: A register's value after some steps: a register before them (0 or more), or a position p, written as -1 - p. (HERE
#: and NEXT of the automaton are -1 and -2, so that ``HERE - p`` and ``NEXT - p`` are such values.)
Source = int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The position and the state that a lookahead led to, and where the values of its registers come from."""

    position: int
    state: State
    sources: tuple[Source, ...]


@dataclass(slots=True)
class _Note:
    """A place of the lookahead under way, and the sources of its registers in those of the note before."""

    position: int
    state: State
    sources: tuple[Source, ...]


class LookaheadMemo:
    """The ``notes`` of the lookahead under way, and the outcomes of earlier ones.

    Without notes there is nothing to ``give_up``, to ``move``, to ``follow`` or to ``conclude``.
    """

    __slots__ = ("_outcomes", "_reach", "_sources", "notes")

    def __init__(self) -> None:
        self.notes: list[_Note] = []
        #: Sources of the registers in those of the last note.
        self._sources: tuple[Source, ...] = ()
        self._outcomes: dict[tuple[int, State], Outcome] = {}
        #: No outcome is known beyond this position.
        self._reach = -1

    def give_up(self) -> None:
        """Forgets the lookahead under way, which has led to nothing that anyone would ask for again."""
        self.notes.clear()

    def note(self, position: int, state: State, registers: Sequence[int]) -> None:
        """Notes a place on the way; what lies before the first register will not be scanned again."""
        notes = self.notes
        if notes and notes[0].position < registers[0]:
            notes[:] = [note for note in notes if note.position >= registers[0]]
        notes.append(_Note(position, state, self._sources))
        self._sources = tuple(range(len(registers)))

    def move(self, moves: tuple[int, ...], place: int) -> None:
        """Follows the registers through a step from ``place``."""
        old = self._sources
        self._sources = tuple(old[m] if m >= 0 else m - place for m in moves)

    def outcome(self, position: int, state: State, known_until: int) -> Outcome | None:
        """What an earlier lookahead came to from here, within the text that is known."""
        if position >= self._reach:
            if self._outcomes:
                self._outcomes.clear()
            return None
        found = self._outcomes.get((position, state))
        return found if found is not None and position < found.position <= known_until else None

    def follow(self, outcome: Outcome) -> None:
        """Joins the way of an earlier lookahead."""
        self._sources = _composed(outcome.sources, self._sources)

    def conclude(self, position: int, state: State) -> None:
        """The lookahead has led to a state from which it will not go on: its notes get the outcome."""
        if not self.notes:
            return
        sources = self._sources
        first = self.notes[0]
        for note in reversed(self.notes):
            self._outcomes[note.position, note.state] = Outcome(position, state, sources)
            if note is not first:
                sources = _composed(sources, note.sources)
        self._reach = max(self._reach, position)
        self.notes.clear()


def values(sources: tuple[Source, ...], registers: Sequence[int]) -> list[int]:
    """The values of registers, given the values that their sources had."""
    return [registers[source] if source >= 0 else -1 - source for source in sources]


def _composed(late: tuple[Source, ...], early: tuple[Source, ...]) -> tuple[Source, ...]:
    """Sources in terms of the registers before the early steps."""
    return tuple(early[source] if source >= 0 else source for source in late)
