"""All linear delimiters of a watch as one ordered automaton, whose tables grow while it runs.

A state is the ordered list of what is alive: groups of threads that started at the same place, the earliest first;
within a group one delimiter after the other; within a delimiter by the pattern's own priorities. Reaching the end of a
pattern records a match and cuts everything of lower priority, later starts included. The match is decided when nothing
of higher priority is left. Two threads at the same instruction would go the same way, so only the first is kept: a
state is never longer than the programs, and each character costs one look into a table.

Positions are not part of a state: it has numbered registers (where a group started, where a match ended), and an
``Edge`` says how they move. In come characters, out come states; the positions are kept by seeker.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import RLock

from streamparse.matching.program import Accept, Ahead, Boundary, Choice, Instruction, Neighbour, Program, Take
from streamparse.matching.syntax import Chars

#: Stands for the end of the text where otherwise the class of a character stands, and for its beginning.
EDGE = -1

#: Stands for the class of the character before a place where no pattern asks for it.
ANY = -4

#: Sources of a register's new value: the place before the character that is read, and the one after it.
HERE = -1
NEXT = -2

#: Marks a thread that is not in a trailing lookahead.
OPEN = -3

#: The tables start over when they have grown to this; what is in use is soon there again.
MOST_STATES = 5_000
MOST_EDGES = 200_000
MOST_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Thread:
    """An instruction that waits for a character, the register of its start, and that of its end (or OPEN)."""

    at: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Record:
    """A delimiter's match that is known so far: its index and the registers of start and end."""

    delimiter: int
    start: int
    end: int


class State:
    """What is alive, what is recorded, and the edges known so far, by character and by class of characters."""

    __slots__ = ("before", "by_class", "decided", "edges", "looks_ahead", "quiet", "records", "threads")

    def __init__(self, threads: tuple[Thread, ...], records: tuple[Record, ...], before: int) -> None:
        self.threads = threads
        self.records = records
        self.before = before
        self.edges: dict[str, Edge | None] = {}
        self.by_class: dict[int, Edge | None] = {}
        self.decided = bool(records) and not threads
        #: Whether a match may be decided from here whose end lies before this place.
        self.looks_ahead = bool(records) or any(thread.end != OPEN for thread in threads)
        #: Stepping can stop here: the match is decided, or text can be skipped up to the next trigger.
        self.quiet = self.decided


@dataclass(frozen=True, slots=True)
class Edge:
    """The state after a character, and for each of its registers an old register, HERE or NEXT (None: as they were)."""

    target: State
    moves: tuple[int, ...] | None


