"""The content parser ``bool``: ``true`` and ``1``, in any case, are True; all else is False.

>>> PARSER.prepare({})(" TRUE ")
True
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
    known_arguments,
    strips,
)


def prepare(arguments: Mapping[str, Any], _preparation: Preparation = STRICT, /) -> Parse:
    """Make the parse function."""
    return parse if strips(arguments) else parse_as_it_stands


def parse(text: str) -> bool:
    """Read a truth value; never raises."""
    return text.strip().lower() in ("true", "1")


def parse_as_it_stands(text: str) -> bool:
    """Read a truth value that white space at the ends makes false; never raises."""
    return text.lower() in ("true", "1")


def check(arguments: Mapping[str, Any], path: str, _depth: int = 0, /) -> Findings:
    """Check the arguments."""
    return known_arguments("bool", arguments, path, {"strip": bool})


PARSER = ContentParser("bool", streams=True, prepare=prepare, check=check)
