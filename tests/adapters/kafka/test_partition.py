"""A partition as a state machine, without a broker: what comes out, and that it can be taken over at any point."""

from __future__ import annotations

import random
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse import Limits
from streamparse.adapters.kafka.changelog import Saved
from streamparse.adapters.kafka.output import EventReader, EventRecord, values
from streamparse.adapters.kafka.parsed import Output
from streamparse.adapters.kafka.partition import LOST, PartitionParser
from streamparse.adapters.kafka.templates import Beginnings
from streamparse.adapters.kafka.wire import Record, begin_record, cancel_record, chunk_record, end_record
from streamparse.encode import encode_event
from stress.inputs import byte_tokenizer
from stress.kafka_generations import generations, interleaved

BEGINNINGS = Beginnings("qwen3", prefix="")


def partition(**options: Any) -> PartitionParser:
    return PartitionParser(BEGINNINGS, "in/0", **options)


def record(offset: int, of: dict[str, Any], timestamp: float = 0.0) -> Record:
    return Record(of["key"].encode(), of["value"], list(of["headers"]) or (), offset, timestamp)


def log(*records: dict[str, Any], start: int = 0) -> list[Record]:
    return [record(offset, each) for offset, each in enumerate(records, start)]


def types(output: Output) -> dict[str, list[str]]:
    made: dict[str, list[str]] = {}
    for each in output.events:
        made.setdefault(each.generation, []).extend(event["type"] for event in each.events)
    return made


class Given:
    """A record as the client gives it."""

    def __init__(self, of: Record) -> None:
        self._of = of

    def key(self) -> bytes | None:
        return self._of.key

    def value(self) -> bytes | None:
        return self._of.value

    def headers(self) -> Any:
        return list(self._of.headers) or None

    def offset(self) -> int:
        return self._of.offset

    def timestamp(self) -> tuple[int, int]:
        return 1, round(self._of.timestamp * 1000)


class Readers:
    """What readers of the output see: each generation's events as JSON, those that come again left out."""

    def __init__(self) -> None:
        self.events: dict[str, list[bytes]] = {}
        self._readers: dict[str, EventReader] = {}

    def see(self, output: Output, largest: int = 1_000_000) -> None:
        for each in output.events:
            reader = self._readers.setdefault(each.generation, EventReader())
            for value, headers in values(each, largest):
                for number, event in reader.read(value, headers):
                    known = self.events.setdefault(each.generation, [])
                    assert number == len(known) + 1
                    known.append(encode_event(event, standard=True))


