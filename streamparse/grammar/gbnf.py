"""GBNF, the grammars of llama.cpp.

In: the rules of a grammar and its start. Out: the text of the grammar, and what it leaves out. GBNF has no
intersections: of two demands on one text the first is kept, and text up to a mark is written as an automaton.
xgrammar's EBNF is the same notation, so its grammars are written here too.
"""

from __future__ import annotations

from streamparse.grammar.characters import ANY, complement, contains, intersection
from streamparse.grammar.nodes import (
    Both,
    Chars,
    Choice,
    FreeText,
    Node,
    Quoted,
    Ranges,
    Relaxation,
    Repeat,
    Rule,
    Sequence,
    Text,
    choice,
    reachable,
    sequence,
    walk,
)
from streamparse.grammar.until import automaton

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def gbnf(rules: dict[str, Node], start: Node) -> tuple[str, list[Relaxation]]:
    r"""Write a grammar.

    >>> gbnf({}, Text("a"))[0]
    'root ::= "a"\n'
    """
    writer = _Writer()
    every = reachable({**rules, "root": start}, "root")
    lines = {"root": writer.expression(start, 0)}
    for name, node in every.items():
        if name != "root":
            lines[name] = writer.expression(node, 0)
    lines |= writer.automata
    text = "".join(f"{name} ::= {expression}\n" for name, expression in lines.items())
    return text, list(dict.fromkeys(writer.relaxed))


class _Writer:
    """Writes expressions; text up to a mark becomes rules of its own, shared by all that is up to the same mark."""

    def __init__(self) -> None:
        self.automata: dict[str, str] = {}
        self.relaxed: list[Relaxation] = []
        self._known: dict[tuple[str, tuple[str, ...]], str] = {}

    def expression(self, node: Node, level: int) -> str:
        """An expression; ``level`` is 0 where alternatives may stand bare, 1 in a sequence, 2 before a count."""
        match node:
            case Text(text):
                return literal(text)
            case Chars(ranges):
                return character_class(ranges)
            case Rule(name):
                return name
            case Sequence(items):
                text = " ".join(self.expression(item, 1) for item in items) or '""'
                return f"({text})" if level > 1 and len(items) != 1 else text
            case Choice(branches):
                text = " | ".join(self.expression(branch, 1) for branch in branches)
                return f"({text})" if level else text
            case Repeat():
                return self._repeat(node, level)
            case Both(kept, _, relaxed):
                self.relaxed.append(relaxed)
                return self.expression(kept, level)
            case Quoted():
                return self._quoted(node)
        return self._free_text(node, level)

    def _quoted(self, node: Quoted) -> str:
        """The rest of a string, as an automaton where there is something that it may not have."""
        if not node.without:
            body = Repeat(choice([Chars(node.plain), node.escape]), 0, None)
            return self.expression(sequence(body, node.quote), 1)
        key = (node.quote, node.without)
        if key not in self._known:
            base = f"text-{len(self._known) + 1}"
            self._known[key] = base
            states = automaton(node.quote, node.without)
            names = [base if number == 0 else f"{base}-{number}" for number in range(len(states))]
            escape = self.expression(node.escape, 1)
            for name, state in zip(names, states, strict=True):
                moves = [(intersection(ranges, node.plain), to) for ranges, to in state.moves]
                parts = [f"{character_class(ranges)} {names[to]}" for ranges, to in moves if ranges]
                self.automata[name] = " | ".join([*parts, f"{escape} {base}", literal(node.quote)])
        return self._known[key]

    def _repeat(self, node: Repeat, level: int) -> str:
        body, least, most = node.body, node.minimum, node.maximum
        if most == 0:
            return '""'
        inner = self.expression(body, 2)
        if isinstance(body, Repeat) or (isinstance(body, Text) and not body.text):
            inner = f"({inner})"
        marks = {(0, None): "*", (1, None): "+", (0, 1): "?", (1, 1): ""}
        mark = marks.get((least, most))
        if mark is None:
            mark = f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"
        text = inner + mark
        return f"({text})" if level > 1 else text

    def _free_text(self, node: FreeText, level: int) -> str:
        if node.matching is not None or node.minimum or node.maximum is not None:
            if node.matching is not None and node.stop and not _may_hold(node.matching, node.stop[0]):
                counts = tuple(keyword for keyword in node.keywords if "Length" in keyword)
                self._relax(node, counts, "beside a pattern")
                return self.expression(sequence(node.matching, node.stop), level)
            self._relax(node, node.keywords, "of a text that ends at a mark")
        key = (node.stop, node.without)
        if key not in self._known:
            self._known[key] = self._automaton(node)
        return self._known[key]

    def _relax(self, node: FreeText, keywords: tuple[str, ...], reason: str) -> None:
        self.relaxed += [Relaxation(node.where, keyword, reason) for keyword in keywords]

    def _automaton(self, node: FreeText) -> str:
        base = f"text-{len(self._known) + 1}"
        without = [word for word in node.without if not node.stop or word not in node.stop]
        states = automaton(node.stop, without)
        names = [base if number == 0 else f"{base}-{number}" for number in range(len(states))]
        for name, state in zip(names, states, strict=True):
            moves = [f"{character_class(ranges)} {names[to]}" for ranges, to in state.moves if ranges]
            if state.ends:
                moves.append(character_class(state.ends))
            if not node.stop:
                moves.append('""')
            self.automata[name] = " | ".join(moves)
        return base


def _may_hold(node: Node, character: str) -> bool:
    """Whether the texts of a node may have a character in them."""
    for each in walk(node):
        if isinstance(each, Text) and character in each.text:
            return True
        if isinstance(each, Chars) and contains(each.ranges, character):
            return True
    return False


def literal(text: str) -> str:
    """A text in quotes."""
    return '"' + "".join(_escaped(character, '"') for character in text) + '"'


def character_class(ranges: Ranges) -> str:
    """A set of characters in brackets; one that is nearly everything by what it lacks."""
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return literal(chr(ranges[0][0]))
    if ranges == ANY:
        return "[^\\x00]"  # no notation of "any character" is common to llama.cpp, xgrammar and llguidance
    lacking = complement(ranges)
    if ranges[-1][1] == 0x10FFFF and lacking:
        return f"[^{_members(lacking)}]"
    return f"[{_members(ranges)}]"


def _members(ranges: Ranges) -> str:
    parts = []
    for low, high in ranges:
        first, last = _escaped(chr(low), "]^-["), _escaped(chr(high), "]^-[")
        parts.append(first if low == high else f"{first}-{last}" if high > low + 1 else first + last)
    return "".join(parts)


def _escaped(character: str, special: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    if character == '"' and character in special:
        return '\\"'
    if code < 0x20 or code == 0x7F or character in special:
        return f"\\x{code:02X}"
    if code > 0xFFFF and special != '"':
        return f"\\U{code:08X}"
    return f"\\u{code:04X}" if special != '"' and code > 0x7E else character
