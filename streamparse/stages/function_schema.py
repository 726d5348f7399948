"""The JSON schema of a Python function that is given as a tool, from its type hints.

In comes a function; out goes ``{"name": …, "parameters": {…}}``. Types are mapped as transformers' ``get_json_schema``
maps them, so that a function and the schema sent to the model agree. What it would refuse (an argument without a hint,
a class of one's own, a missing docstring) is left without a type here, which keeps the model's text as it is.
"""

from __future__ import annotations

import collections.abc
import enum
import inspect
import json
import re
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any

Schema = dict[str, Any]

NAMED_TYPES: dict[Any, str] = {
    int: "integer",
    float: "number",
    str: "string",
    bool: "boolean",
    type(None): "null",
    list: "array",
    tuple: "array",
    dict: "object",
}
SCALARS = (int, float, str, bool, type(None))
LIST_TYPES = (list, set, frozenset, collections.abc.Sequence)
OBJECT_TYPES = (dict, collections.abc.Mapping)

ARGUMENT_LINE = re.compile(r"\s*(\w+)(?:[ \t]*\([^()\n]*\))?:")
CHOICES = re.compile(r"\(choices:\s*(\[.*\])\s*\)\s*$", re.IGNORECASE)


def function_schema(function: Callable[..., Any]) -> Schema:
    """Make the schema of a function's arguments.

    >>> def alarm(hour: int, label: str | None = None): ...
    >>> function_schema(alarm)["parameters"]["properties"]
    {'hour': {'type': 'integer'}, 'label': {'type': 'string', 'nullable': True}}
    """
    hints = type_hints(function)
    choices = documented_choices(inspect.getdoc(function) or "")
    definitions: Schema = {}
    properties: Schema = {}
    required = []
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints.get(name, parameter.annotation)
        if name in ("self", "cls") and hint is inspect.Parameter.empty:
            continue
        properties[name] = schema = hint_schema(hint, definitions)
        if name in choices:
            schema["enum"] = choices[name]
        if parameter.default is inspect.Parameter.empty and parameter.kind not in (
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.VAR_KEYWORD,
        ):
            required.append(name)
    parameters: Schema = {"type": "object", "properties": properties, "required": required}
    if definitions:
        parameters["$defs"] = definitions
    return {"name": getattr(function, "__name__", "operation"), "parameters": parameters}


def type_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Give a function's hints; none at all where one of them names what isn't there."""
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return {}


def hint_schema(hint: Any, definitions: Schema) -> Schema:
    """Make the schema of one hint; ``definitions`` collects those that models bring along."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return hint_schema(arguments[0], definitions)
    if origin is None:
        return class_schema(hint, definitions)
    if origin is typing.Union or origin is types.UnionType:
        return union_schema(arguments, definitions)
    if origin is typing.Literal:
        return enumeration_schema(arguments)
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is ...:
            return {"type": "array", "items": hint_schema(arguments[0], definitions)}
        return {"type": "array", "prefixItems": [hint_schema(argument, definitions) for argument in arguments]}
    if origin in LIST_TYPES:
        return {"type": "array", "items": hint_schema(arguments[0], definitions)}
    if origin in OBJECT_TYPES:
        return {"type": "object", "additionalProperties": hint_schema(arguments[1], definitions)}
    return {}


def class_schema(hint: Any, definitions: Schema) -> Schema:
    """Make the schema of a hint that takes no arguments: a basic type, an enumeration, a pydantic model."""
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return enumeration_schema(member.value for member in hint)
    if callable(model_schema := getattr(hint, "model_json_schema", None)):
        schema = dict(model_schema())
        definitions.update(schema.pop("$defs", {}))
        return schema
    name = NAMED_TYPES.get(hint) if isinstance(hint, collections.abc.Hashable) else None
    return {"type": name} if name else {}


def union_schema(members: Iterable[Any], definitions: Schema) -> Schema:
    """Make the schema of a union; None in it makes it nullable."""
    members = tuple(members)
    schemas = [hint_schema(member, definitions) for member in members if member is not type(None)]
    if len(schemas) == 1:
        result = schemas[0]
    elif all(schema.keys() == {"type"} and isinstance(schema["type"], str) for schema in schemas):
        names = sorted({schema["type"] for schema in schemas})
        result = {"type": names[0] if len(names) == 1 else names}
    else:
        result = {"anyOf": schemas}
    if type(None) in members:
        result["nullable"] = True
    return result


def enumeration_schema(values: Iterable[Any]) -> Schema:
    """Make the schema of a choice among values; none where one of them is not a JSON scalar."""
    values = list(values)
    if not values or any(type(value) not in SCALARS for value in values):
        return {}
    names = list(dict.fromkeys(NAMED_TYPES[type(value)] for value in values))
    return {"type": names[0] if len(names) == 1 else names, "enum": values}


def documented_choices(docstring: str) -> dict[str, list[Any]]:
    """Read the choices that a docstring offers for arguments, as in ``drink: what to pour (choices: ["tea"])``.

    >>> documented_choices('Pour.\\n\\nArgs:\\n    drink: what to pour (choices: ["tea", "coffee"])')
    {'drink': ['tea', 'coffee']}
    """
    choices: dict[str, list[Any]] = {}
    argument = None
    for line in docstring.splitlines():
        if named := ARGUMENT_LINE.match(line):
            argument = named[1]
        if argument and (offered := CHOICES.search(line)):
            try:
                values = json.loads(offered[1])
            except ValueError:
                continue
            choices[argument] = [value.strip() if isinstance(value, str) else value for value in values]
    return choices