class Changelog:
    """A compacted topic."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def write(self, changes: list[tuple[str, bytes | None]]) -> None:
        for key, value in changes:
            self.kept.pop(key, None)
            if value is not None:
                self.kept[key] = value

    def read(self) -> dict[str, Saved]:
        return {key: Saved.decode(value) for key, value in self.kept.items()}


def taken_over(
    changelog: Changelog, committed: int, records: list[Record], first_kept: int = 0, **options: Any
) -> PartitionParser:
    """A new parser of a partition, as a worker makes it that is given the partition."""
    heir = partition(**options)
    start = heir.restore(changelog.read(), committed, first_kept)
    heir.replay([Given(each) for each in records if start <= each.offset < committed])
    return heir


@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 200))
def test_whoever_takes_over_at_any_commit_goes_on_exactly_there(seed: int, exactly_once: bool, replay: int) -> None:
    chance = random.Random(seed)
    every = list(generations(4, seed))
    records = log(*interleaved(every, 3, chance))
    changelog, readers, committed = Changelog(), Readers(), 0
    worker = partition(replay=replay)
    worker.restore({}, 0, 0)
    at = 0
    while committed < len(records):
        size = chance.randint(1, 40)
        output = worker.take(records[at : at + size])
        at += size
        assert output.dead == []
        crash = chance.random()
        if exactly_once:
            if crash > 0.3:  # or else nothing of it counts
                readers.see(output)
                changelog.write([*worker.opened(), *worker.kept()])
                committed = worker.position or 0
        else:
            readers.see(output)
            if crash > 0.1:
                changelog.write(worker.opened())
                if crash > 0.2:
                    committed = worker.position or 0
                    if crash > 0.3:
                        changelog.write(worker.kept())
        if crash <= 0.3 or chance.random() < 0.2:
            worker = taken_over(changelog, committed, records, replay=replay)
            assert worker.restored().events == []
            at = committed
    assert readers.events == {each.id: each.events() for each in every}
    changelog.write(worker.kept())
    assert changelog.kept == {}


@given(st.integers(0, 10_000), st.lists(st.integers(1, 30), min_size=1))
def test_events_and_their_numbers_do_not_depend_on_batches(seed: int, sizes: list[int]) -> None:
    every = list(generations(3, seed))
    records = log(*interleaved(every, 3, random.Random(seed)))
    worker, readers, at, turn = partition(), Readers(), 0, 0
    while at < len(records):
        readers.see(worker.take(records[at : at + sizes[turn % len(sizes)]]), largest=300)
        at += sizes[turn % len(sizes)]
        turn += 1
    assert readers.events == {each.id: each.events() for each in every}


@given(
    st.lists(
        st.tuples(
            st.none() | st.binary(max_size=8),
            st.none() | st.binary(max_size=40),
            st.sampled_from(
                [(), (("content", b"text"),), (("content", b"ids"),), (("content", b"x"),), (("traceparent", None),)]
            ),
        ),
        max_size=30,
    )
)
def test_no_record_stops_a_partition(drawn: list[tuple[bytes | None, bytes | None, Any]]) -> None:
    worker = partition()
    records = [Record(key, value, headers, offset) for offset, (key, value, headers) in enumerate(drawn)]
    output = worker.take(records)
    assert worker.position == (len(records) or None)
    assert all(letter.reason for letter in output.dead)


ANY_RECORDS = st.lists(
    st.sampled_from(
        [
            *[make(key) for key in "ab" for make in (begin_record, end_record, cancel_record)],
            *[chunk_record(key, chunk) for key in "ab" for chunk in ("<think>", "x", b"\xc3", [5], "</think>y")] * 3,
            {"key": "a", "value": b"\xff", "headers": [("content", b"text")]},
            {"key": "a", "value": None, "headers": [("content", b"text")]},
            {"key": "b", "value": b"{}", "headers": [("traceparent", b"x")]},
        ]
    ),
    max_size=40,
)


@given(ANY_RECORDS, st.integers(1, 9))
def test_the_short_way_for_text_gives_what_the_long_one_gives(drawn: list[dict[str, Any]], size: int) -> None:
    long, short = partition(), partition()
    records = log(*drawn)
    for at in range(0, len(records), size):
        batch = records[at : at + size]
        assert short.take_messages([Given(each) for each in batch]) == long.take(batch)
        assert short.opened() == long.opened()
    assert short.tally == long.tally
    assert short.position == long.position


def test_a_chunk_of_a_generation_that_is_not_open_is_a_dead_letter() -> None:
    output = partition().take(log(chunk_record("a", "Hi")))
    assert [letter.reason for letter in output.dead] == ["no generation of this id is open: a begin record comes first"]


def test_a_second_begin_is_a_dead_letter_and_the_generation_goes_on() -> None:
    output = partition().take(
        log(begin_record("a"), chunk_record("a", "Hel"), begin_record("a"), chunk_record("a", "lo"), end_record("a"))
    )
    assert [letter.record.offset for letter in output.dead] == [2]
    assert output.events[-1].events[-1]["message"] == {"role": "assistant", "content": "Hello"}


def test_an_id_that_is_used_again_is_a_new_generation() -> None:
    output = partition().take(
        log(
            begin_record("a"),
            chunk_record("a", "1"),
            end_record("a"),
            begin_record("a"),
            chunk_record("a", "2"),
            end_record("a"),
        )
    )
    assert [(each.first, each.events[-1]["message"]["content"]) for each in output.events] == [(1, "1"), (1, "2")]


def test_a_record_that_cannot_be_read_ends_its_generation_with_an_error_and_is_a_dead_letter() -> None:
    worker = partition()
    bad = {"key": "a", "value": b"\xff", "headers": [("content", b"text")]}
    output = worker.take(
        log(begin_record("a"), chunk_record("a", "Hel"), bad, chunk_record("a", "lo"), end_record("a"))
    )
    assert [letter.record.offset for letter in output.dead] == [2]
    assert types(output)["a"][-1] == "error"
    error = output.events[-1].events[-1]
    assert error["kind"] == "BadRecordError"
    assert "offset 2" in error["error"]
    assert error["message"]["content"] == "Hel"
    assert worker.tally.dropped == 1


def test_a_generation_that_cannot_begin_ends_with_an_error_that_readers_see() -> None:
    worker = partition()
    output = worker.take(log(begin_record("a", template="no such"), chunk_record("a", "Hi"), end_record("a")))
    assert types(output) == {"a": ["error"]}
    assert output.dead == []
    bad = {"key": "b", "value": b'{"type":"begin","template":5}', "headers": []}
    output = worker.take(log(bad, chunk_record("b", "Hi"), start=3))
    assert types(output) == {"b": ["error"]}
    assert len(output.dead) == 1


def test_a_record_names_no_file(tmp_path: Any) -> None:
    path = tmp_path / "template.json"
    path.write_text("{}", encoding="utf-8")
    output = partition().take(log(begin_record("a", template=str(path))))
    assert types(output) == {"a": ["error"]}
    assert output.events[0].events[0]["kind"] == "TemplateError"
    path.write_text((files("streamparse.template.bundled") / "qwen3.json").read_text("utf-8"), encoding="utf-8")
    again = partition().take(log(begin_record("a", template=str(path))))
    assert again.events[0].events == output.events[0].events


def test_a_limit_that_is_reached_is_an_error_of_that_generation_alone() -> None:
    beginnings = Beginnings("qwen3", prefix="", limits=Limits(regions=1))
    worker = PartitionParser(beginnings, "in/0")
    output = worker.take(
        log(
            begin_record("a"),
            begin_record("b"),
            chunk_record("a", "<think>x</think>y"),
            chunk_record("b", "Hi"),
            end_record("b"),
            end_record("a"),
        )
    )
    assert types(output)["a"][-1] == "error"
    assert types(output)["b"][-1] == "message"


def test_cancelling_ends_a_generation_and_is_nothing_after_its_end() -> None:
    worker = partition()
    output = worker.take(log(begin_record("a"), chunk_record("a", "Hi"), cancel_record("a"), cancel_record("a")))
    assert output.events[-1].events[-1]["finish_reason"] == "cancelled"
    assert output.dead == []


def test_an_abandoned_generation_expires_by_the_time_of_records_and_what_still_comes_is_dropped() -> None:
    worker, changelog = partition(idle_seconds=60), Changelog()
    worker.take([record(0, begin_record("a"), 1000.0), record(1, chunk_record("a", "Hi"), 1001.0)])
    assert worker.expire(1050.0).events == []
    records = [record(2, begin_record("b"), 1100.0)]
    worker.take(records)
    output = worker.expire(worker.now)
    assert types(output) == {"a": ["region_close", "message"]}
    assert output.events[-1].events[-1]["finish_reason"] == "expired"
    changelog.write([*worker.opened(), *worker.kept()])
    heir = taken_over(changelog, 3, records, idle_seconds=60)
    output = heir.take([record(3, chunk_record("a", "more"), 1101.0)])
    assert (output.events, output.dead, heir.tally.dropped) == ([], [], 1)
    heir.take([record(4, end_record("a"), 1102.0)])
    output = heir.take([record(5, chunk_record("a", "more"), 1103.0)])
    assert len(output.dead) == 1


def test_the_end_of_what_expired_is_not_awaited_for_ever() -> None:
    worker, changelog = partition(idle_seconds=60), Changelog()
    worker.take([record(0, begin_record("a"), 1000.0)])
    worker.expire(1100.0)
    changelog.write([*worker.opened(), *worker.kept()])
    assert list(changelog.kept) == ["a"]
    worker.expire(1200.0)
    changelog.write(worker.kept())
    assert changelog.kept == {}


def test_trace_context_goes_from_the_records_to_the_events() -> None:
    trace = [("traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), ("tracestate", b"a=b")]
    output = partition().take(log(begin_record("a", headers=trace), chunk_record("a", "Hi")))
    assert list(output.events[0].trace) == trace


def test_ids_of_calls_are_the_same_when_records_are_read_again() -> None:
    call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    records = log(begin_record("a", call_ids=True), chunk_record("a", call), end_record("a"))
    one, two = (partition().take(records).events[0].events[-1]["message"]["tool_calls"][0]["id"] for _ in range(2))
    assert one == two
    assert one.startswith("call_")


def test_where_the_input_is_no_longer_kept_the_generation_ends_with_an_error() -> None:
    worker, changelog = partition(), Changelog()
    records = log(begin_record("a"), chunk_record("a", "Hi"))
    worker.take(records)
    changelog.write(worker.opened())
    heir = taken_over(changelog, 2, records[1:], first_kept=1)
    lost = heir.restored()
    assert types(lost) == {"a": ["error"]}
    assert lost.events[0].first == LOST
    assert heir.kept() == [("a", None)]


def test_a_snapshot_of_a_template_that_the_worker_no_longer_has_is_an_error_of_that_generation() -> None:
    changelog = Changelog()
    worker = partition(replay=1)
    worker.take(log(begin_record("a"), *[chunk_record("a", "Hi ")] * 150))
    changelog.write([*worker.opened(), *worker.kept()])
    assert changelog.read()["a"].snapshot
    heir = PartitionParser(Beginnings("gpt_oss", prefix=""), "in/0")
    heir.restore(changelog.read(), 151, 0)
    assert "can't be taken up" in heir.restored().events[0].events[0]["error"]


def test_a_generation_whose_snapshot_would_be_too_large_is_read_again_from_further_back() -> None:
    changelog = Changelog()
    worker = partition(replay=1, largest=500)
    records = log(begin_record("a"), *[chunk_record("a", "word " * 10)] * 300)
    worker.take(records)
    changelog.write([*worker.opened(), *worker.kept()])
    assert worker.tally.too_large == 1
    heir = taken_over(changelog, 301, records)
    ended = heir.take(log(end_record("a"), start=301))
    assert ended.events[-1].events[-1]["message"]["content"].count("word") == 3000


def test_events_that_are_too_large_for_a_record_are_cut_and_put_together_again() -> None:
    large = EventRecord("a", 1, [{"type": "message", "message": {"content": "é" * 1000}}], ())
    parts = values(large, 100)
    assert len(parts) > 20
    assert all(len(value) <= 100 for value, _ in parts)
    reader = EventReader()
    read = [each for value, headers in [*parts[:3], *parts] for each in reader.read(value, headers)]
    assert [event for _, event in read] == large.events
    assert reader.over


def test_at_most_so_many_generations_are_open() -> None:
    output = partition(max_open=1).take(log(begin_record("a"), begin_record("b")))
    assert [(each.generation, each.events[-1]["kind"]) for each in output.events] == [("b", "LimitError")]


@pytest.mark.parametrize("ids", [[], [5, 70_000]])
def test_token_ids_are_parsed_with_the_tokenizer_that_the_record_names(ids: list[int]) -> None:
    tokenizer = byte_tokenizer()
    ids = tokenizer.encode("Hello", add_special_tokens=False).ids if ids else []
    worker = PartitionParser(Beginnings("qwen3", prefix="", tokenizers={"bytes": tokenizer}), "in/0")
    output = worker.take(log(begin_record("a", tokenizer="bytes"), chunk_record("a", ids), end_record("a")))
    assert output.events[-1].events[-1]["message"].get("content", "") == ("Hello" if ids else "")
