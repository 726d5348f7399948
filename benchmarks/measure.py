"""Measuring: CPU time of functions, in turns, so that a busy machine is unfair to none of them."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping

Runner = Callable[[], object]


def seconds(run: Runner) -> float:
    """CPU time of one run, with nothing left over to be collected from the one before."""
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        run()
        return time.process_time() - start
    finally:
        gc.enable()


def medians(runners: Mapping[str, Runner], times: int) -> dict[str, float]:
    """The median CPU time of each function, which run in turn, ``times`` times."""
    taken: dict[str, list[float]] = {name: [] for name in runners}
    for _ in range(times):
        for name, run in runners.items():
            taken[name].append(seconds(run))
    return {name: statistics.median(values) for name, values in taken.items()}


def repeated(run: Runner, at_least: float = 0.02) -> tuple[Runner, int]:
    """A function repeated until it takes long enough to be timed, and how often."""
    once = max(seconds(run), 1e-6)
    times = max(1, int(at_least / once))

    def several() -> None:
        for _ in range(times):
            run()

    return several, times


def least(run: Runner, times: int) -> float:
    """The shortest CPU time of several runs: the one that was disturbed least."""
    return min(seconds(run) for _ in range(times))
