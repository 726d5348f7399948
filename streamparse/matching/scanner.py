"""The state of one stream: text in, piece by piece; released text and decided matches out.

A ``Scanner`` holds back what may still become a delimiter and releases the rest at once. When a match is decided,
what follows it is handed back, because another watch may be in force after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from streamparse.errors import LimitError, SnapshotError
from streamparse.limits import DEFAULT_LIMITS
from streamparse.matching.deferred import DeferredSeeker
from streamparse.matching.held import HeldText
from streamparse.matching.linear import LinearSeeker
from streamparse.matching.watch import Watch

Seeker = LinearSeeker | DeferredSeeker


@dataclass(slots=True)
class Match:
    """A delimiter that was found: which entry of the watch, where (absolute positions), its text and named groups."""

    index: int
    start: int
    end: int
    text: str
    captures: dict[str, str]


#: Text to be released, a match after it, and the text that is not consumed yet with the place where it starts.
Scanned = tuple[str, Match | None, str, int]


class Scanner:
    r"""Finds the delimiters of a watch in a stream.

    ``limit`` bounds the characters held back, ``position`` is the absolute position of the first character (``^`` and
    ``\A`` match at 0 only), ``context`` how many characters before a place are kept for ``\b`` and lookbehinds: as many
    as the neediest watch wants that this scanner will be switched to.

    >>> from streamparse.matching.delimiter import Delimiter
    >>> scanner = Scanner(Watch([Delimiter.of_literals(["</x>"])]))
    >>> scanner.scan("a<", 0)
    ('a', None, 'a<', 2)
    >>> released, match, text, resume = scanner.scan("/x>b", 0)
    >>> match.text, match.start, text[resume:]
    ('</x>', 1, 'b')
    """

    def __init__(
        self, watch: Watch, limit: int = DEFAULT_LIMITS.held_text, *, position: int = 0, context: int | None = None
    ) -> None:
        self.limit = limit
        self.watch = watch
        self.context_size = watch.context if context is None else context
        self._position = position
        self._before = ""
        self._guard_at = -1
        self._held = HeldText()
        self._linear = LinearSeeker(watch, limit)
        self._start_seekers()

    @property
    def position(self) -> int:
        """The absolute position up to which text has been released or matched."""
        return self._linear.read if self._quick else self._position

    @property
    def held(self) -> int:
        """How many characters are held back."""
        return self._held.length

    @property
    def idle(self) -> bool:
        """Whether nothing is held back."""
        return not self._held.length

    def switch(self, watch: Watch) -> None:
        """Looks for other delimiters from here on; only when nothing is held, as after a match."""
        if self._held.length:
            raise ValueError("the watch can't be changed while text is held back")
        if watch.context > self.context_size:
            raise ValueError(f"the scanner keeps {self.context_size} characters of context, {watch.context} are needed")
        self._position = self.position
        self.watch = watch
        self._start_seekers()

    def skip(self, count: int) -> None:
        """Passes over characters in which, as the caller knows, no delimiter begins; only when nothing is held."""
        self._position = self.position + count
        self._start_seekers()

    def take_held(self) -> str:
        """What is held back, which is then not consumed: for a caller that will look for something else in it."""
        self._position = self.position
        text = self._held.take_all()
        self._start_seekers()
        return text

    def forbid_zero_width_here(self) -> None:
        """Lets no match of the empty text happen at this position, until a character has been consumed."""
        self._position = self._guard_at = self.position
        self._start_seekers()

    def _start_seekers(self) -> None:
        """Looks for the delimiters of the watch from the position on."""
        watch, position = self.watch, self._position
        guarded = self._guard_at == position
        self._linear.reset(watch, position, self._before, guarded=guarded)
        self._seekers: list[Seeker] = [self._linear]
        self._seekers += [DeferredSeeker(watch, i, position, self._before, guarded) for i in watch.deferred]
        self._quick = self._can_be_quick()

    def _can_be_quick(self) -> bool:
        """Whether a piece without triggers can be released without another look."""
        return (
            self._linear.state.quiet
            and not self._linear.registers
            and self.watch.idle.letters is not None
            and not self._held.length
            and not self.context_size
            and not self.watch.bounded
            and not self.watch.deferred
            and self._guard_at != self._linear.read
        )

    def scan(self, text: str, start: int = 0) -> Scanned:
        """Takes ``text[start:]``; returns the released text, the match after it, and what is to be scanned again.

        Without a match everything is consumed: what is not released is held. With one, nothing is held, and
        ``text[resume:]`` of the text that is returned has to be scanned again, with the watch then in force. Raises
        LimitError if more would have to be held back than the limit allows.
        """
        if self._quick and text and not start:
            idle = self.watch.idle
            for letter in idle.letters or ():
                if letter in text:
                    break
            else:
                if idle.run_table is None or not idle.run_table[text[-1]]:
                    self._linear.read += len(text)
                    return text, None, text, len(text)
        return self._scan(text, start)

    def _scan(self, text: str, start: int) -> Scanned:
        self._position = self.position
        self._quick = False
        if start == len(text):
            return "", None, text, start
        for seeker in self._seekers:
            if seeker.found is None:
                seeker.feed(text, start)
        read = self._position + self._held.length + len(text) - start
        hold = min((seeker.hold for seeker in self._seekers if seeker.found is None), default=read)
        found = min((s.found for s in self._seekers if s.found is not None), key=_preference, default=None)
        if found is not None and found[0] < hold:
            return self._matched(found, text, start)
        return self._hold_from(hold if found is None else min(hold, found[0]), text, start)

    def finish(self) -> Scanned:
        """Takes the text for complete: the same as ``scan``, but nothing is held back afterwards.

        After a match, what follows it has to be scanned again and ``finish`` be called again.
        """
        self._position = self.position
        self._quick = False
        for seeker in self._seekers:
            seeker.finish()
        found = min((s.found for s in self._seekers if s.found is not None), key=_preference, default=None)
        if found is not None:
            return self._matched(found, "", 0)
        released = self._held.take_all()
        self._consume(released)
        self._start_seekers()
        return released, None, "", 0

    def _hold_from(self, hold: int, text: str, start: int) -> Scanned:
        """Releases everything before a position and holds the rest."""
        fresh = text[start:] if start else text
        length = len(text)
        keep = self._position + self._held.length + len(fresh) - hold
        if keep > self.limit:
            raise LimitError(
                f"more than {self.limit} characters are held back that may still become a delimiter",
                limit="held_text",
                position=self._position,
            )
        if keep == 0:
            released = self._held.take_all() + fresh if self._held.length else fresh
        elif hold == self._position:
            self._held.append(fresh)
            return "", None, text, length
        elif keep <= len(fresh):
            cut = len(fresh) - keep
            released = self._held.take_all() + fresh[:cut]
            self._held.append(fresh[cut:])
        else:
            released = self._held.take(hold - self._position)
            self._held.append(fresh)
        self._consume(released)
        self._quick = keep == 0 and self._can_be_quick()
        return released, None, text, length

    def _matched(self, found: tuple[int, int, int], text: str, start: int) -> Scanned:
        """Hands out a match and what comes before and after it."""
        first, last, index = found
        position, held = self._position, self._held.length
        window, origin = text, position - start
        if held:
            window, origin = self._held.take_all() + (text[start:] if start else text), position
        entry = self.watch.entries[index]
        captures = entry.captures(window, first - origin, last - origin, self._before) if entry.groups else {}
        match = Match(index, first, last, window[first - origin : last - origin], captures)
        released = window[position - origin : first - origin]
        if held and last >= position + held:
            window, origin = text, position + held - start
        self._consume(released)
        self._consume(match.text)
        self._start_seekers()
        return released, match, window, last - origin

    def _consume(self, text: str) -> None:
        """Moves the position over text that is given out."""
        self._position += len(text)
        if self.context_size and text:
            self._before = (self._before + text)[-self.context_size :]

    def snapshot(self) -> dict[str, Any]:
        """What is needed to go on elsewhere, as JSON-able data; the watch is not part of it."""
        return {
            "position": self.position,
            "held": self._held.peek(),
            "before": self._before,
            "guarded": self._guard_at == self.position,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Takes up what ``snapshot`` gave, under the watch that the scanner has now; raises SnapshotError."""
        try:
            position, held, before = int(saved["position"]), str(saved["held"]), str(saved["before"])
            guarded = bool(saved["guarded"])
        except (KeyError, TypeError, ValueError) as error:
            raise SnapshotError(f"the saved state of a scanner is damaged: {error!r}") from error
        self._held = HeldText()
        self._before, self._position = before, position
        self._guard_at = position if guarded else -1
        self._quick = False
        self._start_seekers()
        released, match, _, _ = self.scan(held, 0)
        if released or match is not None:
            raise SnapshotError("the saved state of a scanner belongs to other delimiters")


def _preference(found: tuple[int, int, int]) -> tuple[int, int, int]:
    """Leftmost, then longest, then in the order of the watch."""
    start, end, index = found
    return start, -end, index
