"""Section: the time of one generation in token-sized pieces, against transformers' parser and against a floor.

The floor is what nobody can go below in Python who gives out events: an object and a dict for each piece.
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.measure import medians, repeated
from benchmarks.table import Table, show_progress, with_target
from benchmarks.workloads import FORMATS, HARDER, Template, Workload, in_tokens
from streamparse import ResponseParser, load_response_template

LENGTHS = (2_000, 20_000, 200_000)
TARGETS = {"usual": (3.0, 6.0, 15.0), "harder": (3.0, 5.0, 13.0)}


@dataclass(frozen=True, slots=True)
class Chunk:
    """What the floor makes of a piece, beside a dict."""

    text: str


def ours(template: Template, pieces: Sequence[str]) -> Callable[[], object]:
    loaded = load_response_template(template)

    def run() -> object:
        parser = ResponseParser(loaded, prefix="")
        feed = parser.feed
        for piece in pieces:
            feed(piece)
        return parser.finalize()

    return run


def theirs(template: Template, pieces: Sequence[str]) -> Callable[[], object]:
    from transformers.utils.chat_parsing.response_parser import ResponseParser as Reference
    from transformers.utils.chat_parsing.response_templates import load_response_template as load_reference

    logging.getLogger("transformers").setLevel(logging.ERROR)
    loaded = load_reference(template)

    def run() -> object:
        parser = Reference(loaded, prefix="")
        feed = parser.feed
        for piece in pieces:
            feed(piece)
        return parser.finalize()

    return run


def floor(pieces: Sequence[str]) -> Callable[[], object]:
    def run() -> object:
        chunk: Any = None
        for piece in pieces:
            chunk = Chunk(piece)
            _ = [{"type": "region_chunk", "field": "content", "text": chunk.text, "dirty": False}]
        return chunk

    return run


def compare(table: Table, workload: Workload, targets: Sequence[float], *, quick: bool) -> None:
    """A row for each length."""
    for length, target in zip(LENGTHS, targets, strict=True):
        if quick and length == LENGTHS[-1]:
            continue
        show_progress(f"{workload.name}, {length:,} characters")
        pieces = in_tokens(workload.text(length))
        run_ours, run_theirs = ours(workload.template, pieces), theirs(workload.template, pieces)
        assert run_ours() is not None
        several, times = repeated(run_ours)
        several_theirs, their_times = repeated(run_theirs)
        several_floor, floor_times = repeated(floor(pieces))
        runners = {"ours": several, "theirs": several_theirs, "floor": several_floor}
        found = medians(runners, 3 if quick else 5 if length == LENGTHS[-1] else 11)
        a_piece = {
            "ours": found["ours"] / times / len(pieces) * 1e6,
            "theirs": found["theirs"] / their_times / len(pieces) * 1e6,
            "floor": found["floor"] / floor_times / len(pieces) * 1e6,
        }
        table.row(
            workload.name,
            f"{length:,}",
            f"{a_piece['ours']:.2f}",
            f"{a_piece['theirs']:.2f}",
            f"{a_piece['floor']:.2f}",
            f"{a_piece['ours'] / a_piece['floor']:.1f}",
            with_target(a_piece["theirs"] / a_piece["ours"], target),
        )


def report(*, quick: bool) -> None:
    """Print the section."""
    if importlib.util.find_spec("transformers") is None:
        raise SystemExit("transformers is not installed, so there is nothing to compare with: make bench installs it")
    columns = ("format", "characters", "µs a piece", "transformers", "floor", "of the floor", "faster by")
    table = Table("One generation in token-sized pieces (CPU time, medians of interleaved runs)", columns)
    for kind, workloads in (("usual", FORMATS), ("harder", HARDER)):
        for workload in workloads:
            compare(table, workload, TARGETS[kind], quick=quick)
