"""``streamparse templates``: which response templates ship with the package, and what one of them says."""

from __future__ import annotations

import argparse
import json
from typing import Any

from streamparse.cli.command import OK, Command
from streamparse.cli.output import write_bytes
from streamparse.template import response_template_names
from streamparse.template.bundled import bundled_source
from streamparse.template.policy import EXTENSION_KEY

EXAMPLES = """\
  streamparse templates                     list the bundled templates
  streamparse templates qwen3               print one
  streamparse templates qwen3 > mine.json   take one as a start for your own"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="the template to print (default: list them all)")


def run(arguments: argparse.Namespace) -> int:
    """List the templates, or print one."""
    if arguments.name is None:
        names = response_template_names()
        width = max(map(len, names))
        text = "".join(f"{name:<{width}}  {summary(bundled_source(name))}\n" for name in names)
    else:
        text = json.dumps(bundled_source(arguments.name), indent=2, ensure_ascii=False) + "\n"
    write_bytes(text.encode())
    return OK


def summary(source: dict[str, Any]) -> str:
    """Say on one line what a template is for: its description, and the names that it is also known by.

    >>> summary({"streamparse": {"description": "Qwen 3", "aliases": ["qwq"]}})
    'Qwen 3 (also: qwq)'
    """
    about = source[EXTENSION_KEY]
    aliases = ", ".join(about.get("aliases", ()))
    return f"{about['description']} (also: {aliases})" if aliases else str(about["description"])


COMMAND = Command("list the bundled response templates, or print one", EXAMPLES, add_arguments, run)
