"""The content parser ``int``: a whole number as Python's ``int`` reads it, of any size that Python allows.

>>> PARSER.prepare({})(" -1_000 ")
-1000
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.errors import ContentError
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


def parse(text: str) -> int:
    """Read a whole number; raises ContentError where there is none, or one with more digits than Python reads."""
    try:
        return int(text.strip())
    except ValueError as error:
        raise not_a_whole_number(text, error) from None


def parse_as_it_stands(text: str) -> int:
    """Read a whole number amid no white space but what ``int`` itself passes over; raises ContentError."""
    try:
        return int(text)
    except ValueError as error:
        raise not_a_whole_number(text, error) from None


def not_a_whole_number(text: str, error: ValueError) -> ContentError:
    """Make the error for a text that ``int`` refused; too many digits are called by their name."""
    too_long = "set_int_max_str_digits" in str(error)
    reason = f"a whole number too long to be read: {error}" if too_long else "not a whole number"
    return content_error(reason, text, len(text) - len(text.lstrip()))


def check(arguments: Mapping[str, Any], path: str, _depth: int = 0, /) -> Findings:
    """Check the arguments."""
    return known_arguments("int", arguments, path, {"strip": bool})


PARSER = ContentParser("int", streams=True, prepare=prepare, check=check)
