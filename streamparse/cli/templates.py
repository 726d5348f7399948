"""``streamparse templates``: which response templates ship with the package, and what one of them says."""

from __future__ import annotations

import argparse
import re
from importlib import resources
from typing import Any

from streamparse.cli.command import OK, Command, UsageError
from streamparse.cli.output import write_bytes
from streamparse.template import get_response_template, response_template_names

EXAMPLES = """\
  streamparse templates                     list the bundled templates
  streamparse templates qwen3               print one
  streamparse templates qwen3 > mine.json   take one as a start for your own"""


_PLAIN_START = re.compile(r"(?:\\\W|[^\\^$.|?*+()\[{])+(?![?*+{])")
"""The literal text that a pattern begins with."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="the template to print (default: list them all)")


def run(arguments: argparse.Namespace) -> int:
    """List the templates, or print one."""
    names = response_template_names()
    if arguments.name is None:
        width = max(map(len, names))
        lines = [f"{name:<{width}}  {summary(get_response_template(name).source)}\n" for name in names]
        write_bytes("".join(lines).encode())
    elif arguments.name in names:
        write_bytes((resources.files("streamparse.template.bundled") / f"{arguments.name}.json").read_bytes())
    else:
        raise UsageError(f"no bundled template is called {arguments.name!r} (bundled: {', '.join(names)})")
    return OK


def summary(source: dict[str, Any]) -> str:
    """Say on one line what a template reads: its fields, how their text is parsed, and the mark that they open with.

    >>> summary({"fields": {"tool_calls": {"open": ["<call>", "<calls>"], "content": "json"}, "content": {}}})
    'tool_calls: json after <call>; content: text'
    """
    return "; ".join(_field_in_words(name, field) for name, field in source["fields"].items())


def _field_in_words(name: str, field: dict[str, Any]) -> str:
    literals = field.get("open", [])
    pattern_start = _PLAIN_START.match(field.get("open_pattern", ""))
    mark = literals if isinstance(literals, str) else min(literals, key=len, default="")
    mark = mark or (pattern_start[0].replace("\\", "") if pattern_start else "")
    return f"{name}: {field.get('content', 'text')}" + (f" after {mark.strip()}" if mark else "")


COMMAND = Command("list the bundled response templates, or print one", EXAMPLES, add_arguments, run)