class Automaton:
    """The programs of several delimiters, in the order that decides between matches of the same text."""

    def __init__(self, programs: list[Program]) -> None:
        self.code: list[Instruction] = []
        self.delimiter_of: list[int] = []
        self.entries: list[int] = []
        #: For the instructions of a trailing lookahead, which one that is.
        self.lookahead_of: dict[int, int] = {}
        #: Tests of the next character after which the match ends here, if it passes.
        self.last_tests: set[int] = set()
        self.named = [program.named for program in programs]
        self.named_ahead = [program.named_ahead for program in programs]
        for index, program in enumerate(programs):
            self.add(index, program)
        self.sets = list(dict.fromkeys(chars for i in self.code for chars in _sets_of(i)))
        self.set_index = {chars: index for index, chars in enumerate(self.sets)}
        #: Whether a state has to know the character before it.
        self.looks_back = any(program.context for program in programs)
        #: Whether a state has to know that it is at the beginning of the text.
        self.asks_start = any(program.asks_start for program in programs)
        self.class_of_character: dict[str, int] = {}
        self.members: list[frozenset[int]] = []
        self.class_of_members: dict[frozenset[int], int] = {}
        self.states: dict[tuple[tuple[Thread, ...], tuple[Record, ...], int], State] = {}
        self.pinned: State | None = None
        self.resting = State((), (), ANY)
        self.skippable = False
        self.edge_count = 0
        self.growing = RLock()

    def add(self, index: int, program: Program) -> None:
        """Appends a program to the common code, its followers renumbered."""
        shift = len(self.code)
        self.entries.append(program.entry + shift)
        for instruction in program.code:
            assert instruction is not None
            self.code.append(_shifted(instruction, shift))
            self.delimiter_of.append(index)
        for at in range(shift, len(self.code)):
            if isinstance(self.code[at], Ahead):
                self.lookahead_of |= dict.fromkeys(self.reachable(at, through_takes=True), at)
            elif isinstance(self.code[at], Neighbour | Boundary):
                reached = (self.code[other] for other in self.reachable(at, through_takes=False))
                if not any(isinstance(other, Take | Ahead) for other in reached):
                    self.last_tests.add(at)

    def reachable(self, at: int, *, through_takes: bool) -> set[int]:
        """The instructions that can come after one."""
        seen: set[int] = set()
        stack = list(_followers(self.code[at]))
        while stack:
            step = stack.pop()
            if step in seen:
                continue
            seen.add(step)
            if through_takes or not isinstance(self.code[step], Take):
                stack += _followers(self.code[step])
        return seen

    def class_of(self, character: str) -> int:
        """The number of the character's class: characters of one class are in the same sets of the programs."""
        known = self.class_of_character.get(character)
        if known is not None:
            return known
        with self.growing:
            return self.new_class_of(character)

    def new_class_of(self, character: str) -> int:
        """The same for a character that is not in the table."""
        members = frozenset(index for index, chars in enumerate(self.sets) if chars.contains(character))
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
        only_run = self.add_class(frozenset({self.set_index[run]}))
        state = self.edge(self.idle_state(ANY), only_run, guarded=False).target
        again = self.edge(state, only_run, guarded=False)
        stays = state.threads and not state.records and again.target is state and again.moves is None
        return state if stays and register_count(state) == 1 else None

    def pin_run(self, run: Chars) -> State:
        """Keeps the state of a leading run: it is told by identity, and text is skipped in it."""
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
        self.states.clear()
        self.edge_count = 0
        self.resting = self.idle_state(ANY)
        if self.pinned is not None:
            self.states[self.pinned.threads, self.pinned.records, self.pinned.before] = self.pinned

    def state(self, threads: tuple[Thread, ...], records: tuple[Record, ...], before: int) -> State:
        """The one state with this content."""
        if not self.looks_back and not (before == EDGE and self.asks_start):
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

    def edge(self, state: State, number: int, *, guarded: bool) -> Edge:
        """Works out one step for a class, or EDGE (the text ends); ``guarded`` forbids an empty match here."""
        with self.growing:
            return self.new_edge(state, number, guarded)

    def new_edge(self, state: State, number: int, guarded: bool) -> Edge:
        """The threads after the step, with the registers that they use numbered anew."""
        step = _Step(self, state, number, guarded)
        step.run()
        step.drop_hopeless()
        threads, records = step.threads, step.records
        sources: list[int] = []

        def register(source: int) -> int:
            if source == OPEN:
                return OPEN
            if source not in sources:
                sources.append(source)
            return sources.index(source)

        new_threads = tuple(Thread(t.at, register(t.start), register(t.end)) for t in threads)
        new_records = tuple(Record(r.delimiter, register(r.start), register(r.end)) for r in records)
        target = self.state(new_threads, new_records, number)
        same = sources == list(range(len(sources))) and len(sources) == register_count(state)
        return Edge(target, None if same else tuple(sources))


