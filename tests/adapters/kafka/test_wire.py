"""The format of the records: what is written is read, and what the schema allows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from streamparse.adapters.kafka import BadRecordError, begin_record, cancel_record, chunk_record, end_record
from streamparse.adapters.kafka.output import EventRecord, values
from streamparse.adapters.kafka.wire import CANCELLED, Begin, Record, read_content, read_key, schema
from streamparse.encode import encode_event
from streamparse.graph import End

IDS = st.lists(st.integers(0, 2**32 - 1))
SCHEMA = Draft202012Validator(schema())


def read(of: dict[str, Any]) -> Any:
    return read_content(Record(of["key"].encode(), of["value"], of["headers"], 0))


@given(st.text() | st.binary() | IDS)
def test_a_chunk_that_is_written_is_read(chunk: Any) -> None:
    assert read(chunk_record("a", chunk)) == chunk


@given(st.characters(categories=["Cs"]))
def test_half_a_character_is_read_as_it_was(half: str) -> None:
    assert read(chunk_record("a", half)) == half


@given(st.none() | st.text(), st.none() | st.dictionaries(st.text(max_size=3), st.integers(0, 9)))
def test_an_end_that_is_written_is_read(reason: str | None, usage: Any) -> None:
    assert read(end_record("a", reason, usage=usage)) == End(reason, usage)


def test_a_beginning_and_a_cancellation_that_are_written_are_read() -> None:
    begin = read(begin_record("a", template={"fields": {}}, prefix=[1, 2], tools=[{}], deltas=True))
    assert isinstance(begin, Begin)
    assert begin.value["options"] == {"deltas": True}
    assert read(cancel_record("a")) is CANCELLED


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"{}",
        b'{"type":"chunk"}',
        b'{"type":"chunk","text":"a","ids":[1]}',
        b'{"type":"chunk","text":5}',
        b'{"type":"chunk","ids":[-1]}',
        b'{"type":"chunk","bytes":"%"}',
        b'{"type":"begin","version":2}',
        b'{"type":"begin","options":{"nonsense":1}}',
        b'{"type":"begin","prefix":5}',
        b'{"type":"end","finish_reason":5}',
        b'{"type":"events"}',
        b'{"type":["begin"]}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_record_is_refused_with_the_reason(value: bytes) -> None:
    with pytest.raises(BadRecordError, match=r"\w"):
        read_content(Record(b"a", value, (), 0))


@pytest.mark.parametrize("key", [None, b"", b"\xff", b"x" * 1025])
def test_what_is_no_key_is_refused(key: bytes | None) -> None:
    with pytest.raises(BadRecordError):
        read_key(key)


@given(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["begin", "chunk", "end", "cancel", "x"])},
        optional={
            "text": st.text(max_size=3) | st.integers(),
            "ids": st.lists(st.integers(-1, 3), max_size=2),
            "finish_reason": st.none() | st.integers() | st.text(max_size=3),
            "version": st.integers(0, 2),
            "prefix": st.text(max_size=3) | st.none(),
        },
    )
)
def test_what_the_schema_allows_is_read_and_nothing_else(said: dict[str, Any]) -> None:
    allowed = SCHEMA.is_valid(said)
    try:
        read_content(Record(b"a", encode_event(said), (), 0))
    except BadRecordError:
        assert not allowed
    else:
        assert allowed


def test_records_of_events_are_as_the_schema_says() -> None:
    import json

    ((value, _),) = values(EventRecord("a", 1, [{"type": "region_open", "field": "content"}], ()), 1000)
    Draft202012Validator({"$defs": schema()["$defs"], **schema()["$defs"]["events"]}).validate(json.loads(value))
