"""The lazy DFA of all linear delimiters of a set: ordered, with tables that are built while it runs.

A state is the ordered list of what is alive: groups of threads that started at the same place, the earliest first;
within a group one delimiter after the other; within a delimiter by the pattern's own priorities. Reaching the end of a
pattern records a match and cuts everything of lower priority, later starts included. The match is decided when nothing
of higher priority is left. Two threads at the same instruction would go the same way, so only the first is kept: a
state is never longer than the programs, and each character costs one look into a table.

Positions are not part of a state: it has numbered registers (where a group started, where a match ended), and an
``Edge`` says how they move. In come characters, out come states; the positions are kept by cursor.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import RLock
from typing import Any

from streamparse.matching.instructions import Program
from streamparse.matching.nfa import NFA
from streamparse.matching.pike_step import ANY, EDGE, OPEN, PikeStep, Record, Thread
from streamparse.matching.syntax import Chars

#: The tables start over when they have grown to this; what is in use is soon there again.
MOST_STATES = 5_000
MOST_EDGES = 200_000
MOST_CHARACTERS = 20_000


class State:
    """What is alive, what is recorded, and the edges known so far, by character and by class of characters."""

    __slots__ = (
        "at_end",
        "before",
        "by_class",
        "decided",
        "edges",
        "guarded",
        "looks_ahead",
        "quiet",
        "records",
        "threads",
        "transitions",
    )

    def __init__(self, threads: tuple[Thread, ...], records: tuple[Record, ...], before: int) -> None:
        self.threads = threads
        self.records = records
        self.before = before
        self.edges: dict[str, Edge | None] = {}
        self.by_class: dict[int, Edge | None] = {}
        #: The edges by class where an empty match is forbidden.
        self.guarded: dict[int, Edge] = {}
        self.at_end: dict[bool, Edge] = {}
        #: What is known of pieces (see transition_memo.py).
        self.transitions: dict[str, Any] = {}
        self.decided = bool(records) and not threads
        #: Whether a match may be decided from here whose end lies before this place.
        self.looks_ahead = bool(records) or any(end != OPEN for _, _, end in threads)
        #: Stepping can stop here: the match is decided, or text can be skipped up to the next trigger.
        self.quiet = self.decided


@dataclass(frozen=True, slots=True)
class Edge:
    """The state after a character, and for each of its registers an old register, HERE or NEXT (None: as they were)."""

    target: State
    moves: tuple[int, ...] | None


class LazyDFA:
    """The states and edges that the text so far has asked for, of one or many streams."""

    def __init__(self, programs: list[Program]) -> None:
        self.programs = NFA(programs)
        self.class_of_character: dict[str, int] = {}
        self.members: list[frozenset[int]] = []
        self.class_of_members: dict[frozenset[int], int] = {}
        self.states: dict[tuple[tuple[Thread, ...], tuple[Record, ...], int], State] = {}
        self.pinned: State | None = None
        self.resting = State((), (), ANY)
        self.skippable = False
        self.edge_count = self.transition_count = 0
        self.growing = RLock()

    def class_of(self, character: str) -> int:
        """The number of the character's class: characters of one class are in the same sets of the programs."""
        known = self.class_of_character.get(character)
        if known is not None:
            return known
        with self.growing:
            return self.new_class_of(character)

    def new_class_of(self, character: str) -> int:
        """The same for a character that is not in the table."""
        members = frozenset(index for index, chars in enumerate(self.programs.sets) if chars.contains(character))
        found = self.class_of_members.get(members)
        if found is None:
            found = self.add_class(members)
        if len(self.class_of_character) < MOST_CHARACTERS:
            self.class_of_character[character] = found
        return found

    def add_class(self, members: frozenset[int]) -> int:
        """A number for the characters that are in just these sets."""
        self.members.append(members)
        return self.class_of_members.setdefault(members, len(self.members) - 1)

    def idle_state(self, before: int) -> State:
        """The state in which nothing is alive; ``before`` is the class of the last character, or EDGE."""
        return self.state((), (), before)

    def run_state(self, run: Chars) -> State | None:
        """The state that the characters of a leading run lead to and stay in, if there is one."""
        only_run = self.add_class(frozenset({self.programs.set_index[run]}))
        state = self.edge(self.idle_state(ANY), only_run, guarded=False).target
        again = self.edge(state, only_run, guarded=False)
        stays = state.threads and not state.records and again.target is state and again.moves is None
        return state if stays and register_count(state) == 1 else None

    def pin_run(self, run: Chars) -> State:
        """Keeps the state of a leading run: it is recognised by identity, and text is skipped in it."""
        state = self.run_state(run)
        assert state is not None
        state.quiet = True
        self.pinned = state
        return state

    def start_over(self, *, skippable: bool) -> None:
        """Forgets all states but the pinned one; ``skippable`` says whether idle text can be skipped."""
        self.skippable = skippable
        for state in list(self.states.values()):
            state.edges.clear()
            state.by_class.clear()
            state.guarded.clear()
            state.at_end.clear()
            state.transitions.clear()
        self.states.clear()
        self.edge_count = self.transition_count = 0
        self.resting = self.idle_state(ANY)
        if self.pinned is not None:
            self.states[self.pinned.threads, self.pinned.records, self.pinned.before] = self.pinned

    def state(self, threads: tuple[Thread, ...], records: tuple[Record, ...], before: int) -> State:
        """The one state with this content."""
        if not self.programs.looks_back and not (before == EDGE and self.programs.asks_start):
            before = ANY
        key = (threads, records, before)
        known = self.states.get(key)
        if known is None:
            known = State(*key)
            if not threads and not records:
                # At the very beginning of the text `^` may hold, which a trigger does not tell.
                known.quiet = self.skippable and before != EDGE
            known = self.states.setdefault(key, known)
        return known

    def step(self, state: State, character: str) -> Edge | None:
        """The edge of a state for a character; None where state and registers stay as they are."""
        with self.growing:
            if len(self.states) > MOST_STATES or self.edge_count > MOST_EDGES:
                self.start_over(skippable=self.skippable)
            number = self.class_of(character)
            try:
                edge = state.by_class[number]
            except KeyError:
                edge = self.edge(state, number, guarded=False)
                if edge.target is state and edge.moves is None and not state.quiet:
                    edge = None
                state.by_class[number] = edge
            state.edges[character] = edge
            self.edge_count += 1
            return edge

    def guarded_step(self, state: State, character: str) -> Edge:
        """The edge of a state for a character where an empty match is forbidden."""
        with self.growing:
            number = self.class_of(character)
            edge = state.guarded.get(number)
            if edge is None:
                edge = state.guarded[number] = self.edge(state, number, guarded=True)
                self.edge_count += 1
            return edge

    def edge(self, state: State, number: int, *, guarded: bool) -> Edge:
        """Works out one step for a class, or EDGE (the text ends); ``guarded`` forbids an empty match here."""
        with self.growing:
            if number != EDGE:
                return self.new_edge(state, number, guarded)
            edge = state.at_end.get(guarded)  # each generation ends once, so the last step is cached too
            if edge is None:
                edge = state.at_end[guarded] = self.new_edge(state, number, guarded)
                self.edge_count += 1
            return edge

    def new_edge(self, state: State, number: int, guarded: bool) -> Edge:
        """The state after the step, with the registers that it uses numbered in the order of their use."""
        step = PikeStep(
            self.programs, self.members, state.threads, state.records, state.before, number, guarded=guarded
        )
        numbers: dict[int, int] = {OPEN: OPEN}
        for _, start, end in (*step.threads, *step.records):
            for source in (start, end):
                numbers.setdefault(source, len(numbers) - 1)
        threads = tuple((at, numbers[start], numbers[end]) for at, start, end in step.threads)
        records = tuple((delimiter, numbers[start], numbers[end]) for delimiter, start, end in step.records)
        target = self.state(threads, records, number)
        sources = tuple(source for source in numbers if source != OPEN)
        same = sources == tuple(range(len(sources))) and len(sources) == register_count(state)
        return Edge(target, None if same else sources)


def register_count(state: State) -> int:
    """How many registers a state has."""
    return max((max(start, end) for _, start, end in (*state.threads, *state.records)), default=-1) + 1
