"""The content parser ``float``: a number as Python's ``float`` reads it, ``nan`` and ``inf`` included.

>>> PARSER.prepare({})(" 1.50 ")
1.5
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.stages.content.table import (
    STRICT,
    ContentParser,
    Findings,
    Parse,
    Preparation,
    content_error,
    known_arguments,
    strips,
)


def prepare(arguments: Mapping[str, Any], _preparation: Preparation = STRICT, /) -> Parse:
    """Make the parse function."""
    return parse if strips(arguments) else parse_as_it_stands


def parse(text: str) -> float:
    """Read a number; raises ContentError where there is none."""
    try:
        return float(text.strip())
    except ValueError:
        raise content_error("not a number", text, len(text) - len(text.lstrip())) from None


def parse_as_it_stands(text: str) -> float:
    """Read a number amid no white space but what ``float`` itself passes over; raises ContentError."""
    try:
        return float(text)
    except ValueError:
        raise content_error("not a number", text, len(text) - len(text.lstrip())) from None


def check(arguments: Mapping[str, Any], path: str, _depth: int = 0, /) -> Findings:
    """Check the arguments."""
    return known_arguments("float", arguments, path, {"strip": bool})


PARSER = ContentParser("float", streams=True, prepare=prepare, check=check)
