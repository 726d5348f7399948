r"""JSON Schema's ``pattern`` and ``format`` as nodes: which texts have a match.

In: a regular expression, which is looked for anywhere in a text unless it is anchored. Out: a node for the texts in
which it is found. What has no node (a lookaround, a backreference, an anchor in the middle) raises ``Inexpressible``.
"""

from __future__ import annotations

import regex

from streamparse.grammar.characters import ANY_CHARACTER, class_ranges, contains, difference, of
from streamparse.grammar.nodes import Chars, Choice, Node, Repeat, Sequence, Text, choice, sequence
from streamparse.matching import syntax

MOST_REPEATS = 1000
"""The highest count that is written out; engines expand each repetition."""

ANYTHING: Node = Repeat(ANY_CHARACTER, 0, None)

_YEAR = r"([1-9]\d{3}|0[1-9]\d\d|00[1-9]\d|000[1-9])"
_DAY = r"((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8]))"
_LEAP_DAY = r"((\d\d(0[48]|[2468][048]|[13579][26])|([2468][048]|0[48]|[13579][26])00)-02-29)"
_DATE = f"({_YEAR}-{_DAY}|{_LEAP_DAY})"
_TIME = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)"
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_BYTE = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"

FORMATS = {
    "date": f"^{_DATE}$",
    "time": f"^{_TIME}$",
    "date-time": f"^{_DATE}T{_TIME}$",
    "uuid": r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
    "email": rf"^[A-Za-z0-9_+-]+(\.[A-Za-z0-9_+-]+)*@{_LABEL}(\.{_LABEL})+$",
    "hostname": rf"^{_LABEL}(\.{_LABEL})*$",
    "ipv4": rf"^({_BYTE}\.){{3}}{_BYTE}$",
}
"""The formats that a grammar keeps (RFC 3339, RFC 4122, the everyday part of RFC 5321, RFC 1123)."""


class Inexpressible(ValueError):
    """A pattern that a grammar can't keep; the message says why."""


def texts_matching(pattern: str) -> Node:
    """The texts in which a pattern is found; raises Inexpressible.

    >>> texts_matching("^a?$")
    Repeat(body=Text(text='a'), minimum=0, maximum=1)
    """
    try:
        regex.compile(pattern)
        tree = syntax.parse(pattern)
    except (regex.error, syntax.UnsupportedSyntax) as error:
        raise Inexpressible(str(error)) from error
    branches = tree.branches if isinstance(tree, syntax.Alternatives) else (tree,)
    return choice(_anchored(branch) for branch in branches)


def _anchored(branch: syntax.Node) -> Node:
    """One branch with what may stand before and behind it."""
    items = list(branch.items) if isinstance(branch, syntax.Sequence) else [branch]
    if len(items) == 1 and isinstance(group := items[0], syntax.Group):
        inner = group.body.branches if isinstance(group.body, syntax.Alternatives) else (group.body,)
        return choice(_anchored(each) for each in inner)
    before, behind = ANYTHING, ANYTHING
    if items and isinstance(first := items[0], syntax.Assertion) and first.kind in ("start", "line start"):
        items, before = items[1:], sequence()
    if items and isinstance(last := items[-1], syntax.Assertion) and last.kind in ("end", "last line end", "line end"):
        items, behind = items[:-1], sequence()
    return sequence(before, *map(_node, items), behind)


def _node(node: syntax.Node) -> Node:
    match node:
        case syntax.Chars(source, flags, literal):
            return chars_of(source, flags, literal, dot_is_any=False)
        case syntax.Sequence(items):
            return sequence(*map(_node, items))
        case syntax.Alternatives(branches):
            return choice(map(_node, branches))
        case syntax.Group(body=body):
            return _node(body)
        case syntax.Repeat(body, minimum, maximum, mode) if mode != "possessive":
            if minimum > MOST_REPEATS or (maximum or 0) > MOST_REPEATS:
                raise Inexpressible(f"it repeats more than {MOST_REPEATS} times")
            return Repeat(_node(body), minimum, maximum)
    raise Inexpressible(f"a grammar has no {type(node).__name__.lower()} in the middle of a pattern")


def chars_of(source: str, flags: int, literal: str | None, *, dot_is_any: bool) -> Node:
    """One character of a pattern as a node."""
    if literal is not None:
        return Text(literal)
    if source == "." and not dot_is_any:
        flags &= ~int(regex.DOTALL)
    ranges = class_ranges(source, flags & int(regex.IGNORECASE | regex.DOTALL))
    if not ranges:
        raise Inexpressible(f"{source} holds no character")
    return Chars(ranges)


def encoded(node: Node, special: dict[str, str]) -> Node:
    """The same texts with each special character written as its escape.

    >>> encoded(Text('a"'), {'"': '\\\\"'}).text
    'a\\\\"'
    """
    match node:
        case Text(text):
            return Text("".join(special.get(character, character) for character in text))
        case Chars(ranges):
            escapes = [Text(special[character]) for character in special if contains(ranges, character)]
            plain = difference(ranges, of(special))
            return choice([*([Chars(plain)] if plain else []), *escapes])
        case Repeat(body, minimum, maximum):
            return Repeat(encoded(body, special), minimum, maximum)
        case Sequence(items):
            return sequence(*(encoded(item, special) for item in items))
        case Choice(branches):
            return choice(encoded(branch, special) for branch in branches)
    raise TypeError(f"a pattern has no {type(node).__name__}")