class _Step:
    """One step of the automaton: threads waiting for a look at the next character first, then those that take it."""

    def __init__(self, automaton: Automaton, state: State, number: int, guarded: bool) -> None:
        self.automaton = automaton
        self.state = state
        self.number = number
        self.guarded = guarded
        self.records = list(state.records)
        self.threads: list[Thread] = []
        self.seen: set[int] = set()
        #: The start at which a match was found in this pass, and the delimiters that found one.
        self.matched_start: int | None = None
        self.matched: set[int] = set()

    def run(self) -> None:
        waiting = self.resolved()
        self.begin_pass()
        if self.number == EDGE:
            return
        members = self.automaton.members[self.number]
        index = self.automaton.set_index
        for thread in waiting:
            instruction = self.automaton.code[thread.at]
            assert isinstance(instruction, Take)
            if index[instruction.chars] in members:
                self.follow(instruction.follow, thread.start, thread.end, NEXT, self.number, None)

    def resolved(self) -> list[Thread]:
        """The threads at this place, once the next character is known, and those that start here."""
        for thread in self.state.threads:
            self.follow(thread.at, thread.start, thread.end, HERE, self.state.before, self.number)
        if not self.records:
            for entry in self.automaton.entries:
                self.follow(entry, HERE, OPEN, HERE, self.state.before, self.number)
        return self.threads

    def begin_pass(self) -> None:
        self.threads = []
        self.seen = set()
        self.matched_start = None
        self.matched = set()

    def follow(self, at: int, start: int, end: int, place: int, before: int, after: int | None) -> None:
        """Adds what can be reached from an instruction without a character, unless a match has cut it off."""
        delimiter = self.automaton.delimiter_of[at]
        if self.matched_start is not None and (start != self.matched_start or delimiter in self.matched):
            return
        stack = [(at, end)]
        while stack:
            at, end = stack.pop()
            if at in self.seen:
                continue
            self.seen.add(at)
            instruction = self.automaton.code[at]
            if isinstance(instruction, Take):
                self.threads.append(Thread(at, start, end))
            elif isinstance(instruction, Choice):
                stack += [(follow, end) for follow in reversed(instruction.follow)]
            elif isinstance(instruction, Neighbour | Boundary):
                answer = self.answer(instruction, before, after)
                if answer is None:
                    self.threads.append(Thread(at, start, end))
                elif answer:
                    stack.append((instruction.follow, end))
            elif self.guarded and start == HERE and place == HERE:
                # An empty match, which the guard forbids.
                continue
            elif isinstance(instruction, Ahead):
                stack.append((instruction.follow, place))
            else:
                self.accept(at, start, place if end == OPEN else end)
                return

    def accept(self, at: int, start: int, end: int) -> None:
        """Records a match: what is of lower priority is cut, and what could only find the same match again."""
        delimiter = self.automaton.delimiter_of[at]
        self.records = [r for r in self.records if r.start == start and r.delimiter != delimiter]
        self.records.append(Record(delimiter, start, end))
        self.matched_start = start
        self.matched.add(delimiter)
        while self.threads and self.finds_the_same(self.threads[-1], start, end, at):
            self.threads.pop()

    def finds_the_same(self, thread: Thread, start: int, end: int, accept: int) -> bool:
        """Whether a thread can only give the match that was recorded, with the same groups."""
        automaton = self.automaton
        delimiter = automaton.delimiter_of[thread.at]
        if thread.start != start or self.end_of(thread) != end or delimiter != automaton.delimiter_of[accept]:
            return False
        if not automaton.named[delimiter]:
            return True
        same_lookahead = automaton.lookahead_of.get(thread.at) == automaton.lookahead_of.get(accept)
        return same_lookahead and thread.end != OPEN and not automaton.named_ahead[delimiter]

    def end_of(self, thread: Thread) -> int:
        """The source of a thread's end, if it is known; else OPEN."""
        return NEXT if thread.end == OPEN and thread.at in self.automaton.last_tests else thread.end

    def drop_hopeless(self) -> None:
        """Drops threads that would only find what another delimiter's match, which is final, is preferred to.

        Of a delimiter, only those can be dropped below which nothing could then be found instead.
        """
        owner = self.automaton.delimiter_of
        open_ended = {owner[thread.at] for thread in self.threads}
        finals = [record for record in self.records if record.delimiter not in open_ended]
        if not finals:
            return
        beaten = {r.delimiter: self.is_beaten(r.delimiter, r.end, finals) for r in self.records}
        kept: list[Thread] = []
        closed: set[int] = set()
        for thread in reversed(self.threads):
            delimiter = owner[thread.at]
            droppable = delimiter not in closed and thread.start == finals[0].start and beaten.get(delimiter, True)
            if droppable and self.is_beaten(delimiter, self.end_of(thread), finals):
                continue
            closed.add(delimiter)
            kept.append(thread)
        self.threads = kept[::-1]

    def is_beaten(self, delimiter: int, end: int, finals: list[Record]) -> bool:
        """Whether one of the final matches is preferred to a match with that end, which starts at the same place."""
        # An end that was known before this step lies before the place after it.
        return end != OPEN and any(
            (final.end == end and final.delimiter < delimiter) or (final.end == NEXT and end != NEXT)
            for final in finals
        )

    def answer(self, test: Neighbour | Boundary, before: int, after: int | None) -> bool | None:
        """Whether the neighbours of the place pass a test; None while the next character is not known."""
        if isinstance(test, Neighbour):
            number = after if test.ahead else before
            if number is None:
                return None
            return any(self.is_in(number, wanted) for wanted in test.wanted) != test.negative
        if after is None:
            return None
        return (self.is_in(before, test.word) != self.is_in(after, test.word)) != test.negative

    def is_in(self, number: int, chars: Chars | None) -> bool:
        if number < 0 or chars is None:
            return number == EDGE and chars is None
        return self.automaton.set_index[chars] in self.automaton.members[number]


def register_count(state: State) -> int:
    """How many registers a state has."""
    used = [register for thread in state.threads for register in (thread.start, thread.end)]
    used += [register for record in state.records for register in (record.start, record.end)]
    return max(used, default=-1) + 1


def _sets_of(instruction: Instruction) -> list[Chars]:
    """The sets of characters that an instruction asks about."""
    if isinstance(instruction, Take):
        return [instruction.chars]
    if isinstance(instruction, Neighbour):
        return [chars for chars in instruction.wanted if chars is not None]
    return [instruction.word] if isinstance(instruction, Boundary) else []


def _followers(instruction: Instruction) -> tuple[int, ...]:
    """The instructions that can come directly after one."""
    if isinstance(instruction, Choice):
        return instruction.follow
    return (instruction.follow,) if isinstance(instruction, Take | Neighbour | Boundary | Ahead) else ()


def _shifted(instruction: Instruction, shift: int) -> Instruction:
    """The instruction with its followers renumbered."""
    return _SHIFTED[type(instruction)](instruction, shift)


_SHIFTED: dict[type, Callable[..., Instruction]] = {
    Take: lambda i, shift: Take(i.chars, i.follow + shift),
    Choice: lambda i, shift: Choice(tuple(follow + shift for follow in i.follow)),
    Neighbour: lambda i, shift: Neighbour(i.ahead, i.wanted, i.negative, i.follow + shift),
    Boundary: lambda i, shift: Boundary(i.word, i.negative, i.follow + shift),
    Ahead: lambda i, shift: Ahead(i.follow + shift),
    Accept: lambda i, _: i,
}
