"""A delimiter that has to be tried at each place where it may start.

In comes text, piece by piece; out come the place of the attempt that waits for more (``hold``) and the match
(``found``). What no attempt can need any more is not kept.
"""

from __future__ import annotations

from streamparse.errors import LimitError
from streamparse.limits import how_to_raise
from streamparse.matching.backtrack import BLOCKED, MATCHED, Attempt, Budget, Known
from streamparse.matching.first_set import FirstSet
from streamparse.matching.instructions import Program

_KEPT_AT_MOST = 4_096


class BoundedSeeker:
    """Looks for one delimiter from ``position`` on; ``before`` is the text before it, ``index`` that of the entry."""

    __slots__ = (
        "_at",
        "_attempt",
        "_blocked",
        "_budget",
        "_characters",
        "_guarded",
        "_known",
        "_limit",
        "_program",
        "_starts",
        "captures",
        "found",
        "index",
    )

    def __init__(
        self,
        program: Program,
        starts: FirstSet,
        index: int,
        position: int,
        before: str,
        *,
        guarded: bool,
        limit: int,
        budget: Budget,
    ) -> None:
        self._program = program
        self._starts = starts
        self._characters = list(before)
        self._known = Known(self._characters, position - len(before))
        self._at = position
        self._attempt: Attempt | None = None
        self._blocked = False
        self._guarded = guarded
        self._limit = limit
        self._budget = budget
        self.index = index
        self.found: tuple[int, int, int] | None = None
        self.captures: dict[str, str] = {}

    @property
    def hold(self) -> int:
        """No match starts before this position."""
        return self._at

    def feed(self, text: str, start: int) -> None:
        """Takes ``text[start:]``, in which :meth:`advance` then tries."""
        if self._attempt is None and self._at and self._at == self._known.end and self._starts.find is not None:
            trigger = self._starts.find(text, start)
            end = trigger.start() if trigger else len(text)
            if end > start:
                self.pass_over(text, start, end)
                start = end
        if start < len(text):
            self.forget()
            self._characters += text[start:] if start else text
            self._blocked = False

    def finish(self) -> None:
        """Takes the text for complete."""
        self._known.final = True
        self._blocked = False

    def pass_over(self, text: str, start: int, end: int) -> None:
        """Goes on to a place in the text, keeping only what a pattern looks back on."""
        context = self._program.context
        self._at += end - start
        self._guarded = False
        if context:
            self._characters += text[max(start, end - context) : end]
            del self._characters[:-context]
        else:
            self._characters.clear()
        self._known.base = self._at - len(self._characters)

    @property
    def can_advance(self) -> bool:
        """Whether there is a place to be tried in the text that is known."""
        return self.found is None and not self._blocked and self._at < self._end

    @property
    def _end(self) -> int:
        """The place behind the last one that can be tried."""
        return self._known.end + self._known.final

    def advance(self, until: float) -> None:
        """Tries one place after the other, up to a last one, in the text that is known."""
        known, budget, end = self._known, self._budget, self._end
        while self._at < end:
            attempt = self._attempt
            if attempt is None:
                if 0 < self._at < known.end and not self._starts[self._characters[self._at - known.base]]:
                    self._guarded = False
                    self._at += 1
                    continue
                if self._at > until:
                    return
                budget.begin(self._at)
                known.reach = self._at
                attempt = self._attempt = Attempt(self._program, self._at, forbid_empty=self._guarded)
            outcome = attempt.run(known, budget)
            if outcome is BLOCKED:
                self._blocked = True
                self.check_limit(known.end)
                return
            self.check_limit(known.reach)
            if outcome is MATCHED:
                self.found = attempt.start, attempt.place, self.index
                self.captures = attempt.groups(known)
                return
            self._attempt = None
            self._guarded = False
            self._at += 1

    def check_limit(self, read: int) -> None:
        """Raises LimitError if more than the limit is held back."""
        if read - self._at > self._limit:
            raise LimitError(
                f"more than {self._limit} characters are held back that may still become a delimiter; "
                + how_to_raise("held_text"),
                limit="held_text",
                position=self._at,
            )

    def forget(self) -> None:
        """Drops the characters that no attempt will look at."""
        unused = self._at - self._program.context - self._known.base
        if unused > _KEPT_AT_MOST:
            del self._characters[:unused]
            self._known.base += unused
