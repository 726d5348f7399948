"""Limits: every one is reached where it should be, and says its name and how to raise it."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from streamparse import (
    ArgumentError,
    LimitError,
    Limits,
    ResponseParser,
    SnapshotError,
    StreamparseError,
    parse_response,
    parse_stream,
)

SECURITY_PAGE = Path(__file__).parent.parent / "docs" / "security.md"
TEMPLATE: dict[str, Any] = {
    "start_anchor": "<|im_start|>assistant",
    "fields": {
        "content": {},
        "calls": {
            "open": "<call>",
            "close": "</call>",
            "content": "json",
            "repeats": True,
            "transform": {"function": {"name": "{content.name}", "arguments": "{content.arguments}"}},
        },
        "tags": {
            "open": "<tags>",
            "close": "</tags>",
            "content": "xml-inline",
            "content_args": {"tag_pattern": "(?P<key>(?:a|aa)+)b(?P<value>x)"},
        },
        "tried": {"open_pattern": r"\[(?:(?:a|aa)+)+\](?!aa)", "close": "[/]"},
    },
}
CALL = '<call>{"name": "f", "arguments": {}}</call>'

OF_ONE_REGION = {
    "region_text": (Limits(region_text=11), "<call>[1, 2, 3, 4]</call>"),
    "structured_text": (Limits(structured_text=11), "<call>[1, 2, 3, 4]</call>"),
    "calls": (Limits(calls=2), CALL * 3),
    "json_depth": (Limits(json_depth=3), "<call>[[[[]]]]</call>"),
    "number_length": (Limits(number_length=3), "<call>[1234]</call>"),
    "pattern_seconds": (Limits(pattern_seconds=0.01), f"<tags>{'a' * 40}</tags>"),
}
OF_THE_PARSER = {
    "held_text": (Limits(held_text=8), "[aaaaaaaaaaaaaaaa"),
    "regions": (Limits(regions=2), CALL * 3),
    "events": (Limits(events=20), CALL * 40),
    "pattern_steps": (Limits(pattern_steps=5), "[" + "a" * 60 + "!"),
}


def parsed(text: str, **options: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    parser = ResponseParser(TEMPLATE, prefix="", **options)
    events = parser.feed(text)
    message, last = parser.finalize()
    return message, [*events, *last]


@pytest.mark.parametrize("name", [*OF_ONE_REGION, *OF_THE_PARSER])
def test_in_the_strict_mode_each_limit_is_an_error_that_says_what_where_and_how_to_raise_it(name: str) -> None:
    limits, text = (OF_ONE_REGION | OF_THE_PARSER)[name]
    with pytest.raises(LimitError, match=rf"raise Limits\.{name} if that is meant") as caught:
        parsed(text, errors="strict", limits=limits)
    assert caught.value.limit == name
    assert caught.value.position is not None or caught.value.field is not None


@pytest.mark.parametrize("errors", ["report", "repair"])
@pytest.mark.parametrize("name", OF_ONE_REGION)
def test_in_the_lenient_modes_a_region_beyond_a_limit_is_malformed_and_parsing_goes_on(name: str, errors: str) -> None:
    limits, text = OF_ONE_REGION[name]
    message, events = parsed(f"{text} and so on", errors=errors, limits=limits)
    (malformed,) = (event for event in events if event["type"] == "region_malformed")
    assert f"Limits.{name}" in malformed["error"]
    assert message["content"].strip() == "and so on"


@pytest.mark.parametrize("name", OF_THE_PARSER)
def test_in_the_lenient_modes_a_limit_of_the_whole_parser_is_an_error_all_the_same(name: str) -> None:
    limits, text = OF_THE_PARSER[name]
    with pytest.raises(LimitError) as caught:
        parsed(text, errors="report", limits=limits)
    assert caught.value.limit == name


@pytest.mark.parametrize("size", [1, 3, 100])
def test_a_region_that_is_too_long_keeps_its_beginning_whatever_the_cuts(size: int) -> None:
    text = "<call>" + "[1, 2, 3, 4]" * 3 + "</call>after"
    parser = ResponseParser(TEMPLATE, prefix="", errors="report", limits=Limits(region_text=10))
    events = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
    message, last = parser.finalize()
    (malformed,) = (event for event in [*events, *last] if event["type"] == "region_malformed")
    assert malformed["text"] == "[1, 2, 3, "
    assert "".join(e["text"] for e in events if e["type"] == "region_chunk" and e["dirty"]) == "[1, 2, 3, 4]" * 3
    assert message["content"] == "after"


@pytest.mark.parametrize("size", [1, 6, 300])
@pytest.mark.parametrize("limit", [10, 700, 3000])
def test_text_that_is_shown_as_it_comes_counts_too_and_to_the_character(limit: int, size: int) -> None:
    parser = ResponseParser(TEMPLATE, prefix="", limits=Limits(region_text=limit))
    for at in range(0, limit, size):
        parser.feed("x" * min(size, limit - at))
    with pytest.raises(LimitError, match=r"Limits\.region_text"):
        parser.feed("x")


def test_a_region_that_is_too_long_is_so_after_a_snapshot_too() -> None:
    parser = ResponseParser(TEMPLATE, prefix="", errors="report", limits=Limits(region_text=10))
    parser.feed("<call>[1, 2, 3, 4]")
    again = ResponseParser.restore(parser.snapshot(), TEMPLATE, limits=Limits(region_text=10))
    events = again.feed("[1]</call>")
    assert [event["type"] for event in events][-1] == "region_malformed"


def test_calls_of_a_list_count_each() -> None:
    template = {
        "start_anchor": "@",
        "fields": {"calls": {"open": "<c>", "close": "</c>", "content": "json"}},
    }
    text = '<c>[{"function": {"name": "f"}}, {"function": {"name": "f"}}]</c>'
    assert len(parse_response(text, template, prefix="", limits=Limits(calls=2))["calls"]) == 2
    with pytest.raises(LimitError, match=r"Limits\.calls"):
        parse_response(text, template, prefix="", limits=Limits(calls=1))


def test_calls_and_events_are_counted_across_a_snapshot() -> None:
    parser = ResponseParser(TEMPLATE, prefix="", limits=Limits(calls=3))
    parser.feed(CALL * 2)
    again = ResponseParser.restore(parser.snapshot(), TEMPLATE, limits=Limits(calls=3))
    again.feed(CALL)
    with pytest.raises(LimitError, match=r"Limits\.calls"):
        again.feed(CALL)
    with pytest.raises(LimitError, match=r"Limits\.events"):
        ResponseParser.restore(parser.snapshot(), TEMPLATE, limits=Limits(events=7)).feed(CALL)


def test_what_plain_text_gives_out_counts_as_events_too() -> None:
    parser = ResponseParser(TEMPLATE, prefix="", limits=Limits(events=1000))
    with pytest.raises(LimitError, match=r"Limits\.events"):
        [parser.feed("word ") for _ in range(2000)]


def test_a_snapshot_may_be_too_large_to_take_and_to_take_up() -> None:
    parser = ResponseParser(TEMPLATE, prefix="", limits=Limits(snapshot_size=2000))
    data = parser.snapshot()
    ResponseParser.restore(data, TEMPLATE, limits=Limits(snapshot_size=2000))
    with pytest.raises(SnapshotError, match=r"Limits\.snapshot_size"):
        ResponseParser.restore(data, TEMPLATE, limits=Limits(snapshot_size=len(data) - 1))
    parser.feed("<call>" + "a" * 3000)
    with pytest.raises(LimitError, match=r"Limits\.snapshot_size"):
        parser.snapshot()
    parser.feed("and on it goes")


def test_a_start_anchor_that_takes_for_ever_is_stopped() -> None:
    template = {"start_anchor_pattern": "(?:(?:a|aa)+)+b", "fields": {"content": {}}}
    with pytest.raises(LimitError, match=r"Limits\.pattern_seconds"):
        ResponseParser(template, prefix="a" * 60, limits=Limits(pattern_seconds=0.05))


def test_a_delimiter_that_only_regex_can_find_is_searched_for_a_limited_time() -> None:
    template = {"start_anchor": "@", "fields": {"x": {"open_pattern": r"(?:(?:y|yy)+)+(?|z|(?!y)w)", "close": "Z"}}}
    for errors in ("strict", "report"):
        parser = ResponseParser(template, prefix="", errors=errors, limits=Limits(pattern_seconds=0.05))
        parser.feed("y" * 60)
        with pytest.raises(LimitError, match=r"Limits\.pattern_seconds"):
            parser.finalize()


def test_the_limits_of_one_parser_are_not_those_of_another_with_the_same_template() -> None:
    text = "<call>[[[[]]]]</call>"
    plain = {"start_anchor": "@", "fields": {"calls": {"open": "<call>", "close": "</call>", "content": "json"}}}
    with pytest.raises(LimitError):
        parse_response(text, plain, prefix="", limits=Limits(json_depth=3))
    assert parse_response(text, plain, prefix="") == {"calls": [[[[]]]]}


def test_the_page_has_every_limit_with_its_default() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([\d,.]+) \|", SECURITY_PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name: float(value.replace(",", "")) for name, value in rows} == {
        limit.name: limit.default for limit in fields(Limits)
    }
    tested = {*OF_ONE_REGION, *OF_THE_PARSER, "doubtful_text", "snapshot_size"}
    assert tested == {limit.name for limit in fields(Limits)}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"errors": "x"}, "errors must be one of 'strict', 'report', 'repair', not 'x'"),
        ({"without": 5}, "without must be a list of names of fields"),
        ({"without": "content"}, "without must be a list of names of fields"),
        ({"without": [5]}, "without must be a list of names of fields"),
        ({"limits": 5}, "limits must be a Limits"),
        ({"tools": 5}, "tools must be a list of tools, not int"),
    ],
)
def test_an_argument_of_a_wrong_kind_says_what_was_expected(arguments: dict[str, Any], said: str) -> None:
    for make in (ResponseParser, partial(parse_stream, []), partial(parse_response, "")):
        with pytest.raises(ArgumentError, match=re.escape(said)) as caught:
            make(TEMPLATE, prefix="", **arguments)
        assert isinstance(caught.value, StreamparseError)
        assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("tools", ["abc", {"type": "function", "function": {"name": "f"}}])
def test_tools_that_are_no_list_are_passed_over_with_a_warning(tools: Any, caplog: pytest.LogCaptureFixture) -> None:
    ResponseParser(TEMPLATE, "", tools=tools)
    assert f"a list of tools is wanted, not {type(tools).__name__}" in caplog.text


@pytest.mark.parametrize("capacity", [0, -1, "a", 1.5, True])
def test_a_capacity_that_can_hold_nothing_is_an_error(capacity: Any) -> None:
    with pytest.raises(ArgumentError, match="capacity must be a number of characters, 1 at least"):
        parse_stream([], TEMPLATE, prefix="", capacity=capacity)


@pytest.mark.parametrize("value", [0, -1, "1", None, True, 1.5])
def test_what_is_no_limit_is_an_error(value: Any) -> None:
    with pytest.raises(ArgumentError, match=r"Limits\.regions must be a number greater than 0"):
        Limits(regions=value)


def test_a_transform_cannot_multiply_what_a_model_wrote() -> None:
    field = {
        "open": "<call>",
        "close": "</call>",
        "content": "json",
        "transform": {"function": {"name": "f", "arguments": {f"a{number}": "{content}" for number in range(100)}}},
    }
    template = {"start_anchor": "@", "fields": {"calls": field}}
    message = parse_response(f"<call>{[[1]] * 1000}</call>", template, prefix="")
    arguments = message["calls"]["function"]["arguments"]
    assert len(arguments) == 100
    assert len({id(argument) for argument in arguments.values()}) == 1


def test_a_list_of_calls_is_counted_before_it_is_reshaped() -> None:
    field = {
        "open": "<call>",
        "close": "</call>",
        "content": "json",
        "transform_each": True,
        "transform": {"function": {"name": "{name}"}},
    }
    template = {"start_anchor": "@", "fields": {"calls": field}}
    with pytest.raises(LimitError, match=r"Limits\.calls"):
        parse_response("<call>[" + "{}, " * 5 + "{}]</call>", template, prefix="", limits=Limits(calls=5))
