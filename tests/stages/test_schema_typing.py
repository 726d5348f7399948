"""Strict typing: exactly what transformers makes of a call's arguments; and which tools are understood."""

from __future__ import annotations

import copy
import json
from enum import Enum
from typing import Any, Literal

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.errors import ArgumentError, StreamparseError
from streamparse.stages.function_schema import function_schema
from streamparse.stages.schema_typing import ToolSchemas, strict_cast, strict_types

TYPES = ["integer", "number", "boolean", "null", "object", "array", "string", "image", ""]
types = st.sampled_from(TYPES)
schemas = st.recursive(
    st.sampled_from([True, None, 5, {}, {"enum": [7]}, {"$ref": "#/$defs/X"}])
    | st.builds(lambda t: {"type": t}, types | st.lists(types | st.just(None), max_size=4)),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": types,
            "anyOf": st.lists(inner, max_size=3),
            "oneOf": st.lists(inner, max_size=3) | st.none(),
            "nullable": st.booleans(),
        },
    ),
    max_leaves=6,
)
TEXTS = [
    *("7", " 7 ", "-0", "+5", "3.0", "3.5", "5.", "1e3", "1e22", "1e400", "-1e400", "nan", "inf", "1_000", "٣", "007"),
    *("0x10", "true", "FALSE", " 1", "0", "null", "None ", "", "[1, 2]", '{"a": NaN}', "['a']", "9007199254740993.0"),
    *("1" * 400, "1" * 5000, "0." + "1" * 50, "[" * 2000, '{"a": ' + "1" * 5000 + "}", "\ud800"),
]
texts = st.sampled_from(TEXTS) | st.text(max_size=6)
argument_values = (
    texts | st.lists(texts | st.integers() | st.none(), max_size=3) | st.sampled_from([5, None, True, {"a": "1"}])
)


@pytest.fixture(scope="session")
def reference_cast():
    from transformers.utils.chat_parsing import ResponseParser

    def cast(value, tools):
        template = {"start_anchor": "@", "fields": {"content": {}}}
        return ResponseParser(template, prefix="", tools=tools)._coerce_tool_calls(value)

    return cast


def call(name: str, arguments: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


@given(schema=schemas, value=argument_values)
def test_arguments_are_cast_as_transformers_casts_them(reference_cast, schema, value):
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"properties": {"x": schema}}}}]
    given_call = call("f", {"x": value, "y": "7"})
    try:
        expected = repr(reference_cast([copy.deepcopy(given_call)], tools))
    except RecursionError:  # JSON nested too deep; the text is kept here
        expected = repr([given_call])
    assert repr(ToolSchemas.from_tools(tools).cast([copy.deepcopy(given_call)], lenient=False)) == expected


@pytest.mark.parametrize(
    "value",
    [
        call("f", {"x": "7"}),
        [call("f", {"x": "7"}), [call("f", {"x": "8"})], "7"],
        call("g", {"x": "7"}),
        call(["f"], {"x": "7"}),  # type: ignore[arg-type]
        call("f", '{"x": "7"}'),
        call("f", None),
        {"function": {"name": "f"}},
        {"function": "f"},
        {"name": "f", "arguments": {"x": "7"}},
        {"fields": {"x": "7"}, "name": "f"},
        "7",
        None,
    ],
)
def test_only_calls_of_known_tools_are_cast(reference_cast, value):
    tools = [{"name": "f", "parameters": {"properties": {"x": {"type": "integer"}}}}]
    expected = reference_cast(copy.deepcopy(value), tools)
    assert ToolSchemas.from_tools(tools).cast(copy.deepcopy(value), lenient=False) == expected


def alarm(hour: int, enabled: bool, label: str | None = None, kind: Literal["a", 1] = "a", tags: list[str] = []):  # noqa: B006
    """
    Set an alarm.

    Args:
        hour: The hour it rings at.
        enabled: Whether it is on.
        label (str): What it is called.
        kind: What sort it is.
        tags: What it is for.
    """


class Drink(Enum):
    TEA = "tea"
    WATER = "water"


class Kitchen:
    def pour(self, what: Drink, litres: float, extras: dict[str, int], where: tuple[int, str], how: int | float):
        """
        Pour.

        Args:
            what: What to pour.
            litres: How much.
            extras: What else
                there is to say.
            where: To where.
            how: In what way (choices: [1, 2.5])
        """


@pytest.mark.parametrize("function", [alarm, Kitchen().pour])
def test_a_function_has_the_types_that_transformers_sends_to_the_model(function):
    from transformers.utils import get_json_schema

    expected = get_json_schema(function)["function"]
    ours = function_schema(function)
    for schema in expected["parameters"]["properties"].values():
        schema.pop("description")
    assert ours["name"] == expected["name"]
    assert ours["parameters"] == expected["parameters"]


@pytest.mark.parametrize("lenient", [False, True])
def test_functions_can_be_given_as_tools(lenient):
    value = call("alarm", {"hour": "7", "enabled": "true", "label": "null"})
    cast = ToolSchemas.from_tools([alarm]).cast(value, lenient=lenient)
    assert cast == call("alarm", {"hour": 7, "enabled": True, "label": "null" if lenient else None})


