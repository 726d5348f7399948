"""One Pike step: from the threads that are alive before a character to those that are alive after it.

Threads that waited for a look at the next character come first, and those that start here; then those that take the
character go on. All in the order of their priorities, with the rules of lazy_dfa.py.
"""

from __future__ import annotations

from streamparse.matching.instructions import Ahead, Boundary, Choice, Neighbour, Take
from streamparse.matching.nfa import NFA
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

#: An instruction that waits for a character, the register of its start, and that of its end (or OPEN).
Thread = tuple[int, int, int]

#: A delimiter's match that is known so far: its index and the registers of start and end.
Record = tuple[int, int, int]


class PikeStep:
    """Makes ``threads`` and ``records`` from those before the character.

    ``before`` and ``number`` are the classes of the characters on both sides of the place (or EDGE), ``members`` the
    sets of each class; ``guarded`` forbids an empty match here. Registers that are new have HERE or NEXT.
    """

    def __init__(
        self,
        programs: NFA,
        members: list[frozenset[int]],
        threads: tuple[Thread, ...],
        records: tuple[Record, ...],
        before: int,
        number: int,
        *,
        guarded: bool,
    ) -> None:
        self.programs = programs
        self.members = members
        self.number = number
        self.guarded = guarded
        self.records = list(records)
        self.threads: list[Thread] = []
        self.seen: set[int] = set()
        #: The start at which a match was found in this pass, and the delimiters that found one.
        self.matched_start: int | None = None
        self.matched: set[int] = set()
        self.resolve(threads, before)
        waiting = self.threads
        self.begin_pass()
        if number != EDGE:
            self.take(waiting)
            self.drop_hopeless()

    def resolve(self, threads: tuple[Thread, ...], before: int) -> None:
        """Goes on with the threads that are here, as the next character is known, and with those that start here."""
        for at, start, end in threads:
            self.follow(at, start, end, HERE, before, self.number)
        if not self.records:
            for entry in self.programs.entries:
                self.follow(entry, HERE, OPEN, HERE, before, self.number)

    def begin_pass(self) -> None:
        """FirstSet on a new list of threads."""
        self.threads = []
        self.seen = set()
        self.matched_start = None
        self.matched = set()

    def take(self, waiting: list[Thread]) -> None:
        """Goes on with the threads that take the character."""
        members, code, index = self.members[self.number], self.programs.code, self.programs.set_index
        for at, start, end in waiting:
            instruction = code[at]
            assert isinstance(instruction, Take)
            if index[instruction.chars] in members:
                self.follow(instruction.follow, start, end, NEXT, self.number, None)

    def follow(self, at: int, start: int, end: int, place: int, before: int, after: int | None) -> None:
        """Adds what can be reached from an instruction without a character, unless a match has cut it off."""
        matched = self.matched_start
        if matched is not None and (start != matched or self.programs.delimiter_of[at] in self.matched):
            return
        takes = self.programs.takes_at(at)
        if takes is None:
            self.follow_tests(at, start, end, place, before, after)
            return
        for take in takes:
            if take not in self.seen:
                self.seen.add(take)
                self.threads.append((take, start, end))

    def follow_tests(self, at: int, start: int, end: int, place: int, before: int, after: int | None) -> None:
        """The same where tests of the neighbours or the end of a match may be among it."""
        stack = [(at, end)]
        while stack:
            at, end = stack.pop()
            if at in self.seen:
                continue
            self.seen.add(at)
            instruction = self.programs.code[at]
            if isinstance(instruction, Take):
                self.threads.append((at, start, end))
            elif isinstance(instruction, Choice):
                stack += [(follow, end) for follow in reversed(instruction.follow)]
            elif isinstance(instruction, Neighbour | Boundary):
                answer = self.answer(instruction, before, after)
                if answer is None:
                    self.threads.append((at, start, end))
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
        delimiter = self.programs.delimiter_of[at]
        self.records = [record for record in self.records if record[1] == start and record[0] != delimiter]
        self.records.append((delimiter, start, end))
        self.matched_start = start
        self.matched.add(delimiter)
        while self.threads and self.finds_the_same(self.threads[-1], start, end, at):
            self.threads.pop()

    def finds_the_same(self, thread: Thread, start: int, end: int, accept: int) -> bool:
        """Whether a thread can only give the match that was recorded, with the same groups."""
        programs, at = self.programs, thread[0]
        delimiter = programs.delimiter_of[at]
        if thread[1] != start or self.end_of(thread) != end or delimiter != programs.delimiter_of[accept]:
            return False
        if not programs.named[delimiter]:
            return True
        same_lookahead = programs.lookahead_of.get(at) == programs.lookahead_of.get(accept)
        return same_lookahead and thread[2] != OPEN and not programs.named_ahead[delimiter]

    def end_of(self, thread: Thread) -> int:
        """The source of a thread's end, if it is known; else OPEN."""
        at, _, end = thread
        return NEXT if end == OPEN and at in self.programs.last_tests else end

    def drop_hopeless(self) -> None:
        """Drops threads that would only find what another delimiter's match, which is final, is preferred to.

        Of a delimiter, only those can be dropped below which nothing could then be found instead.
        """
        if not self.records:
            return
        owner = self.programs.delimiter_of
        open_ended = {owner[at] for at, _, _ in self.threads}
        finals = [record for record in self.records if record[0] not in open_ended]
        if not finals:
            return
        beaten = {delimiter: self.is_beaten(delimiter, end, finals) for delimiter, _, end in self.records}
        kept: list[Thread] = []
        closed: set[int] = set()
        for thread in reversed(self.threads):
            delimiter = owner[thread[0]]
            droppable = delimiter not in closed and thread[1] == finals[0][1] and beaten.get(delimiter, True)
            if droppable and self.is_beaten(delimiter, self.end_of(thread), finals):
                continue
            closed.add(delimiter)
            kept.append(thread)
        self.threads = kept[::-1]

    def is_beaten(self, delimiter: int, end: int, finals: list[Record]) -> bool:
        """Whether one of the final matches is preferred to a match with that end, which starts at the same place."""
        # An end that was known before this step lies before the place after it.
        return end != OPEN and any(
            (final_end == end and final < delimiter) or (final_end == NEXT and end != NEXT)
            for final, _, final_end in finals
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
        """Whether a class of characters, or the edge of the text, is in a set (None: is the edge)."""
        if number < 0 or chars is None:
            return number == EDGE and chars is None
        return self.programs.set_index[chars] in self.members[number]
