"""Tools with schemas from simple to awkward, for grammars to be tried with."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def an_object(properties: Schema, required: list[str] | None = None, **more: Any) -> Schema:
    """A schema of an object; all its members are required unless it says which."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
    } | more


def tool(name: str, parameters: Schema | None = None) -> Schema:
    """A tool in OpenAI's form."""
    function = {"name": name} if parameters is None else {"name": name, "parameters": parameters}
    return {"type": "function", "function": function}


_NODE = {
    "type": "object",
    "properties": {
        "label": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
    },
    "required": ["label"],
}
_SHAPES = {
    "oneOf": [
        an_object({"kind": {"const": "circle"}, "radius": {"type": "number", "exclusiveMinimum": 0}}),
        an_object({"kind": {"const": "square"}, "side": {"type": "number", "minimum": 0.25, "maximum": 100}}),
    ]
}

_POINT = {"point": {"allOf": [an_object({"x": {"type": "integer"}}), an_object({"y": {"type": "integer"}})]}}
_KINDS = ("string", "integer")
_TEXT = {"type": "string"}

TOOLS: dict[str, list[Schema]] = {
    "simple": [
        tool("get_weather", an_object({"city": {"type": "string"}, "days": {"type": "integer"}}, ["city"])),
        tool("add_note", an_object({"text": {"type": "string"}})),
        tool("now"),
    ],
    "all types": [
        tool(
            "convert",
            an_object(
                {
                    "flag": {"type": "boolean"},
                    "number": {"type": ["number", "null"]},
                    "mode": {"enum": ["a", "b c", 3, None, True]},
                    "level": {"type": "integer", "minimum": -5, "maximum": 120},
                    "ratio": {"type": "number", "minimum": 0.5, "exclusiveMaximum": 7.25},
                    "names": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
                    "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "null"}], "items": False},
                    "fixed": {"const": "as it is"},
                    "nothing": {"type": "null"},
                },
                ["flag", "mode"],
            ),
        )
    ],
    "recursive": [tool("plant", an_object({"root": {"$ref": "#/$defs/node"}}) | {"$defs": {"node": _NODE}})],
    "strings": [
        tool(
            "find",
            an_object(
                {
                    "code": {"type": "string", "pattern": "^[a-z]+-[0-9]{2,4}$"},
                    "day": {"type": "string", "format": "date"},
                    "word": {"type": "string", "minLength": 2, "maxLength": 5},
                    "host": {"type": "string", "format": "ipv4"},
                    "choice": {"anyOf": [{"enum": ["left", "right"]}, {"type": "integer", "minimum": 10}]},
                    "anything": {},
                },
                ["code", "word"],
            ),
        )
    ],
    "open objects": [
        tool("count", an_object({"key": {"type": "integer"}}, additionalProperties={"type": "number"})),
        tool("store", {"type": "object"}),
        tool("tag", {"type": "object", "additionalProperties": {"type": "string"}}),
    ],
    "put together": [
        tool("draw", an_object({"shape": _SHAPES, "where": {"$ref": "#/$defs/point"}}, ["shape"]) | {"$defs": _POINT}),
        tool("maybe", an_object({"v": {"type": "string", "nullable": True}, "n": {"type": ["integer", "string"]}}, [])),
    ],
    "all optional": [
        tool("search", an_object({key: {"type": kind} for key, kind in zip("abcdef", _KINDS * 3, strict=True)}, []))
    ],
    "keys like the format's own": [
        tool("rename", an_object({"name": _TEXT, "arguments": {"type": "object"}, "parameters": _TEXT}, ["name"])),
        tool("identify", an_object({"id": _TEXT, "function": _TEXT}, [])),
    ],
}  # fmt: skip
