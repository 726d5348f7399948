"""Deltas add to the events and change none; put together they are the calls, whatever the cuts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.outcomes import Event, as_text, assert_same, joined, outcome
from tests.properties.policies import familiar_samples, lenient_samples
from tests.properties.templates import TOOLS, samples
from tests.properties.texts import prefixes, texts

STRICT = st.tuples(st.just("strict"), st.one_of(samples(), familiar_samples()))
LENIENT = st.tuples(st.sampled_from(["report", "repair"]), st.one_of(lenient_samples(), familiar_samples()))


def put_together(events: list[Event]) -> list[dict[str, Any]]:
    """What a client makes of the deltas: calls in the order of their index."""
    calls: dict[int, dict[str, Any]] = {}
    for event in events:
        if event["type"] == "region_delta":
            call = calls.setdefault(event["index"], {"field": event["field"], "arguments": ""})
            assert not {"name", "id"} & event.keys() & call.keys(), "given out twice"
            call |= {key: event[key] for key in ("name", "id") if key in event}
            call["arguments"] += event.get("arguments", "")
    assert sorted(calls) == list(range(len(calls)))
    return [calls[index] for index in sorted(calls)]


def closed_calls(events: list[Event], fields: set[str]) -> list[dict[str, Any]]:
    """The functions of the calls in the values of these fields."""
    values = [event["value"] for event in events if event["type"] == "region_close" and event["field"] in fields]
    calls = [call for value in values for call in (value if isinstance(value, list) else [value])]
    functions = [call.get("function") for call in calls if isinstance(call, dict)]
    return [function for function in functions if isinstance(function, dict) and is_call(function)]


def is_call(function: dict[str, Any]) -> bool:
    return isinstance(function.get("name"), str) and isinstance(function.get("arguments"), dict)


def stands_for(given_out: dict[str, Any], function: dict[str, Any]) -> bool:
    """Whether deltas, put together, are a call."""
    try:
        arguments = json.loads(given_out["arguments"])
    except ValueError:
        return False  # a malformed call's
    return given_out.get("name") == function["name"] and as_text(arguments) == as_text(function["arguments"])


@pytest.mark.parametrize("modes", [STRICT, LENIENT], ids=["strict", "lenient"])
@given(data=st.data())
def test_deltas_add_up_to_the_calls_and_change_nothing_else(modes: st.SearchStrategy[Any], data: st.DataObject) -> None:
    errors, sample = data.draw(modes, "mode and template")
    text, prefix = data.draw(texts(sample), "text"), data.draw(prefixes(sample), "prefix")
    options = {"prefix": prefix, "tools": TOOLS, "errors": errors}
    expected = outcome(sample.template, [text], **options)
    together = []
    for pieces in ([text], list(text)):
        found = outcome(sample.template, pieces, deltas=True, **options)
        if "error" not in found:
            events = found["initial"] + found["events"]
            together.append(put_together(events))
            for part in ("initial", "events"):
                found[part] = joined(event for event in found[part] if event["type"] != "region_delta")
        assert_same(found, expected, "with deltas")
    if together:
        assert together[0] == together[1]
        given_out = iter(together[0])
        for function in closed_calls(expected["initial"] + expected["events"], {call["field"] for call in together[0]}):
            assert any(stands_for(call, function) for call in given_out), f"no deltas for {function} in {together[0]}"
