from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamparse.parser import ResponseParser

RECORDINGS = sorted((Path(__file__).parent.parent / "examples" / "recordings").glob("*.jsonl"))
FUNCTIONS_CALLED = {
    "cohere2": ["query_sales", "stock_levels"],
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
