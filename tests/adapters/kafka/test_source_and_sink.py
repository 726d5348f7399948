"""A program of one's own between a topic and a topic: the source, the pump, the sink."""

from __future__ import annotations

import json

import anyio
import pytest

from streamparse import KeyedParser, pump
from streamparse.adapters.kafka import KafkaError, KafkaEvents, KafkaSink, KafkaSource
from stress.kafka_generations import generations, make_topics, write

pytestmark = [pytest.mark.anyio, pytest.mark.needs("groups")]


async def test_records_go_through_a_pump_to_records_that_are_followed(bootstrap: str, name: str) -> None:
    make_topics(bootstrap, 2, f"{name}-in", f"{name}-out")
    every = list(generations(5, 21))
    write(bootstrap, f"{name}-in", [record for one in every for record in one.records()])
    over = 0
    with anyio.fail_after(60):
        async with (
            KafkaSource(bootstrap, f"{name}-in", group=name) as source,
            KafkaSink(bootstrap, f"{name}-out") as sink,
            pump(source, KeyedParser()) as batches,
        ):
            async for batch in batches:
                await sink.send(batch)
                await source.commit()
                over += sum(events[-1]["type"] == "message" for _, events in batch)
                if over == len(every):
                    break
        async with KafkaEvents(bootstrap, f"{name}-out", committed=False) as events:
            for one in every:
                seen = [event async for event in events.follow(one.id)]
                assert seen == [json.loads(event) for event in one.events()]


async def test_what_cannot_be_read_ends_its_generation_alone(bootstrap: str, name: str) -> None:
    make_topics(bootstrap, 1, f"{name}-in")
    (one,) = generations(1, 22)
    bad = [
        {"key": "bad", "value": b"junk"},
        {"key": "worse", "value": b'{"type":"begin","template":"no such"}'},
        {"value": b"without a key"},
    ]
    write(bootstrap, f"{name}-in", [*bad, *one.records()])
    seen: dict[str, str] = {}
    with anyio.fail_after(60):
        async with (
            KafkaSource(bootstrap, f"{name}-in", group=name, template="qwen3", prefix="") as source,
            pump(source, KeyedParser("qwen3", prefix="")) as batches,
        ):
            async for batch in batches:
                seen |= {str(key): events[-1]["type"] for key, events in batch}
                if seen.get(one.id) == "message":
                    break
    assert seen == {"bad": "error", "worse": "error", one.id: "message"}


async def test_a_broker_that_refuses_a_record_is_an_error(bootstrap: str, name: str) -> None:
    make_topics(bootstrap, 1, f"{name}-out")
    client = {"message.max.bytes": 1000}
    with anyio.fail_after(60), pytest.raises(KafkaError, match="can't be written"):
        async with KafkaSink(bootstrap, f"{name}-out", client=client) as sink:
            await sink.send([("a", [{"type": "message", "message": "x" * 5000}])])
