"""A pattern's tree as positions that a matcher steps through, the priorities of its choices in their order.

In comes the tree of syntax.py, out comes a ``Program``: a list of instructions that name their followers by index.
Two dialects of it exist. The *linear* one has only what an ordered automaton can step through in one pass: single
characters, ordered choices, tests of the neighbouring characters and one trailing lookahead. The *backtracking* one
has the rest too: captures, lookarounds anywhere, back references, atomic groups and loops over what may be empty.
"""

from __future__ import annotations

import regex

from streamparse.matching.instructions import (
    Accept,
    Again,
    Ahead,
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
from streamparse.matching.syntax import (
    Alternatives,
    Assertion,
    Atomic,
    BackReference,
    Chars,
    Group,
    Look,
    Node,
    Repeat,
    Sequence,
    UnsupportedSyntax,
    newline,
    walk,
    width,
)

#: A program longer than this is refused: counted repeats are written out, and one pattern must not fill the memory.
LONGEST_LINEAR_PROGRAM = 1_000
LONGEST_BACKTRACKING_PROGRAM = 20_000


class NotLinear(UnsupportedSyntax):
    """The pattern has a part that an ordered automaton can't step through."""


def linear_program(tree: Node) -> Program:
    """The program for an ordered automaton; raises NotLinear if the tree has what it can't step through."""
    builder = _LinearBuilder(LONGEST_LINEAR_PROGRAM)
    return builder.program_of(tree)


def backtracking_program(tree: Node) -> Program:
    """The program for the backtracking matcher; raises UnsupportedSyntax where even that would go wrong."""
    builder = _BacktrackingBuilder(LONGEST_BACKTRACKING_PROGRAM)
    return builder.program_of(tree)


def is_nullable(tree: Node) -> bool:
    """Whether the tree can match the empty text."""
    return width(tree)[0] == 0


def neighbour_set(node: Node, ahead: bool) -> tuple[Chars | None, ...] | None:
    r"""The single characters (None: the edge) that a lookaround's body stands for, or None if it is more than that.

    ``(?=\\Z|\n)`` gives (None, newline).
    """
    match node:
        case Chars():
            return (node,)
        case Assertion(kind=kind):
            return (None,) if kind == ("end" if ahead else "start") else None
        case Alternatives(branches):
            sets = [neighbour_set(branch, ahead) for branch in branches]
            return None if None in sets else tuple(item for each in sets if each for item in each)
    return None


_NEWLINE = newline()
_ASSERTION_NEIGHBOURS: dict[str, tuple[bool, tuple[Chars | None, ...]]] = {
    "start": (False, (None,)),
    "line start": (False, (None, _NEWLINE)),
    "end": (True, (None,)),
    "line end": (True, (None, _NEWLINE)),
}


class _Builder:
    """What the two dialects share: instructions are made from the last to the first, each knowing its follower."""

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self.program = Program()
        self.accept = self.emit(Accept())

    def program_of(self, tree: Node) -> Program:
        self.program.entry = self.build(tree, self.accept)
        return self.program

    def emit(self, instruction: Instruction | None) -> int:
        if len(self.program.code) >= self.longest:
            raise NotLinear("the repeat counts of the pattern are too large")
        self.program.code.append(instruction)
        return len(self.program.code) - 1

    def build(self, node: Node, follow: int) -> int:
        """Makes the instructions of a node and returns where they start."""
        match node:
            case Chars():
                return self.emit(Take(node, follow))
            case Sequence(items):
                for item in reversed(items):
                    follow = self.build(item, follow)
                return follow
            case Alternatives(branches):
                return self.emit(Choice(tuple(self.build(branch, follow) for branch in branches)))
            case Repeat():
                return self.repeat(node, follow)
            case Group():
                return self.group(node, follow)
            case Atomic(body):
                return self.atomic(body, follow)
            case Assertion():
                return self.assertion(node, follow)
            case Look():
                return self.look(node, follow)
            case BackReference():
                return self.back_reference(node, follow)

    def repeat(self, node: Repeat, follow: int) -> int:
        if node.mode == "possessive":
            return self.atomic(Repeat(node.body, node.minimum, node.maximum, "greedy"), follow)
        if node.maximum is None:
            at = self.loop(node.body, node.mode, follow)
        else:
            at = follow
            for _ in range(node.maximum - node.minimum):
                at = self.choice(node.mode, self.one_round(node.body, at, follow), follow)
        for _ in range(node.minimum):
            at = self.build(node.body, at)
        return at

    def loop(self, body: Node, mode: str, follow: int) -> int:
        start = self.emit(None)
        once_more = self.one_round(body, start, follow)
        self.program.code[start] = Choice((once_more, follow) if mode == "greedy" else (follow, once_more))
        return start

    def one_round(self, body: Node, again: int, leave: int) -> int:  # noqa: ARG002
        """The body of a repeat once, and on to the next round, or on to what follows if that is known to be due."""
        return self.build(body, again)

    def choice(self, mode: str, go_on: int, leave: int) -> int:
        return self.emit(Choice((go_on, leave) if mode == "greedy" else (leave, go_on)))

    def group(self, node: Group, follow: int) -> int:
        return self.build(node.body, follow)

    def neighbour(self, ahead: bool, wanted: tuple[Chars | None, ...], negative: bool, follow: int) -> int:
        if not ahead:
            self.program.context = max(self.program.context, int(wanted != (None,)))
            self.program.asks_start = self.program.asks_start or None in wanted
        return self.emit(Neighbour(ahead, wanted, negative, follow))

    def assertion(self, node: Assertion, follow: int) -> int:
        if node.kind == "last line end":
            return self.last_line_end(follow)
        if node.kind in _ASSERTION_NEIGHBOURS:
            ahead, wanted = _ASSERTION_NEIGHBOURS[node.kind]
            return self.neighbour(ahead, wanted, False, follow)
        self.program.context = max(self.program.context, 1)
        word = Chars(r"\w", node.flags & int(regex.ASCII | regex.UNICODE))
        return self.emit(Boundary(word, node.kind == "inside", follow))

    def look(self, node: Look, follow: int) -> int:
        wanted = neighbour_set(node.body, node.ahead)
        if wanted is not None:
            return self.neighbour(node.ahead, wanted, node.negative, follow)
        return self.wide_look(node, follow)

    def atomic(self, body: Node, follow: int) -> int:
        raise NotImplementedError

    def last_line_end(self, follow: int) -> int:
        raise NotImplementedError

    def wide_look(self, node: Look, follow: int) -> int:
        raise NotImplementedError

    def back_reference(self, node: BackReference, follow: int) -> int:
        raise NotImplementedError


class _LinearBuilder(_Builder):
    """Refuses what can't be stepped through in one pass."""

    inside_ahead = False

    def group(self, node: Group, follow: int) -> int:
        if node.name is not None:
            self.program.named = True
            self.program.named_ahead = self.program.named_ahead or self.inside_ahead
        return super().group(node, follow)

    def repeat(self, node: Repeat, follow: int) -> int:
        if node.maximum not in (1, node.minimum) and is_nullable(node.body):
            raise NotLinear("a repeat whose body may be empty")
        return super().repeat(node, follow)

    def atomic(self, body: Node, follow: int) -> int:
        if not (isinstance(body, Repeat) and body.mode == "greedy" and isinstance(body.body, Chars)):
            raise NotLinear("an atomic group or possessive repeat of more than one class")
        chars = body.body
        leave = self.neighbour(True, (chars,), True, follow)
        if body.maximum is None:
            at = self.emit(None)
            self.program.code[at] = Choice((self.emit(Take(chars, at)), leave))
        else:
            at = follow
            for _ in range(body.maximum - body.minimum):
                at = self.emit(Choice((self.emit(Take(chars, at)), leave)))
        for _ in range(body.minimum):
            at = self.emit(Take(chars, at))
        return at

    def last_line_end(self, follow: int) -> int:
        end = Assertion("end", int(regex.DOTALL))
        return self.trailing(Alternatives((Sequence((_NEWLINE, end)), end)), follow)

    def wide_look(self, node: Look, follow: int) -> int:
        if node.negative or not node.ahead:
            raise NotLinear("a lookaround of more than one character")
        return self.trailing(node.body, follow)

    def trailing(self, body: Node, follow: int) -> int:
        if follow != self.accept:
            raise NotLinear("a lookahead that something follows")
        if self.inside_ahead:
            return self.build(body, follow)
        # An Accept of its own tells which lookahead it was that came true.
        whole, self.accept = self.accept, self.emit(Accept())
        self.inside_ahead = True
        start = self.build(body, self.accept)
        self.inside_ahead = False
        self.accept = whole
        return self.emit(Ahead(start))

    def back_reference(self, node: BackReference, follow: int) -> int:  # noqa: ARG002
        raise NotLinear(f"a reference to group {node.key!r}")


class _BacktrackingBuilder(_Builder):
    """Has an instruction for everything but what ``regex`` alone can do."""

    def program_of(self, tree: Node) -> Program:
        self.program.slots = 2
        self.number_groups(tree)
        return super().program_of(tree)

    def number_groups(self, tree: Node) -> None:
        for node in walk(tree):
            if isinstance(node, Group):
                self.program.slots = max(self.program.slots, 2 * node.index + 2)
                if node.name is not None:
                    self.program.names[node.name] = node.index

    def one_round(self, body: Node, again: int, leave: int) -> int:
        """As in ``regex``, a round that takes nothing is the last one, but for those that have to be."""
        if again == leave or not is_nullable(body):
            return self.build(body, again)
        slot = self.program.slots
        self.program.slots += 1
        return self.emit(Mark(slot, self.build(body, self.emit(Progressed(slot, again, leave)))))

    def group(self, node: Group, follow: int) -> int:
        if any(isinstance(inner, Group) and inner.index == node.index for inner in walk(node.body)):
            raise UnsupportedSyntax("a group within one of the same name")
        body = self.build(node.body, self.emit(Save(2 * node.index + 1, follow)))
        return self.emit(Save(2 * node.index, body))

    def atomic(self, body: Node, follow: int) -> int:
        return self.emit(Enter(self.build(body, self.emit(Accept())), False, True, follow))

    def last_line_end(self, follow: int) -> int:
        return self.emit(LastLineEnd(follow))

    def wide_look(self, node: Look, follow: int) -> int:
        if node.ahead:
            return self.emit(Enter(self.build(node.body, self.emit(Accept())), node.negative, False, follow))
        return self.behind(node, follow)

    def behind(self, node: Look, follow: int) -> int:
        _, most = width(node.body)
        if most is None:
            raise UnsupportedSyntax("a lookbehind of any length")
        if any(isinstance(inner, Look | Assertion | BackReference | Group) for inner in walk(node.body)):
            raise UnsupportedSyntax("a lookbehind with an assertion or a group in it")
        self.program.context = max(self.program.context, most)
        return self.emit(Behind(regex.compile(node.source, node.flags), follow))

    def back_reference(self, node: BackReference, follow: int) -> int:
        index = self.program.names.get(node.key) if isinstance(node.key, str) else node.key
        if index is None:
            raise UnsupportedSyntax(f"a reference to {node.key!r}")
        return self.emit(Again(index, bool(node.flags & regex.IGNORECASE), follow))
