"""Section: what ``parse_stream`` over an asynchronous source costs beyond the parser alone, a piece."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

import anyio

from benchmarks.measure import medians
from benchmarks.table import Table, show_progress
from benchmarks.workloads import FORMATS, Workload, in_tokens
from streamparse import ResponseParser, load_response_template, parse_stream
from streamparse.template import ResponseTemplate

LENGTH, LENGTH_QUICK = 200_000, 20_000
TARGET = 3.0


async def arriving(pieces: Sequence[str]) -> AsyncIterator[str]:
    """An asynchronous source that never has to wait."""
    for piece in pieces:
        yield piece


def alone(template: ResponseTemplate, pieces: Sequence[str]) -> Callable[[], object]:
    """The core."""

    def run() -> object:
        parser = ResponseParser(template, prefix="", errors="report")
        for piece in pieces:
            for _ in parser.feed(piece):
                pass
        return parser.finalize()

    return run


def streamed(
    template: ResponseTemplate, pieces: Sequence[str], *, chaining: bool, backend: str
) -> Callable[[], object]:
    """The same pieces from an asynchronous source, in an event loop."""

    async def consume() -> None:
        async with parse_stream(arriving(pieces), template, prefix="", chaining=chaining) as stream:
            async for _ in stream:
                pass

    return lambda: anyio.run(consume, backend=backend)


def compare(table: Table, workload: Workload, length: int) -> None:
    """A row: the core alone, and what each way of streaming adds."""
    show_progress(f"{workload.name} as a stream")
    template, pieces = load_response_template(workload.template), in_tokens(workload.text(length))
    runners = {
        "alone": alone(template, pieces),
        "asyncio": streamed(template, pieces, chaining=True, backend="asyncio"),
        "trio": streamed(template, pieces, chaining=True, backend="trio"),
        "unchained": streamed(template, pieces, chaining=False, backend="asyncio"),
    }
    found = {name: value / len(pieces) * 1e6 for name, value in medians(runners, 5).items()}
    added = {name: value - found["alone"] for name, value in found.items()}
    mark = "" if added["asyncio"] <= TARGET else f" (> {TARGET:g})"
    table.row(
        workload.name,
        f"{found['alone']:.2f}",
        f"+{added['asyncio']:.2f}{mark}",
        f"+{added['trio']:.2f}",
        f"+{added['unchained']:.2f}",
    )


def report(*, quick: bool) -> None:
    """Print the section."""
    length = LENGTH_QUICK if quick else LENGTH
    columns = ("format", "the core", "asyncio", "trio", "a task a stage")
    table = Table(f"parse_stream over an asynchronous source, µs a piece ({length:,} characters)", columns)
    for workload in FORMATS:
        compare(table, workload, length)
