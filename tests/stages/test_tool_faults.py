"""Tools that can't be read are never passed over in silence."""

from __future__ import annotations

import logging
import re
from functools import partial
from typing import Any

import pytest

from streamparse import ArgumentError, ResponseParser, parse_response, parse_stream

CALL = '<tool_call>{"name": "f", "arguments": {"n": "7"}}</tool_call>'
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


def arguments(tools: Any, errors: str = "report") -> Any:
    message = parse_response(CALL, "qwen3", prefix="", tools=tools, errors=errors)  # type: ignore[arg-type]
    return message["tool_calls"][0]["function"]["arguments"]


@pytest.mark.parametrize("errors", ["strict", "report", "repair"])
@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "f", "parameters": SCHEMA}},
        {"type": "function", "name": "f", "parameters": SCHEMA},
        {"name": "f", "description": "Does f.", "input_schema": SCHEMA},
        {"type": "custom", "name": "f", "input_schema": SCHEMA},
        {"name": "f", "inputSchema": SCHEMA},
    ],
    ids=["OpenAI", "Responses", "Anthropic", "Anthropic with a type", "MCP"],
)
def test_each_form_of_a_tool_is_read(tool: Any, errors: str, caplog: pytest.LogCaptureFixture) -> None:
    assert arguments([tool], errors) == {"n": 7}
    assert not caplog.records


FAULTY: list[tuple[Any, str]] = [
    (None, "None is no tool"),
    ("f", "an object of type str is no tool"),
    (5, "an object of type int is no tool"),
    (partial(print), "an object of type partial is no tool"),
    ({"name": "f", "paramters": SCHEMA}, "unknown key 'paramters'.*did you mean 'parameters'"),
    ({"function": {"name": "f", "parametrs": SCHEMA}}, "unknown key 'parametrs'.*did you mean 'parameters'"),
    ({"name": "f", "input_shema": SCHEMA}, "did you mean 'input_schema'"),
    ({"nam": "f", "parameters": SCHEMA}, "did you mean 'name'"),
    ({"functon": {"name": "f", "parameters": SCHEMA}}, "did you mean 'function'"),
    ({"parameters": SCHEMA}, "has no 'name'"),
    ({"function": "f"}, "its 'function' must be a dict"),
    ({"name": "f", "parameters": "{}"}, "must be a JSON schema .a dict., not str"),
    ({"name": "f", "parameters": {"type": "object", "propertis": {}}}, "did you mean 'properties'"),
    ({"name": "f", "parameters": {"n": {"type": "integer"}}}, "have no 'properties'"),
]


@pytest.mark.parametrize(("tool", "said"), FAULTY)
@pytest.mark.parametrize("errors", ["strict", "report"])
def test_a_tool_that_cannot_be_read_is_a_warning(
    tool: Any, said: str, errors: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "streamparse"):
        assert arguments([tool], errors) == {"n": "7"}
    assert len(caplog.records) == 1
    assert caplog.text.count("tools[0]: ") == 1
    assert re.search(said, caplog.text)


@pytest.mark.parametrize("tools", ['[{"name": "f"}]', {"name": "f", "parameters": SCHEMA}, b"[]"])
def test_what_is_no_list_is_a_warning(tools: Any, caplog: pytest.LogCaptureFixture) -> None:
    parse_stream("", "qwen3", prefix="", tools=tools)
    assert "a list of tools is wanted" in caplog.text


def test_a_function_in_place_of_the_list_is_refused() -> None:
    with pytest.raises(ArgumentError, match="put the one tool into a list"):
        ResponseParser("qwen3", "", tools=arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "f"},
        {"name": "f", "parameters": {}},
        {"name": "f", "parameters": {"type": "object"}},
        {"name": "f", "parameters": {"$ref": "#/$defs/x", "$defs": {"x": SCHEMA}}},
        {"name": "f", "parameters": None, "input_schema": SCHEMA},
        {"name": "f", "parameters": SCHEMA, "cache_control": {"type": "ephemeral"}},
        arguments,
    ],
)
def test_nothing_is_said_of_tools_that_are_in_order(tool: Any, caplog: pytest.LogCaptureFixture) -> None:
    arguments([tool])
    assert not caplog.records
