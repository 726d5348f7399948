"""Hostile texts cost time in proportion to their length: counted in calls of Python functions, not in seconds."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from benchmarks.hostile import generation
from benchmarks.workloads import HARDER_VALUES, HOSTILE, Workload

SMALL, LARGE = 4_000, 16_000


def calls(run: Any) -> int:
    """How many functions were called, of Python and of C."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("size", [None, 4], ids=["whole", "by 4"])
@pytest.mark.parametrize("workload", [*HOSTILE, *HARDER_VALUES], ids=lambda workload: workload.name)
def test_four_times_the_text_is_four_times_the_work(workload: Workload, size: int | None) -> None:
    generation(workload, SMALL, "repair", size, True)()  # what is compiled once is no part of it
    small = calls(generation(workload, SMALL, "repair", size, True))
    large = calls(generation(workload, LARGE, "repair", size, True))
    assert large < 6 * small + 2_000
