"""The benchmarks measure what they say: their texts are what their templates describe."""

from __future__ import annotations

from itertools import pairwise

import pytest

from benchmarks.load import Load, frames_of, tokens
from benchmarks.short import FORMATS as SHORT
from benchmarks.workloads import FORMATS, HARDER, HOSTILE, Workload, in_pieces, in_tokens
from streamparse import ResponseParser, parse_response


@pytest.mark.parametrize("workload", FORMATS, ids=lambda workload: workload.name)
def test_a_generation_has_reasoning_content_and_two_calls(workload: Workload) -> None:
    message = parse_response(workload.text(3_000), workload.template, prefix="")
    reasoning = message.get("reasoning_content", message.get("thinking"))
    assert len(reasoning) > 900
    assert len(message["content"]) > 1_000
    assert [call["function"]["arguments"]["city"] for call in message["tool_calls"]] == ["Oslo", "Oslo"]


@pytest.mark.parametrize("workload", SHORT, ids=lambda workload: workload.name)
@pytest.mark.parametrize("length", [500, 2_000])
def test_a_short_generation_has_reasoning_content_and_four_calls(workload: Workload, length: int) -> None:
    message = parse_response(workload.text(length), workload.template, prefix="")
    assert {"reasoning_content", "thinking"} & message.keys()
    assert message["content"]
    assert [call["function"]["arguments"]["days"] for call in message["tool_calls"]] in ([1, 2, 3, 4], list("1234"))


@pytest.mark.parametrize("workload", [*FORMATS, *HARDER, *HOSTILE], ids=lambda workload: workload.name)
def test_a_text_is_about_as_long_as_was_asked_for(workload: Workload) -> None:
    assert 0.9 < len(workload.text(5_000)) / 5_000 < 1.2


def test_pieces_are_the_whole_text() -> None:
    for workload in FORMATS:
        text = workload.text(2_000)
        assert "".join(in_tokens(text)) == text
        assert 3.5 < len(text) / len(in_tokens(text)) < 5.5
        for size in (1, 4, None):
            assert "".join(in_pieces(text, size)) == text


@pytest.mark.parametrize("workload", HOSTILE, ids=lambda workload: workload.name)
def test_hostile_texts_raise_nothing_in_the_lenient_modes(workload: Workload) -> None:
    parser = ResponseParser(workload.template, prefix="", errors="report")
    for piece in in_pieces(workload.text(2_000), 4):
        parser.feed(piece)
    message, _ = parser.finalize()
    assert message


def test_the_load_gives_each_generation_its_tokens_in_order_at_its_pace() -> None:
    load = Load(generations=20, rate=50, seconds=2.0)
    seen: dict[int, list[tuple[float, str]]] = {}
    for due, frame in frames_of(load):
        for key, text in frame:
            seen.setdefault(key, []).append((due, text))
    assert len(seen) == 20
    begin, end = load.all_run
    for given in seen.values():
        assert [text for _, text in given] == tokens(100)
        assert all(abs(later - earlier - 0.02) < 1e-6 for (earlier, _), (later, _) in pairwise(given))
        assert given[0][0] <= begin
        assert given[-1][0] >= end - 0.03
