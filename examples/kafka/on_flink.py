"""Many generations on Apache Flink: a keyed process function whose state is a parser's snapshot.

    pip install apache-flink streamparse-llm
    python on_flink.py

It needs Java. Here the source is a collection; in production it is Flink's Kafka source.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor

from streamparse import ResponseParser
from streamparse.events import message_event

TEMPLATE = "qwen3"


class Parse(KeyedProcessFunction):
    """One generation for each key: its parser is restored from the state for each record, and saved again."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Ask for the state."""
        descriptor = ValueStateDescriptor("parser", Types.PICKLED_BYTE_ARRAY())
        self._state = runtime_context.get_state(descriptor)

    def process_element(self, value: tuple[str, str], _context: KeyedProcessFunction.Context) -> Iterator[str]:
        """The events of a chunk; an empty one ends the generation."""
        key, chunk = value
        saved = self._state.value()
        if saved is None:
            parser = ResponseParser(TEMPLATE, prefix="", errors="report")
            events = parser.initial_events
        else:
            parser = ResponseParser.restore(saved, TEMPLATE)
            events = []
        if chunk:
            events = [*events, *parser.feed(chunk)]
            self._state.update(parser.snapshot())
        else:
            message, last = parser.finalize("stop")
            events = [*events, *last, message_event(message, parser.problems, "stop")]
            self._state.clear()
        for event in events:
            yield f"{key} {json.dumps(event)}"


def main() -> None:
    """Parse two generations."""
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.set_parallelism(2)
    environment.set_python_executable(sys.executable)
    chunks = [("a", "<think>Hm"), ("b", "Hel"), ("a", "</think>Yes"), ("b", "lo"), ("a", ""), ("b", "")]
    types = Types.TUPLE([Types.STRING(), Types.STRING()])
    stream = environment.from_collection(chunks, type_info=types)
    stream.key_by(lambda pair: pair[0], key_type=Types.STRING()).process(Parse(), output_type=Types.STRING()).print()
    environment.execute("generations")


if __name__ == "__main__":
    main()
