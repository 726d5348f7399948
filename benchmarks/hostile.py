"""Section: what a million characters of each hostile text cost, in every mode. More than two seconds are marked.

The texts are those of ``growth``, and more that make value parsers, menders or structures work hard.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.measure import seconds
from benchmarks.table import Table, show_progress
from benchmarks.workloads import HARDER_VALUES, HOSTILE, Workload, in_pieces
from streamparse import ResponseParser, StreamparseError, load_response_template

LENGTH, LENGTH_QUICK = 1_000_000, 100_000
SECONDS = 2.0
PIECE = 4
COLUMNS = {"strict, whole": ("strict", None), "report, whole": ("report", None), "repair, whole": ("repair", None)}
COLUMNS |= {"report, by 4": ("report", PIECE), "deltas, by 4": ("report", PIECE)}


def generation(workload: Workload, length: int, errors: str, size: int | None, deltas: bool) -> Callable[[], object]:
    """One generation, to its end or its error."""
    template, text = load_response_template(workload.template), workload.text(length)

    def run() -> object:
        parser = ResponseParser(template, prefix="", errors=errors, deltas=deltas)  # type: ignore[arg-type]
        try:
            for piece in in_pieces(text, size):
                parser.feed(piece)
            return parser.finalize()
        except StreamparseError as error:
            return error

    return run


def report(*, quick: bool) -> None:
    """Print the section: for each text, seconds for a million characters."""
    length = LENGTH_QUICK if quick else LENGTH
    table = Table("Hostile texts, seconds of CPU time for a million characters", ("text", *COLUMNS))
    for workload in (*HOSTILE, *HARDER_VALUES):
        figures = []
        for name, (errors, size) in COLUMNS.items():
            show_progress(f"{workload.name}: {name}")
            taken = seconds(generation(workload, length, errors, size, name.startswith("deltas"))) * LENGTH / length
            figures.append(f"{taken:.2f}{'' if taken <= SECONDS else f' (> {SECONDS:g})'}")
        table.row(workload.name, *figures)
