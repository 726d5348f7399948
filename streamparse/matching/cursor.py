"""The cursor of one stream in the lazy DFA of its delimiter set.

In:  text, piece by piece.
Out: the earliest position at which a match may still start (``hold``), and the match once it is decided (``found``).

Each character is read once, however the text is cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamparse.errors import LimitError
from streamparse.limits import how_to_raise
from streamparse.matching.delimiter_set import DelimiterSet
from streamparse.matching.lazy_dfa import Edge, LazyDFA, State
from streamparse.matching.lookahead_memo import SPACING, LookaheadMemo, Outcome, values
from streamparse.matching.pike_step import ANY, EDGE, HERE, Record
from streamparse.matching.transition_memo import TRANSITIONS_AT_MOST, Transition, transition_of

UNKNOWN_EDGE = Edge(State((), (), EDGE), None)
_NO_LOOKAHEADS = LookaheadMemo()
"""Those of every stream that has not been on a long pursuit, as most never are; nothing is noted in it."""


class Cursor:
    """Looks for all linear delimiters of a watch at once.

    ``read`` is the absolute position up to which the text is known, ``found`` a decided match as (start, end, index of
    the entry). ``limit`` bounds the characters that may be held back.
    """

    __slots__ = (
        "automaton",
        "found",
        "guard",
        "limit",
        "lookaheads",
        "prefilter",
        "read",
        "registers",
        "state",
        "watch",
    )

    def __init__(self, watch: DelimiterSet, limit: int) -> None:
        self.limit = limit
        self.lookaheads = _NO_LOOKAHEADS
        self.reset(watch, 0, "", guarded=False)

    def reset(self, watch: DelimiterSet, position: int, before: str, *, guarded: bool) -> None:
        """FirstSet at a position; ``before`` is the text before it, of which the last character matters."""
        self.watch = watch
        self.automaton: LazyDFA = watch.automaton
        self.prefilter = watch.prefilter
        self.guard = guarded
        self.start(position, before)

    def start(self, position: int, before: str) -> None:
        """FirstSet at a position with the watch that is in force."""
        automaton = self.automaton
        self.read = position
        self.registers: Sequence[int] = ()
        self.found: tuple[int, int, int] | None = None
        if self.lookaheads.notes:
            self.lookaheads.give_up()
        if not position:
            self.state = automaton.idle_state(EDGE)
        elif automaton.programs.looks_back:
            self.state = self.idle_state(before[-1:])
        else:
            self.state = automaton.resting

    def idle_state(self, before: str) -> State:
        """The state in which nothing is alive, after the given character."""
        if not self.automaton.programs.looks_back:
            return self.automaton.resting
        return self.automaton.idle_state(self.automaton.class_of(before) if before else ANY)

    @property
    def hold(self) -> int:
        """No match starts before this position."""
        return self.registers[0] if self.registers else self.read

    def feed(self, text: str, start: int) -> None:
        """Reads ``text[start:]``, or less if a match is decided before its end."""
        at, length = start, len(text)
        base = self.read - start
        if self.guard and at < length:
            at = self.guarded_step(text[at], at)
        while at < length and self.found is None:
            state = self.state
            if state.quiet:
                at = self.skip(text, at, base)
                if at == length:
                    break
                state = self.state
            beyond = (base + at) % SPACING
            if not state.looks_ahead:
                # A match that is decided later ends later, too: nothing up to here will be scanned again.
                if self.lookaheads.notes:
                    self.lookaheads.give_up()
            elif not beyond and (outcome := self.noted(base + at, base + length)) is not None:
                at = outcome.position - base
                continue
            stop = at + SPACING - beyond
            at = self.run_to(stop if stop < length else length, text, at, base)
        self.read = base + at
        if self.registers and self.read - self.registers[0] > self.limit:
            self.raise_limit()

    def take_transition(self, piece: str) -> bool:
        """Reads a short piece at once, if that is possible; False where it has to be stepped through.

        Only where no match is forbidden.
        """
        state, automaton, registers, base = self.state, self.automaton, self.registers, self.read
        transition: Transition | None = state.transitions.get(piece)
        if transition is None:
            if automaton.transition_count >= TRANSITIONS_AT_MOST or piece in state.transitions:
                return False
            automaton.transition_count += 1
            transition = state.transitions[piece] = transition_of(automaton, self.prefilter, state, piece)
        if transition is None or self.lookaheads.notes:
            return False
        if base + len(piece) - (registers[0] if registers else base) > self.limit:
            return False  # the limit may be reached on the way
        self.registers = (
            [registers[s] if s >= 0 else base - 1 - s for s in transition.sources] if transition.sources else ()
        )
        self.state, self.read = transition.target, base + transition.length
        if transition.found is not None:
            index, first, last = transition.found
            self.found = self.registers[first], self.registers[last], self.watch.linear[index]
        return True

    def noted(self, position: int, known_until: int) -> Outcome | None:
        """Goes on where an earlier pursuit led from here; where none did, notes the place for a later one."""
        outcome = self.lookaheads.outcome(position, self.state, known_until)
        if outcome is None:
            if self.lookaheads is _NO_LOOKAHEADS:
                self.lookaheads = LookaheadMemo()
            self.lookaheads.note(position, self.state, self.registers)
            return None
        if self.lookaheads.notes:
            self.lookaheads.follow(outcome)
        self.registers = values(outcome.sources, self.registers)
        self.state = outcome.state
        if self.state.decided:
            self.decide(outcome.position - 1)
        return outcome

    def run_to(self, stop: int, text: str, at: int, base: int) -> int:
        """Steps through the text up to a place at most, or until nothing is alive, or a match is decided."""
        state, edges, step = self.state, self.state.edges, self.automaton.step
        for i in range(at, stop):
            edge = edges.get(text[i], UNKNOWN_EDGE)
            if edge is UNKNOWN_EDGE:
                edge = step(state, text[i])
            if edge is None:
                continue
            if edge.moves is not None:
                self.move(edge.moves, base + i)
            state = edge.target
            edges = state.edges
            if state.quiet:
                self.state = state
                if state.decided:
                    self.decide(base + i)
                elif self.lookaheads.notes:
                    self.lookaheads.give_up()
                return i + 1
        self.state = state
        return stop

    def move(self, moves: tuple[int, ...], place: int) -> None:
        """Gives the registers their new values at a step from ``place``."""
        old = self.registers
        if old and (not moves or moves[0] != 0) and place - old[0] > self.limit:
            self.raise_limit()
        if len(moves) == 1:
            move = moves[0]
            self.registers = [old[move] if move >= 0 else place + HERE - move]
        else:
            self.registers = [old[m] if m >= 0 else place + HERE - m for m in moves] if moves else ()
        if self.lookaheads.notes:
            self.lookaheads.move(moves, place)

    def decide(self, place: int) -> None:
        """Chooses among the matches that are recorded: they start together, so the longest, then the first entry."""
        registers = self.registers
        if place - registers[0] > self.limit:
            self.raise_limit()

        def longest_then_first(record: Record) -> tuple[int, int]:
            return -registers[record[2]], record[0]

        records = self.state.records
        best = records[0] if len(records) == 1 else min(records, key=longest_then_first)
        self.found = registers[best[1]], registers[best[2]], self.watch.linear[best[0]]
        if self.lookaheads.notes:
            self.lookaheads.conclude(place + 1, self.state)

    def skip(self, text: str, at: int, base: int) -> int:
        """Goes on to the next place at which a delimiter may start, looking back over a leading run before it."""
        prefilter = self.prefilter
        assert prefilter.find is not None
        trigger = prefilter.find(text, at)
        end: int = trigger.start() if trigger else len(text)
        if end == at:
            return end
        start = end
        if prefilter.in_run is not None and prefilter.run_start is not None and prefilter.in_run[text[end - 1]]:
            start = prefilter.run_start(text, at, end).start()
        if start > at and self.registers:
            self.end_run(text, at, base)
        if start == end:
            self.state = self.idle_state(text[end - 1])
        elif not self.registers:
            assert prefilter.run is not None
            self.state, self.registers = prefilter.run, [base + start]
        if self.registers and base + end - self.registers[0] > self.limit:
            self.raise_limit()
        return end

    def end_run(self, text: str, at: int, base: int) -> None:
        """Forgets a leading run that ends in this text; raises LimitError if it was longer than may be held."""
        # Only a run that is nearly too long has to be measured.
        if base + len(text) - self.registers[0] > self.limit:
            assert self.prefilter.run_end is not None
            if base + self.prefilter.run_end(text, at).end() - self.registers[0] > self.limit:
                self.raise_limit()
        self.registers = ()

    def guarded_step(self, character: str, at: int) -> int:
        """The first step where an empty match is forbidden."""
        self.guard = False
        self.take_edge(self.automaton.guarded_step(self.state, character), self.read)
        return at + 1

    def take_edge(self, edge: Edge, place: int) -> None:
        """Goes along an edge from a place."""
        if edge.moves is not None:
            self.move(edge.moves, place)
        self.state = edge.target
        if self.state.decided:
            self.decide(place)

    def finish(self) -> None:
        """Takes the text for complete."""
        if self.found is None:
            before_end = self.state
            self.lookaheads.conclude(self.read, before_end)
            self.take_edge(self.automaton.edge(before_end, EDGE, guarded=self.guard), self.read)
            self.guard = False

    def raise_limit(self) -> None:
        """Says that too much text is held back."""
        raise LimitError(
            f"more than {self.limit} characters are held back that may still become a delimiter; "
            + how_to_raise("held_text"),
            limit="held_text",
            position=self.registers[0],
        )
