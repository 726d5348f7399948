"""Members of an object, or arguments of a call: which may be left out, in which order they stand.

In: the members as nodes, each required or not, what separates two of them, and a node for members that nobody named.
Out: one node for all of them together. In the schema's order it grows linearly with the members; in any order it has a
state for each set of required members that are still missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamparse.grammar.nodes import EMPTY, Node, Repeat, Rule, Rules, choice, optional, sequence

MOST_IN_ANY_ORDER = 6
"""Required members whose order is free; the states double with each."""


@dataclass(frozen=True, slots=True)
class Member:
    """One member, key and value."""

    node: Node
    required: bool


def in_order(rules: Rules, name: str, members: Sequence[Member], separator: Node, other: Node | None) -> Node:
    """The members in the order given, then any number of others."""
    others: Node = EMPTY if other is None else Repeat(sequence(separator, other), 0, None)
    first_required = next((at for at, member in enumerate(members) if member.required), len(members))
    rest: Node = others
    for member in reversed(members[first_required + 1 :]):
        follows = sequence(separator, member.node)
        rest = sequence(follows if member.required else optional(follows), rest)
    begin: Node = EMPTY if other is None else optional(sequence(other, others))
    if first_required < len(members):
        begin = sequence(members[first_required].node, rest)
        rest = sequence(separator, begin)
    if first_required > 1:
        rest, begin = _ruled(rules, name, rest), _ruled(rules, name, begin)
    for at in reversed(range(first_required)):
        branches = [sequence(members[at].node, rest), begin]
        begin = choice(branches)
        rest = sequence(optional(sequence(separator, members[at].node)), rest)
        if at:
            rest, begin = _ruled(rules, name, rest), _ruled(rules, name, begin)
    return begin


def _ruled(rules: Rules, name: str, node: Node) -> Node:
    return node if isinstance(node, Rule) or node == EMPTY else rules.define(f"{name}-rest", node)


def in_any_order(
    rules: Rules, name: str, members: Sequence[Member], separator: Node, other: Node | None, *, once: bool
) -> Node | None:
    """The members in any order; with ``once`` none of them twice. None where that takes too many states."""
    counted = [at for at, member in enumerate(members) if member.required or once]
    if len(counted) > MOST_IN_ANY_ORDER:
        return None
    free = [member.node for at, member in enumerate(members) if at not in counted]
    free += [] if other is None else [other]
    states: dict[tuple[frozenset[int], bool], Rule] = {}

    def state(missing: frozenset[int], begun: bool) -> Rule:
        if (missing, begun) in states:
            return states[missing, begun]
        rule = states[missing, begun] = rules.define(f"{name}-any", EMPTY)
        before = separator if begun else EMPTY
        branches: list[Node] = [
            sequence(before, members[at].node, state(missing - {at}, True)) for at in sorted(missing)
        ]
        branches += [sequence(before, node, state(missing, True)) for node in free]
        if not any(members[at].required for at in missing):
            branches.append(EMPTY)
        rules.nodes[rule.name] = choice(branches)
        return rule

    return state(frozenset(counted), False)
