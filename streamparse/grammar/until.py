"""Text up to a mark as a finite automaton, for targets that have neither "anything but" nor the shortest match.

In: the texts that may not occur, and the one that ends the text. Out: states, each with its transitions by sets of
characters (Aho and Corasick's automaton, 1975): how much of each text has been seen is all that has to be known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from streamparse.grammar.characters import complement, of
from streamparse.grammar.nodes import Ranges


@dataclass(frozen=True, slots=True)
class State:
    """A state: the character sets that lead on, and where to; ``ends`` is the set that completes the stop text."""

    moves: tuple[tuple[Ranges, int], ...]
    ends: Ranges


def automaton(stop: str, without: Sequence[str]) -> list[State]:
    """The states of text in which none of ``without`` occurs, up to and with the first ``stop``; the first one begins.

    With an empty ``stop`` the text may end in any state.

    >>> [state.ends for state in automaton("ab", ())]
    [(), ((98, 98),)]
    """
    words = [word for word in dict.fromkeys((stop, *without)) if word]
    nexts: list[dict[str, int]] = [{}]
    final: list[str | None] = [None]
    for word in words:
        at = 0
        for character in word:
            if character not in nexts[at]:
                nexts[at][character] = len(nexts)
                nexts.append({})
                final.append(None)
            at = nexts[at][character]
        final[at] = word
    failure = _failures(nexts, final)
    numbers = {at: number for number, at in enumerate(at for at in range(len(nexts)) if final[at] is None)}
    return [_state(at, nexts, final, failure, numbers, stop) for at in numbers]


def _failures(nexts: list[dict[str, int]], final: list[str | None]) -> list[int]:
    """Where to go on from each state when its next character is another; a state is final where a shorter one is."""
    failure = [0] * len(nexts)
    waiting = deque(nexts[0].values())
    while waiting:
        at = waiting.popleft()
        for character, to in nexts[at].items():
            waiting.append(to)
            back = failure[at]
            while back and character not in nexts[back]:
                back = failure[back]
            failure[to] = nexts[back].get(character, 0) if nexts[back].get(character, 0) != to else 0
        if final[at] is None:
            final[at] = final[failure[at]]
    return failure


def _state(
    at: int,
    nexts: list[dict[str, int]],
    final: list[str | None],
    failure: list[int],
    numbers: dict[int, int],
    stop: str,
) -> State:
    moves: dict[int, list[str]] = {}
    ends: list[str] = []
    known: dict[str, int] = {}
    back = at
    while True:
        for character, to in nexts[back].items():
            known.setdefault(character, to)
        if not back:
            break
        back = failure[back]
    for character, to in known.items():
        if final[to] is None:
            moves.setdefault(to, []).append(character)
        elif final[to] == stop:
            ends.append(character)
    others = complement(of(known))
    grouped = [(of(characters), numbers[to]) for to, characters in moves.items()]
    start = numbers[0]
    home = [ranges for ranges, to in grouped if to == start]
    if home:
        from streamparse.grammar.characters import union

        others = union(others, *home)
    return State((*((ranges, to) for ranges, to in grouped if to != start), (others, start)), of(ends))
