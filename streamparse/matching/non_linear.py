"""Seekers for the delimiters of a set that the lazy DFA can't find: those that are tried, and those left to ``regex``.

In:  the set, and the position from which it is looked for.
Out: their seekers, whose attempts are made in an order that does not depend on how the text is cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamparse.matching.backtrack import Budget
from streamparse.matching.bounded import BoundedSeeker
from streamparse.matching.deferred import DeferredSeeker, SearchTime
from streamparse.matching.delimiter_set import DelimiterSet


class NonLinearSeekers:
    """The seekers; their budget of steps and of time is one for the whole stream, whatever sets it is read under."""

    __slots__ = ("_budget", "_limit", "_pattern_steps", "_time", "bounded", "deferred", "used")

    def __init__(self, limit: int, pattern_steps: int, pattern_seconds: float) -> None:
        self._limit = limit
        self._pattern_steps = pattern_steps
        self._budget: Budget | None = None
        self._time = SearchTime(pattern_seconds)
        self.used = False
        """Whether there ever was such a delimiter; most streams have none."""
        self.bounded: Sequence[BoundedSeeker] = ()
        self.deferred: Sequence[DeferredSeeker] = ()

    def start(self, watch: DelimiterSet, position: int, before: str, *, guarded: bool) -> None:
        """Look for the delimiters of a set from a position on, behind the context ``before``."""
        if self._budget is not None:
            self._budget.go_back(position)
        self.bounded = self.deferred = ()
        self.used = self.used or bool(watch.bounded or watch.deferred)
        if watch.bounded:
            self._budget = budget = self._budget or Budget(self._pattern_steps)
            bounded = []
            for index in watch.bounded:
                program = watch.entries[index].backtracking
                assert program is not None
                first, limit = watch.first_sets[index], self._limit
                seeker = BoundedSeeker(
                    program, first, index, position, before, guarded=guarded, limit=limit, budget=budget
                )
                bounded.append(seeker)
            self.bounded = bounded
        if watch.deferred:
            self.deferred = [
                DeferredSeeker(watch.entries[index], index, position, before, guarded=guarded, time=self._time)
                for index in watch.deferred
            ]

    def advance(self, until: float) -> None:
        """Make the attempts that decide, up to a position: those at one position after those at the positions before.

        So no attempt is made that an earlier match makes needless, and the same ones are made however the text is cut.
        """
        seekers = self.bounded
        while ready := [seeker for seeker in seekers if seeker.can_advance]:
            seeker = min(ready, key=lambda one: one.hold)
            last = min([until, *(other.hold for other in seekers if other is not seeker)])
            if seeker.hold > last:
                return
            seeker.advance(last)

    def settle(self, position: int) -> None:
        """Note that a match has been decided, which ends at a position."""
        if self._budget is not None:
            self._budget.settle(position)

    def captures(self, index: int) -> dict[str, str] | None:
        """The named groups of the match of a delimiter that was tried; None for other delimiters."""
        return next((seeker.captures for seeker in self.bounded if seeker.index == index and seeker.found), None)

    def steps_before(self, position: int) -> list[int]:
        """The steps used up to a position, and how far they have read, for a snapshot."""
        return list(self._budget.counted_before(position)) if self._budget is not None else [0, 0]

    def restore_steps(self, used: int, reach: int) -> None:
        """Take up what :meth:`steps_before` gave."""
        self._budget = Budget(self._pattern_steps, used, reach) if used else None
        self.used = self.used or self._budget is not None
