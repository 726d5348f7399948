"""Reads a JSON schema as a list of branches: the ways in which it lets a value be.

In comes a schema from a tool; out go, for the whole and for what lies inside it, branches that name types and the
schemas that describe them. References are followed within the tool's own schema and nowhere else. All keywords of a
schema hold together: those of ``allOf`` and of what ``$ref`` names are merged with their siblings, each choice of
``anyOf`` and ``oneOf`` becomes a branch, and a branch has the types and the members that all of its schemas allow. One
that allows none is left out. Whatever a schema's size or cycles, the work is bounded: what lies beyond a
bound counts as unspecified, and then a value stays as it was read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

Schema = dict[str, Any]
Schemas = tuple[Any, ...]
Types = tuple[str, ...]

MAX_UNION_DEPTH = 50
"""How many schemas may enclose a union."""

MAX_VISITS = 2000
"""How many schemas are read for one value, through references, ``allOf`` and unions."""

UNIONS = ("anyOf", "oneOf")

SCALAR_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}

TYPE_NAMES = {
    **{name: name for name in ("string", "integer", "number", "boolean", "null", "array", "object")},
    "str": "string",
    "int": "integer",
    "float": "number",
    "double": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
    "none": "null",
}
"""The types of JSON schema, and what people write in their place; upper case is read too (as Gemini's API wants it)."""


@dataclass(frozen=True)
class Branch:
    """One way for a value to be: ``types`` that a schema names (none: any), and the schemas that apply together."""

    types: Types
    facets: tuple[Schema, ...]

    @cached_property
    def members(self) -> list[Any] | None:
        """The values that ``enum`` or ``const`` allow; None where there is no such list."""
        lists = [facet["enum"] for facet in self.facets if isinstance(facet.get("enum"), list)]
        lists += [[facet["const"]] for facet in self.facets if "const" in facet]
        if len(lists) < 2:
            return lists[0] if lists else None
        known = [{json.dumps(value, sort_keys=True) for value in values} for values in lists[1:]]
        return [value for value in lists[0] if all(json.dumps(value, sort_keys=True) in others for others in known)]

    @cached_property
    def literals(self) -> dict[str, Any]:
        """The scalars among the members, by the text that stands for each; a string stands for itself first of all."""
        scalars = [value for value in self.members or () if self._may_be(SCALAR_TYPES.get(type(value)))]
        by_text = {value: value for value in scalars if isinstance(value, str)}
        for value in scalars:
            by_text.setdefault(json.dumps(value), value)
        return by_text

    @cached_property
    def kinds(self) -> Types:
        """The types that the branch names, or else those that follow from its members, properties or items."""
        if self.types:
            return self.types
        if self.members is not None:
            return tuple(dict.fromkeys(SCALAR_TYPES.get(type(value), kind_of(value)) for value in self.members))
        for keyword, kind in (("properties", "object"), ("items", "array"), ("prefixItems", "array")):
            if any(keyword in facet for facet in self.facets):
                return (kind,)
        return ()

    def _may_be(self, kind: str | None) -> bool:
        """Whether a scalar of a type is allowed by the types that the schema names."""
        return kind is not None and (not self.types or allowed(kind, self.types))

    def allows(self, kind: str) -> bool:
        """Whether values of a type are allowed, by the types that are named or that follow from the rest."""
        return allowed(kind, self.kinds)

    @property
    def takes_any_text(self) -> bool:
        """Whether every string is allowed."""
        return not self.kinds or ("string" in self.kinds and self.members is None)

    @property
    def readable_kinds(self) -> Types:
        """The types that a text may be read as: none where some strings are members and this text is none of them."""
        return () if self.members is not None and "string" in self.kinds else self.kinds

    def property_schemas(self, key: str) -> list[Any]:
        """Give the schemas of a member of an object."""
        found = [facet["properties"][key] for facet in self.facets if key in as_schema(facet.get("properties"))]
        return found or [facet["additionalProperties"] for facet in self.facets if "additionalProperties" in facet]

    def item_schemas(self, index: int) -> list[Any]:
        """Give the schemas of an item of an array."""
        found = []
        for facet in self.facets:
            positional = facet.get("prefixItems", facet.get("items"))
            if isinstance(positional, list) and index < len(positional):
                found.append(positional[index])
            elif not isinstance(facet.get("items", []), list):
                found.append(facet["items"])
        return found

    @property
    def required(self) -> frozenset[str]:
        """The members that an object must have."""
        keys = (key for facet in self.facets for key in as_list(facet.get("required")))
        return frozenset(key for key in keys if isinstance(key, str))

    def fits(self, value: dict[str, Any]) -> bool:
        """Whether an object has the members that the branch requires, with the values that it fixes."""
        for facet in self.facets:
            required = facet.get("required")
            if isinstance(required, list) and any(isinstance(key, str) and key not in value for key in required):
                return False
            for key, schema in as_schema(facet.get("properties")).items():
                if key in value and "const" in as_schema(schema) and value[key] != schema["const"]:
                    return False
        return True


class SchemaReader:
    """Reads the branches of schemas that lie in one ``root``, which references start from."""

    def __init__(self, root: Schema) -> None:
        """Take the root; nothing is read yet."""
        self._root = root
        self._known: dict[tuple[int, ...], tuple[Schemas, tuple[Branch, ...]]] = {}
        self._budget = 0

    def branches(self, schemas: list[Any]) -> tuple[Branch, ...]:
        """Read the branches of schemas that apply together."""
        key = tuple(map(id, schemas))
        if key not in self._known:
            self._budget = MAX_VISITS
            # The schemas are kept beside their branches, so that no other object gets their ids.
            self._known[key] = tuple(schemas), tuple(self._read(tuple(schemas), None, frozenset()))
        return self._known[key][1]

    def _read(self, schemas: Schemas, outer_types: Types | None, path: frozenset[int]) -> Iterator[Branch]:
        """Read branches within ``outer_types`` (None: any); ``path`` has the ids of the schemas around them."""
        facets = self._facets(schemas, path)
        if facets is None:
            return
        types = outer_types
        for facet in facets:
            if named := named_types(facet):
                types = named if types is None else within(types, named)
        unions = [choices for facet in facets for union in UNIONS if (choices := as_list(facet.get(union)))]
        if types == ():
            pass
        elif not unions or len(path) >= MAX_UNION_DEPTH:
            yield Branch(types or (), facets)
        else:
            inner_path = path | set(map(id, facets))
            for choice in combinations(unions):
                if self._budget <= 0:
                    break
                for branch in self._read(choice, types, inner_path):
                    yield Branch(branch.types, facets + branch.facets)
        if any(facet.get("nullable") is True for facet in facets):
            yield Branch(("null",), ())

    def _facets(self, schemas: Schemas, path: frozenset[int]) -> tuple[Schema, ...] | None:
        """Collect the schemas that apply together; None where one of them leads back to the ``path`` to here."""
        facets: dict[int, Schema] = {}
        waiting = list(reversed(schemas))
        while waiting:
            schema = waiting.pop()
            if id(schema) in path or self._budget <= 0:
                return None
            if not isinstance(schema, dict) or id(schema) in facets:
                continue
            self._budget -= 1
            facets[id(schema)] = schema
            waiting += reversed(as_list(schema.get("allOf")))
            if isinstance(reference := schema.get("$ref"), str):
                waiting.append(self._resolve(reference))
        return tuple(facets.values())

    def _resolve(self, reference: str) -> Any:
        if not reference.startswith("#"):
            return None
        node: Any = self._root
        for token in unquote(reference[1:]).split("/")[1:]:
            token = token.replace("~1", "/").replace("~0", "~")
            if isinstance(node, list) and token.isdecimal() and len(token) < 10 and int(token) < len(node):
                node = node[int(token)]
            elif isinstance(node, dict) and token in node:
                node = node[token]
            else:
                return None
        return node


def combinations(unions: list[list[Any]]) -> Iterator[Schemas]:
    """Give each way to take one choice of every union, in the order of the choices."""
    if not unions:
        yield ()
        return
    for choice in unions[0]:
        for rest in combinations(unions[1:]):
            yield (choice, *rest)


def named_types(schema: Schema) -> Types:
    """Give the types that a schema names itself; a name that is no type says nothing."""
    declared = schema.get("type")
    names = declared if isinstance(declared, list) else [declared]
    known = (TYPE_NAMES.get(name.lower()) for name in names if isinstance(name, str))
    return tuple(name for name in known if name is not None)


def allowed(kind: str, types: Types) -> bool:
    """Whether values of a type are allowed by a list of types; an integer is a number too."""
    return kind in types or (kind == "integer" and "number" in types)


def within(types: Types, others: Types) -> Types:
    """Give the types that both lists allow, in the order of the first.

    >>> within(("string", "integer"), ("number", "null"))
    ('integer',)
    """
    both = dict.fromkeys(name for name in types if allowed(name, others))
    if "number" in types and "integer" in others:
        both.setdefault("integer")
    return tuple(both)


def json_type(value: Any) -> str:
    """Name the type of a JSON value."""
    return SCALAR_TYPES.get(type(value), kind_of(value))


def kind_of(value: Any) -> str:
    """Name the type of a list or an object."""
    return "array" if isinstance(value, list) else "object"


def as_schema(value: Any) -> Schema:
    """Give a value that ought to be an object; an empty one for what isn't."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Give a value that ought to be a list; an empty one for what isn't."""
    return value if isinstance(value, list) else []
