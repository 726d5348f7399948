"""What a UI shows does not depend on how chunks were cut, and is the same in Python and in a browser."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from streamparse import ResponseParser
from streamparse.adapters.websockets import fold, new_state
from streamparse.encode import encode_event
from streamparse.graph.coalescing import coalesced
from tests.adapters.websockets.node import needs_node, run_module

PARTS = [
    "<think>", "</think>", "Hm. ", "Häß 👋", '<tool_call>{"name": "f", "arguments": {"a": [1, 2]}}</tool_call>', "\n",
    '<tool_call>{"name": "f", "argum', "</tool_call>", "<tool_call>", '{"name": "g", "arguments": {}}', "\ud83d",
]  # fmt: skip
OUTPUTS = st.lists(st.sampled_from(PARTS), max_size=8).map("".join)


def events_of(text: str, cuts: list[int], **options: Any) -> list[dict[str, Any]]:
    """The events of a generation that comes in pieces."""
    parser = ResponseParser("qwen3", prefix="", errors="repair", **options)
    events = parser.initial_events
    bounds = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    for start, end in pairwise(bounds):
        events += parser.feed(text[start:end])
    message, last = parser.finalize("stop")
    ending = {"type": "message", "message": message, "problems": parser.problems, "finish_reason": "stop"}
    return [*events, *last, ending]


def folded(events: list[dict[str, Any]]) -> dict[str, Any]:
    state = new_state()
    for event in events:
        assert fold(state, event) is state
    return state


@given(OUTPUTS, st.lists(st.integers(0, 500), max_size=20), st.booleans())
def test_a_state_is_the_same_however_the_text_was_cut_and_joined(text: str, cuts: list[int], deltas: bool) -> None:
    events = events_of(text, cuts, deltas=deltas)
    whole = folded(events_of(text, [], deltas=deltas))
    assert folded(events) == folded(coalesced(events)) == whole


@given(OUTPUTS)
def test_a_state_ends_with_the_message_and_has_no_region_open(text: str) -> None:
    events = events_of(text, [])
    state = folded(events)
    assert state["message"] == events[-1]["message"]
    values = [region["value"] for region in state["regions"] if region["status"] == "closed"]
    assert values == [event["value"] for event in events if event["type"] == "region_close"]
    assert {region["status"] for region in state["regions"]} <= {"closed", "malformed", "unclaimed"}


def test_what_went_wrong_with_a_region_is_in_its_state() -> None:
    state = folded(events_of('<tool_call>{"name": 1, "arg</tool_call>', [], spans=True))
    (region,) = state["regions"]
    assert (region["status"], region["start"], region["end"]) == ("malformed", 0, 39)
    assert region["text"] == '{"name": 1, "arg'
    assert region["error"]
    assert state["problems"]


def test_unclaimed_text_is_a_region_without_a_field() -> None:
    state = folded([{"type": "region_unclaimed", "text": "?", "start": 0, "end": 1}])
    assert [(region["field"], region["status"], region["text"]) for region in state["regions"]] == [
        (None, "unclaimed", "?")
    ]


def test_events_of_unknown_types_say_nothing() -> None:
    assert folded([{"type": "tool_result", "value": 1}, {"type": "constructor"}]) == new_state()


def test_a_fold_may_begin_in_the_middle_of_a_region() -> None:
    closing = {"type": "region_close", "field": "content", "value": "rest"}
    (region,) = folded([closing])["regions"]
    assert (region["status"], region["value"]) == ("closed", "rest")


FOLD_LINES = """
import { fold, newState } from "CLIENT";
import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(JSON.parse(line).reduce(fold, newState())));
}
"""


@needs_node
@settings(max_examples=10)  # each starts node, with twenty generations
@given(
    st.lists(
        st.tuples(OUTPUTS, st.lists(st.integers(0, 500), max_size=20), st.booleans(), st.booleans()),
        min_size=20,
        max_size=20,
    )
)
def test_the_fold_of_the_browser_is_that_of_python(generations: list[tuple[str, list[int], bool, bool]]) -> None:
    all_events = [events_of(text, cuts, deltas=deltas, spans=spans) for text, cuts, deltas, spans in generations]
    all_events.append([{"type": "toString"}, {"type": "tool_result"}])
    lines = b"\n".join(encode_event(events, standard=True) for events in all_events).decode()
    printed = run_module(FOLD_LINES, given=lines).splitlines()
    assert [json.loads(line) for line in printed] == [
        json.loads(encode_event(folded(events), standard=True)) for events in all_events
    ]


def test_the_state_that_the_docs_show_is_what_its_fold_gives() -> None:
    page = (Path(__file__).parents[3] / "docs" / "websockets.md").read_text(encoding="utf-8")
    shown = json.loads(page.split("```json\n")[1].split("```")[0])
    parser = ResponseParser("qwen3", prefix="", deltas=True, errors="repair")
    assert folded(parser.feed('I will look.\n<tool_call>{"name": "weather", "argu')) == shown
