"""Casts a tool call's arguments to the types that the tool's schema declares.

In come the tools, as ``apply_chat_template`` takes them, and values of the form
``{"function": {"name": …, "arguments": {…}}}``, one or a list; out go the values with their arguments cast. Models
write most arguments as text; a schema says what they are.

A schema is read in one of two ways: the strict one gives exactly what transformers gives (``strict_types`` and
``strict_cast``), the lenient one reads all of a schema and keeps what a text says (``argument_casting``).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from inspect import isfunction, ismethod
from typing import Any

from streamparse.errors import ArgumentError, StreamparseError
from streamparse.repair import Damaged
from streamparse.repair.json_repair import mend_json
from streamparse.stages.argument_casting import ArgumentCaster, read_array, read_object
from streamparse.stages.content import SourcedDict
from streamparse.stages.function_schema import function_schema
from streamparse.stages.tool_faults import parameters_of, tool_faults

_log = logging.getLogger("streamparse")

MAX_TRANSFORM_DEPTH = 4
"""How deep in a value a dictionary is looked for that remembers its sources."""

Types = tuple[str, ...]
Calls = Iterator[dict[str, Any]]


class ToolSchemas:
    """The tools of one conversation, by name.

    ``strict`` has each tool's properties as transformers sees them, ``lenient`` each tool's whole schema. With
    ``mends`` lenient casting mends damaged JSON in texts that can only be meant as objects and lists.
    """

    def __init__(
        self, strict: Mapping[str, Mapping[str, Any]], lenient: Mapping[str, Any], *, mends: bool = False
    ) -> None:
        """Take schemas that ``from_tools`` has sorted out."""
        self._rescue = _Rescue() if mends else None
        self._strict = strict
        self._lenient = lenient
        self._casters: dict[str, ArgumentCaster] = {}
        self._undeclared = ArgumentCaster("an undeclared tool", None, self._rescue)
        self._types: dict[tuple[str, str], Types] = {}

    @classmethod
    def from_tools(cls, tools: Any) -> ToolSchemas:
        """Collect the schemas of tools.

        A tool is a dictionary in OpenAI's form, a bare one with ``name`` and ``parameters`` (or Anthropic's
        ``input_schema``), a function with type hints, or a pydantic model. Dictionaries are read, never changed;
        schemas that were collected before are taken as they are, so that many parsers may share them. What can't be
        read of the tools is a warning, as transformers, which passes over it silently, would go on; see
        ``tool_faults``. Raises ArgumentError where ``tools`` is no list at all, and StreamparseError where a model has
        no schema.

        >>> ToolSchemas.from_tools([{"name": "f", "parameters": {"properties": {"n": {"type": "integer"}}}}]).names
        frozenset({'f'})
        """
        if isinstance(tools, ToolSchemas):
            return tools
        if tools is None:
            return NO_TOOLS
        if not isinstance(tools or (), Iterable):
            hint = "; put the one tool into a list" if callable(tools) else ""
            raise ArgumentError(f"tools must be a list of tools, not {type(tools).__name__}{hint}")
        if isinstance(tools, str | bytes | Mapping):
            _log.warning("tools: a list of tools is wanted, not %s, of which nothing is read", type(tools).__name__)
            tools = ()
        strict: dict[str, Mapping[str, Any]] = {}
        lenient: dict[str, Any] = {}
        for number, tool in enumerate(tools or ()):
            function = described(tool)
            for fault in tool_faults(tool, function):
                _log.warning("tools[%d]: %s", number, fault)
            known_to_transformers = isinstance(tool, dict) or isfunction(tool) or ismethod(tool)
            if function is None:
                continue
            name, parameters = function["name"], parameters_of(function)
            lenient[name] = parameters
            if known_to_transformers:
                properties = parameters.get("properties") if isinstance(parameters, dict) else None
                strict[name] = properties if isinstance(properties, dict) else {}
        return cls(strict, lenient)

    def mending(self) -> ToolSchemas:
        """Give the same schemas for one parser that mends."""
        return ToolSchemas(self._strict, self._lenient, mends=True)

    def take_repaired(self) -> list[str]:
        """Give what was mended since the last time, in words."""
        return [] if self._rescue is None else self._rescue.take_repaired()

    @property
    def names(self) -> frozenset[str]:
        """The names of the tools."""
        return frozenset(self._lenient)

    def types(self, name: str, key: str) -> Types:
        """The types that strict casting tries for a tool's argument; none where nobody declared it."""
        types = self._types.get((name, key))
        if types is None:
            properties = self._strict.get(name, {})
            if key not in properties:
                return ()
            types = self._types[name, key] = strict_types(properties[key])
        return types

    def caster(self, name: str) -> ArgumentCaster | None:
        """What lenient casting does to a tool's arguments; None for a tool that nobody declared."""
        if name not in self._casters and name in self._lenient:
            self._casters[name] = ArgumentCaster(name, self._lenient[name], self._rescue)
        return self._casters.get(name)

    def missing(self, function: dict[str, Any]) -> tuple[str, ...]:
        """The arguments that a call's tool requires and the call lacks; none for a tool that nobody declared."""
        name, arguments = function.get("name"), function.get("arguments")
        caster = self.caster(name) if isinstance(name, str) else None
        return caster.missing(arguments) if caster is not None and isinstance(arguments, dict) else ()

    def cast(self, value: Any, *, lenient: bool) -> Any:
        """Cast the arguments of a value that is a call, or of each call in a list.

        Strict casting works on the value itself and returns it, as transformers does; lenient casting leaves it as
        it is and returns a new one. Raises ContentError (lenient only) for a call without arguments whose tool
        requires some.

        >>> schemas = ToolSchemas.from_tools([{"name": "f", "parameters": {"properties": {"n": {"type": "integer"}}}}])
        >>> schemas.cast({"function": {"name": "f", "arguments": {"n": "7"}}}, lenient=False)
        {'function': {'name': 'f', 'arguments': {'n': 7}}}
        """
        if lenient:
            return self._cast_leniently(value)
        if self._strict:
            for function in calls(value):
                self._cast_strictly(function)
        return value

    def _cast_strictly(self, function: dict[str, Any]) -> None:
        name, arguments = function.get("name"), function.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, dict):
            return
        for key, argument in arguments.items():
            if not (types := self.types(name, key)):
                continue
            if isinstance(argument, str):
                arguments[key] = strict_cast(argument, types)
            elif isinstance(argument, list) and "array" not in types:
                # A key that came several times: merge_duplicates made the list.
                arguments[key] = [strict_cast(item, types) if isinstance(item, str) else item for item in argument]

    def _cast_leniently(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._cast_call(item) for item in value]
        return self._cast_call(value)

    def _cast_call(self, value: Any) -> Any:
        function = value.get("function") if isinstance(value, dict) else None
        if not isinstance(function, dict) or not isinstance(name := function.get("name"), str):
            return without_sources(value)
        caster = self.caster(name) or self._undeclared
        return without_sources({**value, "function": {**function, "arguments": caster.cast(function)}})


