"""The content parser ``json``: any JSON value, as Python's ``json`` reads it, optionally in a dialect.

Integers are exact whatever their size, ``NaN`` and ``Infinity`` are read, and of equal keys the last one counts. The
arguments ``string_delims`` and ``unquoted_keys`` choose a dialect (see ``json_dialect``); with ``allow_non_json`` a
text that isn't JSON is the value itself.

>>> PARSER.prepare({})('{"id": 12345678901234567890123}')
{'id': 12345678901234567890123}
>>> PARSER.prepare({"allow_non_json": True})(" plain words ")
'plain words'
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from streamparse.errors import Fault, LimitError
from streamparse.limits import Limits, how_to_raise
from streamparse.stages.content.json_dialect import Dialect, Rewritten, string_delimiters
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
from streamparse.stages.content.whole_number import reader_within, too_long

ARGUMENTS = {"unquoted_keys": bool, "string_delims": list, "allow_non_json": bool, "strip": bool}

STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
NO_BRACKET = re.compile(r"[^\[\]{}]++")
STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}


def prepare(arguments: Mapping[str, Any], preparation: Preparation = STRICT, /) -> Parse:
    """Make the parse function."""
    limits = preparation.limits
    delimiters = string_delimiters(arguments.get("string_delims", []))
    unquoted_keys = bool(arguments.get("unquoted_keys", False))
    dialect = Dialect(delimiters, unquoted_keys) if delimiters or unquoted_keys else None
    accepts_text, strip = bool(arguments.get("allow_non_json")), strips(arguments)

    def parse(text: str) -> Any:
        rewritten = dialect.to_json(text) if dialect else Rewritten(text)
        try:
            return decode(rewritten.text, limits)
        except json.JSONDecodeError as error:
            if accepts_text:
                return text.strip() if strip else text
            raise content_error(f"not JSON: {error.msg}", text, rewritten.origin(error.pos)) from None

    return parse


def decode(text: str, limits: Limits) -> Any:
    """Decode JSON text; raises JSONDecodeError, or LimitError for what is nested too deep and numbers too long."""
    parse_int = reader_within(limits.number_length)
    try:
        if text.count("[") + text.count("{") > limits.json_depth and depth(text) > limits.json_depth:
            raise too_deep(limits.json_depth)
        return json.loads(text, parse_int=parse_int)
    except (json.JSONDecodeError, LimitError):
        raise
    except RecursionError:
        raise too_deep(limits.json_depth) from None
    except ValueError:
        raise too_long(limits.number_length) from None


def depth(text: str) -> int:
    """Count how many lists and objects enclose the innermost value of a JSON text.

    >>> depth('[{"a": "]["}, [[]]]')
    3
    """
    brackets = NO_BRACKET.sub("", STRING.sub("", text))
    return max(accumulate(map(STEPS.__getitem__, brackets)), default=0)


def too_deep(limit: int) -> LimitError:
    """Make the error for JSON that is nested too deep."""
    return LimitError(
        f"lists and objects are nested more than {limit} deep; {how_to_raise('json_depth')}", limit="json_depth"
    )


def check(arguments: Mapping[str, Any], path: str, _depth: int = 0, /) -> Findings:
    """Check the arguments."""
    errors, warnings = known_arguments("json", arguments, path, ARGUMENTS)
    try:
        string_delimiters(arguments.get("string_delims", []))
    except ValueError as error:
        errors.append(Fault(f"{path}.string_delims", str(error)))
    return errors, warnings


PARSER = ContentParser("json", streams=False, prepare=prepare, check=check)