def test_a_function_that_transformers_refuses_leaves_what_it_does_not_say_untyped():
    def bare(a, b: "Missing", c: int):  # type: ignore[name-defined] # noqa: F821, UP037
        ...

    def typed(a, c: int, *rest: int, **more: Kitchen): ...

    assert function_schema(bare)["parameters"]["properties"] == {"a": {}, "b": {}, "c": {}}
    parameters = function_schema(typed)["parameters"]
    assert parameters["properties"] == {"a": {}, "c": {"type": "integer"}, "rest": {"type": "integer"}, "more": {}}
    assert parameters["required"] == ["a", "c"]


class Place(pydantic.BaseModel):
    city: str
    zip: int


class Trip(pydantic.BaseModel):
    days: int
    to: Place
    note: str | None = None


def test_pydantic_models_can_be_given_as_tools():
    value = call("Trip", {"days": "3", "to": '{"city": "Oslo", "zip": "150"}', "note": "7"})
    schemas = ToolSchemas.from_tools([Trip])
    assert schemas.names == {"Trip"}
    assert schemas.cast(value, lenient=True) == call(
        "Trip", {"days": 3, "to": {"city": "Oslo", "zip": 150}, "note": "7"}
    )


def test_functions_may_take_pydantic_models():
    def book(trip: Trip, at: list[Place]): ...

    arguments = {"trip": '{"days": "3", "to": {"zip": "1"}}', "at": '[{"zip": "2"}]'}
    cast = ToolSchemas.from_tools([book]).cast(call("book", arguments), lenient=True)
    assert cast == call("book", {"trip": {"days": 3, "to": {"zip": 1}}, "at": [{"zip": 2}]})


def test_a_model_that_has_no_schema_is_an_error_of_ours():
    class Odd(pydantic.BaseModel):
        model_config = {"arbitrary_types_allowed": True}
        x: Kitchen

    with pytest.raises(StreamparseError, match="Odd"):
        ToolSchemas.from_tools([Odd])


def test_tools_in_the_manner_of_anthropic_are_understood_in_all_modes():
    tools = [{"name": "f", "input_schema": {"type": "object", "properties": {"x": {"type": "integer"}}}}]
    schemas = ToolSchemas.from_tools(tools)
    assert schemas.cast(call("f", {"x": "7"}), lenient=True) == call("f", {"x": 7})
    assert schemas.cast(call("f", {"x": "7"}), lenient=False) == call("f", {"x": 7})


def test_entries_that_are_no_tools_are_passed_over():
    tools = ["f", 5, None, {}, {"function": 7}, {"function": {"name": 3}}, {"function": {"name": "f", "parameters": 5}}]
    assert ToolSchemas.from_tools(tools).names == {"f"}
    assert ToolSchemas.from_tools(None).names == ToolSchemas.from_tools([]).names == frozenset()


def test_schemas_can_be_shared_by_many_parsers():
    schemas_of_tools = ToolSchemas.from_tools([alarm])
    assert ToolSchemas.from_tools(schemas_of_tools) is schemas_of_tools


def test_tools_that_are_no_list_are_an_error_of_ours():
    with pytest.raises(ArgumentError, match="list of tools, not int"):
        ToolSchemas.from_tools(5)


@pytest.mark.parametrize("tools", ["abc", {"function": {"name": "f"}}])
def test_there_are_no_tools_in_what_transformers_takes_for_a_list_too(tools):
    assert not ToolSchemas.from_tools(tools).names


def test_a_dict_of_tools_is_passed_over_with_a_warning(caplog):
    assert ToolSchemas.from_tools({"function": {"name": "f"}}).names == frozenset()
    assert "a list of tools is wanted, not dict" in caplog.text


@given(schemas)
def test_the_callers_tools_are_not_changed(schema):
    tools = [{"name": "f", "parameters": {"properties": {"x": schema}, "required": ["x"]}}]
    before = json.dumps(tools)
    schemas_of_tools = ToolSchemas.from_tools(tools)
    for lenient in (False, True):
        schemas_of_tools.cast(call("f", {"x": "7"}), lenient=lenient)
    assert json.dumps(tools) == before


def test_schemas_without_end_have_types_too():
    cyclic: dict[str, Any] = {"anyOf": [{"type": "integer"}]}
    cyclic["anyOf"].append(cyclic)
    deep: dict[str, Any] = {"type": "null"}
    for _ in range(5000):
        deep = {"oneOf": [deep, {"type": "boolean"}]}
    assert strict_types(cyclic) == ("integer",)
    assert strict_types(deep) == ("null", "boolean")
    assert strict_types({"anyOf": [{"enum": [n]} for n in range(100_000)]}) == ()


def test_a_list_nested_beyond_reason_is_no_trouble():
    value: Any = call("f", {"x": "7"})
    for _ in range(100_000):
        value = [value]
    cast = ToolSchemas.from_tools([{"name": "f", "parameters": {"properties": {"x": {"type": "integer"}}}}]).cast(
        value, lenient=False
    )
    for _ in range(100_000):
        cast = cast[0]
    assert cast == call("f", {"x": 7})


@given(texts, st.lists(types, max_size=4))
def test_a_cast_never_raises_and_gives_a_declared_type_or_the_text(text, names):
    kinds = {"integer": int, "number": (int, float), "boolean": bool, "null": type(None), "object": dict, "array": list}
    value = strict_cast(text, tuple(names))
    assert value is text or any(isinstance(value, kinds[name]) for name in names if name in kinds)  # type: ignore[arg-type]
