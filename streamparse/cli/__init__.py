"""The command ``streamparse``: the table of its subcommands, and how errors become exit codes.

0: all went well. 1: what the model wrote is malformed, or a required field is missing. 2: the command was called in a
way that it can't serve. Errors are one line on standard error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import NoReturn

from streamparse.cli import demo, grammar, guess, infer, parse, serve, templates, worker
from streamparse.cli.command import FAULTY, INTERRUPTED, PIPE_CLOSED, USAGE, Command, UsageError
from streamparse.cli.lines import in_terms_of_flags, one_line
from streamparse.errors import StreamparseError, TemplateError
from streamparse.infer.errors import InferenceError

COMMANDS: dict[str, Command] = {
    "parse": parse.COMMAND,
    "guess": guess.COMMAND,
    "templates": templates.COMMAND,
    "infer": infer.COMMAND,
    "grammar": grammar.COMMAND,
    "demo": demo.COMMAND,
    "serve": serve.COMMAND,
    "worker": worker.COMMAND,
}

EXIT_CODES = """\
exit codes:
  0  all went well
  1  something in the output was malformed, a required field is missing, or what was inferred did not come back
  2  usage: an argument, a template or a file can't be used"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (default: the process's) and return its exit code."""
    arguments = _argument_parser().parse_args(argv)
    if sys.stdout is None:
        return _complain(UsageError("standard output is closed"), USAGE)
    try:
        return COMMANDS[arguments.command].run(arguments)
    except (UsageError, TemplateError, InferenceError) as error:
        return _complain(error, USAGE)
    except StreamparseError as error:
        if isinstance(error.__cause__, UsageError):  # the source of a stream failed, as the input is no text
            return _complain(error.__cause__, USAGE)
        return _complain(error, FAULTY)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _give_up_output()
        return PIPE_CLOSED
    except OSError as error:  # files that are read have their own errors: what is left is the output
        _give_up_output()
        return _complain(UsageError(f"can't write the output: {error.strerror or error}"), USAGE)


def _give_up_output() -> None:
    """Keep the interpreter, which flushes standard output once more at its end, from failing again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(error: Exception, code: int) -> int:
    if sys.stderr is not None:
        print(f"streamparse: {one_line(in_terms_of_flags(str(error)))}", file=sys.stderr)
    return code


class _ArgumentParser(argparse.ArgumentParser):
    """Argparse, but a wrong argument is one line too."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where to read more."""
        self.exit(USAGE, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _layout(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=26)


def _argument_parser() -> argparse.ArgumentParser:
    examples = "\n".join(command.examples for command in COMMANDS.values())
    parser = _ArgumentParser(
        prog="streamparse",
        description="Turns what a language model writes, while it is writing it, into structured events.",
        epilog=f"examples:\n{examples}\n\n{EXIT_CODES}",
        formatter_class=_layout,
    )
    parser.add_argument("--version", action="version", version=f"streamparse {version('streamparse-llm')}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands")
    for name, command in COMMANDS.items():
        subparser = subparsers.add_parser(
            name,
            help=command.summary,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
            epilog=f"examples:\n{command.examples}\n\n{EXIT_CODES}",
            formatter_class=_layout,
        )
        command.add_arguments(subparser)
    return parser
