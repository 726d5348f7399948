"""The intermediate form of a grammar: what a model may write, before it is written down for one engine.

Everything that a template and the tools' schemas say becomes these nodes; each target (``gbnf``, ``lark``,
``structural_tag``) is a function from them to text. A node never says how a target spells it, and what a target can't
spell is named in the node, so that the target can say what it leaves out (``Both``, ``FreeText``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

Ranges = tuple[tuple[int, int], ...]
"""A set of characters: code points from … to, both included, in order, without overlaps."""


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A demand that a grammar leaves out: ``where`` (a JSON pointer into the tool's schema, or a part of the message),
    the ``keyword`` that makes the demand, and the ``reason``.

    What is left out is allowed, never forbidden: every text that keeps the demand is in the grammar.
    """

    where: str
    keyword: str
    reason: str


OTHER_CALLS = Relaxation("text", "calls of no given tool", "free text may have in it what the parser reads as one")
"""Of formats whose calls have no mark: text is kept free of the begins of the given tools' calls only."""


@dataclass(frozen=True, slots=True)
class Text:
    """A fixed text."""

    text: str


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Sequence:
    """The items one after the other; none at all is the empty text."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Any of the branches."""

    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The body ``minimum`` to ``maximum`` times (None: without end)."""

    body: Node
    minimum: int
    maximum: int | None


@dataclass(frozen=True, slots=True)
class FreeText:
    """Any text in which none of ``without`` occurs, up to and with the first ``stop`` (empty: there is no end to it).

    ``matching`` describes the text before ``stop`` further, ``minimum`` and ``maximum`` count its characters; a target
    that can't keep them leaves them out, as ``where`` and ``keywords`` say.
    """

    stop: str
    without: tuple[str, ...] = ()
    matching: Node | None = None
    minimum: int = 0
    maximum: int | None = None
    where: str = ""
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quoted:
    """The rest of a string behind its opening ``quote``, up to and with the closing one, and none of ``without``.

    It has the characters of ``plain`` as they are, and any other as an ``escape``.
    """

    quote: str
    plain: Ranges
    escape: Node
    without: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Both:
    """What is in ``kept`` and in ``other``; a target without intersections writes ``kept``, as ``relaxed`` says."""

    kept: Node
    other: Node
    relaxed: Relaxation


@dataclass(frozen=True, slots=True)
class Rule:
    """A reference to a rule of the grammar by its name."""

    name: str


Node = Text | Chars | Sequence | Choice | Repeat | FreeText | Quoted | Both | Rule

EMPTY = Sequence(())


@dataclass(slots=True)
class Rules:
    """The named rules of a grammar under construction, and what it leaves out whatever the target."""

    nodes: dict[str, Node] = field(default_factory=dict)
    relaxed: dict[Relaxation, None] = field(default_factory=dict)

    def relax(self, where: str, keyword: str, reason: str) -> None:
        """Note a demand that is left out."""
        self.relaxed[Relaxation(where, keyword, reason)] = None

    def new_name(self, wish: str) -> str:
        """Give a name that no rule has, as near to the wish as the targets' alphabet allows."""
        base = "".join(c if c.isascii() and c.isalnum() else "-" for c in wish.lower()).strip("-") or "rule"
        base = base if base[0].isalpha() else f"r-{base}"
        name, number = base, 2
        while name in self.nodes:
            name, number = f"{base}-{number}", number + 1
        return name

    def define(self, wish: str, node: Node) -> Rule:
        """Make a rule of a node."""
        name = self.new_name(wish)
        self.nodes[name] = node
        return Rule(name)

    def once(self, name: str, node: Node) -> Rule:
        """Make a rule under exactly this name unless it exists."""
        self.nodes.setdefault(name, node)
        return Rule(name)


def sequence(*items: Node | str) -> Node:
    """Give a sequence, with nested ones opened and neighbouring texts joined.

    >>> sequence("a", sequence("b", EMPTY))
    Text(text='ab')
    """
    flat: list[Node] = []
    for item in _flat(Text(item) if isinstance(item, str) else item for item in items):
        if isinstance(item, Text) and not item.text:
            continue
        if isinstance(item, Text) and flat and isinstance(last := flat[-1], Text):
            flat[-1] = Text(last.text + item.text)
        else:
            flat.append(item)
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def _flat(items: Iterable[Node]) -> Iterator[Node]:
    for item in items:
        if isinstance(item, Sequence):
            yield from item.items
        else:
            yield item


def choice(branches: Iterable[Node]) -> Node:
    """Give a choice, with nested ones opened and each branch once; raises ValueError for none at all."""
    unique: dict[Node, None] = {}
    for branch in branches:
        for inner in branch.branches if isinstance(branch, Choice) else (branch,):
            unique[inner] = None
    if not unique:
        raise ValueError("a choice of nothing")
    return next(iter(unique)) if len(unique) == 1 else Choice(tuple(unique))


def optional(node: Node) -> Node:
    """Give what may be left out."""
    return Repeat(node, 0, 1)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below a node."""
    match node:
        case Sequence(items):
            return items
        case Choice(branches):
            return branches
        case Repeat(body=body):
            return (body,)
        case Both(kept, other, _):
            return (kept, other)
        case FreeText(matching=matching) if matching is not None:
            return (matching,)
    return ()


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, each before its children; rules are not followed."""
    yield node
    for child in children(node):
        yield from walk(child)


def reachable(rules: dict[str, Node], root: str) -> dict[str, Node]:
    """The rules that a rule needs, itself first, in the order in which they are met."""
    found: dict[str, Node] = {}
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = rules[name]
            waiting += [node.name for node in reversed([*walk(rules[name])]) if isinstance(node, Rule)]
    return found
