"""``streamparse grammar``: what a model may write so that a template reads it, as a grammar for an engine."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from streamparse.cli.command import OK, Command, UsageError
from streamparse.cli.output import write_bytes
from streamparse.errors import ArgumentError
from streamparse.grammar import TARGETS, GrammarError, to_grammar

EXAMPLES = """\
  streamparse grammar qwen3 --tools tools.json                      GBNF, for llama.cpp
  streamparse grammar qwen3 --tools tools.json --target lark        for llguidance
  streamparse grammar glm45 --tools tools.json --target structural_tag --tool-choice required
  streamparse grammar mine.json --tools tools.json --relaxed        say what the grammar leaves out"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("template", metavar="TEMPLATE", help="a bundled template's name, or a file or folder with one")
    parser.add_argument("--tools", metavar="FILE", help="a JSON list of tools")
    parser.add_argument("--target", choices=TARGETS, default="gbnf", help="the engine's notation (default: gbnf)")
    parser.add_argument(
        "--tool-choice", default="auto", metavar="CHOICE", help="auto, required, none, or a tool's name (default: auto)"
    )
    parser.add_argument("--one-call", action="store_true", help="allow a single call")
    parser.add_argument("--reasoning", choices=["may", "must", "none", "opened"], help="what comes first")
    parser.add_argument("--response-format", metavar="FILE", help="a JSON schema for an answer")
    parser.add_argument("--any-order", action="store_true", help="members of objects in any order")
    parser.add_argument("--relaxed", action="store_true", help="print what it leaves out instead, as JSON lines")


def run(arguments: argparse.Namespace) -> int:
    """Write the grammar, or what it leaves out."""
    try:
        grammar = to_grammar(
            arguments.template,
            None if arguments.tools is None else _json_in(arguments.tools),
            target=arguments.target,
            tool_choice=arguments.tool_choice,
            parallel=not arguments.one_call,
            reasoning=arguments.reasoning,
            response_format=None if arguments.response_format is None else _json_in(arguments.response_format),
            any_order=arguments.any_order,
        )
    except (GrammarError, ArgumentError) as error:
        raise UsageError(str(error)) from error
    if arguments.relaxed:
        lines = [{"where": each.where, "keyword": each.keyword, "reason": each.reason} for each in grammar.relaxed]
        write_bytes("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode())
        return OK
    write_bytes((grammar.text.rstrip("\n") + "\n").encode())
    if grammar.lazy:
        print(f"streamparse: the grammar begins with one of {list(grammar.triggers)}", file=sys.stderr)
    return OK


def _json_in(path: str) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from error


COMMAND = Command("write the grammar of what a template reads", EXAMPLES, add_arguments, run)