class _Rescue:
    """Mends the JSON of a text, and remembers what it mended until somebody asks."""

    def __init__(self) -> None:
        self._repaired: dict[str, None] = {}

    def __call__(self, text: str) -> Any:
        mended = mend_json(Damaged(text))
        self._repaired.update(dict.fromkeys(mended.repaired))
        return mended.value

    def take_repaired(self) -> list[str]:
        """What was mended since the last time, in words."""
        repaired = [*self._repaired]
        self._repaired.clear()
        return repaired


NO_TOOLS = ToolSchemas({}, {})
"""Those of every conversation without tools."""


def without_sources(value: Any, depth: int = MAX_TRANSFORM_DEPTH) -> Any:
    """Give a value whose dictionaries no longer remember what they were read from, as far as a transform puts them."""
    if isinstance(value, SourcedDict) or depth == 0 or not isinstance(value, dict):
        return dict(value) if isinstance(value, SourcedDict) else value
    return {key: without_sources(inner, depth - 1) for key, inner in value.items()}


def described(tool: Any) -> dict[str, Any] | None:
    """Give the part of a tool that has its name and parameters; None for what is no tool."""
    if isfunction(tool) or ismethod(tool):
        return function_schema(tool)
    if isinstance(tool, type) and callable(schema_of := getattr(tool, "model_json_schema", None)):
        try:
            return {"name": tool.__name__, "parameters": schema_of()}
        except Exception as error:
            raise StreamparseError(f"the tool {tool.__name__} gives no schema: {error}") from error
    function = tool.get("function", tool) if isinstance(tool, dict) else None
    return function if isinstance(function, dict) and isinstance(function.get("name"), str) else None


