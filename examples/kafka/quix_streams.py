"""The job of `streamparse worker` on Quix Streams: its keyed state is a parser's snapshot.

Quix Streams pins an older confluent-kafka, so it has an environment of its own:

    pip install quixstreams streamparse-llm
    python quix_streams.py 127.0.0.1:9092 chunks events

The records are those of docs/kafka.md. Quix Streams keeps the state in RocksDB and in a changelog topic, and with
processing_guarantee="exactly-once" it commits state, output and offsets in one transaction.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from quixstreams import Application, State

from streamparse import ResponseParser
from streamparse.encode import encode_event
from streamparse.events import message_event


def parse(value: bytes, _key: str, _timestamp: int, headers: Any, state: State) -> list[dict[str, Any]]:
    """The numbered events of one record; the state is that of its key, which is the generation."""
    content = dict(headers or ()).get("content")
    said = {"type": "chunk", "text": value.decode()} if content == b"text" else json.loads(value)
    saved = state.get("parser")
    if said["type"] == "begin":
        template = said["template"]
        parser = ResponseParser(template, said["prefix"], errors="report")
        events, number = parser.initial_events, 0
    elif saved is None:
        return []  # of a generation that is over
    else:
        template, number = saved["template"], saved["number"]
        parser = ResponseParser.restore(saved["snapshot"].encode(), template)
        if said["type"] == "chunk":
            events = parser.feed(said["text"])
        else:
            reason = said.get("finish_reason")
            message, events = parser.finalize(reason)
            events = [*events, message_event(message, parser.problems, reason)]
            state.delete("parser")
    last = number + len(events)
    if said["type"] in ("begin", "chunk"):
        state.set("parser", {"template": template, "number": last, "snapshot": parser.snapshot().decode()})
    return [{"first": number + 1, "last": last, "events": events}] if events else []


def main() -> None:
    """Run until it is stopped."""
    bootstrap, source, sink = sys.argv[1:]
    application = Application(
        broker_address=bootstrap,
        consumer_group=f"streamparse-quix-{source}",
        auto_offset_reset="earliest",
        processing_guarantee="exactly-once",
        commit_interval=0.5,
        consumer_extra_config={"session.timeout.ms": 6000, "heartbeat.interval.ms": 1500},
        state_dir=f"state-{source}",
    )
    chunks = application.topic(source, key_deserializer="str", value_deserializer="bytes")
    events = application.topic(sink, key_serializer="str", value_serializer="bytes")
    stream = application.dataframe(chunks)
    stream = stream.apply(parse, stateful=True, metadata=True, expand=True)
    stream = stream.apply(lambda record: encode_event(record, standard=True))
    stream.to_topic(events)
    application.run()


if __name__ == "__main__":
    main()
