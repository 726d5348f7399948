from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamparse.parser import ResponseParser

RECORDINGS = sorted((Path(__file__).parent.parent / "streamparse" / "cli" / "recordings").glob("*.jsonl"))
FAULTY = Path(__file__).parent.parent / "streamparse" / "cli" / "recordings" / "faulty"
FUNCTIONS_CALLED = {
    "cohere2": ["query_sales", "stock_levels"],
    "deepseek_r1": [],
    "gpt_oss": ["find_tables"],
    "qwen3_5": ["write_file", "run"],
    "smollm2_answer": [],
    "smollm2_thinking": [],
    "smollm2_tool_call": ["get_weather"],
}


def read(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    header, *tokens = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return header, tokens


def replay(path: Path, errors: Any) -> dict[str, Any]:
    header, tokens = read(path)
    parser = ResponseParser(header["template"], header["prefix"], tools=header["tools"], errors=errors)
    for token in tokens:
        parser.feed(token["text"])
    message, _ = parser.finalize("stop")
    assert parser.problems == []
    return message


def test_every_recording_is_listed() -> None:
    assert [path.stem for path in RECORDINGS] == sorted(FUNCTIONS_CALLED)
    listed = (RECORDINGS[0].parent / "README.md").read_text(encoding="utf-8")
    for path in RECORDINGS:
        header, tokens = read(path)
        assert f"| `{path.name}` | `{header['template']}` | {len(tokens)} |" in listed


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
@pytest.mark.parametrize("errors", ["strict", "repair"])
def test_a_recording_parses_to_its_message_without_a_problem(path: Path, errors: str) -> None:
    message = replay(path, errors)
    calls = [call["function"] for call in message.get("tool_calls", [])]
    assert [call["name"] for call in calls] == FUNCTIONS_CALLED[path.stem]
    header, tokens = read(path)
    text = json.dumps(message, ensure_ascii=False)
    markup = ("<|", "|>", "<think>", "</think>", "tool_call>", "<parameter", "</parameter", "\ufffd")
    assert not any(mark in text for mark in markup)
    declared = {tool["function"]["name"]: tool["function"]["parameters"] for tool in header["tools"]}
    for call in calls:
        assert (
            set(declared[call["name"]]["required"])
            <= set(call["arguments"])
            <= set(declared[call["name"]]["properties"])
        )
    if path.stem.startswith("smollm2"):
        assert all(isinstance(token["id"], int) for token in tokens)
    else:
        assert message["reasoning_content"]
        assert message["content"]


def test_every_faulty_recording_is_listed() -> None:
    listed = (FAULTY / ".." / "README.md").read_text(encoding="utf-8")
    for path in FAULTY.glob("*.jsonl"):
        header, tokens = read(path)
        assert f"| `faulty/{path.name}` | `{header['template']}` | {len(tokens)} |" in listed


def parse_faulty(name: str, errors: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    header, tokens = read(FAULTY / f"{name}.jsonl")
    parser = ResponseParser(header["template"], header["prefix"], tools=header["tools"], errors=errors)
    events = [event for token in tokens for event in parser.feed(token["text"])]
    message, last = parser.finalize("stop")
    return [*events, *last], message


def test_the_calls_that_can_be_mended_are_reported_or_mended() -> None:
    events, message = parse_faulty("qwen3_repaired", "report")
    assert "tool_calls" not in message
    assert len([event for event in events if event["type"] == "region_malformed"]) == 2
    events, message = parse_faulty("qwen3_repaired", "repair")
    assert [event["repaired"] for event in events if "repaired" in event] == [
        ["a Python literal", "a trailing comma"],
        ["a raw line break in a string"],
    ]
    booked, noted = (call["function"]["arguments"] for call in message["tool_calls"])
    assert booked["window_seat"] is True
    assert booked["extras"] == ["bike", "quiet coach"]
    assert noted["notes"].splitlines() == ["Change in Hengelo, 11 minutes. ", "Platform is announced on the day."]


@pytest.mark.parametrize("errors", ["report", "repair"])
def test_the_call_that_breaks_off_costs_the_others_nothing(errors: str) -> None:
    events, message = parse_faulty("kimi_k2_malformed", errors)
    assert [call["function"]["name"] for call in message["tool_calls"]] == ["forecast", "flights", "hotels"]
    (fault,) = [event for event in events if event["type"] == "region_malformed"]
    assert fault["captures"]["name"] == "flights"
    assert fault["partial"]["arguments"] == {"origin": "VIE"}
