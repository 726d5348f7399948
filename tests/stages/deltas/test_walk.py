"""What is known of pieces of text is made use of where they come again, and changes nothing that is given out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.stages.deltas import walk
from streamparse.stages.deltas.arguments import ToolArguments
from streamparse.stages.deltas.region_deltas import RegionDeltas
from streamparse.stages.schema_typing import ToolSchemas
from streamparse.template import ResponseTemplate, load_response_template
from tests.properties.time_limit import ended_in_time

Check = Callable[..., list[dict[str, Any]]]

JSON_CALL: dict[str, Any] = {
    "open_pattern": "<call (?P<name>\\w+)>",
    "close": "</call>",
    "repeats": True,
    "content": "json",
    "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
}
PYTHON_CALLS: dict[str, Any] = {
    "open": "<calls>",
    "close": "</calls>",
    "repeats": True,
    "content": "python-call-list",
    "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{arguments}"}},
    "transform_each": True,
}


def template(field: dict[str, Any]) -> ResponseTemplate:
    fields = {"content": {}, "tool_calls": field}
    return load_response_template({"start_anchor": "<|assistant|>", "fields": fields})


def tools(schema: Any) -> list[Any]:
    return [{"name": "f", "parameters": {"type": "object", "properties": {"a": schema}}}]


@pytest.fixture
def remembered_at_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "READ_BEFORE", 0)
        yield


def deltas_of(core: Any, pieces: list[str]) -> list[dict[str, Any]]:
    return [event for piece in pieces for event in core.feed(piece) if event["type"] == "region_delta"]


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("items", [{}, {"items": {"type": ["string", "null"]}}, {"items": False}], ids=str)
def test_each_of_a_lists_first_items_has_a_type_of_its_own(check: Check, items: Any, lenient: bool) -> None:
    first = [{"type": "string"}, {"type": "integer"}, {"type": "string"}, {"type": "boolean"}]
    schema = {"type": "array", "prefixItems": first, **items}
    written = ["1", "2", "3", "true", "5", "null", "7"]
    call = f"<call f>{json.dumps({'a': written})}</call>"
    *_, close = check(template(JSON_CALL), [*call], tools(schema), lenient=lenient)
    if lenient:
        assert close["value"]["function"]["arguments"]["a"][:4] == ["1", 2, "3", True]


@pytest.mark.usefixtures("remembered_at_once")
@pytest.mark.parametrize("bad", [", ,", ': "x" 1', "]", "1.2.3,", '"\\x', "tru}", "{{"])
def test_what_could_not_be_followed_once_is_not_followed_when_it_comes_again(core: Any, bad: str) -> None:
    pieces = ["<call f>", '{"a": 1', bad, '"b": 2', "}", "</call>"]
    reading = core(template(JSON_CALL), lenient=True)
    once, *others = [deltas_of(reading, pieces) for _ in range(4)]
    for index, other in enumerate(others, 1):
        assert other == [event | {"index": index} for event in once]


@pytest.mark.usefixtures("remembered_at_once")
@pytest.mark.parametrize(
    ("number", "compact"),
    [("12", "12"), ("1.50", "1.5"), ("-0", "0"), ("1e3", "1000.0"), ("1" * 40, "1" * 40), ("true", "true")],
)
def test_numbers_differ_where_all_else_is_known(core: Any, number: str, compact: str) -> None:
    reading = core(template(JSON_CALL))
    pieces = ["<call f>", "{", '"n":', " 7", ", ", '"m"', ": ", number[:1], *number[1:2], number[2:], "}", "</call>"]
    for index in range(3):
        text = "".join(event.get("arguments", "") for event in deltas_of(reading, [piece for piece in pieces if piece]))
        assert text == f'{{"n":7,"m":{compact}}}', index


@pytest.mark.usefixtures("remembered_at_once")
@pytest.mark.parametrize(
    "pieces", [['"n": 1', '2, "m": 3', "}"], ['"n"', ": 12,", '"m": ', "3}"], ['"n": 12, "m": 3}']]
)
def test_pieces_may_lead_into_a_number_out_of_it_and_into_the_next(core: Any, pieces: list[str]) -> None:
    reading = core(template(JSON_CALL))
    for index in range(3):
        given_out = deltas_of(reading, ["<call f>", "{", *pieces, "</call>"])
        assert "".join(event.get("arguments", "") for event in given_out) == '{"n":12,"m":3}', index


@pytest.mark.usefixtures("remembered_at_once")
def test_a_word_that_is_no_value_ends_what_can_be_known(core: Any) -> None:
    reading = core(template(JSON_CALL), lenient=True)
    known, unknown = '{"n":7,"m":1}', '{"n":'
    for number, given_out in (("7", known), ("seven", unknown), ("7", known), ("true 7", unknown), ("true 7", unknown)):
        text = ["<call f>", '{"n": ', *number.split(), ', "m": 1', "}", "</call>"]
        assert "".join(event.get("arguments", "") for event in deltas_of(reading, text)) == given_out


@pytest.mark.parametrize("lenient", [False, True])
def test_more_keys_and_texts_than_are_remembered(check: Check, lenient: bool) -> None:
    value = {f"key {number}": [f"text {number}", number, {"n": number}] for number in range(2 * walk.STEPS_AT_MOST)}
    pieces = json.dumps(value).replace(" ", "\0 ").split("\0")
    check(template(JSON_CALL), ["<call f>", *pieces, "</call>"], lenient=lenient)


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("size", [7, 30, 64, 1000])
def test_pieces_longer_than_tokens(check: Check, size: int, lenient: bool) -> None:
    rows = [{"n": n, "text": 'a "b"\n' * 3, "é": [True, None, -n, n / 4], "empty": [[], {}]} for n in range(40)]
    json_text = f"<call f>{json.dumps({'a': rows}, indent=1)}</call>"
    python_text = f"<calls>[f(a={rows!r}), f(a={rows[:2]!r})]</calls>"
    schema = {"type": "array", "items": {"type": "object", "properties": {"text": {"type": "string"}}}}
    for field, text in ((JSON_CALL, json_text), (PYTHON_CALLS, python_text)):
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        check(template(field), pieces, tools(schema), lenient=lenient)
        check(template(field), pieces, lenient=lenient)


@pytest.mark.parametrize(
    "body", ['{"a": [' + "1" * 120_000 + "]}", '{"' + "k" * 120_000 + '": 1}'], ids=["number", "key"]
)
def test_long_words_and_keys_take_linear_time_character_by_character(core: Any, body: str) -> None:
    with ended_in_time(20):
        deltas_of(core(template(JSON_CALL)), ["<call f>", *body])


PIECES = st.lists(
    st.sampled_from(
        [
            *[
                '"',
                "a",
                "\\",
                "n",
                '": ',
                ", ",
                ",",
                "{",
                "}",
                "[",
                "]",
                " 1",
                "2",
                ".5",
                "true",
                "nul",
                "l",
                '"b": ',
                "é",
            ],
            *['": 1', "0, 2", "1,-", "l, fal", "[1", '5, "c": 3', '7, "'],
        ]
    ),
    max_size=12,
)


@given(st.lists(PIECES, max_size=4), PIECES, st.booleans(), st.booleans())
def test_the_same_is_given_out_with_what_is_known_as_without(
    before: list[list[str]], pieces: list[str], lenient: bool, typed: bool
) -> None:
    """Whatever was read before, and however it went, a call gives out what it would as the first one."""
    field = template(JSON_CALL).fields["tool_calls"]
    schemas = ToolSchemas.from_tools(tools({"type": ["string", "null"]}) if typed else None)

    def given_out(read: list[str], arguments: ToolArguments, known: Any) -> list[list[dict[str, Any]]]:
        region = RegionDeltas(field, {"name": "f"}, arguments, 0, lenient=lenient, known=known)
        return [region.feed(piece) for piece in ["{", '"a": ', *read]]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "READ_BEFORE", 0)
        arguments = ToolArguments(schemas, lenient=lenient)
        known: dict[int, walk.Steps] = {}
        for read in [*before, pieces]:
            given_out(read, arguments, known)
        again = given_out(pieces, arguments, known)
        patch.setattr(walk, "READ_BEFORE", 10**6)
        assert again == given_out(pieces, ToolArguments(schemas, lenient=lenient), {})
