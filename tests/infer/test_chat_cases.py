"""Public chat templates with rendered turns: what is inferred reads them, and what calls itself verified reads all.

The cases lie beside the repository in ``shared/``, or where ``$STREAMPARSE_SHARED`` says; without them these tests are
skipped.
"""

from __future__ import annotations

import functools
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from streamparse import ResponseParser
from streamparse.infer import InferenceError, infer_response_template

SHARED = Path(os.environ.get("STREAMPARSE_SHARED", Path(__file__).parents[3] / "shared")) / "cases" / "chat"
ABSENT = not (SHARED / "roundtrip.jsonl").is_file()
NAMES = [] if ABSENT else sorted(path.name for path in (SHARED / "chat_templates").glob("*.jinja"))

pytestmark = pytest.mark.skipif(
    ABSENT, reason=f"the public chat templates are not in {SHARED}; $STREAMPARSE_SHARED may say where they are"
)

Row = dict[str, Any]


@functools.cache
def rows() -> dict[str, list[Row]]:
    """The rendered turns of each chat template."""
    grouped: dict[str, list[Row]] = defaultdict(list)
    if not ABSENT:
        for line in (SHARED / "roundtrip.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            grouped[row["chat_template"]].append(row)
    return grouped


def shown(message: Row) -> tuple[str, str, str]:
    """What of a message is compared: texts without outer white space, calls without their ids."""
    calls = [[call["function"]["name"], call["function"]["arguments"]] for call in message.get("tool_calls", [])]
    texts = [str(message.get(key) or "").strip() for key in ("content", "reasoning_content")]
    return texts[0], texts[1], json.dumps(calls, sort_keys=True)


def comes_back(template: Row, row: Row) -> bool:
    """Whether a turn gives its message, in one piece and one character at a time."""
    for pieces in ([row["output"]], list(row["output"])):
        parser = ResponseParser(template, prefix=row["prefix"], tools=row["tools"], errors="repair")
        for piece in pieces:
            parser.feed(piece)
        if shown(parser.finalize()[0]) != shown(row["expect"]):
            return False
    return True


@functools.cache
def failing(name: str) -> tuple[str, ...]:
    """The turns of a chat template that don't come back; "inference" if there is no response template."""
    try:
        template = infer_response_template(SHARED / "chat_templates" / name).template
    except InferenceError:
        return ("inference",)
    return tuple(row["scenario"] for row in rows()[name] if not comes_back(template, row))


@pytest.mark.parametrize("name", NAMES)
def test_verified_never_lies(name: str) -> None:
    try:
        verified = infer_response_template(SHARED / "chat_templates" / name).verified
    except InferenceError:
        verified = False
    assert not (verified and failing(name))


@pytest.mark.parametrize("name", NAMES)
def test_content_and_reasoning_always_come_back(name: str) -> None:
    if rows()[name]:
        assert [scenario for scenario in failing(name) if "tool" not in scenario or "notools" in scenario] == []


def test_tool_calls_come_back() -> None:
    calling = {
        name: [row for row in rows()[name] if "tool" in row["scenario"] and "notools" not in row["scenario"]]
        for name in NAMES
    }
    lost = [f"{name} {scenario}" for name in NAMES for scenario in failing(name) if "tool" in scenario]
    assert len(lost) <= 0.03 * sum(map(len, calling.values())), lost
