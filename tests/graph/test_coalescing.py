"""Joining neighbours: shorter lists that say the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.graph.coalescing import ITEM_WEIGHT, coalesced, weigh
from tests.graph.events import EVENTS, by_character, chunk, delta


def test_chunks_of_a_region_become_one() -> None:
    chunks = [chunk("a"), chunk("b"), chunk("c")]
    assert coalesced(chunks) == [chunk("abc")]
    assert chunks == [chunk("a"), chunk("b"), chunk("c")], "events are shared and must not change"


def test_spans_that_touch_are_joined() -> None:
    assert coalesced([chunk("ab", start=3, end=5), chunk("c", start=5, end=6)]) == [chunk("abc", start=3, end=6)]


def test_deltas_of_a_call_collect_their_arguments() -> None:
    first = delta(id="call_1", name="f", arguments='{"a"')
    assert coalesced([first, delta(arguments=": 1"), delta(arguments="}")]) == [
        delta(id="call_1", name="f", arguments='{"a": 1}')
    ]
    assert coalesced([delta(name="f"), delta(arguments="{}")]) == [delta(name="f", arguments="{}")]


def test_chunks_and_deltas_of_a_region_are_joined_where_they_come_in_turns() -> None:
    called = {"field": "tool_calls", "dirty": True}
    turns = [
        chunk('{"n', **called),
        chunk('ame": "f", "arguments": {', **called),
        delta(name="f", arguments="{"),
        chunk('"a"', **called),
        delta(arguments='"a":'),
        chunk(": 1", **called),
        chunk("}", **called),
        delta(arguments="1}"),
    ]
    assert coalesced(turns) == [
        chunk('{"name": "f", "arguments": {"a": 1}', **called),
        delta(name="f", arguments='{"a":1}'),
    ]
    assert coalesced([*turns, {**delta(name="g"), "index": 1}])[2:] == [{**delta(name="g"), "index": 1}]


def test_pieces_of_text_and_of_bytes_are_joined_with_their_like() -> None:
    assert coalesced(["a", "b", b"c", b"d", "e"]) == ["ab", b"cd", "e"]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (chunk("a"), chunk("b", field="other")),
        (chunk("a"), chunk("b", dirty=True)),
        (chunk("a", start=0, end=1), chunk("b", start=2, end=3)),
        (chunk("a"), chunk("b", start=1, end=2)),
        (chunk("a", mark="mine"), chunk("b", mark="mine")),
        (chunk("a"), {"type": "region_close", "field": "content", "value": "a"}),
        (delta(arguments="{"), {**delta(arguments="}"), "index": 1}),
        (delta(arguments="{"), delta(name="g", arguments="}")),
        (delta(arguments="{"), chunk("}")),
        (17, 4),
        (None, None),
        ({}, {}),
        ([1, 2], [3]),
    ],
)
def test_what_differs_in_more_than_its_text_stays_apart(earlier: Any, later: Any) -> None:
    assert coalesced([earlier, later]) == [earlier, later]


@given(EVENTS, st.data())
def test_joining_loses_nothing_wherever_it_is_done(events: list[dict[str, Any]], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(events)))
    at_once = coalesced(events)
    in_steps = coalesced([*coalesced(events[:cut]), *events[cut:]])
    assert by_character(at_once) == by_character(events)
    assert at_once == in_steps == coalesced(at_once)


def test_an_item_weighs_its_text_and_a_little_more() -> None:
    weights = {"text": weigh("abc"), "bytes": weigh(b"abc"), "ids": weigh([1, 2, 3]), "chunk": weigh(chunk("abc"))}
    weights["delta"] = weigh(delta(arguments="abc"))
    assert weights == dict.fromkeys(weights, ITEM_WEIGHT + 3)
    assert weigh(7) == weigh({"type": "region_open"}) == weigh(None) == ITEM_WEIGHT


def test_pairs_of_one_key_are_joined_where_they_carry_events() -> None:
    assert coalesced([("k", chunk("a")), ("k", chunk("b"))]) == [("k", chunk("ab"))]
    opened = {"type": "region_open", "field": "content"}
    assert coalesced([("k", [opened, chunk("a")]), ("k", [chunk("b")]), ("other", [chunk("c")])]) == [
        ("k", [opened, chunk("ab")]),
        ("other", [chunk("c")]),
    ]


def test_pairs_of_text_are_kept_apart_as_they_may_mean_anything() -> None:
    pairs = [("name", "a"), ("name", "b")]
    assert coalesced(pairs) == pairs


def test_a_pair_weighs_what_it_carries() -> None:
    assert weigh(("k", "four")) == weigh("four")
    assert weigh(("k", [chunk("four"), chunk("four")])) == 2 * weigh(chunk("four"))
    assert weigh([("k", "four"), ("other", "four")]) == 2 * weigh("four")
    assert weigh(("k", [1, 2, 3])) == weigh([1, 2, 3])
