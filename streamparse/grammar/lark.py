"""Lark, as llguidance reads it (https://github.com/guidance-ai/llguidance, docs/syntax.md).

In: the rules of a grammar and its start. Out: the text of the grammar. llguidance splits text into the longest tokens
that its terminals allow, so that whatever is regular here becomes one terminal: no two of them can then quarrel about
where one ends. Terminals may be intersected and negated, which keeps what other targets leave out.
"""

from __future__ import annotations

from collections.abc import Iterable

from streamparse.grammar.characters import ANY
from streamparse.grammar.nodes import (
    Both,
    Chars,
    Choice,
    FreeText,
    Node,
    Quoted,
    Ranges,
    Repeat,
    Rule,
    Sequence,
    Text,
    children,
    reachable,
    sequence,
)

HEADER = "%llguidance {}\n\n"
WHITE_SPACE = Rule("ws")


def lark(rules: dict[str, Node], start: Node) -> str:
    """Write a grammar."""
    return _Writer(reachable({**rules, "start": start}, "start")).grammar()


class _Writer:
    """Writes rules and terminals; ``terminal_rules`` are those that are regular, as terminals by their name."""

    def __init__(self, rules: dict[str, Node]) -> None:
        self.rules = rules
        self.names: dict[str, str] = {}
        self.terminals: dict[str, str] = {}
        self.by_expression: dict[str, str] = {}
        self.regular = _regular_rules(rules)
        # What is known of a node, by its identity; ``_kept`` keeps each alive, so that no identity comes twice.
        self._is_regular: dict[int, bool] = {}
        self._is_heavy: dict[int, bool] = {}
        self._patterns: dict[int, str | None] = {}
        self._kept: list[Node] = []

    def grammar(self) -> str:
        """The whole text."""
        lines = []
        for name, node in self.rules.items():
            if name == "start" or not self.is_regular(Rule(name)):
                lines.append(f"{self.rule_name(name)}: {self.alternatives(node)}\n")
        lines += [f"{name}: {expression}\n" for name, expression in self.terminals.items()]
        return HEADER + "".join(lines)

    def rule_name(self, name: str) -> str:
        """A rule's name as Lark has them."""
        return "start" if name == "start" else "r_" + name.replace("-", "_")

    def is_regular(self, node: Node) -> bool:
        """Whether a node is a terminal, or part of one."""
        if (known := self._is_regular.get(id(node))) is None:
            self._kept.append(node)
            known = self._is_regular[id(node)] = self._find_regular(node)
        return known

    def _find_regular(self, node: Node) -> bool:
        """Find out whether a node is a terminal, or part of one.

        Where demands are intersected, a terminal of its own keeps the automaton small: nothing but a character or two
        is joined with it.
        """
        if isinstance(node, Rule):
            return node.name in self.regular and self.is_regular(self.rules[node.name])
        if isinstance(node, Sequence) and any(map(self.is_heavy, node.items)):
            others = [item for item in node.items if not self.is_heavy(item)]
            short = all(isinstance(item, Text) and len(item.text) <= 2 for item in others)
            return short and len(others) == len(node.items) - 1 and all(map(self.is_regular, node.items))
        if isinstance(node, Repeat) and self.is_heavy(node.body):
            return False
        if isinstance(node, FreeText):
            return True  # its end is its stop's, however what it matches ends
        if isinstance(node, Sequence) and self._ends_open(node):
            return False
        return all(map(self.is_regular, children(node)))

    def is_heavy(self, node: Node) -> bool:
        """Whether a node has intersections in it."""
        if (known := self._is_heavy.get(id(node))) is None:
            self._kept.append(node)
            known = self._is_heavy[id(node)] = self._find_heavy(node)
        return known

    def _find_heavy(self, node: Node) -> bool:
        if isinstance(node, Rule):
            return node.name in self.regular and self.is_heavy(self.rules[node.name])
        return (
            isinstance(node, FreeText | Both)
            or (isinstance(node, Quoted) and bool(node.without))
            or any(map(self.is_heavy, children(node)))
        )

    def alternatives(self, node: Node) -> str:
        """The right side of a rule."""
        branches = node.branches if isinstance(node, Choice) and not self.is_regular(node) else (node,)
        return "\n    | ".join(self.item(branch) for branch in branches)

    def item(self, node: Node) -> str:
        """A node within a rule."""
        if self.is_regular(node) and not (isinstance(node, Repeat) and self._ends_open(node)):
            return " ".join(self.terminal(part) for part in self._trimmed(node))
        match node:
            case Rule(name):
                return self.rule_name(name)
            case Sequence(items):
                return " ".join(self.item(part) for part in self._joined(items))
            case Choice(branches):
                regular = [branch for branch in branches if self.is_regular(branch)]
                others = [branch for branch in branches if not self.is_regular(branch)]
                together = [Choice(tuple(regular))] if len(regular) > 1 else regular
                return "(" + " | ".join(self.item(branch) for branch in [*together, *others]) + ")"
            case Repeat(maximum=0):
                return '""'
            case Repeat(body, least, most):
                inner = f"({self.item(body)})"
                marks = {(0, None): "*", (1, None): "+", (0, 1): "?", (1, 1): ""}
                return inner + marks.get((least, most), f"{{{least},{'' if most is None else most}}}")
        raise TypeError(f"{type(node).__name__} is regular")

    def _joined(self, items: tuple[Node, ...]) -> list[Node]:
        """Items with regular neighbours joined."""
        result: list[Node] = []
        regular: list[Node] = []
        for item in items:
            if self.is_regular(item) and not self.is_heavy(item) and not self._may_mislead(item):
                regular.append(item)
                continue
            result += [sequence(*regular)] if regular else []
            regular = []
            result.append(item)
        return [*result, *([sequence(*regular)] if regular else [])]

    def _ends_open(self, node: Node) -> bool:
        """Whether a node ends with something that may come again, or be left out, and is no run of characters.

        As a terminal it would be taken to go on where what follows begins like it. A number's end is told from what
        follows by its first character.
        """
        if isinstance(node, Sequence) and node.items:
            return self._ends_open(node.items[-1])
        if isinstance(node, Choice):
            return any(map(self._ends_open, node.branches))
        if not isinstance(node, Repeat) or node.minimum == node.maximum:
            return False
        if node.maximum == 1:
            return not _is_part_of_number(node.body)
        return not isinstance(node.body, Text | Chars) and not _is_one_character(node.body)

    def _trimmed(self, node: Node) -> list[Node]:
        """A regular node with the white space at its edges as nodes of their own.

        Otherwise what begins or ends with white space in one place and without in another would not be told apart.
        """
        while isinstance(node, Rule) and node.name != "ws" and self._has_edge(self.rules[node.name]):
            node = self.rules[node.name]
        if not self._has_edge(node):
            return [node]
        assert isinstance(node, Sequence)
        items = list(node.items)
        start = next((at for at, item in enumerate(items) if item != WHITE_SPACE), len(items))
        end = next((at for at in range(len(items), start, -1) if items[at - 1] != WHITE_SPACE), start)
        middle = self._trimmed(sequence(*items[start:end])) if start < end else []
        return [*items[:start][:1], *middle, *items[end:][:1]]

    def _has_edge(self, node: Node) -> bool:
        return isinstance(node, Sequence) and bool(node.items) and WHITE_SPACE in (node.items[0], node.items[-1])

    def _may_mislead(self, item: Node) -> bool:
        """Whether an item may be left out and is more than white space.

        At the end of a terminal it would be taken for begun where what follows begins alike.
        """
        return is_nullable(item, self.rules) and item != WHITE_SPACE

    def terminal(self, node: Node) -> str:
        """A terminal for a node; with a question mark where the node may be empty, which no terminal is."""
        if node == Sequence(()):
            return '""'
        expression = self.expression(node)
        if not is_nullable(node, self.rules):
            return self._named(expression)
        return self._named(f"({expression}) & /(?s:.+)/") + "?"

    def _named(self, expression: str) -> str:
        if expression not in self.by_expression:
            name = f"T{len(self.by_expression) + 1}"
            self.by_expression[expression] = name
            self.terminals[name] = expression
        return self.by_expression[expression]

    def expression(self, node: Node) -> str:
        """The right side of a terminal: a regular expression where that is enough, else terminals put together."""
        if (pattern := self.pattern(node)) is not None:
            return f"/{pattern}/" if pattern else '""'
        match node:
            case Rule(name):
                if name not in self.names:
                    self.names[name] = f"R_{name.upper().replace('-', '_')}"
                    self.terminals[self.names[name]] = self.expression(self.rules[name])
                return self.names[name]
            case Sequence(items):
                return " ".join(self._part(item) for item in self._plain_joined(items))
            case Choice(branches):
                return "(" + " | ".join(self._part(branch) for branch in branches) + ")"
            case Repeat(body, least, most):
                if most == 0:
                    return '""'
                marks = {(0, None): "*", (1, None): "+", (0, 1): "?", (1, 1): ""}
                return f"({self._part(body)}){marks.get((least, most), f'{{{least},{self._most(most)}}}')}"
            case Both(kept, other, _):
                return f"({self._part(kept)} & {self._part(other)})"
            case FreeText():
                return self._free_text(node)
            case Quoted():
                return f"(/{self._plain_quoted(node)}/ & {self._none_of(node.without)})"
        raise TypeError(f"{type(node).__name__} is no terminal")

    def _most(self, most: int | None) -> str:
        return "" if most is None else str(most)

    def _plain_joined(self, items: tuple[Node, ...]) -> list[Node]:
        """Items with neighbours that one regular expression covers joined."""
        result: list[Node] = []
        plain: list[Node] = []
        for item in items:
            if self.pattern(item) is not None:
                plain.append(item)
                continue
            result += [sequence(*plain)] if plain else []
            plain = []
            result.append(item)
        return [*result, *([sequence(*plain)] if plain else [])]

    def _part(self, node: Node) -> str:
        """Part of a terminal, as a terminal of its own where it is more than a regular expression."""
        expression = self.expression(node)
        if expression[0] in '/"' or expression.isidentifier():
            return expression
        return self._named(expression)

    def _free_text(self, node: FreeText) -> str:
        stop = escaped(node.stop)
        words = [word for word in node.without if not node.stop or word not in node.stop]
        demands = [f"/(?s:.*){stop}/"] if node.stop else ["/(?s:.*)/"]
        demands += [f"~/(?s:.*){stop}(?s:.+)/"] if node.stop else []
        demands += [self._none_of(words)] if words else []
        if node.minimum or node.maximum is not None:
            demands.append(f"/(?s:.{{{node.minimum},{self._most(node.maximum)}}}){stop}/")
        if node.matching is not None:
            demands.append(self._part(sequence(node.matching, node.stop)))
        return f"({' & '.join(demands)})"

    def _none_of(self, words: Iterable[str]) -> str:
        """The texts in which none of the words occurs."""
        return f"~/(?s:.*)(?:{'|'.join(map(escaped, words))})(?s:.*)/"

    def _plain_quoted(self, node: Quoted) -> str:
        pattern = self.pattern(sequence(Repeat(Choice((Chars(node.plain), node.escape)), 0, None), node.quote))
        assert pattern is not None
        return pattern

    def pattern(self, node: Node) -> str | None:
        """A regular expression for a node; None where it needs more than one."""
        if id(node) not in self._patterns:
            self._kept.append(node)
            self._patterns[id(node)] = self._find_pattern(node)
        return self._patterns[id(node)]

    def _find_pattern(self, node: Node) -> str | None:
        match node:
            case Text(text):
                return escaped(text)
            case Chars(ranges):
                return character_class(ranges)
            case Sequence(items):
                parts = [self._bracketed(item) for item in items]
                return None if None in parts else "".join(part for part in parts if part is not None)
            case Choice(branches):
                found = [self.pattern(branch) for branch in branches]
                return None if None in found else "(?:" + "|".join(part for part in found if part is not None) + ")"
            case Repeat(body, least, most):
                if most == 0:
                    return ""
                inner = self.pattern(body)
                if inner is None:
                    return None
                marks = {(0, None): "*", (1, None): "+", (0, 1): "?", (1, 1): ""}
                return f"(?:{inner}){marks.get((least, most), f'{{{least},{self._most(most)}}}')}"
            case Quoted() if not node.without:
                return self._plain_quoted(node)
        return None

    def _bracketed(self, node: Node) -> str | None:
        return self.pattern(node)


