"""What a command line names, turned into what the library takes: texts, tools, and input as it arrives."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel

from streamparse.cli.command import UsageError
from streamparse.cli.encoding import TextInput, text_of
from streamparse.limits import Limits

READ_SIZE = 65536


LIMIT_NAMES = tuple(limit.name for limit in fields(Limits))


def limit_in(text: str) -> tuple[str, float]:
    """Read one limit as the command line has it, as a name and a number.

    >>> limit_in("regions=1000")
    ('regions', 1000)
    """
    name, separator, number = text.partition("=")
    if name not in LIMIT_NAMES or not separator:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=NUMBER with one of the names {', '.join(LIMIT_NAMES)}")
    try:
        value = json.loads(number)
        Limits(**{name: value})
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None
    return name, value


def text_in(path: str) -> str:
    """Read a whole file as UTF-8 text, line ends as they are, without a byte order mark."""
    with _reading(path):
        return text_of(Path(path).read_bytes(), path)


def tools_in(path: str) -> list[Any]:
    """Read a JSON list of tools, or a request's body that has one under ``tools``."""
    try:
        content = json.loads(text_in(path))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}") from error
    tools = content.get("tools") if isinstance(content, dict) else content
    if not isinstance(tools, list):
        raise UsageError(f"{path} has no list of tools")
    return tools


def number_above_zero(text: str) -> float:
    """Read an argument that is a number above 0; raises what argparse tells the user."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"a number above 0 is needed, not {text!r}")
    return number


def port_number(text: str) -> int:
    """Read an argument that is the number of a port; raises what argparse tells the user."""
    if not (text.isascii() and text.isdigit() and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"a number from 0 to 65535 is needed, not {text!r}")
    return int(text)


@contextmanager
def input_descriptor(path: str | None) -> Iterator[int]:
    """Open a file for reading, or take standard input where none is named; gives the file descriptor."""
    if path is None or path == "-":
        if sys.stdin is None:
            raise UsageError("standard input is closed; name a file")
        yield sys.stdin.fileno()
        return
    with _reading(path):
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        os.read(descriptor, 0)  # a folder opens, but can't be read
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def input_name(path: str | None) -> str:
    """What messages call the input."""
    return "standard input" if path is None or path == "-" else path


def whole_input(path: str | None) -> str:
    """Read all of a file, or of standard input where none is named. What is not UTF-8 in it becomes U+FFFD."""
    with input_descriptor(path) as descriptor, open(descriptor, "rb", closefd=False) as file:
        return text_of(file.read(), input_name(path), "replace")


async def pieces(descriptor: int, name: str) -> AsyncIterator[bytes]:
    """Give out text as it arrives, as bytes, however few, to the end of the input; ``name`` is for messages.

    A byte order mark is left out. Raises UsageError for what is no UTF-8 text.
    """
    text = TextInput(name)
    while True:
        await _until_readable(descriptor)
        piece = os.read(descriptor, READ_SIZE)
        yield text.feed(piece) if piece else text.finish()
        if not piece:
            return


async def _until_readable(descriptor: int) -> None:
    """Wait for input without a thread, so that an interrupt is heard at once."""
    if sys.platform == "win32":  # its event loops wait for sockets only
        return
    try:
        await anyio.wait_readable(descriptor)
    except PermissionError:  # a regular file can always be read, and Linux refuses to wait for it
        await anyio.lowlevel.checkpoint()


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """Say in the user's terms why a file can't be read."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"can't read {path}: not UTF-8 text ({error.reason} at byte {error.start})") from error
