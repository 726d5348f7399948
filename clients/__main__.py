"""The command: tries clients against ``streamparse serve``, prints what works, and writes it into docs/clients.md.

python -m clients                                       everything
python -m clients --client openai litellm --family qwen3 --check call agent
python -m clients --part agents --family gemma4
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from clients.checks import AGENT_CHECKS, CHECKS, REAL_CHECKS, Check
from clients.client import CLIENTS
from clients.family import Family, families, family
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
    logs = Path(tempfile.mkdtemp(prefix="clients-"))
    print(f"what the programs say is in {logs}", flush=True)
    results: dict[str, list[Result]] = {part: [] for part in PARTS}
    versions: dict[str, str] = {}
    for part in arguments.part:
        for result in _part(part, arguments, logs, versions):
            results[part].append(result)
            print(result, flush=True)
        if arguments.write:  # after each part, for they take minutes
            PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), tables(results, versions)), encoding="utf-8")
    failed = [result for part in results.values() for result in part if result.problem]
    done = sum(map(len, results.values()))
    print(f"{done - len(failed)} passed, {len(failed)} failed")
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
