"""The report: rows are printed as soon as they are measured."""

from __future__ import annotations

import sys
from collections.abc import Sequence


class Table:
    """A table with a heading and columns of fixed widths; the first column is text, the others are figures."""

    def __init__(self, title: str, columns: Sequence[str], width: int = 32) -> None:
        self._columns = columns
        self._width = width
        print(f"\n{title}")
        self.row(*columns)
        self.row(*("-" * len(column) for column in columns))

    def row(self, name: str, *figures: str) -> None:
        """Print one row."""
        clear_progress()
        cells = [name.ljust(self._width)]
        cells += [figure.rjust(max(len(column), 9)) for figure, column in zip(figures, self._columns[1:], strict=True)]
        print("  ".join(cells).rstrip(), flush=True)


def show_progress(text: str) -> None:
    """Say what is being measured, on a terminal, in a line that the next row replaces."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text} …", end="", file=sys.stderr, flush=True)


def clear_progress() -> None:
    """Remove the line of ``show_progress``."""
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def with_target(ratio: float, target: float) -> str:
    """A ratio that should be at least so high, marked where it is not."""
    return f"{ratio:.1f}× {'' if ratio >= target else f'(< {target:g}×)'}".rstrip()


def with_limit(ratio: float, limit: float) -> str:
    """A ratio that should be at most so high, marked where it is not."""
    return f"{ratio:.1f}× {'' if ratio <= limit else f'(> {limit:g}×)'}".rstrip()
