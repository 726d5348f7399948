"""The history: any reader that stopped at any number gets exactly the rest, and memory is bounded."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from streamparse.broadcasting.history import History
from streamparse.graph.coalescing import ITEM_WEIGHT, weigh
from tests.graph.events import EVENTS, by_character, chunk, delta

WITHOUT_LIMIT = 10**9


def with_spans(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same events, as spans=True has them, a gap at each change of field."""
    position = 0
    spanned = []
    for event in events:
        start = position + (event["type"] == "region_open")
        position = start + len(event.get("text", ""))
        spanned.append({**event, "start": start, "end": position} if event["type"] != "region_delta" else event)
    return spanned


@given(EVENTS, st.booleans(), st.data())
def test_a_reader_gets_all_events_after_any_number_in_reads_of_any_size(
    events: list[dict[str, Any]], spans: bool, data: st.DataObject
) -> None:
    events = with_spans(events) if spans else events
    history = History(WITHOUT_LIMIT)
    for event in events:
        history.append(event)
    joined = data.draw(st.booleans())
    start = after = data.draw(st.integers(0, len(events)))
    received: list[dict[str, Any]] = []
    while numbered := history.read(after, joined=joined, at_most=data.draw(st.sampled_from([0, 1, 65, 200, None]))):
        for first, last, event in numbered:
            assert first == after + 1 <= last
            if "end" in event:
                assert (event["start"], event["end"]) == (events[first - 1]["start"], events[last - 1]["end"])
            received.append(event)
            after = last
    assert after == history.last == len(events)
    if not joined:
        assert received == events[start:]
    assert by_character(received) == by_character(events[start:])


@given(EVENTS)
def test_reading_while_it_grows_is_no_different(events: list[dict[str, Any]]) -> None:
    history = History(WITHOUT_LIMIT)
    received = []
    for event in events:
        history.append(event)
        received += history.read(history.last - 1)
    assert received == [(number, number, event) for number, event in enumerate(events, 1)]
    assert by_character([event for _, _, event in history.read(0)]) == by_character(events)


@given(EVENTS, st.integers(0, 400), st.data())
def test_no_more_is_kept_than_the_limit_and_what_must_stay(
    events: list[dict[str, Any]], limit: int, data: st.DataObject
) -> None:
    history = History(limit)
    for number, event in enumerate(events, 1):
        history.append(event)
        keep = data.draw(st.integers(max(history.first, number - 3), number))
        history.trim(keep)
        assert history.first <= keep
        kept = by_character([event for _, _, event in history.read(history.first - 1)])
        assert kept == by_character(events[history.first - 1 : number])
        assert history.weight <= limit or history.read(history.first - 1)[0].last >= keep


def test_a_reader_that_is_behind_gets_few_long_chunks() -> None:
    history = History(WITHOUT_LIMIT)
    for _ in range(20_000):
        history.append(chunk("four"))
    read = history.read(0)
    assert len(read) <= 25
    assert "".join(event["text"] for _, _, event in read) == "four" * 20_000
    assert history.weight < 20_000 * 4 + 25 * ITEM_WEIGHT


def test_a_read_is_no_larger_than_was_asked_for() -> None:
    history = History(WITHOUT_LIMIT)
    for _ in range(1000):
        history.append(chunk("four"))
        history.append(chunk("four", dirty=True))
    for joined in (True, False):
        read = history.read(77, joined=joined, at_most=500)
        assert 0 < sum(weigh(event) for _, _, event in read) <= 500


def test_a_delta_that_is_read_from_its_middle_does_not_name_the_call_again() -> None:
    history = History(WITHOUT_LIMIT)
    for event in (delta(id="1", name="f"), delta(arguments="{"), delta(arguments="}")):
        history.append(event)
    assert history.read(0) == [(1, 3, delta(id="1", name="f", arguments="{}"))]
    assert history.read(1) == [(2, 3, delta(arguments="{}"))]


def test_a_chunk_that_is_read_from_its_middle_has_the_span_of_the_rest() -> None:
    history = History(WITHOUT_LIMIT)
    for position in range(4):
        history.append(chunk("ab", start=2 * position, end=2 * position + 2))
    assert history.read(1) == [(2, 4, chunk("ababab", start=2, end=8))]
    assert history.read(1, at_most=4) == [(2, 3, chunk("abab", start=2, end=6))]


def test_one_event_that_is_larger_than_the_limit_is_kept_alone() -> None:
    history = History(100)
    for text in ("a", "b" * 1000):
        history.append(chunk(text, field=text[0]))
        history.trim(history.last)
    assert [event["field"] for _, _, event in history.read(1)] == ["b"]
    assert history.first == 2
