"""The inputs modelled on public fault reports: the message is the one that a user would call right.

They lie beside the repository in ``shared/``, or where ``$STREAMPARSE_SHARED`` says; without them these tests are
skipped. What the file only describes is in ``tests/field``, with cases of the same kinds in other families.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from streamparse import ResponseParser

SHARED = Path(os.environ.get("STREAMPARSE_SHARED", Path(__file__).parents[3] / "shared"))
CASES = SHARED / "cases" / "field" / "cases.jsonl"

ROWS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()] if CASES.exists() else []
WITH_MESSAGE = [row for row in ROWS if "message" in row["expect"] and row["family"] and not row.get("tokens")]

needs_cases = pytest.mark.skipif(not ROWS, reason="the shared cases are not beside this checkout")


def compared(message: dict[str, Any], *, ignore_space: bool, ids: bool) -> dict[str, Any]:
    """What of a message is compared: texts without outer white space (or any), calls by name, arguments and id."""
    texts = {key: value.strip() for key, value in message.items() if isinstance(value, str) and key != "role"}
    if ignore_space:
        texts = {key: "".join(value.split()) for key, value in texts.items()}
    calls = [
        {"function": call["function"], **({"id": call.get("id")} if ids else {})}
        for call in message.get("tool_calls", [])
    ]
    return {key: value for key, value in texts.items() if value} | {"calls": calls}


def pieces_of(row: dict[str, Any]) -> list[list[Any]]:
    """The ways in which a row's text comes: whole, by character, as it was cut, as bytes."""
    ways = [[row["raw"]], list(row["raw"]), [row["raw"].encode()], [bytes([byte]) for byte in row["raw"].encode()]]
    if row.get("chunks"):
        ways.append(row["chunks"])
    if row.get("chunks_hex"):
        ways.append([bytes.fromhex(chunk) for chunk in row["chunks_hex"]])
    return ways


@needs_cases
def test_the_rows_are_there() -> None:
    assert len(WITH_MESSAGE) > 60


@needs_cases
@pytest.mark.parametrize("row", WITH_MESSAGE, ids=lambda row: f"{row['n']} {row['family']} {row['kind']}")
@pytest.mark.parametrize("deltas", [False, True], ids=["plain", "deltas"])
def test_the_message_is_right(row: dict[str, Any], deltas: bool) -> None:
    right = row["expect"]["message"]
    ignore_space, ids = row.get("ignore_space", False), any("id" in call for call in right.get("tool_calls", []))
    for pieces in pieces_of(row):
        parser = ResponseParser(row["family"], row["prefix"] or "", tools=row["tools"], errors="repair", deltas=deltas)
        for piece in pieces:
            parser.feed(piece)
        message, _ = parser.finalize()
        assert compared(message, ignore_space=ignore_space, ids=ids) == compared(
            right, ignore_space=ignore_space, ids=ids
        )
