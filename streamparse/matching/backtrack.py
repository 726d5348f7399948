"""A matcher for what an ordered automaton can't do: it tries one way after the other, from one place.

It knows three answers. Where a way needs a character that has not come yet, the attempt is ``BLOCKED``; it keeps its
place and goes on from there when more is known, so that no step is done twice, whatever the cuts. In come a program
and characters, out comes the first match by the pattern's own priorities, with its groups.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from streamparse.errors import LimitError
from streamparse.limits import how_to_raise
from streamparse.matching.automaton_prefilter import Members
from streamparse.matching.instructions import (
    Accept,
    Again,
    Behind,
    Boundary,
    Choice,
    Enter,
    Instruction,
    LastLineEnd,
    Mark,
    Neighbour,
    Program,
    Progressed,
    Save,
    Take,
)
from streamparse.matching.syntax import Chars

MATCHED, FAILED, BLOCKED = "matched", "failed", "blocked"

#: Steps that matching may take for each character, beyond the allowance that a scanner is given.
STEPS_PER_CHARACTER = 25

_UNDO = -1
_BODY = -2
_PLACES_KEPT = 10_000
_LISTED_FOR_ONE = 16
"""How many alternatives of a step cost as much as another step."""


class Blocked(Exception):
    """A character is needed that is not known yet."""


@dataclass(slots=True)
class Known:
    """The characters that are known: those from position ``base`` on; ``final`` if no more will come.

    ``lead`` is as much of the text before them as a pattern looks back, ``reach`` the last position that an attempt has
    looked at.
    """

    characters: Sequence[str]
    base: int
    final: bool = False
    lead: str = ""
    reach: int = 0

    @property
    def end(self) -> int:
        """The position after the last known character."""
        return self.base + len(self.characters)

    def before(self, position: int) -> str | None:
        """The character before a position; None at the beginning of all text, "" where it is not known."""
        if position == 0:
            return None
        return self.characters[position - 1 - self.base] if position > self.base else self.lead[-1:]

    def text(self, start: int, end: int) -> str:
        """The text between two positions, or as much of it as is known."""
        early = self.lead[len(self.lead) - (self.base - start) :] if start < self.base <= start + len(self.lead) else ""
        return early + "".join(self.characters[max(start - self.base, 0) : end - self.base])

    def after(self, position: int) -> str | None:
        """The character after a position; None at the end of all text. Raises Blocked where it is not known."""
        index = position - self.base
        known = index < len(self.characters)
        if not known and not self.final:
            raise Blocked
        if position > self.reach:
            self.reach = position
        return self.characters[index] if known else None


@dataclass(slots=True)
class Budget:
    """Steps that may be taken: ``limit`` of them, and some for each character up to ``reach``, the last that was read.

    A step costs what it reads. What is counted depends on the text alone, not on its pieces: attempts are made in the
    order of their places, and those that are made again, because other delimiters are watched, are not counted twice.
    """

    limit: int
    used: int = 0
    reach: int = 0
    #: Before which places attempts were made, with what was used and read by then.
    _before: list[tuple[int, int, int]] = field(default_factory=list)

    @property
    def allowed(self) -> int:
        """How many steps may be taken in all."""
        return self.limit + STEPS_PER_CHARACTER * self.reach

    def raise_limit(self, position: int) -> None:
        """Say that the attempt from this place is one too many."""
        raise LimitError(
            f"matching a delimiter takes more than {self.limit} steps; write its pattern so that it is linear, or "
            + how_to_raise("pattern_steps"),
            limit="pattern_steps",
            position=position,
        )

    def begin(self, place: int) -> None:
        """An attempt begins at a place."""
        before = self._before
        if not before or before[-1][0] < place:
            before.append((place, self.used, self.reach))
            if len(before) > 2 * _PLACES_KEPT:
                del before[:_PLACES_KEPT]
        self.reach = max(self.reach, place)

    def settle(self, place: int) -> None:
        """A match ends at a place: what it took stays counted, also if attempts are made again from there."""
        used, reach = self.used, self.reach
        self.go_back(place)
        self.used, self.reach = used, reach
        self._before.append((place, used, reach))

    def go_back(self, place: int) -> None:
        """Attempts from this place on are made again."""
        self.used, self.reach = self.counted_before(place)
        while self._before and self._before[-1][0] >= place:
            self._before.pop()

    def counted_before(self, place: int) -> tuple[int, int]:
        """What was used and read before the attempts from a place on."""
        used, reach = self.used, self.reach
        for start, used_by_then, read_by_then in reversed(self._before):
            if start < place:
                break
            used, reach = used_by_then, read_by_then
        return used, reach


class Attempt:
    """One try to match a program at ``start``; ``wanted_end`` accepts no other end, ``forbid_empty`` no empty match."""

    __slots__ = (
        "_bodies",
        "_compared",
        "_cost",
        "_failed",
        "_stack",
        "at",
        "forbid_empty",
        "place",
        "program",
        "slots",
        "start",
        "wanted_end",
    )

    def __init__(
        self, program: Program, start: int, *, forbid_empty: bool = False, wanted_end: int | None = None
    ) -> None:
        self.program = program
        self.start = start
        self.forbid_empty = forbid_empty
        self.wanted_end = wanted_end
        self.at = program.entry
        self.place = start
        self.slots = [-1] * program.slots
        #: Ways to go on with when this one fails, and what has to be undone on the way back to them.
        self._stack: list[tuple[int, int, int]] = []
        #: Where in the stack the bodies begin that are matched for themselves.
        self._bodies: list[int] = []
        self._compared = 0
        #: What the step under way costs beyond one.
        self._cost = 0
        #: Ways that are known to fail, where only the end matters and nothing but the place decides.
        self._failed: set[tuple[int, int]] | None = set() if wanted_end is not None else None

    def run(self, known: Known, budget: Budget) -> str:
        """Goes on until the match is found, ruled out, or needs a character that is not known."""
        code, used, allowed = self.program.code, budget.used, budget.allowed
        outcome = None
        while outcome is None:
            if used >= allowed:
                budget.used, budget.reach = used, max(budget.reach, known.reach)
                allowed = budget.allowed
                if used >= allowed:
                    budget.raise_limit(self.start)
            instruction = code[self.at]
            assert instruction is not None
            try:
                goes_on = _STEPS[type(instruction)](self, instruction, known)
            except Blocked:  # the step is still to be taken
                outcome = BLOCKED
                break
            used += 1
            if self._cost:
                used += self._cost
                self._cost = 0
            if goes_on is None:
                outcome = MATCHED
            elif not goes_on and not self.back():
                outcome = FAILED
        budget.used, budget.reach = used, max(budget.reach, known.reach)
        return outcome

    def back(self) -> bool:
        """Returns to the last choice that has another way; whether there is one."""
        stack = self._stack
        while stack:
            at, place, more = stack.pop()
            if at == _UNDO:
                self.slots[place] = more
            elif at == _BODY:
                self._bodies.pop()
                enter = self.program.code[more]
                assert isinstance(enter, Enter)
                if enter.negative:
                    self.at, self.place = enter.follow, place
                    return True
            else:
                if self._failed is not None and not self._bodies:
                    if (at, place) in self._failed:
                        continue
                    self._failed.add((at, place))
                self.at, self.place = at, place
                return True
        return False

    def set_slot(self, slot: int, follow: int) -> bool:
        """Notes the place, so that it can be undone."""
        self._stack.append((_UNDO, slot, self.slots[slot]))
        self.slots[slot] = self.place
        self.at = follow
        return True

    def take(self, step: Take, known: Known) -> bool:
        """Takes a character of a set."""
        character = known.after(self.place)
        if character is None or not _contains(step.chars, character):
            return False
        self.place += 1
        self.at = step.follow
        return True

    def choose(self, step: Choice, _: Known) -> bool:
        """Takes the first way, and keeps the others in mind."""
        self._stack += [(follow, self.place, 0) for follow in reversed(step.follow[1:])]
        self._cost = len(step.follow) // _LISTED_FOR_ONE
        self.at = step.follow[0]
        return True

    def neighbour(self, step: Neighbour, known: Known) -> bool:
        """Whether the character beside the place is one that is wanted."""
        character = known.after(self.place) if step.ahead else known.before(self.place)
        self.at = step.follow
        self._cost = len(step.wanted) // _LISTED_FOR_ONE
        return any(_is(character, wanted) for wanted in step.wanted) != step.negative

    def boundary(self, step: Boundary, known: Known) -> bool:
        """Whether a word begins or ends at the place."""
        after = _is(known.after(self.place), step.word)
        self.at = step.follow
        return (_is(known.before(self.place), step.word) != after) != step.negative

    def last_line_end(self, step: LastLineEnd, known: Known) -> bool:
        """Whether the text ends at the place, or after a newline there."""
        character = known.after(self.place)
        holds = character is None or (character == "\n" and known.after(self.place + 1) is None)
        self.at = step.follow
        return holds

    def note(self, step: Save | Mark, _: Known) -> bool:
        """Notes the place in a slot."""
        return self.set_slot(step.slot, step.follow)

    def progressed(self, step: Progressed, _: Known) -> bool:
        """Goes round a loop again, unless its last round took nothing."""
        self.at = step.follow if self.place > self.slots[step.slot] else step.otherwise
        return True

    def behind(self, step: Behind, known: Known) -> bool:
        """Asks ``regex`` about the text before the place."""
        self.at = step.follow
        text = known.text(max(self.place - self.program.context, 0), self.place)
        self._cost = len(text)
        return step.compiled.match(text, len(text)) is not None

    def again(self, step: Again, known: Known) -> bool:
        """Takes the text of a group once more; where that is cut off, what was compared is remembered."""
        start, end = self.slots[2 * step.index], self.slots[2 * step.index + 1]
        if start < 0 or end < 0:
            return False
        while start + self._compared < end:
            character = known.after(self.place + self._compared)
            wanted = known.characters[start + self._compared - known.base]
            if character is None or not _same(character, wanted, step.ignore_case):
                self._cost, self._compared = self._compared, 0
                return False
            self._compared += 1
        self.place += self._compared
        self._cost, self._compared = self._compared, 0
        self.at = step.follow
        return True

    def enter(self, step: Enter, _: Known) -> bool:
        """FirstSet on a body that is matched for itself."""
        self._bodies.append(len(self._stack))
        self._stack.append((_BODY, self.place, self.at))
        self.at = step.body
        return True

    def accept(self, _: Accept, __: Known) -> bool | None:
        """Ends a body, whose other ways are then forgotten; None if the whole pattern is matched."""
        if not self._bodies:
            if self.wanted_end is not None:
                return None if self.place == self.wanted_end else False
            return False if self.forbid_empty and self.place == self.start else None
        height = self._bodies.pop()
        place, at = self._stack[height][1:]
        enter = self.program.code[at]
        assert isinstance(enter, Enter)
        undo = [entry for entry in self._stack[height + 1 :] if entry[0] == _UNDO]
        del self._stack[height:]
        self._stack += undo
        if enter.negative:
            return False
        self.at = enter.follow
        self.place = self.place if enter.taken else place
        return True

    def groups(self, known: Known) -> dict[str, str]:
        """The named groups that took part in the match."""
        found = {}
        for name, index in self.program.names.items():
            start, end = self.slots[2 * index], self.slots[2 * index + 1]
            if start >= 0 and end >= 0:
                found[name] = known.text(start, end)
        return found


_STEPS: dict[type[Instruction], Callable[..., bool | None]] = {
    Take: Attempt.take,
    Choice: Attempt.choose,
    Neighbour: Attempt.neighbour,
    Boundary: Attempt.boundary,
    LastLineEnd: Attempt.last_line_end,
    Save: Attempt.note,
    Mark: Attempt.note,
    Progressed: Attempt.progressed,
    Behind: Attempt.behind,
    Again: Attempt.again,
    Enter: Attempt.enter,
    Accept: Attempt.accept,
}

_MEMBERS: dict[Chars, Members] = {}


def _contains(chars: Chars, character: str) -> bool:
    """Whether the character is in the set, remembered."""
    if chars.literal is not None:
        return chars.literal == character
    members = _MEMBERS.get(chars)
    if members is None:
        members = _MEMBERS[chars] = Members(chars)
    return members[character]


def _is(character: str | None, wanted: Chars | None) -> bool:
    """Whether a neighbour is the edge of the text (None), or in a set."""
    if character is None or wanted is None:
        return character is None and wanted is None
    return _contains(wanted, character)


def _same(one: str, other: str, ignore_case: bool) -> bool:
    return one == other or (ignore_case and (one.lower() == other.lower() or one.upper() == other.upper()))


def groups_of(program: Program, text: str, base: int, start: int, end: int, before: str = "") -> dict[str, str] | None:
    """The groups of a match that is known to be at these positions; None if the program has no such match."""
    known = Known(text, base, final=True, lead=before, reach=start)
    attempt = Attempt(program, start, wanted_end=end)
    budget = Budget(1_000_000)
    return attempt.groups(known) if attempt.run(known, budget) == MATCHED else None