def calls(value: Any) -> Calls:
    """Give the ``function`` of each call in a value that is a call, or a list of calls, or a list of such lists."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting += item
        elif isinstance(item, dict) and isinstance(function := item.get("function"), dict):
            yield function


def strict_types(schema: Any) -> Types:
    """List the types that a schema names, in the order in which transformers tries them.

    Those of ``type`` first, then those of each branch of ``anyOf`` and ``oneOf``, then ``null`` where the schema is
    ``nullable``. A type's later mentions change nothing and are left out.

    >>> strict_types({"anyOf": [{"type": "integer"}, {"type": ["string", "null"]}]})
    ('integer', 'string', 'null')
    """
    types: dict[str, None] = {}
    seen: set[int] = set()
    waiting: list[tuple[Any, bool]] = [(schema, False)]
    while waiting:
        node, branches_done = waiting.pop()
        if branches_done:
            types["null"] = None
            continue
        if not isinstance(node, dict) or id(node) in seen:
            continue
        seen.add(id(node))
        declared = node.get("type")
        names = declared if isinstance(declared, list) else [declared]
        types.update((name, None) for name in names if isinstance(name, str))
        if node.get("nullable"):
            waiting.append((node, True))
        unions = [node.get(keyword) for keyword in ("anyOf", "oneOf")]
        branches = [branch for union in unions if isinstance(union, list | tuple) for branch in union]
        waiting += ((branch, False) for branch in reversed(branches))
    return tuple(types)


def strict_cast(text: str, types: Types) -> Any:
    """Cast a text to the first of the types that it can be read as; the text itself where it is none of them.

    >>> strict_cast("3.0", ("integer",)), strict_cast("x", ("integer", "null")), strict_cast("[1]", ("array",))
    (3, 'x', [1])
    """
    for name in types:
        reader = STRICT_READERS.get(name)
        if reader is not None:
            try:
                return reader(text)
            except (ValueError, RecursionError):
                continue
    return text


def read_integer(text: str) -> int:
    """Read a whole number, also one written as a float."""
    try:
        return int(text)
    except ValueError:
        number = float(text)
        if not number.is_integer():
            raise
        return int(number)


def read_number(text: str) -> int | float:
    """Read a finite number, whole ones without a point as integers, all through a float's precision."""
    number = float(text)
    if number.is_integer() and "." not in text:
        return int(number)
    if number - number != 0:
        raise ValueError("not finite")
    return number


def read_boolean(text: str) -> bool:
    """Read a truth value."""
    word = text.strip().lower()
    if word not in ("true", "1", "false", "0"):
        raise ValueError("not a truth value")
    return word in ("true", "1")


def read_null(text: str) -> None:
    """Read null."""
    if text.strip() not in ("null", "None"):
        raise ValueError("not null")


STRICT_READERS = {
    "integer": read_integer,
    "number": read_number,
    "boolean": read_boolean,
    "null": read_null,
    "object": read_object,
    "array": read_array,
}
