"""What the machines of the AI SDK's stream and of AG-UI say of each kind of thing that a model can write."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streamparse.adapters.ag_ui import RunEvents
from streamparse.adapters.ai_sdk import UIMessageChunks
from tests.adapters.openai.messages import parsed

GOOD = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
BAD = '<tool_call>{"name": "f", "arguments": {"a": 1,}}</tool_call>'
OTHER_FIELD = {
    "version": 1,
    "start_anchor": "<|assistant|>",
    "fields": {
        "content": {},
        "plan": {"open": "<plan>", "close": "</plan>", "content": "json"},
    },
}


def through(machine: Any, template: Any, text: str, **options: Any) -> list[dict[str, Any]]:
    _, events = parsed(template, list(text), "", **{"deltas": True, **options})
    return [made for event in events for made in machine.feed(event)]


def kinds(events: list[dict[str, Any]]) -> list[str]:
    """The types, each once where it comes several times in a row."""
    types = [event["type"] for event in events]
    return [kind for place, kind in enumerate(types) if place == 0 or types[place - 1] != kind]


def test_a_call_of_the_ai_sdk_is_available_only_when_it_is_known_to_be_well_formed() -> None:
    chunks = through(UIMessageChunks("qwen3"), "qwen3", GOOD)
    assert kinds(chunks) == ["start", "start-step", "tool-input-start", "tool-input-delta", "tool-input-available"]
    assert chunks[-1]["input"] == {"a": 1}
    assert len({chunk["toolCallId"] for chunk in chunks[2:]}) == 1


def test_a_malformed_call_of_the_ai_sdk_is_an_error_with_what_was_written_and_why() -> None:
    machine = UIMessageChunks("qwen3")
    chunks = through(machine, "qwen3", BAD)
    (error,) = (chunk for chunk in chunks if chunk["type"] == "tool-input-error")
    (data,) = (chunk for chunk in chunks if chunk["type"] == "data-malformed")
    assert error["toolName"] == "f"
    assert error["errorText"] == data["data"]["error"]
    assert data["data"]["text"] in BAD
    with pytest.raises(ValueError, match=r"."):
        json.loads(error["input"])
    assert machine.finish()[-1]["finishReason"] == "length"


def test_a_malformed_call_of_ag_ui_ends_and_is_said_to_be_malformed() -> None:
    events = through(RunEvents("qwen3"), "qwen3", BAD)
    (start,) = (event for event in events if event["type"] == "TOOL_CALL_START")
    assert [event["toolCallId"] for event in events if event["type"] == "TOOL_CALL_END"] == [start["toolCallId"]]
    values = {event["name"]: event["value"] for event in events if event["type"] == "CUSTOM"}
    assert values["malformed_call"] == {"toolCallId": start["toolCallId"]}
    assert values["malformed"]["field"] == "tool_calls"
    with pytest.raises(ValueError, match=r"."):
        json.loads("".join(event["delta"] for event in events if event["type"] == "TOOL_CALL_ARGS"))


@pytest.mark.parametrize("end", ["finish", "fail", "abort"])
def test_a_call_that_is_cut_off_ends_before_the_generation_does(end: str) -> None:
    text = 'Hi<tool_call>{"name": "f", "arguments": {"a": 1'
    last = {"fail": ("it failed",)}.get(end, ())
    for machine, error, ending in (
        (UIMessageChunks("qwen3"), "tool-input-error", {"fail": "error"}.get(end, end)),
        (RunEvents("qwen3"), "TOOL_CALL_END", "RUN_ERROR" if end == "fail" else "RUN_FINISHED"),
    ):
        _, events = parsed("qwen3", list(text), deltas=True)
        before = [made for event in events if event["type"] != "message" for made in machine.feed(event)]
        types = [made["type"] for made in [*before, *getattr(machine, end)(*last)]]
        assert error in types
        assert types[-1] == ending


def test_a_call_that_was_not_announced_and_is_malformed_is_text() -> None:
    chunks = through(UIMessageChunks("qwen3", whole_calls=True), "qwen3", BAD)
    assert not any(chunk["type"].startswith("tool-") for chunk in chunks)
    assert "".join(chunk["delta"] for chunk in chunks if chunk["type"] == "text-delta") == BAD


def test_the_values_of_other_fields_are_data() -> None:
    text = 'Hi<plan>{"steps": 2}</plan>'
    chunks = through(UIMessageChunks(OTHER_FIELD), OTHER_FIELD, text)
    assert {"type": "data-plan", "data": {"steps": 2}} in chunks
    events = through(RunEvents(OTHER_FIELD), OTHER_FIELD, text)
    assert {"type": "CUSTOM", "name": "plan", "value": {"steps": 2}} in events


def test_what_was_repaired_is_said() -> None:
    chunks = through(UIMessageChunks("qwen3"), "qwen3", BAD, errors="repair")
    (repaired,) = (chunk["data"] for chunk in chunks if chunk["type"] == "data-repaired")
    assert repaired["field"] == "tool_calls"
    assert repaired["repaired"]
    assert next(chunk["input"] for chunk in chunks if chunk["type"] == "tool-input-available") == {"a": 1}


def test_an_id_that_a_model_writes_twice_stands_for_two_calls() -> None:
    call = {"type": "function", "id": "same", "function": {"name": "f", "arguments": {}}}
    close = {"type": "region_close", "field": "tool_calls", "value": call}
    chunks, run = UIMessageChunks("qwen3"), RunEvents("qwen3")
    ids = [chunk["toolCallId"] for _ in range(2) for chunk in chunks.feed(close) if "input" in chunk]
    calls = [event["toolCallId"] for _ in range(2) for event in run.feed(close) if event["type"] == "TOOL_CALL_START"]
    for both in (ids, calls):
        assert both[0] == "same"
        assert len(set(both)) == 2


def test_the_usage_is_in_the_last_event() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
    finish = UIMessageChunks("qwen3").finish(usage)[-1]
    assert finish["messageMetadata"]["usage"] == {"inputTokens": 3, "outputTokens": 5, "totalTokens": 8}
    assert RunEvents("qwen3").finish(usage)[-1]["result"] == {"usage": usage}


def test_calls_of_ag_ui_belong_to_the_message_before_them() -> None:
    events = through(RunEvents("qwen3"), "qwen3", f"Hi{GOOD}{GOOD}<think>Hm.</think>{GOOD}")
    (message,) = (event["messageId"] for event in events if event["type"] == "TEXT_MESSAGE_START")
    parents = [event["parentMessageId"] for event in events if event["type"] == "TOOL_CALL_START"]
    assert parents[0] == message
    assert len(set(parents)) <= 2
