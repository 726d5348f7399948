"""How the values of regions become the message, in the strict mode and in the lenient ones."""

from __future__ import annotations

from typing import Any

import pytest

from streamparse import ParseError, load_response_template
from streamparse.stages.message import MessageFold, copied


def fold(field: dict[str, Any], values: list[Any], *, defaults: Any = None, lenient: bool = False) -> dict[str, Any]:
    template = {"start_anchor": "@", "fields": {"x": field}, **({} if defaults is None else {"defaults": defaults})}
    stage = MessageFold(load_response_template(template), lenient=lenient)
    stage.feed([{"type": "region_close", "field": "x", "value": value} for value in values])
    stage.finish()
    return stage.message


REPEATS = {"repeats": True}
JOINED = {"repeats": True, "join": "-"}

STRICT: list[tuple[dict[str, Any], list[Any], Any, dict[str, Any]]] = [
    ({}, ["a"], None, {"x": "a"}),
    ({}, ["a", "b"], None, {"x": "b"}),
    ({}, ["a", ""], None, {}),
    ({}, [], None, {}),
    ({}, [0], None, {"x": 0}),
    ({}, [False], None, {"x": False}),
    ({}, [None], None, {}),
    ({}, [{}], None, {}),
    ({}, ["a"], {"x": "d", "role": "r"}, {"x": "a", "role": "r"}),
    ({}, [""], {"x": "d"}, {"x": ""}),
    (REPEATS, ["a", "b"], None, {"x": ["a", "b"]}),
    (REPEATS, [[1], [2]], None, {"x": [[1], [2]]}),
    (REPEATS, ["a"], {"x": ["d"]}, {"x": ["d", "a"]}),
    (JOINED, ["a", "b"], None, {"x": "a-b"}),
    (JOINED, ["a", "", "b"], None, {"x": "a--b"}),
    (JOINED, ["a"], {"x": "d"}, {"x": "d-a"}),
    (JOINED, ["a"], {"x": ""}, {"x": "-a"}),
    (JOINED, ["a"], {"x": None}, {"x": "a"}),
]


@pytest.mark.parametrize(("field", "values", "defaults", "message"), STRICT)
def test_strict(field: dict[str, Any], values: list[Any], defaults: Any, message: dict[str, Any]) -> None:
    assert fold(field, values, defaults=defaults) == message


LENIENT: list[tuple[dict[str, Any], list[Any], Any, dict[str, Any]]] = [
    ({}, ["a", ""], None, {"x": "a"}),
    ({}, ["a", "b"], None, {"x": "a\nb"}),
    ({}, ["", "b"], None, {"x": "b"}),
    ({}, [[1], [2]], None, {"x": [1, 2]}),
    ({}, [{"a": 1}, {"b": 2}], None, {"x": {"b": 2}}),
    ({}, ["a"], {"x": "d"}, {"x": "a"}),
    (JOINED, ["a", "", "b"], None, {"x": "a-b"}),
    (JOINED, ["a"], {"x": ""}, {"x": "a"}),
    (JOINED, ["a"], {"x": ["d"]}, {"x": "a"}),
    (JOINED, [], {"x": ["d"]}, {"x": ["d"]}),
    (REPEATS, ["a", "b"], {"x": None}, {"x": ["a", "b"]}),
    (REPEATS, ["a"], {"x": "d"}, {"x": ["a"]}),
    (REPEATS, ["a"], {"x": ["d"]}, {"x": ["d", "a"]}),
]


@pytest.mark.parametrize(("field", "values", "defaults", "message"), LENIENT)
def test_lenient(field: dict[str, Any], values: list[Any], defaults: Any, message: dict[str, Any]) -> None:
    assert fold(field, values, defaults=defaults, lenient=True) == message


@pytest.mark.parametrize("field", [REPEATS, JOINED])
def test_a_default_that_values_cannot_be_added_to_is_an_error_in_strict_mode(field: dict[str, Any]) -> None:
    with pytest.raises(ParseError, match="default 5"):
        fold(field, ["a"], defaults={"x": 5})


def test_a_required_field_that_is_missing_is_an_error_or_a_problem() -> None:
    required = {"optional": False}
    with pytest.raises(ParseError, match="'x'"):
        fold(required, [])
    assert fold(required, [""]) == {}
    assert fold(required, [], defaults={"x": "d"}) == {"x": "d"}
    stage = MessageFold(load_response_template({"start_anchor": "@", "fields": {"x": required}}), lenient=True)
    stage.finish()
    assert [(problem["type"], problem["field"]) for problem in stage.problems] == [("field_missing", "x")]


def test_events_are_passed_on_and_share_nothing_with_the_message() -> None:
    stage = MessageFold(load_response_template({"start_anchor": "@", "fields": {"x": {}}}))
    event = {"type": "region_close", "field": "x", "value": {"a": [1]}}
    assert stage.feed([event]) == [event]
    event["value"]["a"].append(2)  # type: ignore[index]
    assert stage.message == {"x": {"a": [1]}}


def test_a_copy_shares_nothing_at_any_depth() -> None:
    deep: Any = []
    for _ in range(20_000):
        deep = [deep]
    assert copied(deep) is not deep
    value = {"a": [{"b": [1, "x"]}], "c": {}}
    copy = copied(value)
    assert copy == value
    copy["a"][0]["b"].append(2)
    copy["c"]["d"] = 1
    assert value == {"a": [{"b": [1, "x"]}], "c": {}}
