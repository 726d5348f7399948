r"""What a template's author should know about a pattern: each warning says what to write instead.

In comes a pattern's tree and the way in which it can be matched, out come sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from streamparse.matching.program import NotLinear, is_nullable, linear_program
from streamparse.matching.syntax import (
    Alternatives,
    Assertion,
    Atomic,
    Chars,
    Group,
    Look,
    Node,
    Repeat,
    Sequence,
    UnsupportedSyntax,
    parse,
    walk,
    width,
)


def warnings_of(pattern: str, kind: str) -> list[str]:
    r"""The warnings about a pattern that is matched in the given way (see ``Delimiter.kind``).

    >>> warnings_of(r"</x>(?:\s*<end>)?", "linear")
    ['a match can be the beginning of a longer one, so it is only acted on when more text has come']
    """
    try:
        tree = parse(pattern)
    except UnsupportedSyntax as error:
        return [_END.format(error)]
    warnings = [_END.format("a loop or a reference that is too involved")] if kind == "end" else []
    if kind == "bounded":
        warnings.append(_BOUNDED.format(_why_not_linear(tree)))
    return warnings + [message for applies, message in _RULES if applies(tree)]


_HIGH_COUNT = 100

_END = (
    "only the regex module understands this pattern ({}): it is looked for when the whole text is known, and until "
    "then everything is held back; write it with literals, classes, groups, alternatives, repeats and a lookahead at "
    "its end"
)
_BOUNDED = (
    "this pattern can't be matched in linear time ({}): it is tried at each place where it may start, within a limit "
    "of steps; write it with literals, classes, groups, alternatives, repeats and a lookahead at its end"
)


def _why_not_linear(tree: Node) -> str:
    try:
        linear_program(tree)
    except NotLinear as error:
        return str(error)
    return "it is too long"


def _plain(node: Node) -> Node:
    """The node without the groups around it."""
    while isinstance(node, Group | Atomic):
        node = node.body
    return node


def _is_endless(node: Node) -> bool:
    plain = _plain(node)
    return isinstance(plain, Repeat) and plain.maximum is None


def _matches_nothing(tree: Node) -> bool:
    """Whether the empty text matches wherever it stands; a lookahead asks for something at least."""
    return is_nullable(tree) and not any(isinstance(node, Look) and node.ahead for node in walk(tree))


def _looks_far(tree: Node) -> bool:
    """Whether a lookahead passes over any amount of ordinary text, over letters and line ends alike."""
    looks = (node for node in walk(tree) if isinstance(node, Look) and node.ahead)
    repeats = (node for look in looks for node in walk(look.body) if isinstance(node, Repeat) and node.maximum is None)
    return any(
        isinstance(part, Chars) and part.contains("a") and part.contains("\n")
        for repeat in repeats
        for part in walk(repeat.body)
    )


def _nests_repeats(tree: Node) -> bool:
    """Whether an endless repeat's round can be one endless repeat and nothing else."""
    for node in walk(tree):
        if not isinstance(node, Repeat) or node.maximum is not None:
            continue
        body = _plain(node.body)
        branches = body.branches if isinstance(body, Alternatives) else (body,)
        for branch in branches:
            items = branch.items if isinstance(branch, Sequence) else (branch,)
            if any(_is_endless(item) and all(is_nullable(o) for o in items if o is not item) for item in items):
                return True
    return False


def _counts_high(tree: Node) -> bool:
    return any(
        isinstance(node, Repeat) and (node.maximum or node.minimum) > _HIGH_COUNT and width(node.body)[1] != 0
        for node in walk(tree)
    )


def _strips_lazily(tree: Node) -> bool:
    for node in walk(tree):
        items = node.items if isinstance(node, Sequence) else ()
        for before, value, after in zip(items, items[1:], items[2:], strict=False):
            lazy = _plain(value)
            if isinstance(lazy, Repeat) and lazy.mode == "lazy" and lazy.maximum is None:
                runs = [_plain(side) for side in (before, after)]
                if all(_is_endless(run) and isinstance(run, Repeat) and isinstance(run.body, Chars) for run in runs):
                    return True
    return False


def _last_parts(tree: Node) -> Iterator[Node]:
    """The nodes that a match can end with."""
    tree = _plain(tree)
    if isinstance(tree, Sequence) and tree.items:
        yield from _last_parts(tree.items[-1])
    elif isinstance(tree, Alternatives):
        for branch in tree.branches:
            yield from _last_parts(branch)
    else:
        yield tree


def _may_go_on(tree: Node) -> bool:
    """Whether the pattern ends with something optional that is more than a run of one class, or with ``|$``."""
    for part in _last_parts(tree):
        if isinstance(part, Repeat) and part.minimum == 0 and not isinstance(_plain(part.body), Chars):
            return True
    branches = _plain(tree)
    ends = ("last line end", "end", "line end")
    return isinstance(branches, Alternatives) and any(
        isinstance(branch, Assertion) and branch.kind in ends for branch in branches.branches
    )


_RULES: tuple[tuple[Callable[[Node], bool], str], ...] = (
    (_matches_nothing, "the pattern can match the empty text; say what has to be there at least"),
    (
        _looks_far,
        "a lookahead without a bound depends on text far behind the match, which is held back until it has come; "
        "look for a text that follows directly",
    ),
    (
        _nests_repeats,
        "a repeat within a repeat can be matched in many ways, which takes exponential time where it is searched by "
        "trying; write the inner one without its repeat",
    ),
    (
        _counts_high,
        "a repeat with a high count costs that many times as much; write * or +, and a class that says where it ends",
    ),
    (
        _strips_lazily,
        r"a lazy group between two runs such as \s* is matched in cubic time where it is searched by trying; "
        "leave the runs out and strip the value",
    ),
    (
        _may_go_on,
        "a match can be the beginning of a longer one, so it is only acted on when more text has come",
    ),
)
