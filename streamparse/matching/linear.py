"""Where a stream stands in the automaton of a watch.

In comes text, piece by piece; out come the earliest place at which a match may still start (``hold``) and, once it is
decided, the match (``found``). Each character is looked at once, whatever the pieces.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamparse.errors import LimitError
from streamparse.limits import how_to_raise
from streamparse.matching.automaton import Automaton, Edge, State
from streamparse.matching.leaps import LEAPS_AT_MOST, Leap, leap_of
from streamparse.matching.shortcuts import SPACING, Outcome, Shortcuts, values
from streamparse.matching.step import ANY, EDGE, HERE, Record
from streamparse.matching.watch import Watch

UNKNOWN_EDGE = Edge(State((), (), EDGE), None)
_NO_SHORTCUTS = Shortcuts()
"""Those of every stream that has not been on a long pursuit, as most never are; nothing is noted in it."""


class LinearSeeker:
    """Looks for all linear delimiters of a watch at once.

    ``read`` is the absolute position up to which the text is known, ``found`` a decided match as (start, end, index of
    the entry). ``limit`` bounds the characters that may be held back.
    """

    __slots__ = ("automaton", "found", "guard", "idle", "limit", "read", "registers", "shortcuts", "state", "watch")

    def __init__(self, watch: Watch, limit: int) -> None:
        self.limit = limit
        self.shortcuts = _NO_SHORTCUTS
        self.reset(watch, 0, "", guarded=False)

    def reset(self, watch: Watch, position: int, before: str, *, guarded: bool) -> None:
        """Starts at a position; ``before`` is the text before it, of which the last character matters."""
        self.watch = watch
        self.automaton: Automaton = watch.automaton
        self.idle = watch.idle
        self.guard = guarded
        self.start(position, before)

    def start(self, position: int, before: str) -> None:
        """Starts at a position with the watch that is in force."""
        automaton = self.automaton
        self.read = position
        self.registers: Sequence[int] = ()
        self.found: tuple[int, int, int] | None = None
        if self.shortcuts.notes:
            self.shortcuts.give_up()
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
                if self.shortcuts.notes:
                    self.shortcuts.give_up()
            elif not beyond and (outcome := self.noted(base + at, base + length)) is not None:
                at = outcome.position - base
                continue
            stop = at + SPACING - beyond
            at = self.run_to(stop if stop < length else length, text, at, base)
        self.read = base + at
        if self.registers and self.read - self.registers[0] > self.limit:
            self.raise_limit()

    def leaps(self, piece: str) -> bool:
        """Reads a short piece at once, if that is possible; False where it has to be stepped through.

        Only where no match is forbidden.
        """
        state, automaton, registers, base = self.state, self.automaton, self.registers, self.read
        leap: Leap | None = state.leaps.get(piece)
        if leap is None:
            if automaton.leap_count >= LEAPS_AT_MOST or piece in state.leaps:
                return False
            automaton.leap_count += 1
            leap = state.leaps[piece] = leap_of(automaton, self.idle, state, piece)
        if leap is None or self.shortcuts.notes:
            return False
        if base + len(piece) - (registers[0] if registers else base) > self.limit:
            return False  # the limit may be reached on the way
        self.registers = [registers[s] if s >= 0 else base - 1 - s for s in leap.sources] if leap.sources else ()
        self.state, self.read = leap.target, base + leap.length
        if leap.found is not None:
            index, first, last = leap.found
            self.found = self.registers[first], self.registers[last], self.watch.linear[index]
        return True

    def noted(self, position: int, known_until: int) -> Outcome | None:
        """Goes on where an earlier pursuit led from here; where none did, notes the place for a later one."""
        outcome = self.shortcuts.outcome(position, self.state, known_until)
        if outcome is None:
            if self.shortcuts is _NO_SHORTCUTS:
                self.shortcuts = Shortcuts()
            self.shortcuts.note(position, self.state, self.registers)
            return None
        if self.shortcuts.notes:
            self.shortcuts.follow(outcome)
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
                elif self.shortcuts.notes:
                    self.shortcuts.give_up()
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
        if self.shortcuts.notes:
            self.shortcuts.move(moves, place)

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
        if self.shortcuts.notes:
            self.shortcuts.conclude(place + 1, self.state)

    def skip(self, text: str, at: int, base: int) -> int:
        """Goes on to the next place at which a delimiter may start, looking back over a leading run before it."""
        idle = self.idle
        assert idle.find is not None
        trigger = idle.find(text, at)
        end: int = trigger.start() if trigger else len(text)
        if end == at:
            return end
        start = end
        if idle.in_run is not None and idle.run_start is not None and idle.in_run[text[end - 1]]:
            start = idle.run_start(text, at, end).start()
        if start > at and self.registers:
            self.end_run(text, at, base)
        if start == end:
            self.state = self.idle_state(text[end - 1])
        elif not self.registers:
            assert idle.run is not None
            self.state, self.registers = idle.run, [base + start]
        if self.registers and base + end - self.registers[0] > self.limit:
            self.raise_limit()
        return end

    def end_run(self, text: str, at: int, base: int) -> None:
        """Forgets a leading run that ends in this text; raises LimitError if it was longer than may be held."""
        # Only a run that is nearly too long has to be measured.
        if base + len(text) - self.registers[0] > self.limit:
            assert self.idle.run_end is not None
            if base + self.idle.run_end(text, at).end() - self.registers[0] > self.limit:
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
            self.shortcuts.conclude(self.read, before_end)
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
