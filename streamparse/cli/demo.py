"""``streamparse demo``: recorded outputs, replayed at reading speed in the terminal, or on a page in the browser.

With ``--live`` a small model answers questions instead (``chat.py``).

The recordings (``recordings/``) ship with the package. Each is a line that describes the recording, then a line for
each token. The terminal shows three of them through the real graph, one after the other; the page (``page.py``) shows
six at once.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import AsyncIterator
from importlib import resources
from typing import Any

import anyio
from rich.console import Console
from rich.text import Text

from streamparse.cli import chat, over_kafka, page
from streamparse.cli.command import Command, UsageError
from streamparse.cli.inputs import number_above_zero, port_number
from streamparse.cli.lines import shown
from streamparse.cli.live import LiveView, console_on
from streamparse.cli.output import show
from streamparse.stream import parse_stream
from streamparse.template import get_response_template

RECORDINGS = ("smollm2_tool_call", "qwen3_5", "gpt_oss")
READING_SPEED = 30.0

EXAMPLES = """\
  streamparse demo                          replay three recordings in the terminal
  streamparse demo --speed 100              the same for fast readers
  streamparse demo --plain > demo.txt       without colours and redrawing
  streamparse demo --live                   ask a small model (its packages are not installed with streamparse)
  streamparse demo --web --open             six recordings on a page, and any output that you paste
  streamparse demo --kafka --kill-every 5   recordings through Kafka, and workers that are killed meanwhile"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--speed",
        type=number_above_zero,
        metavar="N",
        help=f"tokens a second (default: {READING_SPEED:g}; where the output is no terminal: as fast as it goes)",
    )
    parser.add_argument("--plain", action="store_true", help="no colours and no redrawing")
    parser.add_argument("--live", action="store_true", help="ask a small model, and watch its answers being parsed")
    parser.add_argument("--think", action="store_true", help="with --live: have it reason before it answers")
    parser.add_argument("--web", action="store_true", help="a page on this machine instead, until Ctrl-C (extra: web)")
    parser.add_argument(
        "--port", type=port_number, metavar="N", help="with --web: the page's port (default: a free one)"
    )
    parser.add_argument("--open", action="store_true", help="with --web: open the page in the browser")
    parser.add_argument(
        "--kafka", action="store_true", help="recordings through Kafka, parsed by workers (extra: kafka)"
    )
    parser.add_argument(
        "--bootstrap", metavar="HOST:PORT", help="with --kafka: a broker (default: one that is fetched and started)"
    )
    parser.add_argument(
        "--kill-every", type=number_above_zero, metavar="N", help="with --kafka: kill a worker every N seconds"
    )


def run(arguments: argparse.Namespace) -> int:
    """Replay the recordings: on a page, or in the terminal, one after the other; or ask a model."""
    if arguments.think and (arguments.web or not arguments.live):
        raise UsageError("--think goes with --live in the terminal; the page has a box for it")
    if not arguments.kafka and (arguments.bootstrap is not None or arguments.kill_every is not None):
        raise UsageError("--bootstrap and --kill-every go with --kafka")
    if arguments.kafka:
        if arguments.web or arguments.live:
            raise UsageError("--kafka goes with neither --web nor --live")
        console, speed = console_on(plain=arguments.plain), arguments.speed or READING_SPEED
        return over_kafka.run(arguments.bootstrap, speed, arguments.kill_every, console, RECORDINGS)
    if arguments.web:
        return page.serve(
            arguments.speed or READING_SPEED, arguments.port or 0, open_it=arguments.open, live=arguments.live
        )
    if arguments.port is not None or arguments.open:
        raise UsageError("--port and --open go with --web")
    if arguments.live:
        return chat.run(arguments)
    speed = arguments.speed or (READING_SPEED if sys.stdout.isatty() else None)
    console = console_on(plain=arguments.plain)
    codes = [anyio.run(_replay, name, console, 1 / speed if speed else 0.0) for name in RECORDINGS]
    console.print(
        Text(
            "\nTo read an output of your own: streamparse parse --template NAME FILE"
            "\nTo see several at once, in the browser: streamparse demo --web",
            "dim",
        ),
        soft_wrap=not console.is_terminal,
    )
    return max(codes)


async def _replay(name: str, console: Console, pause: float) -> int:
    """Show one recording: the question, then the answer as it is parsed."""
    about, tokens = recording(name)
    console.print()
    console.rule(Text(f"{about['template']}: {about['title']}"), align="left")
    console.print(Text(about["made_by"], "dim"), soft_wrap=not console.is_terminal)
    console.print(Text(f"> {shown(about['prompt'])}\n", "bold"), soft_wrap=not console.is_terminal)
    template = get_response_template(about["template"])
    stream = parse_stream(_at_pace(tokens, pause), template, prefix=about["prefix"], tools=about["tools"])
    return await show(stream, LiveView(console, template))


def recording(name: str) -> tuple[dict[str, Any], list[str]]:
    """Read a recording: what it says of itself, and the texts of its tokens."""
    file = resources.files("streamparse.cli") / "recordings" / f"{name}.jsonl"
    about, *tokens = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return about, [token["text"] for token in tokens]


async def _at_pace(tokens: list[str], pause: float) -> AsyncIterator[str]:
    for token in tokens:
        await anyio.sleep(pause)
        yield token


COMMAND = Command(
    "replay recorded outputs in the terminal or on a page in the browser, or ask a small model",
    EXAMPLES,
    add_arguments,
    run,
)
