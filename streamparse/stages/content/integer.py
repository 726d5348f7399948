"""The content parser ``int``: a whole number as Python's ``int`` reads it, of any length that the limits allow.

>>> PARSER.prepare({})(" -1_000 ")
-1000
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.errors import LimitError
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
from streamparse.stages.content.whole_number import read_whole_number


def prepare(arguments: Mapping[str, Any], preparation: Preparation = STRICT, /) -> Parse:
    """Make the parse function."""
    limit, strip = preparation.limits.number_length, strips(arguments)

    def parse(text: str) -> int:
        try:
            return read_whole_number(text.strip() if strip else text, limit)
        except LimitError:
            raise
        except ValueError:
            raise content_error("not a whole number", text, len(text) - len(text.lstrip())) from None

    return parse


def check(arguments: Mapping[str, Any], path: str, _depth: int = 0, /) -> Findings:
    """Check the arguments."""
    return known_arguments("int", arguments, path, {"strip": bool})


PARSER = ContentParser("int", streams=True, prepare=prepare, check=check)
