"""The content parser ``kv-lines``: one ``key: value`` a line, as a dictionary.

A line is split at the first ``kv_sep``; a line without one is skipped; a repeated key takes its last value. A
``line_sep`` of null splits at white space, as Python's ``str.split`` does.

>>> PARSER.prepare({})("a: 1\\nnothing\\nb: x:y")
{'a': '1', 'b': 'x:y'}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.errors import Fault
from streamparse.stages.content.table import (
    STRICT,
    ContentParser,
    Findings,
    Parse,
    Preparation,
    content_error,
    kind_of,
    known_arguments,
    strips,
)
from streamparse.stages.content.value_parser import SourcedDict, ValueParser, check_value_parser, failing

ARGUMENTS = {"line_sep": str, "kv_sep": str, "strip": bool, "value_parser": dict}


def prepare(arguments: Mapping[str, Any], preparation: Preparation = STRICT, /) -> Parse:
    """Make the parse function."""
    line_separator, separator = arguments.get("line_sep", "\n"), arguments.get("kv_sep", ":")
    if line_separator == "":
        return failing("line_sep is empty, so there are no lines")
    step = len(line_separator) if line_separator is not None else None
    strip = strips(arguments)
    values_of = ValueParser(arguments.get("value_parser"), preparation)

    def parse(text: str) -> dict[str, Any]:
        values: dict[str, Any] = SourcedDict() if values_of.keep_source else {}
        start = 0
        for raw_line in text.split(line_separator):
            line = raw_line.strip() if strip else raw_line
            if line and separator in line:
                if not separator:
                    raise content_error("kv_sep is empty, so no line can be split", text, start)
                key, value = line.split(separator, 1)
                position = None if step is None else start + raw_line.index(line) + len(key) + len(separator)
                if strip:
                    if position is not None:
                        position += len(value) - len(value.lstrip())
                    key, value = key.strip(), value.strip()
                put(values, key, value, position)
            if step is not None:
                start += len(raw_line) + step
        return values

    def put(values: dict[str, Any], key: str, text: str, position: int | None) -> None:
        value = values[key] = values_of.parse(text, position)
        if isinstance(values, SourcedDict):
            values.sources.pop(key, None)
            if (source := values_of.source(text, value)) is not None:
                values.sources[key] = source

    return parse


def check(arguments: Mapping[str, Any], path: str, depth: int = 0, /) -> Findings:
    """Check the arguments."""
    errors, warnings = known_arguments("kv-lines", arguments, path, ARGUMENTS)
    for name, default in (("line_sep", "\n"), ("kv_sep", ":")):
        separator = arguments.get(name, default)
        place = f"{path}.{name}"
        if separator == "":
            warnings.append(Fault(place, "is empty, so every text will fail"))
        elif separator is None and name == "line_sep":
            warnings.append(Fault(place, "is null, so lines end at any white space"))
        elif not isinstance(separator, str):
            errors.append(Fault(place, f"must be a string, not {kind_of(separator)}"))
    value_errors, value_warnings = check_value_parser(arguments.get("value_parser"), f"{path}.value_parser", depth)
    return errors + value_errors, warnings + value_warnings


PARSER = ContentParser("kv-lines", streams=False, prepare=prepare, check=check)
