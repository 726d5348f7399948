"""The NFA: the programs of all linear delimiters of a set as one, with what is known of it before any text."""

from __future__ import annotations

from collections.abc import Callable

from streamparse.matching.instructions import Accept, Ahead, Boundary, Choice, Instruction, Neighbour, Program, Take
from streamparse.matching.syntax import Chars


class NFA:
    """The programs in the order that decides between matches of the same text.

    ``code`` are all instructions, ``delimiter_of`` tells whose each one is, ``entries`` where each program starts.
    ``sets`` are the sets of characters that they ask about.
    """

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
        #: Whether it matters which character is before a place, and whether the place is the beginning of the text.
        self.looks_back = any(program.context for program in programs)
        self.asks_start = any(program.asks_start for program in programs)
        for index, program in enumerate(programs):
            self.add(index, program)
        self.sets = list(dict.fromkeys(chars for i in self.code for chars in _sets_of(i)))
        self.set_index = {chars: index for index, chars in enumerate(self.sets)}
        self._takes: dict[int, tuple[int, ...] | None] = {}

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

    def takes_at(self, at: int) -> tuple[int, ...] | None:
        """The instructions that take a character, reached from one by choices alone; None if there is more to it."""
        if at not in self._takes:
            self._takes[at] = self._find_takes(at)
        return self._takes[at]

    def _find_takes(self, at: int) -> tuple[int, ...] | None:
        takes: list[int] = []
        seen: set[int] = set()
        stack = [at]
        while stack:
            step = stack.pop()
            if step in seen:
                continue
            seen.add(step)
            instruction = self.code[step]
            if isinstance(instruction, Take):
                takes.append(step)
            elif isinstance(instruction, Choice):
                stack += reversed(instruction.follow)
            else:
                return None
        return tuple(takes)


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
