"""``streamparse guess``: which bundled templates read an output, best first, and why."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from streamparse.arguments import ERROR_MODES
from streamparse.cli.command import FAULTY, OK, Command
from streamparse.cli.inputs import tools_in, whole_input
from streamparse.cli.lines import shown
from streamparse.cli.output import write_bytes
from streamparse.encode import encode_line
from streamparse.guess import READ_AT_MOST, Guess, guess_response_template

EXAMPLES = """\
  streamparse guess output.txt              the templates that read it best, and why
  streamparse guess --all output.txt        all templates
  streamparse guess --json output.txt | jq -r .template | head -n 1"""

SHOWN = 5
"""How many templates are listed besides those that are as good as the best."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", nargs="?", metavar="FILE", help="the output (default: standard input)")
    parser.add_argument("--tools", metavar="FILE", help="JSON list of tools, which say of what type arguments are")
    parser.add_argument(
        "--errors", choices=ERROR_MODES, default="report", help="how the templates read it (default: report)"
    )
    parser.add_argument("--all", action="store_true", help=f"list every template, not only the best and {SHOWN} more")
    parser.add_argument("--json", action="store_true", help="a line of JSON for every template instead of a table")


def run(arguments: argparse.Namespace) -> int:
    """List the templates; 1 where none reads all of the text."""
    tools = tools_in(arguments.tools) if arguments.tools else None
    text = whole_input(arguments.file)
    guesses = guess_response_template(text, tools=tools, errors=arguments.errors)
    listed = guesses if arguments.all or arguments.json else _worth_listing(guesses)
    if arguments.json:
        write_bytes(b"".join(encode_line(_as_json(guess)) for guess in listed))
    else:
        table = f"{_table(listed)}\n" if listed else ""
        write_bytes(f"{table}{_conclusion(guesses, text, arguments.file)}".encode())
    return OK if guesses[0].complete else FAULTY


def _worth_listing(guesses: list[Guess]) -> list[Guess]:
    """The best and some more; none where the text doesn't tell."""
    best = sum(guess.rank == 1 for guess in guesses)
    return guesses[: best + SHOWN] if guesses[0].tells else []


def _as_json(guess: Guess) -> dict[str, Any]:
    return {**asdict(guess), "complete": guess.complete, "tells": guess.tells, "reasons": guess.reasons()}


def _table(guesses: list[Guess]) -> str:
    width = max(len(guess.template) for guess in guesses)
    rows = [f"{guess.rank:>4}  {guess.template:<{width}}  {shown('; '.join(guess.reasons()))}\n" for guess in guesses]
    return f"rank  {'template':<{width}}  why\n" + "".join(rows)


def _conclusion(guesses: list[Guess], text: str, file: str | None) -> str:
    """What follows from the table, in a few lines."""
    best = guesses[0]
    lines = []
    if len(text) > READ_AT_MOST:
        lines.append(f"Only the first {READ_AT_MOST:,} characters were looked at.")
    if not best.tells:
        lines.append("There is no markup in it, so it doesn't tell which template is right: most read it alike.")
        lines.append("Guess from an output that has reasoning, a tool call or the end of a turn.")
    elif not best.complete:
        lines.append("No bundled template reads all of it. If you have the model's chat template:")
        lines.append("  streamparse infer path/to/model")
    else:
        alike = sum(guess.rank == 1 for guess in guesses)
        if alike > 1:
            lines.append(f"{alike} read it equally well: `streamparse templates` says which models they are for.")
        prefix = f" --prefix ${best.prefix!r}" if best.prefix else ""  # $'…' is how a shell reads Python's escapes
        lines.append(f"Next: streamparse parse --template {best.template}{prefix} {file or 'FILE'}")
    return shown("\n".join(lines)) + "\n"


COMMAND = Command("say which bundled templates read an output, best first, and why", EXAMPLES, add_arguments, run)
