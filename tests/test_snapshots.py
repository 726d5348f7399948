"""Snapshots: small, taken anywhere, and refused where they are not what they should be."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse import ResponseParser, SnapshotError, StreamparseError
from streamparse.snapshot import state_to_bytes
from stress.inputs import byte_tokenizer, places, texts, with_checksum

TEXT = (
    "<think>Hm, the weather 🙂.</think>Let me see.\n<tool_call>\n"
    '{"name": "get_weather", "arguments": {"city": "Oslo", "days": "3"}}\n</tool_call> </tool'
)
TAGGED = (
    "<think>\nHm.</think>See:\n<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo </tool_call> quoted\n"
    "</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>\nDone."
)
DAMAGED = '<think>a<tool_call>{"name": "f", "arguments": {"a": 1,}}</tool_call>b</think>c<tool_call>{"name": "g"'
TOOLS = [{"name": "get_weather", "parameters": {"properties": {"days": {"type": "integer"}}}}]
TWICE = {
    "start_anchor": "@",
    "fields": {"content": {}, "a": {"open": "<a>", "close": "</a>", "content": "json"}},
}
OPTIONS: list[dict[str, Any]] = [
    {"errors": "strict"},
    {"errors": "report", "spans": True},
    {"errors": "repair", "deltas": True},
    {"errors": "report", "deltas": True, "spans": True, "tools": TOOLS},
    {"errors": "strict", "deltas": True, "tools": TOOLS},
]


def steps(parser: ResponseParser, pieces: list[Any]) -> list[Any]:
    """What a parser gives for each piece and at the end; an error is the last thing, and counts as what it says."""
    given: list[Any] = []
    try:
        for piece in pieces:
            given.append(parser.feed(piece))
        given.append((parser.finalize(), parser.problems))
    except StreamparseError as error:
        given.append((type(error), str(error)))
    return given


def as_kind(text: str, kind: str) -> tuple[list[Any], dict[str, Any]]:
    """A text as small pieces of a kind, and the options that go with it."""
    if kind == "text":
        return list(text), {}
    if kind == "bytes":
        return [text.encode()[at : at + 1] for at in range(len(text.encode()))], {}
    ids = byte_tokenizer().encode(text, add_special_tokens=False).ids
    return list(ids), {"tokenizer": byte_tokenizer()}


@pytest.mark.parametrize("kind", ["text", "bytes", "ids"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(("name", "text"), [("qwen3", TEXT), ("qwen3_coder", TAGGED), ("qwen3", DAMAGED)])
def test_a_parser_restored_at_any_place_gives_the_same_events_to_follow(
    name: str, text: str, options: dict[str, Any], kind: str
) -> None:
    pieces, source = as_kind(text, kind)
    expected = steps(ResponseParser(name, "", **options, **source), pieces)
    parser = ResponseParser(name, "", **options, **source)
    for at in range(len(expected) - 1):
        if at % 7 == 0:
            saved = parser.snapshot()
            again = ResponseParser.restore(saved, name, tools=options.get("tools"), **source)
            assert again.snapshot() == saved
            assert steps(again, pieces[at:]) == expected[at:]
        parser.feed(pieces[at])


@given(texts("qwen3"), st.sampled_from(OPTIONS), st.data())
def test_what_follows_a_restored_parser_is_what_follows_one_that_went_on(
    text: str, options: dict[str, Any], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(text)))
    parser = ResponseParser("qwen3", "", **options)
    try:
        parser.feed(text[:cut])
    except StreamparseError:
        return
    again = ResponseParser.restore(parser.snapshot(), "qwen3", tools=options.get("tools"))
    assert repr(steps(again, [text[cut:]])) == repr(steps(parser, [text[cut:]]))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_snapshot_is_small_and_has_the_open_text_once(options: dict[str, Any]) -> None:
    fresh = len(ResponseParser("qwen3", "", **options).snapshot())
    assert fresh < 1500
    parser = ResponseParser("qwen3", "", **options)
    for _ in range(1000):
        parser.feed("Some words. ")
    parser.feed('<tool_call>{"name": "f", "arguments": {"text": "')
    for _ in range(1000):
        parser.feed("more words. ")
    assert len(parser.snapshot()) < fresh + 24_000 + 1500
    assert len(parser.snapshot(message=False)) < fresh + 12_000 + 1500


def state() -> dict[str, Any]:
    parser = ResponseParser("qwen3", "", errors="report", deltas=True)
    parser.feed(TEXT[:120])
    saved: dict[str, Any] = json.loads(parser.snapshot())
    return saved


@pytest.mark.parametrize("place", range(len(places(state()))))
def test_a_part_of_a_wrong_kind_is_refused_or_does_no_harm(place: int) -> None:
    for wrong in (None, -1, "text", [[]], {"a": 1}, 10**400):
        damaged = copy.deepcopy(state())
        holder, key = places(damaged)[place]
        if holder[key] is wrong or holder[key] == wrong:
            continue
        holder[key] = wrong
        try:
            restored = ResponseParser.restore(with_checksum(damaged), "qwen3")
        except SnapshotError:
            continue
        steps(restored, [TEXT[120:]])


@pytest.mark.parametrize(
    "part", ["tail", "events", "regions", "content", "message", "options", "anchor", "transform", "template"]
)
def test_a_part_of_another_kind_or_that_is_missing_is_refused(part: str) -> None:
    for wrong in (None, [], 2.5):
        with pytest.raises(SnapshotError):
            ResponseParser.restore(with_checksum({**state(), part: wrong}), "qwen3")
    without = {key: value for key, value in state().items() if key != part}
    with pytest.raises(SnapshotError):
        ResponseParser.restore(with_checksum(without), "qwen3")


def test_every_damaged_byte_is_noticed() -> None:
    saved = ResponseParser("qwen3", "").snapshot()
    for at in range(len(saved)):
        for damaged in (
            saved[:at],
            saved[:at] + bytes([saved[at] ^ 1]) + saved[at + 1 :],
            saved[:at] + saved[at + 1 :],
        ):
            with pytest.raises(SnapshotError):
                ResponseParser.restore(damaged, "qwen3")


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 1_000_000,
        b'{"version":1,"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"version":1,"checksum":' + b"9" * 10_000 + b"}",
        b"\xff\xfe\x00",
        b'"version"',
        state_to_bytes({}),
        state_to_bytes({"options": {}, "template": ""}),
    ],
    ids=len,
)
def test_bytes_of_other_origin_are_refused(data: bytes) -> None:
    with pytest.raises(SnapshotError):
        ResponseParser.restore(data, "qwen3")


@pytest.mark.parametrize("data", [None, "text", 5, {}])
def test_what_is_no_bytes_is_refused(data: Any) -> None:
    with pytest.raises(SnapshotError, match="a snapshot is bytes"):
        ResponseParser.restore(data, "qwen3")


def test_another_template_and_a_newer_version_are_told_apart_from_damage() -> None:
    saved = ResponseParser("qwen3", "").snapshot()
    with pytest.raises(SnapshotError, match="another response template"):
        ResponseParser.restore(saved, "llama3_json")
    with pytest.raises(SnapshotError, match="version 2"):
        ResponseParser.restore(with_checksum({**json.loads(saved), "version": 2}), "qwen3")
    without = ResponseParser("qwen3", "", without=["tool_calls"]).snapshot()
    with pytest.raises(SnapshotError, match="another"):
        ResponseParser.restore(without, {"start_anchor": "@", "fields": {"content": {}}})


@pytest.mark.parametrize("errors", ["strict", "report", "repair"])
def test_a_field_that_was_in_the_message_left_out_may_come_again(errors: Any) -> None:
    parser = ResponseParser(TWICE, "", errors=errors)
    parser.feed("<a>[1]</a>")
    again = ResponseParser.restore(parser.snapshot(message=False), TWICE)
    (closed,) = (event for event in again.feed("<a>[2]</a>") if event["type"] == "region_close")
    assert closed["value"] == [2]
    assert again.finalize()[0] == {"a": [2]}


@pytest.mark.parametrize("forged", [["a", 0], [None], ["b"], [[]], [1.5]])
def test_fields_that_there_are_not_are_refused(forged: list[Any]) -> None:
    parser = ResponseParser(TWICE, "")
    parser.feed("<a>[1]</a>")
    state = json.loads(parser.snapshot())
    state["message"]["written"] = forged
    with pytest.raises(SnapshotError, match="damaged"):
        ResponseParser.restore(with_checksum(state), TWICE)
