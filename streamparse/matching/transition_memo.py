"""A memo of whole pieces: transitions of the lazy DFA are cached by (state, piece), as models repeat their tokens.

In:  a state and a short piece of text.
Out: a ``Transition`` to the state behind the piece, or to the match that is decided inside it; None where the result
     depends on more than the state and the piece.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamparse.matching.automaton_prefilter import AutomatonPrefilter
from streamparse.matching.lazy_dfa import LazyDFA, State, register_count
from streamparse.matching.pike_step import HERE, Record

PIECE_AT_MOST = 16
TRANSITIONS_AT_MOST = 500
"""How long the pieces are that are known, and how many pieces of one automaton."""

#: A register's value: that of a register before the piece (0 or more), or a place p in the piece, written as -1 - p.
Source = int


@dataclass(frozen=True, slots=True)
class Transition:
    """The state after so many characters, where the values of its registers come from, and a match that is decided."""

    target: State
    sources: tuple[Source, ...]
    length: int
    found: Record | None


def transition_of(automaton: LazyDFA, prefilter: AutomatonPrefilter, state: State, piece: str) -> Transition | None:
    """The transition from a state over a piece.

    None while a lookahead goes on behind the piece (the end of a match is known, and text behind it decides), because
    long ones are recorded (``lookahead_memo.py``); and where delimiters have a leading run, which is read backwards.
    """
    if prefilter.run is not None or prefilter.find is None or automaton.programs.looks_back:
        return None
    pursues = state.looks_ahead
    sources: tuple[Source, ...] = tuple(range(register_count(state)))
    at, length = 0, len(piece)
    while at < length:
        if state.quiet:
            trigger = prefilter.find(piece, at)
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
            return Transition(state, sources, at, state.records[0]) if len(state.records) == 1 else None
    return None if pursues and state.looks_ahead else Transition(state, sources, at, None)
