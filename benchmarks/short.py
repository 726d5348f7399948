"""Section: short generations, where the fixed cost of a delimiter and of a generation counts more than plain text.

The first table is of generations with reasoning, an answer and four calls; transformers' parser, which has one mode,
runs in the same process, in turn. The second is of what one call, one short generation, and many small calls cost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.against_transformers import theirs
from benchmarks.measure import medians, repeated, seconds
from benchmarks.table import Table, show_progress, with_target
from benchmarks.workloads import PROSE, Workload, bundled, filled, in_pieces, in_tokens
from streamparse import ResponseParser, load_response_template
from streamparse.template import ResponseTemplate

LENGTHS = {500: 2.5, 2_000: 4.0, 20_000: 9.0}
"""Characters, and by how much the strict mode is to be faster than transformers' parser."""

MODES: dict[str, dict[str, Any]] = {
    "strict": {"errors": "strict"},
    "report": {"errors": "report"},
    "with deltas": {"errors": "report", "deltas": True},
}

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
        },
    }
]


def json_call(number: int) -> str:
    """A call of about 90 characters."""
    arguments = {"city": "Oslo", "days": number}
    return "<tool_call>\n" + json.dumps({"name": "get_weather", "arguments": arguments}) + "\n</tool_call>"


def tagged_call(number: int) -> str:
    """The same as tags."""
    values = f"<parameter=city>\nOslo\n</parameter>\n<parameter=days>\n{number}\n</parameter>\n"
    return f"<tool_call>\n<function=get_weather>\n{values}</function>\n</tool_call>\n"


def channel_call(number: int) -> str:
    """The same in a channel."""
    header = "<|end|>" if number == 1 else ""
    header += "<|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>"
    return header + json.dumps({"city": "Oslo", "days": number}) + "<|call|>"


def agent_turn(opening: str, close: str, call: Callable[[int], str]) -> Callable[[int], str]:
    """Reasoning, an answer and four calls, of about the length that is asked for."""
    calls = "".join(call(number) for number in range(1, 5))

    def text(length: int) -> str:
        prose = max(length - len(calls), 40)
        return opening + filled(PROSE, prose // 2) + close + filled(PROSE, prose - prose // 2) + calls

    return text


FORMATS = [
    Workload("JSON (qwen3)", bundled("qwen3"), agent_turn("<think>\n", "\n</think>\n\n", json_call)),
    Workload("XML (qwen3_5)", bundled("qwen3_5"), agent_turn("<think>\n", "\n</think>\n\n", tagged_call)),
    Workload(
        "channels (gpt_oss)",
        bundled("gpt_oss"),
        agent_turn(
            "<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>", channel_call
        ),
    ),
]


def parsing(template: ResponseTemplate, pieces: Sequence[str], **options: Any) -> Callable[[], object]:
    """A whole generation."""

    def run() -> object:
        parser = ResponseParser(template, prefix="", **options)
        for piece in pieces:
            parser.feed(piece)
        return parser.finalize()

    return run


def feeding(template: ResponseTemplate, pieces: Sequence[str], **options: Any) -> Callable[[], object]:
    """Pieces of one generation that has begun."""
    parser = ResponseParser(template, prefix="", **options)
    parser.feed("So: ")

    def run() -> object:
        for piece in pieces:
            parser.feed(piece)
        return None

    return run


def compare(table: Table, workload: Workload, length: int, target: float, *, quick: bool) -> None:
    """A row: all modes and the peer, in turn."""
    pieces = in_tokens(workload.text(length))
    template = load_response_template(workload.template)
    runs = {name: parsing(template, pieces, **options) for name, options in MODES.items()}
    runs["transformers"] = theirs(workload.template, pieces)
    several = {name: repeated(run) for name, run in runs.items()}
    taken = medians({name: run for name, (run, _) in several.items()}, 5 if quick else 15)
    a_piece = {name: taken[name] / times / len(pieces) * 1e6 for name, (_, times) in several.items()}
    figures = [f"{a_piece[name]:.2f}" for name in (*MODES, "transformers")]
    table.row(workload.name, f"{length:,}", *figures, with_target(a_piece["transformers"] / a_piece["strict"], target))


def fixed_costs(*, quick: bool) -> None:
    """The table of what one call and one generation cost."""
    table = Table("Fixed costs in the report mode, with tools", ("what", "µs", "with deltas", "aim, µs"))
    qwen3, qwen3_5 = load_response_template("qwen3"), load_response_template("qwen3_5")
    thought = "<think>\nShe asks for the time.\n</think>\n\nIt is noon in Oslo."
    rows = [
        ("a JSON call, whole", feeding, qwen3, [json_call(1)], "50"),
        ("a JSON call, pieces of 4", feeding, qwen3, list(in_pieces(json_call(1), 4)), "90"),
        ("an XML call, whole", feeding, qwen3_5, [tagged_call(1)], "-"),
        ("an XML call, pieces of 4", feeding, qwen3_5, list(in_pieces(tagged_call(1), 4)), "-"),
        ("a thought and an answer, whole", parsing, qwen3, [thought], "60"),
        ("a thought and an answer, pieces", parsing, qwen3, in_tokens(thought), "60"),
    ]
    for name, make, template, pieces, aim in rows:
        show_progress(name)
        several = {
            mode: repeated(make(template, pieces, tools=TOOLS, **MODES[mode])) for mode in ("report", "with deltas")
        }
        taken = medians({mode: run for mode, (run, _) in several.items()}, 5 if quick else 15)
        figures = [f"{taken[mode] / times * 1e6:.0f}" for mode, (_, times) in several.items()]
        table.row(name, *figures, aim)
    size = 100_000 if quick else 1_000_000
    call = '<tool_call>{"name":"f","arguments":{}}</tool_call>'
    table = Table(f"{size:,} characters of small calls in the report mode", ("pieces of", "seconds", "aim"))
    for length in (4, 64):
        show_progress(f"small calls in pieces of {length}")
        pieces = list(in_pieces(call * (size // len(call)), length))
        table.row(f"{length}", f"{seconds(parsing(qwen3, pieces, **MODES['report'])):.2f}", f"{2 * size / 1e6:g}")


def report(*, quick: bool) -> None:
    """Print the section."""
    columns = ("format", "characters", *(f"{mode} µs" for mode in MODES), "transformers µs", "strict is faster by")
    table = Table("Reasoning, an answer and four calls in pieces of 1 to 7 characters (CPU time a piece)", columns)
    for workload in FORMATS:
        for length, target in LENGTHS.items():
            show_progress(f"{workload.name}, {length:,} characters")
            compare(table, workload, length, target, quick=quick)
    fixed_costs(quick=quick)
