"""Section: how time grows with the text, on hostile texts too, whatever the size of the pieces. Linear is 2.0×."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from benchmarks.measure import least, repeated
from benchmarks.table import Table, show_progress
from benchmarks.workloads import HOSTILE, Workload, in_pieces
from streamparse import ResponseParser, load_response_template

SMALLEST, LARGEST = 62_500, 2_000_000
LARGEST_QUICK = 125_000
PIECES: dict[str, int | None] = {"1": 1, "4": 4, "64": 64, "whole": None}
TARGET = 2.2
TELLING = 0.005
"""Seconds below which the time of one doubling is that of the machine's caches."""


def generation(workload: Workload, length: int, size: int | None) -> Callable[[], object]:
    """One generation without a conclusion: what may be quadratic is finding the delimiters."""
    template, text = load_response_template(workload.template), workload.text(length)

    def run() -> object:
        parser = ResponseParser(template, prefix="", errors="report")
        feed = parser.feed
        for piece in in_pieces(text, size):
            feed(piece)
        return parser.finalize()

    return run


def report(*, quick: bool) -> None:
    """Print the section: for each text and size of pieces the time a character, and the steepest growth."""
    largest = LARGEST_QUICK if quick else LARGEST
    lengths = [SMALLEST]
    while lengths[-1] < largest:
        lengths.append(lengths[-1] * 2)
    title = f"Growth from {lengths[0]:,} to {lengths[-1]:,} characters, by size of the pieces (errors='report')"
    columns = ("text", "pieces", "ns a character", "per doubling", "steepest")
    table = Table(title, columns)
    for workload in HOSTILE:
        for name, size in PIECES.items():
            taken = []
            for length in lengths:
                show_progress(f"{workload.name}, pieces of {name}, {length:,} characters")
                several, times = repeated(generation(workload, length, size), at_least=0.005)
                taken.append(least(several, 3 if length < 300_000 else 1) / times)
            overall = (taken[-1] / taken[0]) ** (1 / (len(lengths) - 1))
            steepest = max((later / earlier for earlier, later in pairwise(taken) if later >= TELLING), default=0.0)
            mark = "" if max(overall, steepest) <= TARGET else f" (> {TARGET}×)"
            table.row(
                workload.name,
                name,
                f"{taken[-1] / lengths[-1] * 1e9:.0f}",
                f"{overall:.2f}×",
                (f"{steepest:.2f}×" if steepest else "–") + mark,
            )
