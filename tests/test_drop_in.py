"""Changing the import is all that moving from transformers takes: names, arguments, defaults, results, errors."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from transformers.utils.chat_parsing import response_parser as transformers_parser

import streamparse
from streamparse import get_response_template

MODULES = [streamparse, transformers_parser]


def get_weather(city: str, days: int = 1) -> str:
    """Get the weather.

    Args:
        city: Where.
        days: For how many days.
    """
    return f"{city}: rain for {days} days"


QWEN = {key: value for key, value in get_response_template("qwen3").source.items() if key != "streamparse"}
TAGGED = {key: value for key, value in get_response_template("qwen3_5").source.items() if key != "streamparse"}
TAGGED_CALL = (
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n<parameter=days>\n3\n</parameter>\n"
    "</function>\n</tool_call>"
)

GENERATIONS: list[tuple[dict[str, Any], str, str]] = [
    (QWEN, "", "<think>\nHm.\n</think>\n\nHello!<|im_end|>"),
    (QWEN, "<|im_start|>assistant\n<think>\n", "Hm.\n</think>\n\nHello!<|im_end|>"),
    (QWEN, "", 'One moment.<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo", "days": "3"}}</tool_call>'),
    (QWEN, "no anchor ", "Hello"),
    (QWEN, "", ""),
    (TAGGED, "", f"<think>x</think>{TAGGED_CALL}\n{TAGGED_CALL}<|im_end|>"),
]


@pytest.mark.parametrize("name", ["ResponseParser", "parse_response"])
def test_arguments_have_the_same_names_order_kinds_and_defaults(name: str) -> None:
    theirs, ours = (
        inspect.signature(getattr(module, name)).parameters for module in (transformers_parser, streamparse)
    )
    assert list(ours)[: len(theirs)] == list(theirs)
    for parameter in theirs.values():
        assert ours[parameter.name].kind == parameter.kind
        if parameter.default is not inspect.Parameter.empty:
            assert ours[parameter.name].default == parameter.default


def joined(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = []
    for event in events:
        if result and event["type"] == "region_chunk" == result[-1]["type"]:
            result[-1] = {**result[-1], "text": result[-1]["text"] + event["text"]}
        else:
            result.append(event)
    return result


@pytest.mark.parametrize("size", [1, 4, 1_000])
@pytest.mark.parametrize(("template", "prefix", "text"), GENERATIONS)
def test_a_generation_gives_the_same(template: dict[str, Any], prefix: str, text: str, size: int) -> None:
    results = []
    for module in MODULES:
        parser = module.ResponseParser(template, prefix=prefix, tools=[get_weather])
        events = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
        message, last = parser.finalize()
        results.append((joined(parser.initial_events + events + last), message))
    assert results[0] == results[1]


@pytest.mark.parametrize(("template", "prefix", "text"), GENERATIONS)
def test_a_whole_text_gives_the_same(template: dict[str, Any], prefix: str, text: str) -> None:
    first, second = (module.parse_response(text, template, prefix=prefix, tools=[get_weather]) for module in MODULES)
    assert first == second


def test_events_have_exactly_the_same_keys() -> None:
    for template, prefix, text in GENERATIONS:
        parsers = [module.ResponseParser(template, prefix=prefix) for module in MODULES]
        keys = [{(event["type"], *event) for event in parser.feed(text) + parser.finalize()[1]} for parser in parsers]
        assert keys[0] == keys[1]


BAD_USE: dict[str, tuple[type[Exception], Callable[[Any], object]]] = {
    "no prefix": (ValueError, lambda module: module.ResponseParser(QWEN)),
    "no prefix for a text": (ValueError, lambda module: module.parse_response("a", QWEN)),
    "a faulty template": (ValueError, lambda module: module.ResponseParser({"fields": {}}, prefix="")),
    "a template of another version": (ValueError, lambda module: module.ResponseParser({**QWEN, "version": 2}, "")),
    "a malformed call": (ValueError, lambda module: module.parse_response("<tool_call>{</tool_call>", QWEN, prefix="")),
    "an unfinished call": (ValueError, lambda module: module.parse_response('<tool_call>{"a"', QWEN, prefix="")),
    "text after the end": (RuntimeError, lambda module: finished(module).feed("a")),
    "a second end": (RuntimeError, lambda module: finished(module).finalize()),
}


def finished(module: Any) -> Any:
    parser = module.ResponseParser(QWEN, prefix="")
    parser.finalize()
    return parser


@pytest.mark.parametrize("what", BAD_USE)
def test_errors_are_caught_by_the_same_except(what: str) -> None:
    kind, use = BAD_USE[what]
    for module in MODULES:
        with pytest.raises(kind):
            use(module)
    with pytest.raises(streamparse.StreamparseError):
        use(streamparse)
