"""The command: tries clients against ``streamparse serve``, prints what works, and writes it into docs/clients.md.

python -m clients                                       everything
python -m clients --client openai litellm --family qwen3 --check call agent
python -m clients --part agents --family gemma4
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from clients.checks import AGENT_CHECKS, CHECKS, REAL_CHECKS, Check
from clients.client import CLIENTS
from clients.family import Family, families, family
from clients.results import Results
from clients.table import PAGE, page_with, tables
from clients.trial import Result, Trials

FAMILIES = ("qwen3", "gpt_oss", "glm45")
"""What every client is tried with: JSON between tags, channels, and tags for each argument."""

AGENTS = ("langchain", "pydantic-ai", "ai-sdk")
"""The agents that are tried with every family."""

PARTS = ("clients", "real", "agents")


def main() -> int:
    """Try what was asked for; 1 if anything failed."""
    arguments = _parser().parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what it has started ends too
    logs = Path(tempfile.mkdtemp(prefix="clients-"))
    print(f"what the programs say is in {logs}", flush=True)
    results = Results(arguments.results)
    done = failed = 0
    for part in arguments.part:
        for result in _part(part, arguments, logs, results.versions):
            results.add(part, result)
            print(result, flush=True)
            done, failed = done + 1, failed + (result.problem is not None)
        results.keep(PARTS)  # after each part, for they take minutes
        if arguments.write:
            written = tables(results.by_part(PARTS), results.versions)
            PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), written), encoding="utf-8")
    print(f"{done - failed} passed, {failed} failed")
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m clients", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", nargs="*", choices=PARTS, default=list(PARTS), help="default: all of them")
    names = [client.name for client in CLIENTS]
    parser.add_argument("--client", nargs="*", choices=names, help="default: all, and for the part agents three")
    parser.add_argument("--family", nargs="*", help="default: three, and for the part agents all")
    parser.add_argument("--check", nargs="*", help="default: all")
    parser.add_argument("--write", action="store_true", help=f"write the tables into {PAGE.name}")
    kept = "keep the results in this file, and write the tables from those of earlier runs in it too"
    parser.add_argument("--results", type=Path, metavar="FILE", help=kept)
    return parser


def _part(part: str, arguments: argparse.Namespace, logs: Path, versions: dict[str, str]) -> Iterator[Result]:
    names = arguments.client or (AGENTS if part == "agents" else [client.name for client in CLIENTS])
    chosen = [family(name) for name in arguments.family] if arguments.family else None

    def wanted(checks: tuple[Check, ...]) -> list[Check]:
        return [check for check in checks if not arguments.check or check.name in arguments.check]

    with Trials([client for client in CLIENTS if client.name in names], logs) as trials:
        versions |= trials.versions
        if part == "real":
            yield from trials.real(wanted(REAL_CHECKS))
        elif part == "clients":
            for each in chosen or map(family, FAMILIES):
                yield from trials.scripted(each, *next(_templates(each)), wanted(CHECKS))
        else:
            for each in chosen or families():
                for text, label in _templates(each):
                    yield from trials.scripted(each, text, label, wanted(AGENT_CHECKS))


def _templates(family: Family) -> Iterator[tuple[str, str]]:
    """A family's chat templates and their labels: the public one, where it is at hand, and our own."""
    if (public := family.public_template()) is not None:
        yield public, family.name
    yield family.own_template(), f"{family.name} (own template)"


if __name__ == "__main__":
    sys.exit(main())
