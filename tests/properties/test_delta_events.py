"""Deltas add to the events and change none; put together they are the calls, whatever the cuts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.stages.calls import calls_in
from streamparse.stages.deltas import walk
from tests.properties.outcomes import Event, as_text, assert_same, joined, outcome
from tests.properties.policies import familiar_samples, lenient_samples
from tests.properties.templates import TOOLS, Sample, samples
from tests.properties.texts import cut_up, cuts, prefixes, texts

STRICT = st.tuples(st.just("strict"), st.one_of(samples(), familiar_samples()))
LENIENT = st.tuples(st.sampled_from(["report", "repair"]), st.one_of(lenient_samples(), familiar_samples()))


CAN_NOT_BE = "the call is not what was given out while it was written"
"""What is said of a call in whose end something is left out that was given out, such as a value without its close."""


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


def without_ids(value: Any) -> Any:
    """A value without the ids of the calls in it, of which the made ones differ from parse to parse."""
    if isinstance(value, dict):
        return {key: without_ids(item) for key, item in value.items() if key != "id"}
    return [without_ids(item) for item in value] if isinstance(value, list) else value


@st.composite
def damaged(draw: st.DrawFn, sample: Sample) -> str:
    """A text of which some has been left out, written twice, or replaced by noise."""
    text = draw(texts(sample))
    for _ in range(draw(st.integers(0, 2))):
        place, length = draw(st.integers(0, max(0, len(text) - 1))), draw(st.integers(0, 12))
        part = text[place : place + length]
        text = text[:place] + draw(st.sampled_from(["", part + part, '"', "\n", ","])) + text[place + length :]
    return text


@contextmanager
def remembering_at_once() -> Iterator[None]:
    """What pieces of text do is remembered from the first one on; usually short calls are over before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "READ_BEFORE", 0)
        yield


@pytest.mark.parametrize("modes", [STRICT, LENIENT], ids=["strict", "lenient"])
@given(data=st.data())
def test_deltas_add_up_to_the_calls_and_change_nothing_else(modes: st.SearchStrategy[Any], data: st.DataObject) -> None:
    errors, sample = data.draw(modes, "mode and template")
    text, prefix = data.draw(damaged(sample), "text"), data.draw(prefixes(sample), "prefix")
    options = {"prefix": prefix, "tools": TOOLS, "errors": errors}
    expected = outcome(sample.template, [text], **options)
    pieces = cut_up(text, data.draw(cuts(), "cuts"))
    restored = data.draw(st.frozensets(st.integers(0, len(pieces)), max_size=2), "restored after")
    together = []
    for cut, restored_after in (([text], frozenset()), (list(text), frozenset()), (pieces, restored)):
        with remembering_at_once():
            found = outcome(sample.template, cut, deltas=True, restored_after=restored_after, **options)
        if CAN_NOT_BE in as_text(found):
            return
        if "error" not in found:
            events = found["initial"] + found["events"]
            together.append(put_together(events))
            for part in ("initial", "events"):
                found[part] = joined(event for event in found[part] if event["type"] != "region_delta")
        assert_same(found, expected, "with deltas")
    if together:
        assert together[1:] == together[:-1]
        given_out = iter(together[0])
        for function in closed_calls(expected["initial"] + expected["events"], {call["field"] for call in together[0]}):
            assert any(stands_for(call, function) for call in given_out), f"no deltas for {function} in {together[0]}"


@pytest.mark.parametrize("modes", [STRICT, LENIENT], ids=["strict", "lenient"])
@given(data=st.data())
def test_the_ids_of_deltas_are_those_of_the_calls(modes: st.SearchStrategy[Any], data: st.DataObject) -> None:
    errors, sample = data.draw(modes, "mode and template")
    text = data.draw(damaged(sample), "text")
    options = {"tools": TOOLS, "errors": errors, "call_ids": True}
    expected = outcome(sample.template, [text], **options)
    pieces = cut_up(text, data.draw(cuts(), "cuts"))
    restored = data.draw(st.frozensets(st.integers(0, len(pieces)), max_size=2), "restored after")
    for cut, restored_after in (([text], frozenset()), (list(text), frozenset()), (pieces, restored)):
        found = outcome(sample.template, cut, deltas=True, restored_after=restored_after, **options)
        if CAN_NOT_BE in as_text(found):
            return
        if "error" not in found:
            deltas = [event for event in found["events"] if event["type"] == "region_delta"]
            found["events"] = joined(event for event in found["events"] if event["type"] != "region_delta")
            watched = {event["field"] for event in deltas}
            ids = iter([event.get("id") for event in deltas if "id" in event])
            for event in found["events"]:
                if event["type"] == "region_close" and event["field"] in watched:
                    assert all(call["id"] in ids for call in calls_in(event["value"]))
        assert_same(without_ids(found), without_ids(expected), "with deltas and ids")
