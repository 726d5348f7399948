"""Section: what argument deltas cost, beside plain events, and beside parsing all arguments again for each piece.

The peer is ``partial-json-parser``, with which parsers of vLLM read the arguments so far anew for each piece. That
takes quadratic time, so it is run on shorter texts only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import partial_json_parser

from benchmarks.measure import medians
from benchmarks.table import Table, show_progress, with_limit
from benchmarks.workloads import in_tokens
from streamparse import ResponseParser, load_response_template
from streamparse.template import ResponseTemplate

LENGTH, LENGTH_QUICK = 200_000, 20_000
PEER_LENGTHS, PEER_LENGTHS_QUICK = (2_000, 8_000), (2_000,)
TARGET = 2.0

PROSE = "The quick brown fox jumps over the lazy dog, and then it rests for a while. "
CODE = 'def f(x):\n    if x:\n        return "a\\tb"\n    return None\n\n'


def arguments_of(kind: str, length: int) -> dict[str, object]:
    """Arguments of about that many characters."""
    if kind == "prose in one string":
        return {"text": PROSE * (length // len(PROSE))}
    if kind == "code in one string":
        return {"text": CODE * (length // len(CODE))}
    return {"items": [{"n": n, "on": True} for n in range(length // 24)]}


SHORT = "many short calls"
KINDS = ("prose in one string", "code in one string", "many small items", SHORT)


def call_text(kind: str, length: int) -> str:
    """A call in the form of Hermes and Qwen, or many."""
    if kind == SHORT:
        return "\n".join(call_with({"city": "Oslo", "days": n, "detailed": True}) for n in range(length // 110))
    return call_with(arguments_of(kind, length))


def call_with(arguments: dict[str, object]) -> str:
    """A call with some arguments."""
    return f"<tool_call>\n{json.dumps({'name': 'write', 'arguments': arguments})}\n</tool_call>"


def parsing(template: ResponseTemplate, pieces: Sequence[str], *, deltas: bool, errors: str) -> Callable[[], object]:
    """Our parser, with deltas or without."""

    def run() -> object:
        parser = ResponseParser(template, prefix="", errors=errors, deltas=deltas)  # type: ignore[arg-type]
        for piece in pieces:
            parser.feed(piece)
        return parser.finalize()

    return run


def parsing_again(pieces: Sequence[str]) -> Callable[[], object]:
    """The whole call parsed again for each piece, as far as it has come."""

    def run() -> object:
        so_far, value = "", None
        for piece in pieces:
            so_far += piece
            value = partial_json_parser.loads(so_far)
        return value

    return run


def report(*, quick: bool) -> None:
    """Print both tables."""
    template = load_response_template("qwen3")
    length, times = (LENGTH_QUICK, 3) if quick else (LENGTH, 5)
    title = f"argument deltas beside plain events, {length:,} characters (aim: under {TARGET:.0f}x)"
    table = Table(title, ("arguments", "plain µs", "strict", "report"))
    for kind in KINDS:
        show_progress(f"deltas of {kind}")
        pieces = in_tokens(call_text(kind, length))
        runners = {
            f"{errors} {deltas}": parsing(template, pieces, deltas=deltas, errors=errors)
            for errors in ("strict", "report")
            for deltas in (False, True)
        }
        taken = medians(runners, times)
        table.row(
            kind,
            f"{taken['strict False'] / len(pieces) * 1e6:.2f}",
            *(
                with_limit(taken[f"{errors} True"] / taken[f"{errors} False"], TARGET)
                for errors in ("strict", "report")
            ),
        )
    table = Table("parsing the arguments again for each piece, beside our deltas", ("characters", "ours ms", "again"))
    for characters in PEER_LENGTHS_QUICK if quick else PEER_LENGTHS:
        show_progress(f"parsing {characters:,} characters again and again")
        text = call_text(KINDS[0], characters)
        body = text.removeprefix("<tool_call>\n").removesuffix("\n</tool_call>")
        taken = medians(
            {
                "ours": parsing(template, in_tokens(text), deltas=True, errors="report"),
                "again": parsing_again(in_tokens(body)),
            },
            3,
        )
        table.row(f"{characters:,}", f"{taken['ours'] * 1e3:.1f}", f"{taken['again'] / taken['ours']:.0f}x")
