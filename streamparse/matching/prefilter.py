r"""Prefilter for whole pieces: a compiled search for the literals that delimiters begin with.

In:  delimiters, as trees.
Out: a ``Prefilter``, which finds the first position in a piece of text at which a delimiter begins, or may begin with
     what comes next; None where some delimiter has no literal beginning (``[^<]*<x>``), so that the lazy DFA has to
     read every character.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from streamparse.matching.delimiter import Delimiter
from streamparse.matching.syntax import (
    Alternatives,
    Assertion,
    Chars,
    Group,
    Look,
    Node,
    Repeat,
    Sequence,
)

_HEADS_AT_MOST = 24
_HEAD_LENGTH_AT_MOST = 32
_CHARACTERS_AT_MOST = 10_000

# A beginning of what a node matches, and whether what follows the node follows this text directly.
Beginning = tuple[str, bool]


@dataclass(frozen=True, eq=False)
class Prefilter:
    r"""A search for the beginnings of delimiters.

    ``search(text)`` finds a whole head, or a part of one at the end of the text (its text is then in ``parts``).
    ``letters`` are the characters that heads begin with. ``run`` is what may stand before some heads and belong to the
    delimiter (such as the ``\s`` of a leading ``\s*``): trailing characters of that kind may not be given out yet.
    ``after_run`` has the parts that may stand behind such a run.
    """

    search: Callable[[str], re.Match[str] | None]
    letters: tuple[str, ...]
    parts: frozenset[str]
    run: Chars | None
    after_run: frozenset[str] = frozenset()

    @cached_property
    def run_characters(self) -> RunCharacters | None:
        """Which characters ``run`` takes, as a table that all who search with these heads fill together."""
        return None if self.run is None else RunCharacters(self.run)


class RunCharacters(dict[str, bool]):
    """Whether a character is one that may stand before a head, looked up once a character."""

    def __init__(self, run: Chars) -> None:
        super().__init__()
        self._contains = run.contains

    def __missing__(self, character: str) -> bool:
        found = self._contains(character)
        if len(self) < _CHARACTERS_AT_MOST:
            self[character] = found
        return found


def prefilter_of(delimiters: Iterable[Delimiter], marks: Iterable[str] = ()) -> Prefilter | None:
    r"""The heads of delimiters that are watched together; None where they have no literal ones.

    ``marks`` are found like heads of one character.

    >>> heads = prefilter_of([Delimiter.of_literals(["<think>"]), Delimiter.of_pattern(r"\s*<tool_call>\s*")])
    >>> heads.search("a < b <thing"), heads.search("a <th").group(), heads.run.source, heads.letters
    (None, '<th', '\\s', ('<',))
    """
    texts: set[str] = set(marks)
    at_the_end: set[str] = set()
    runs: set[Chars] = set()
    after_run: set[str] = set()
    for delimiter in delimiters:
        if delimiter.tree is None or delimiter.context:
            return None
        run, core = _leading_run(delimiter.tree)
        beginnings = _beginnings(core, at_the_end)
        if beginnings is None or any(not text for text, _ in beginnings):
            return None
        if run is not None:
            runs.add(run)
            after_run |= {text[:length] for text, _ in beginnings for length in range(1, _HEAD_LENGTH_AT_MOST)}
        texts |= {text[:_HEAD_LENGTH_AT_MOST] for text, _ in beginnings}
    if len(runs) > 1 or len(texts) > _HEADS_AT_MOST:
        return None
    # a head that begins with another one is found by that one
    texts = {text for text in texts if not any(text != other and text.startswith(other) for other in texts)}
    run = runs.pop() if runs else None
    if run is not None and (run.contains("a") or any(run.contains(text[0]) for text in texts)):
        return None  # a run of letters is prose: there is no idle text beside it
    parts = {text[:length] for text in texts for length in range(1, len(text))}
    pattern = _pattern(texts, at_the_end)
    letters = tuple(sorted({text[0] for text in texts | at_the_end}))
    undecided = frozenset((parts | at_the_end) - texts)
    return Prefilter(re.compile(pattern).search, letters, undecided, run, frozenset(after_run))


def _leading_run(tree: Node) -> tuple[Chars | None, Node]:
    """A greedy run of one class at the beginning, without an upper bound, and the rest of the pattern."""
    match tree:
        case Sequence((Repeat(body=Chars() as run, minimum=0, maximum=None, mode="greedy"), *rest)):
            return run, Sequence(tuple(rest))
    return None, tree


def _beginnings(node: Node, at_the_end: set[str], *, first: bool = True) -> list[Beginning] | None:
    """How a match of the node can begin, None where that is not literal text.

    ``first`` where nothing of the match stands before the node: an assertion about the beginning or the end of all text
    then leads nowhere in idle text, but for ``$``, which adds what it can stand before to ``at_the_end``.
    """
    found: list[Beginning] | None
    match node:
        case Chars(literal=str(letter)):
            found = [(letter, True)]
        case Group(body=body):
            found = _beginnings(body, at_the_end, first=first)
        case Alternatives(branches):
            each = [_beginnings(branch, at_the_end, first=first) for branch in branches]
            found = None if None in each else [beginning for more in each if more is not None for beginning in more]
        case Sequence(items):
            found = _sequence(items, at_the_end, first)
        case Repeat():
            found = _repeat(node, at_the_end, first)
        case Look(ahead=True, negative=False, body=body) if first:
            ahead = _beginnings(body, at_the_end)
            found = None if ahead is None else [(text, False) for text, _ in ahead]
        case Assertion() | Look() if not first:
            found = [("", False)]
        case Assertion(kind="start" | "end"):
            found = []
        case Assertion(kind="last line end"):
            at_the_end.add("\n")
            found = []
        case _:
            found = None
    return found if found is None or len(found) <= _HEADS_AT_MOST else None


def _sequence(items: tuple[Node, ...], at_the_end: set[str], first: bool) -> list[Beginning] | None:
    """The beginnings of items one after the other: as long as the text so far is literal, it grows."""
    found: list[Beginning] = [("", True)]
    for item in items:
        grown: list[Beginning] = []
        for text, goes_on in found:
            more = _beginnings(item, at_the_end, first=first and not text) if goes_on else [("", False)]
            # where what follows is not literal, the text so far is all that is known
            grown += [(text, False)] if more is None else [(text + tail, still) for tail, still in more]
        found = list(dict.fromkeys(grown))
        if len(found) > _HEADS_AT_MOST or not any(goes_on for _, goes_on in found):
            break
    return found


def _repeat(node: Repeat, at_the_end: set[str], first: bool) -> list[Beginning] | None:
    once = _beginnings(node.body, at_the_end, first=first)
    if once is None:
        return None
    found = [(text, goes_on and node.maximum == 1) for text, goes_on in once]
    return [("", True), *found] if node.minimum == 0 else found


def _pattern(texts: Iterable[str], at_the_end: Iterable[str]) -> str:
    r"""A regular expression for a whole text, or a part of one that the end (``\Z``) cuts off."""
    tree: dict[str, Any] = {}
    for text in sorted(texts):
        branch = tree
        for letter in text:
            branch = branch.setdefault(letter, {})
    branches = [re.escape(letter) + _rest(branch) for letter, branch in tree.items()]
    branches += [re.escape(text) + r"\Z" for text in at_the_end]
    return "|".join(branches) or "(?!)"


def _rest(branch: dict[str, Any]) -> str:
    if not branch:
        return ""
    return r"(?:\Z|" + "|".join(re.escape(letter) + _rest(inner) for letter, inner in branch.items()) + ")"