def _regular_rules(rules: dict[str, Node]) -> set[str]:
    """The names of the rules that no recursion runs through: their texts are a regular language."""
    found: dict[str, bool] = {}
    open_: set[str] = set()

    def is_regular(name: str) -> bool:
        if name in found:
            return found[name]
        if name in open_:
            return False
        open_.add(name)
        found[name] = all(is_regular(each) for each in _references(rules[name]))
        open_.discard(name)
        return found[name]

    for name in rules:
        is_regular(name)
    return {name for name, regular in found.items() if regular and name != "start"}


def _is_part_of_number(node: Node) -> bool:
    """Whether a node begins as fractions, exponents and signs do."""
    first = node.items[0] if isinstance(node, Sequence) and node.items else node
    if isinstance(first, Text):
        return first.text[:1] in ("-", ".")
    return isinstance(first, Chars) and first.ranges == ((0x45, 0x45), (0x65, 0x65))


def _is_one_character(node: Node) -> bool:
    """Whether a node is a choice of characters."""
    return isinstance(node, Choice) and all(isinstance(branch, Chars) for branch in node.branches)


def _references(node: Node) -> list[str]:
    if isinstance(node, Rule):
        return [node.name]
    return [name for child in children(node) for name in _references(child)]


def is_nullable(node: Node, rules: dict[str, Node]) -> bool:
    """Whether the empty text is a node's; only asked of what is regular."""
    match node:
        case Text(text):
            return not text
        case Rule(name):
            return is_nullable(rules[name], rules)
        case Sequence(items):
            return all(is_nullable(item, rules) for item in items)
        case Choice(branches):
            return any(is_nullable(branch, rules) for branch in branches)
        case Repeat(body, least, _):
            return least == 0 or is_nullable(body, rules)
        case Both(kept, other, _):
            return is_nullable(kept, rules) and is_nullable(other, rules)
        case FreeText(stop=stop):
            return not stop
    return False


def escaped(text: str) -> str:
    """A text as a regular expression within slashes."""
    return "".join(_character(character) for character in text)


def _character(character: str) -> str:
    code = ord(character)
    if character.isascii() and (character.isalnum() or character in "_<>=\"',:;!@%&~`"):
        return character
    if 0x20 < code < 0x7F:
        return f"\\{character}"
    return f"\\x{{{code:X}}}"


def character_class(ranges: Ranges) -> str:
    """A set of characters as a class."""
    if ranges == ANY:
        return "(?s:.)"
    parts = [f"\\x{{{low:X}}}" if low == high else f"\\x{{{low:X}}}-\\x{{{high:X}}}" for low, high in ranges]
    return f"[{''.join(parts)}]"
