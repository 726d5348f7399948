"""The events of a page: those of the parser, with the raw text beside them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamparse.adapters.web.generation import events_of
from streamparse.adapters.web.inputs import Input, recorded
from streamparse.adapters.web.pace import Pace
from streamparse.cli.page import RECORDINGS
from tests.adapters.web.inputs import text_input

TEXTS = st.lists(
    st.sampled_from(
        [
            "<think>",
            "</think>\n",
            "<tool_call>",
            "</tool_call>",
            '{"name": "f"',
            ', "arguments": {}}',
            "<|im_end|>",
            "\n",
        ]
    )
    | st.text(max_size=8)
).map("".join)


def run(made: Input) -> list[dict[str, Any]]:
    """All events; the clock runs so fast that no turn is waited for."""
    seconds = iter(range(1_000_000))

    async def collect() -> list[dict[str, Any]]:
        return [event async for event in events_of(made, Pace(1, clock=lambda: float(next(seconds))).turns())]

    return asyncio.run(collect())


def raw(events: list[dict[str, Any]]) -> str:
    return "".join(event["text"] if event["type"] == "region_chunk" else event.get("source", "") for event in events)


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_raw_text_of_the_events_is_the_generation(name: str) -> None:
    made = recorded(name)
    assert raw(run(made)) == "".join(made.pieces)


@settings(max_examples=200)
@given(TEXTS, st.sampled_from(["report", "repair"]), st.sampled_from(["qwen3", "gpt_oss", "kimi_k2"]))
def test_the_raw_text_of_the_events_is_the_generation_whatever_was_written(text: str, errors: Any, name: str) -> None:
    if text:
        assert raw(run(text_input(text, name, errors=errors))) == text


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_what_is_held_is_what_no_event_has_yet(size: int) -> None:
    text = "Hi <tool_c <tool_call>{}</tool_call>"
    decided, read, held = "", 0, ""
    for event in run(text_input(text, size=size)):
        if event["type"] == "held":
            held = event["text"]
            read = min(read + size, len(text)) if text[len(decided) :].startswith(held) else read
            assert text.startswith(decided + held)
        decided += raw([event])
    assert decided == text


def test_strict_mode_ends_at_what_can_not_be_read_and_says_so() -> None:
    *_, last = run(text_input("Hi<tool_call>{</tool_call>more", errors="strict"))
    assert last["message"] == {"role": "assistant", "content": "Hi"}
    assert "not JSON" in last["problems"][0]["error"]


def test_strict_mode_shows_what_it_drops() -> None:
    events = run(text_input("Hi<|im_end|>", errors="strict"))
    assert raw(events) == "Hi<|im_end|>"


def test_the_end_of_a_turn_is_told_from_other_text_that_no_field_claims() -> None:
    events = run(text_input("<|im_end|>", "qwen3"))
    assert [event["ends_turn"] for event in events if event["type"] == "region_unclaimed"] == [True]


def test_a_fault_is_placed_in_the_text_of_its_region() -> None:
    (fault,) = [event for event in run(recorded("faulty/kimi_k2_malformed")) if event["type"] == "region_malformed"]
    assert fault["text"][fault["fault_at"] :].startswith("RIX")


def test_a_message_is_compared_with_the_one_that_is_expected() -> None:
    same = run(text_input("Hi", expected={"role": "assistant", "content": "Hi"}))[-1]
    other = run(text_input("Hi", expected={"role": "assistant", "content": "Ho"}))[-1]
    assert (same, other) == ({"type": "compared", "same": True}, {"type": "compared", "same": False})
