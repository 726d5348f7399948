"""The content parser ``text``: the region's text itself, without the white space at its ends unless ``strip`` is false.

>>> PARSER.prepare({})(" a ")
'a'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


def without_one_newline(text: str) -> str:
    """The text without one line break at each end.

    >>> without_one_newline("\\n\\n a\\n")
    '\\n a'
    """
    return text.removeprefix("\n").removesuffix("\n")


EDGES: dict[str, Callable[[str], str]] = {"all": str.strip, "newline": without_one_newline, "none": str}
"""What a field's policy ``strip`` says of the white space at the edges of its text."""


def prepare(arguments: Mapping[str, Any], _preparation: Preparation = STRICT, /) -> Parse:
    """Make the parse function."""
    return str.strip if strips(arguments) else str


def check(arguments: Mapping[str, Any], path: str, _depth: int = 0, /) -> Findings:
    """Check the arguments."""
    return known_arguments("text", arguments, path, {"strip": bool})


PARSER = ContentParser("text", streams=True, prepare=prepare, check=check)
