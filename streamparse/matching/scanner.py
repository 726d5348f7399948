"""The state of one stream: text in, piece by piece; released text and decided matches out.

A ``Scanner`` holds back what may still become a delimiter and releases the rest at once. When a match is decided,
what follows it is handed back, because another watch may be in force after it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from streamparse.errors import LimitError, SnapshotError
from streamparse.limits import DEFAULT_LIMITS, how_to_raise
from streamparse.matching.automaton_prefilter import AutomatonPrefilter
from streamparse.matching.bounded import BoundedSeeker
from streamparse.matching.cursor import UNKNOWN_EDGE, Cursor
from streamparse.matching.deferred import DeferredSeeker
from streamparse.matching.delimiter_set import DelimiterSet
from streamparse.matching.held import HeldText
from streamparse.matching.non_linear import NonLinearSeekers
from streamparse.matching.transition_memo import PIECE_AT_MOST

Seeker = Cursor | BoundedSeeker | DeferredSeeker


@dataclass(slots=True)
class Match:
    """A delimiter that was found: which entry of the watch, where (absolute positions), its text and named groups.

    ``before`` is the end of the text before it, as much as the scanner keeps as context.
    """

    index: int
    start: int
    end: int
    text: str
    captures: dict[str, str]
    before: str = ""


#: Text to be released, a match after it, and the text that is not consumed yet with the place where it starts.
Scanned = tuple[str, Match | None, str, int]


_FIRST_SLICE = 1_024
_LARGEST_SLICE = 65_536


class Scanner:
    r"""Finds the delimiters of a watch in a stream.

    ``limit`` bounds the characters held back, ``position`` is the absolute position of the first character (``^`` and
    ``\A`` match at 0 only), ``context`` how many characters before a place are kept for ``\b`` and lookbehinds: as many
    as the neediest watch wants that this scanner will be switched to. ``pattern_steps`` bounds what delimiters that
    have to be tried may cost, ``pattern_seconds`` the searches for those that only ``regex`` can find.

    >>> from streamparse.matching.delimiter import Delimiter
    >>> scanner = Scanner(DelimiterSet([Delimiter.of_literals(["</x>"])]))
    >>> scanner.scan("a<", 0)
    ('a', None, 'a<', 2)
    >>> released, match, text, resume = scanner.scan("/x>b", 0)
    >>> match.text, match.start, text[resume:]
    ('</x>', 1, 'b')
    """

    def __init__(
        self,
        watch: DelimiterSet,
        limit: int = DEFAULT_LIMITS.held_text,
        *,
        position: int = 0,
        context: int | None = None,
        pattern_steps: int = DEFAULT_LIMITS.pattern_steps,
        pattern_seconds: float = DEFAULT_LIMITS.pattern_seconds,
    ) -> None:
        self.limit = limit
        self.watch = watch
        self.context_size = watch.context if context is None else context
        self._before = ""
        self._guard_at = -1
        self._held = HeldText()
        self._cursor = Cursor(watch, limit)
        self._others = NonLinearSeekers(limit, pattern_steps, pattern_seconds)
        self._start_seekers(position)

    @property
    def position(self) -> int:
        """The absolute position up to which text has been released or matched."""
        return (self._cursor.read if self._plain else self._read) - self._held.length

    @property
    def held(self) -> int:
        """How many characters are held back."""
        return self._held.length

    @property
    def idle(self) -> bool:
        """Whether nothing is held back."""
        return not self._held.length

    def switch(self, watch: DelimiterSet) -> None:
        """Looks for other delimiters from here on; only when nothing is held, as after a match."""
        if self._held.length:
            raise ValueError("the watch can't be changed while text is held back")
        position = self.position
        self.watch = watch
        self._start_seekers(position)

    def skip(self, text: str) -> None:
        """Passes over text in which, as the caller knows, no delimiter begins; only when nothing is held."""
        self._remember(text)
        if self._plain and self._cursor.state.quiet:
            self._cursor.read += len(text)
        else:
            self._start_seekers(self.position + len(text))

    def take_held(self) -> str:
        """What is held back, which is then not consumed: for a caller that will look for something else in it."""
        position = self.position
        text = self._held.take_all()
        self._start_seekers(position)
        return text

    def rewind(self, position: int, before: str) -> None:
        """Goes back to a place, of which ``before`` is the context: what was taken from there on is scanned again.

        Only when nothing is held. A match of the empty text is forbidden there if it is forbidden here.
        """
        self._guard_at = position if self._guard_at == self.position else -1
        self._before = before
        self._start_seekers(position)

    def forbid_zero_width_here(self) -> None:
        """Lets no match of the empty text happen at this position, until a character has been consumed."""
        self._guard_at = self.position
        self._start_seekers(self._guard_at)

    @property
    def _seekers(self) -> Sequence[Seeker]:
        """Those that look for the delimiters of the watch, the automaton first."""
        return (self._cursor, *self._others.bounded, *self._others.deferred)

    def _start_seekers(self, position: int) -> None:
        """Looks for the delimiters of the watch from a position on, at which nothing is held."""
        watch = self.watch
        if watch.context > self.context_size:
            raise ValueError(f"the scanner keeps {self.context_size} characters of context, {watch.context} are needed")
        guarded = self._guard_at == position
        self._read = position
        self._cursor.reset(watch, position, self._before, guarded=guarded)
        if self._others.used or not watch.plain:
            self._others.start(watch, position, self._before, guarded=guarded)
        #: Whether the automaton alone decides, so that scan() can ask it directly.
        self._plain = watch.plain and not guarded and not self.context_size

    def scan(self, text: str, start: int = 0) -> Scanned:
        """Takes ``text[start:]``; returns the released text, the match after it, and what is to be scanned again.

        Without a match everything is consumed: what is not released is held. With one, nothing is held, and
        ``text[resume:]`` of the text that is returned has to be scanned again, with the watch then in force. Raises
        LimitError if more would have to be held back than the limit allows.
        """
        if start or not self._plain or not text:
            return self._step(text, start) if self._plain else self._scan(text, start)
        cursor = self._cursor
        state = cursor.state
        if not state.quiet:
            if not cursor.registers:
                return self._step(text)
            edges = state.edges
            for character in text:
                if edges.get(character, UNKNOWN_EDGE) is not None:
                    return self._step(text)
            self._held.append(text)
            cursor.read += len(text)
            if self._held.length > self.limit:
                cursor.raise_limit()
            return "", None, text, len(text)
        prefilter = cursor.prefilter
        if prefilter.letters is None:
            return self._step(text)
        for letter in prefilter.letters:
            if letter in text:
                if prefilter.find is None or prefilter.find(text):
                    return self._step(text)
                break
        if prefilter.run is not None:
            return self._skip_run(text, cursor, prefilter)
        cursor.read += len(text)
        return text, None, text, len(text)

    def _step(self, text: str, start: int = 0) -> Scanned:
        """Lets the automaton step through a piece, where it alone decides."""
        cursor, held = self._cursor, self._held
        position = cursor.read - held.length
        fresh = len(text) - start
        self._read = cursor.read + fresh
        if fresh > PIECE_AT_MOST or not cursor.take_transition(text[start:] if start else text):
            cursor.feed(text, start)
        if cursor.found is not None:
            return self._matched(cursor.found, text, start)
        if cursor.registers:
            hold = cursor.registers[0]
            if hold == position and not start:
                held.append(text)
                return "", None, text, len(text)
            return self._hold_from(hold, text, start)
        rest = text[start:] if start else text
        released = held.take_all() + rest if held.length else rest
        return released, None, text, len(text)

    def _become_plain(self) -> None:
        """Lets the automaton alone decide again, once nothing forbids an empty match any more."""
        self._plain = self.watch.plain and not self.context_size and not self._cursor.guard

    def _skip_run(self, text: str, cursor: Cursor, prefilter: AutomatonPrefilter) -> Scanned:
        """Releases a piece in which no delimiter starts, but for a leading run at its end."""
        held, length, cut = self._held, len(text), len(text)
        assert prefilter.in_run is not None
        assert prefilter.run_start is not None
        if prefilter.in_run[text[-1]]:
            # Most runs are one blank between words.
            cut = length - 1
            if not cut or prefilter.in_run[text[cut - 1]]:
                cut = prefilter.run_start(text, 0, length).start()
        if held.length:
            if held.length + length > self.limit:
                return self._scan(text, 0)
            if not cut:
                held.append(text)
                cursor.read += length
                return "", None, text, length
            released = held.take_all() + text[:cut]
        else:
            released = text[:cut] if cut < length else text
        if cut < length:
            held.append(text[cut:])
            assert prefilter.run is not None
            cursor.state, cursor.registers = prefilter.run, [cursor.read + cut]
        elif cursor.registers:
            cursor.state, cursor.registers = cursor.automaton.resting, ()
        cursor.read += length
        return released, None, text, length

    def _scan(self, text: str, start: int) -> Scanned:
        """The same for any watch."""
        if start == len(text):
            return "", None, text, start
        self._read += len(text) - start
        hold, found = self._read, None
        for piece in _slices(text, start):
            hold, found = self._feed(piece)
            if found is not None and found[0] < hold:
                return self._matched(found, text, start)
        scanned = self._hold_from(hold if found is None else min(hold, found[0]), text, start)
        self._become_plain()
        return scanned

    def _feed(self, piece: str) -> tuple[int, tuple[int, int, int] | None]:
        """Lets all seekers read; where a match may still start, and the best match that is decided."""
        for seeker in self._seekers:
            if seeker.found is None:
                seeker.feed(piece, 0)
        cursor = self._cursor
        self._others.advance(cursor.hold if cursor.found is None else cursor.found[0])
        hold = min((seeker.hold for seeker in self._seekers if seeker.found is None), default=self._read)
        found = min((s.found for s in self._seekers if s.found is not None), key=_preference, default=None)
        return hold, found

    def finish(self) -> Scanned:
        """Takes the text for complete: the same as ``scan``, but nothing is held back afterwards.

        After a match, what follows it has to be scanned again and ``finish`` be called again.
        """
        self._read = self.position + self._held.length
        self._plain = False
        for seeker in self._seekers:
            seeker.finish()
        self._others.advance(math.inf if self._cursor.found is None else self._cursor.found[0])
        found = min((s.found for s in self._seekers if s.found is not None), key=_preference, default=None)
        if found is not None:
            return self._matched(found, "", 0)
        released = self._held.take_all()
        self._remember(released)
        self._start_seekers(self._read)
        return released, None, "", 0

    def _hold_from(self, hold: int, text: str, start: int) -> Scanned:
        """Releases everything before a position and holds the rest."""
        held = self._held
        keep = self._read - hold
        if keep > self.limit:
            raise LimitError(
                f"more than {self.limit} characters are held back that may still become a delimiter; "
                + how_to_raise("held_text"),
                limit="held_text",
                position=hold,
            )
        fresh = len(text) - start
        if keep <= fresh:
            cut = len(text) - keep
            released = held.take_all() + text[start:cut] if held.length else text[start:cut]
            held.append_rest(text, cut)
        else:
            released = held.take(held.length + fresh - keep)
            held.append(text[start:])
        if self.context_size:
            self._remember(released)
        return released, None, text, len(text)

    def _matched(self, found: tuple[int, int, int], text: str, start: int) -> Scanned:
        """Hands out a match and what comes before and after it."""
        first, last, index = found
        fresh_at = self._read - len(text) + start
        position = fresh_at - self._held.length
        window, origin = text, fresh_at - start
        if not self._held.length:
            pass
        elif start == len(text):
            window, window_start = self._held.whole()
            origin = position - window_start
            self._held.clear()
        else:
            window, origin = self._held.take_all() + text[start:], position
        entry = self.watch.entries[index]
        captures = self._captures(index, window, origin, first, last) if entry.groups else {}
        released = window[position - origin : first - origin]
        found_text = window[first - origin : last - origin]
        if self.context_size:
            self._remember(released)
        match = Match(index, first, last, found_text, captures, self._before)
        if last >= fresh_at and start < len(text):
            window, origin = text, fresh_at - start
        if self.context_size:
            self._remember(found_text)
        if self._others.used:
            self._others.settle(last)
        if self._plain and last != self._guard_at:
            self._cursor.start(last, "")
        else:
            self._start_seekers(last)
        return released, match, window, last - origin

    def _captures(self, index: int, window: str, origin: int, first: int, last: int) -> dict[str, str]:
        """The named groups of a match; ``origin`` is the position at which the window begins."""
        captures = self._others.captures(index)
        if captures is not None:
            return captures
        return self.watch.entries[index].captures(window, origin, first, last, self._before)

    def _remember(self, text: str) -> None:
        """Keeps the end of text that is given out, as context of what follows."""
        if self.context_size and text:
            self._before = (self._before + text)[-self.context_size :]

    def snapshot(self) -> dict[str, Any]:
        """What is needed to go on elsewhere, as JSON-able data; the watch is not part of it."""
        return {
            "position": self.position,
            "held": self._held.peek(),
            "before": self._before,
            "guarded": self._guard_at == self.position,
            "steps": self._others.steps_before(self.position),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Takes up what ``snapshot`` gave, under the watch that the scanner has now; raises SnapshotError."""
        try:
            position, held, before = int(saved["position"]), str(saved["held"]), str(saved["before"])
            guarded = bool(saved["guarded"])
            used, reach = map(int, saved["steps"])
        except (KeyError, TypeError, ValueError) as error:
            raise SnapshotError(f"the saved state of a scanner is damaged: {error!r}") from error
        self._held = HeldText()
        self._before = before
        self._others.restore_steps(used, reach)
        self._guard_at = position if guarded else -1
        self._start_seekers(position)
        released, match, _, _ = self.scan(held, 0)
        if released or match is not None:
            raise SnapshotError("the saved state of a scanner belongs to other delimiters")


def _slices(text: str, start: int) -> Iterator[str]:
    """The text from a place on, in growing slices, so that a match near its beginning does not cost a look at all."""
    size = _FIRST_SLICE
    while start < len(text):
        yield text[start : start + size]
        start += size
        size = min(4 * size, _LARGEST_SLICE)


def _preference(found: tuple[int, int, int]) -> tuple[int, int, int]:
    """Leftmost, then longest, then in the order of the watch."""
    start, end, index = found
    return start, -end, index
