"""What can't be read of a tool, in words: its arguments would stay as the model wrote them, and nobody knew why.

In:  a tool as it was given, and the part of it with its name and parameters, where it has one.
Out: what is wrong with it; the schema of its parameters.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

PARAMETERS = ("parameters", "input_schema", "inputSchema")
"""Where the schema is: in OpenAI's form, in Anthropic's, and in that of the Model Context Protocol."""

FUNCTION_KEYS = frozenset({"name", "description", "strict", "type", "function", "title", "return", *PARAMETERS})
SCHEMA_KEYS = frozenset({"type", "properties", "required", "additionalProperties", "$defs", "definitions", "items"})
_OTHER_SCHEMA_KEYS = frozenset(
    {"$ref", "allOf", "anyOf", "oneOf", "patternProperties", "title", "description", "$schema"}
)


def parameters_of(function: Mapping[str, Any]) -> Any:
    """The schema of a tool's parameters, in whichever of the known forms it is; None if there is none.

    >>> parameters_of({"name": "f", "input_schema": {"type": "object"}})
    {'type': 'object'}
    """
    return next((function[key] for key in PARAMETERS if isinstance(function.get(key), dict)), None)


def tool_faults(tool: Any, function: Mapping[str, Any] | None) -> list[str]:
    """What is wrong with a tool; nothing for one that is read as it is meant, or that has no parameters.

    >>> tool_faults({"name": "f", "paramters": {}}, {"name": "f", "paramters": {}})
    ["'f' has an unknown key 'paramters', which is not read; did you mean 'parameters'?"]
    """
    if function is None:
        return [_not_read(tool)]
    if not isinstance(tool, dict):
        return []
    name = function["name"]
    faults = [] if parameters_of(function) is not None else _misspelt(repr(name), function, FUNCTION_KEYS)
    for key in PARAMETERS:
        if function.get(key) is not None and not isinstance(function[key], dict):
            kind = type(function[key]).__name__
            faults.append(f"{name!r}: its {key} must be a JSON schema (a dict), not {kind}, and are not read")
    schema = parameters_of(function)
    if schema and not schema.keys() & {"properties", *_OTHER_SCHEMA_KEYS}:
        faults += _misspelt(f"the parameters of {name!r}", schema, SCHEMA_KEYS)
        if schema.keys() - SCHEMA_KEYS and not faults:
            faults.append(
                f"the parameters of {name!r} have no 'properties', so nothing is known of the arguments' types"
            )
    return faults


def _not_read(tool: Any) -> str:
    """What to say of something that is no tool at all."""
    wanted = "a dict with a name and parameters, a function with type hints, or a pydantic model is wanted"
    if not isinstance(tool, dict):
        kind = "None" if tool is None else f"an object of type {type(tool).__name__}"
        return f"{kind} is no tool, and is not read; {wanted}"
    function = tool.get("function", tool)
    if not isinstance(function, dict):
        return (
            f"its 'function' must be a dict with a name and parameters, not {type(function).__name__}; it is not read"
        )
    near = _misspelt("it", function, FUNCTION_KEYS)
    return near[0] if near else "it has no 'name' (a text), and is not read"


def _misspelt(owner: str, given: Mapping[Any, Any], known: Collection[str]) -> list[str]:
    """The keys that look like known ones."""
    faults = []
    for key in given:
        near = [] if key in known else get_close_matches(str(key), sorted(set(known) - given.keys()), n=1, cutoff=0.75)
        if near:
            faults.append(f"{owner} has an unknown key {key!r}, which is not read; did you mean {near[0]!r}?")
    return faults
