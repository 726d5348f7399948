"""What a subcommand is, what it may return, and the one error that is its user's.

A subcommand's module ends with ``COMMAND = Command(…)``; ``streamparse.cli`` has the table of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

OK = 0
FAULTY = 1
USAGE = 2
INTERRUPTED = 130
PIPE_CLOSED = 141
"""The last two are what a shell reports of a program that the signals SIGINT and SIGPIPE end."""


class UsageError(Exception):
    """The command was called in a way that it can't serve: a file that isn't there, a template that is none."""


@dataclass(frozen=True)
class Command:
    """One subcommand: what help says of it, its arguments, and the function that does it and returns an exit code."""

    summary: str
    examples: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
