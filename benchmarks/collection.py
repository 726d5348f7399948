"""How often Python's garbage collector runs while something is measured: as it does by itself, or as is advised.

In: thresholds. Out: a context in which they hold, and in which what was there before is passed over.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (50_000, 50, 100)
"""Thresholds of the garbage collector for a process with thousands of generations (docs/many-generations.md)."""


def collections() -> list[tuple[str, tuple[int, int, int] | None]]:
    """How often the garbage collector may run, in words, and its thresholds for that; None to leave it as it is."""
    return [("as often as Python does", None), ("seldom, as advised", SELDOM)]


@contextmanager
def collected(thresholds: tuple[int, int, int] | None) -> Iterator[None]:
    """Let the garbage collector run as often as these thresholds say, and pass over what is there already."""
    if thresholds is None:
        yield
        return
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*thresholds)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
