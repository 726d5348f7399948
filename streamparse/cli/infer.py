"""``streamparse infer``: the response template that a chat template implies, with the evidence."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from streamparse.cli.command import FAULTY, OK, Command, UsageError
from streamparse.cli.output import write_bytes

if TYPE_CHECKING:
    from streamparse.infer import Inference

EXAMPLES = """\
  streamparse infer chat_template.jinja               print the response template
  streamparse infer ./my-model/ --explain             say what was found, and from which comparison
  streamparse infer ./my-model/ --check               a table of the round trips
  streamparse infer ./my-model/ --output mine.json    write it to a file"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "path", metavar="FILE|DIR", help="a chat template, a tokenizer_config.json, or a model's folder"
    )
    parser.add_argument("--explain", action="store_true", help="print the account of what was found instead")
    parser.add_argument("--check", action="store_true", help="print a table of the round trips instead")
    parser.add_argument("--no-bundled", action="store_true", help="take what was inferred, never a bundled template")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the template to this file")


def run(arguments: argparse.Namespace) -> int:
    """Infer, and print; 1 where something that the chat template can express did not come back."""
    inference = inferred(arguments.path, bundled=not arguments.no_bundled)
    template = json.dumps(inference.template, indent=2, ensure_ascii=False) + "\n"
    if arguments.output:
        try:
            Path(arguments.output).write_text(template, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"can't write {arguments.output}: {error.strerror}") from error
    accounts = [inference.explain() + "\n"] if arguments.explain else []
    accounts += [_table(inference)] if arguments.check else []
    if not accounts and not arguments.output:
        accounts = [template]
    write_bytes("\n".join(accounts).encode("utf-8", "backslashreplace"))
    differing = [check.feature for check in inference.checks if check.status == "differs"]
    if differing:
        print(f"streamparse: did not come back: {', '.join(differing)}", file=sys.stderr)
    return FAULTY if differing else OK


def inferred(path: str, *, bundled: bool = True) -> Inference:
    """What is inferred from the chat template at a path; raises UsageError where there is none."""
    from streamparse.infer import infer_response_template  # it needs Jinja, which is an extra

    if not Path(path).exists():
        raise UsageError(f"no such file or folder: {path}")
    return infer_response_template(Path(path), bundled=bundled)


def _table(inference: Inference) -> str:
    """A line for each check: its status, its feature, and the first difference if there is one."""
    rows = [check.as_dict() for check in inference.checks]
    width = max((len(str(row["status"])) for row in rows), default=0)
    lines = [f"{row['status']:<{width}}  {row['feature']}" for row in rows]
    return "\n".join(lines) + "\n"


COMMAND = Command("infer a response template from a chat template", EXAMPLES, add_arguments, run)
