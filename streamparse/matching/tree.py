"""A pattern as a tree: its nodes, and what can be asked of them.

In:  nothing; ``syntax.parse`` builds trees. Out: the kinds of nodes; children, literal text and width of a tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import regex


@dataclass(frozen=True, slots=True)
class Chars:
    """Exactly one character: ``literal`` where only one will do, else any that ``regex`` says ``source`` matches."""

    source: str
    flags: int
    literal: str | None = None

    def contains(self, character: str) -> bool:
        """Whether the character is one of these."""
        if self.literal is not None:
            return character == self.literal
        return _compiled(self.source, self.flags).fullmatch(character) is not None


@dataclass(frozen=True, slots=True)
class Sequence:
    """The items one after the other; none at all is the empty match."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The first of the branches that leads to a match."""

    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The body ``minimum`` to ``maximum`` times (None: without end); ``mode`` is greedy, lazy or possessive."""

    body: Node
    minimum: int
    maximum: int | None
    mode: str


@dataclass(frozen=True, slots=True)
class Group:
    """A group that captures, under its number and maybe a name."""

    body: Node
    index: int
    name: str | None


@dataclass(frozen=True, slots=True)
class Atomic:
    """A group that, once matched, is not entered again."""

    body: Node


@dataclass(frozen=True, slots=True)
class Assertion:
    r"""A place between characters.

    ``kind`` is start (``\A``), line start (``(?m)^``), end (``\Z``), last line end (``$``: also before a last newline),
    line end (``(?m)$``), boundary (``\b``) or inside (``\B``).
    """

    kind: str
    flags: int


@dataclass(frozen=True, slots=True)
class Look:
    """What has to follow (``ahead``) or precede, or must not; ``source`` is the whole lookaround as written."""

    body: Node
    ahead: bool
    negative: bool
    source: str
    flags: int


@dataclass(frozen=True, slots=True)
class BackReference:
    """The text of an earlier group once more; ``key`` is its number or name."""

    key: int | str
    flags: int


Node = Chars | Sequence | Alternatives | Repeat | Group | Atomic | Assertion | Look | BackReference

EMPTY = Sequence(())


def newline() -> Chars:
    """The newline that ``$`` and ``(?m)^`` look at."""
    return Chars("\n", int(regex.DOTALL), "\n")


@lru_cache(maxsize=1024)
def _compiled(source: str, flags: int) -> regex.Pattern[str]:
    return regex.compile(source, flags)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below a node, in the order in which they are written."""
    match node:
        case Sequence(items):
            return items
        case Alternatives(branches):
            return branches
        case Repeat(body=body) | Group(body=body) | Atomic(body=body) | Look(body=body):
            return (body,)
    return ()


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, each before its children."""
    yield node
    for child in children(node):
        yield from walk(child)


def literal_text(node: Node) -> str | None:
    """The text that the node matches, if it is one fixed text, else None.

    >>> from streamparse.matching.syntax import parse
    >>> literal_text(parse("<a>"))
    '<a>'
    """
    if isinstance(node, Chars):
        return node.literal
    if isinstance(node, Sequence):
        texts = [literal_text(item) for item in node.items]
        return None if None in texts else "".join(text for text in texts if text is not None)
    return None


def width(node: Node) -> tuple[int, int | None]:
    """The least and the greatest number of characters that the node can match (None: without end, or unknown)."""
    match node:
        case Chars():
            return 1, 1
        case Sequence(items):
            widths = [width(item) for item in items]
            greatest = [most for _, most in widths]
            return sum(least for least, _ in widths), None if None in greatest else sum(m for m in greatest if m)
        case Alternatives(branches):
            widths = [width(branch) for branch in branches]
            greatest = [most for _, most in widths]
            return min(least for least, _ in widths), None if None in greatest else max(m or 0 for m in greatest)
        case Group(body=body) | Atomic(body=body):
            return width(body)
        case Repeat(body, minimum, maximum, _):
            least, most = width(body)
            unbounded = most is None or (maximum is None and most > 0)
            return least * minimum, None if unbounded else (most or 0) * (maximum or 0)
        case BackReference():
            return 0, None
    return 0, 0
