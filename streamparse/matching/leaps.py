"""What a short piece of text does to a stream, worked out once: a model writes few pieces, again and again.

In: a state of an automaton and a piece. Out: a ``Leap`` to the state after the piece, or to the match that is decided
in it; none where only the way itself tells.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamparse.matching.automaton import Automaton, State, register_count
from streamparse.matching.idle import Idle
from streamparse.matching.step import HERE, Record

PIECE_AT_MOST = 16
LEAPS_AT_MOST = 500
"""How long the pieces are that are known, and how many pieces of one automaton."""

#: A register's value: that of a register before the piece (0 or more), or a place p in the piece, written as -1 - p.
Source = int


@dataclass(frozen=True, slots=True)
class Leap:
    """The state after so many characters, where the values of its registers come from, and a match that is decided."""

    target: State
    sources: tuple[Source, ...]
    length: int
    found: Record | None


def leap_of(automaton: Automaton, idle: Idle, state: State, piece: str) -> Leap | None:
    """The leap from a state over a piece.

    None where a pursuit (a match whose end is known may yet be decided) is not over in the piece, as the way of a long
    one is noted (``shortcuts.py``). Nor where delimiters have a leading run, which is looked back over.
    """
    if idle.run is not None or idle.find is None or automaton.programs.looks_back:
        return None
    pursues = state.looks_ahead
    sources: tuple[Source, ...] = tuple(range(register_count(state)))
    at, length = 0, len(piece)
    while at < length:
        if state.quiet:
            trigger = idle.find(piece, at)
            at, state = (length if trigger is None else trigger.start()), automaton.resting
            if at == length:
                break
        edge = automaton.step(state, piece[at])
        if edge is not None:
            if edge.moves is not None:
                sources = tuple(sources[m] if m >= 0 else -1 - (at + HERE - m) for m in edge.moves)
            state = edge.target
        at += 1
        if state.decided:
            return Leap(state, sources, at, state.records[0]) if len(state.records) == 1 else None
    return None if pursues and state.looks_ahead else Leap(state, sources, at, None)
