"""Section: the most memory that a generation takes above what the process had, each in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tracemalloc

from benchmarks.table import Table, show_progress
from benchmarks.workloads import LITERAL, PROSE
from streamparse import ResponseParser, load_response_template

LENGTH, LENGTH_QUICK = 2_000_000, 500_000
TARGET = 8.0
MEGABYTE = 1_000_000
FIELDS = {"content": "", "thinking": "<think>", "tool_calls": "<tool_call>"}
"""The field that the text is in, and what opens it."""


def peak_kilobytes() -> int:
    """The most memory that this process has had, in kilobytes (bytes on macOS)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


def stream(field: str, length: int, size: int, errors: str) -> dict[str, float]:
    """Megabytes above the start: while the text streams, with tracemalloc and as resident memory."""
    template = load_response_template(LITERAL)
    piece = PROSE[:size]
    warm_up = ResponseParser(template, prefix="", errors=errors)  # type: ignore[arg-type]
    warm_up.feed(FIELDS[field] + piece * 100)
    parser = ResponseParser(template, prefix="", errors=errors)  # type: ignore[arg-type]
    feed = parser.feed
    start = peak_kilobytes()
    feed(FIELDS[field])
    for _ in range(length // size):
        feed(piece)
    resident = (peak_kilobytes() - start) * 1024 / MEGABYTE
    tracemalloc.start()
    parser = ResponseParser(template, prefix="", errors=errors)  # type: ignore[arg-type]
    feed = parser.feed
    feed(FIELDS[field])
    for _ in range(length // size):
        feed(piece)
    streaming = tracemalloc.get_traced_memory()[1] / MEGABYTE
    if errors != "strict" or field != "tool_calls":
        parser.finalize()
    return {"resident": resident, "streaming": streaming, "with_end": tracemalloc.get_traced_memory()[1] / MEGABYTE}


def in_child(field: str, length: int, size: int, errors: str) -> dict[str, float]:
    """The same in a new process."""
    arguments = [field, str(length), str(size), errors]
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", *arguments], capture_output=True, text=True, check=True
    )
    figures: dict[str, float] = json.loads(answer.stdout)
    return figures


def report(*, quick: bool) -> None:
    """Print the section."""
    length = LENGTH_QUICK if quick else LENGTH
    columns = ("region", "pieces of", "MB resident", "MB allocated", "with the end")
    table = Table(f"Peak memory above the start while {length:,} ASCII characters stream through a region", columns)
    for field in FIELDS:
        for size in (1, 4, 64):
            for errors in ("strict", "report"):
                show_progress(f"memory, {field}, pieces of {size}")
                figures = in_child(field, length, size, errors)
                mark = "" if figures["streaming"] <= TARGET and figures["resident"] <= TARGET else f" (> {TARGET:g})"
                table.row(
                    f"{field}, {errors}",
                    str(size),
                    f"{figures['resident']:.1f}",
                    f"{figures['streaming']:.1f}{mark}",
                    f"{figures['with_end']:.1f}",
                )


if __name__ == "__main__":
    print(json.dumps(stream(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])))
