"""One pace for all generations: pieces a second, pause, and single steps.

In:  what somebody at the page asks for: ``set_rate``, ``pause``, ``go_on``, ``step``.
Out: ``turns()`` for each generation, whose ``next`` returns when its next piece may come.

A generation that was kept waiting doesn't catch up: its next piece comes a full interval after the last one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

import anyio
import anyio.lowlevel

SLOWEST, FASTEST = 0.5, 2000.0
"""Pieces a second; what is asked for beyond is brought between."""


@dataclass(frozen=True, slots=True)
class PaceState:
    """What the page shows of the pace: ``rate`` in pieces a second, and whether it is paused."""

    rate: float
    paused: bool


class Pace:
    """How fast the generations go, for all of them at once.

    >>> pace = Pace(rate=30)
    >>> pace.set_rate(1e9)
    >>> pace.state
    PaceState(rate=2000.0, paused=False)
    """

    def __init__(self, rate: float, *, paused: bool = False, clock: Callable[[], float] = monotonic) -> None:
        self._state = PaceState(_between(rate), paused)
        self._steps = 0
        self._clock = clock
        self._changed: anyio.Event | None = None

    @property
    def state(self) -> PaceState:
        """The pace as it is now."""
        return self._state

    def set_rate(self, rate: float) -> None:
        """Change the speed; a pause stays one."""
        self._change(PaceState(_between(rate), self._state.paused))

    def pause(self) -> None:
        """Let no piece come until ``go_on`` or ``step``."""
        self._change(PaceState(self._state.rate, paused=True))

    def go_on(self) -> None:
        """End the pause."""
        self._change(PaceState(self._state.rate, paused=False))

    def step(self) -> None:
        """Let each generation have one piece, and pause."""
        self._steps += 1
        self.pause()

    def turns(self) -> Turns:
        """The turns of one generation."""
        return Turns(self)

    def _change(self, state: PaceState) -> None:
        self._state = state
        changed, self._changed = self._changed, None
        if changed is not None:
            changed.set()

    async def _until_changed(self, seconds: float | None) -> None:
        """Wait until the pace changes, or for so many seconds."""
        if self._changed is None:
            self._changed = anyio.Event()
        changed = self._changed
        if seconds is None:
            await changed.wait()
        else:
            with anyio.move_on_after(seconds):
                await changed.wait()


class Turns:
    """The turns of one generation: one piece each."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._steps = pace._steps
        self._last = pace._clock()

    async def next(self) -> None:
        """Return when the next piece may come."""
        pace = self._pace
        await anyio.lowlevel.checkpoint()
        while self._steps == pace._steps:
            left = self._last + 1 / pace.state.rate - pace._clock()
            if not pace.state.paused and left <= 0:
                break
            await pace._until_changed(None if pace.state.paused else left)
        else:
            self._steps += 1
        self._last = pace._clock()


def _between(rate: float) -> float:
    return min(max(rate, SLOWEST), FASTEST)
