"""What can be read of calls that never became a value, because they are malformed or were cut off: for display only.

In: a field, the captures of its open delimiter, and the text of a region. Out: the names and the arguments as far as
they were certain, which are what argument deltas would have given out.
"""

from __future__ import annotations

import json
import re
from typing import Any

from streamparse.stages.deltas.arguments import ToolArguments
from streamparse.stages.deltas.region_deltas import RegionDeltas
from streamparse.stages.schema_typing import ToolSchemas
from streamparse.template.model import Field

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?P<quote>"?)|[{}\[\],:]|[^"{}\[\],:]++', re.DOTALL)
CLOSES = {"{": "}", "[": "]"}


def partial_calls(
    field: Field, captures: dict[str, str], text: str, schemas: ToolSchemas, *, lenient: bool
) -> list[dict[str, Any]]:
    """The calls of a region as far as they can be read: ``id`` if there is one, ``name``, ``arguments``."""
    calls: dict[int, dict[str, Any]] = {}
    tools = ToolArguments(schemas, lenient=lenient)
    for event in RegionDeltas(field, captures, tools, 0, lenient=lenient).feed(text):
        call = calls.setdefault(event["index"], {"arguments": ""})
        call |= {key: event[key] for key in ("id", "name") if key in event}
        call["arguments"] += event.get("arguments", "")
    return [call | {"arguments": closed_object(call["arguments"])} for call in calls.values()]


def closed_object(text: str) -> dict[str, Any]:
    """The object that the beginning of a compact JSON text has so far.

    >>> closed_object('{"a":[1,{"b":"x'), closed_object('{"a":1,"b'), closed_object("")
    ({'a': [1, {'b': 'x'}]}, {'a': 1}, {})
    """
    open_brackets: list[str] = []
    key_is_due, end, missing_quote = False, 0, ""
    for token in TOKEN.finditer(text):
        word = token[0]
        if word in (",", ":"):
            key_is_due = word == "," and open_brackets[-1:] == ["}"]
            continue
        if word in CLOSES:
            open_brackets.append(CLOSES[word])
            key_is_due = word == "{"
        elif key_is_due and word != "}":
            continue
        elif word in ("}", "]"):
            open_brackets.pop()
            key_is_due = False
        end = token.end()
        missing_quote = '"' if word.startswith('"') and not token["quote"] else ""
    try:
        value = json.loads(text[:end] + missing_quote + "".join(reversed(open_brackets)))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
