"""What becomes of the events of a stream when nobody is looking: JSON lines, or the message alone.

An output has ``write(event)`` and ``close()``; the live view (``live.py``) is the third of them.
"""

from __future__ import annotations

import sys
from typing import Protocol

from streamparse.cli.command import FAULTY, OK
from streamparse.cli.lines import problem_line
from streamparse.encode import encode_line
from streamparse.events import RawEvent as Event
from streamparse.stream import ParseStream


class Output(Protocol):
    """Where events go."""

    def write(self, event: Event) -> None:
        """Take one event."""

    def close(self) -> None:
        """Put back what was changed, whether or not the last event was seen."""


async def show(stream: ParseStream, output: Output) -> int:
    """Send all events of a stream to an output; the exit code says whether anything was wrong with them."""
    code = OK
    try:
        async with stream as events:
            async for event in events:
                output.write(event)
                if event["type"] == "message" and event["problems"]:
                    code = FAULTY
    finally:
        output.close()
    return code


class EventLines:
    """Every event as a line of JSON, sent off as soon as it is there."""

    def write(self, event: Event) -> None:
        """Write the event's line."""
        write_bytes(encode_line(event))

    def close(self) -> None:
        """Leave all as it is: there is nothing to put back."""


class MessageLine:
    """The message as a line of JSON at the end; what went wrong goes to standard error, a line each."""

    def write(self, event: Event) -> None:
        """Write the message and its problems; let all else pass."""
        if event["type"] == "message":
            write_bytes(encode_line(event["message"]))
            for problem in event["problems"]:
                print(f"streamparse: {problem_line(problem)}", file=sys.stderr)

    def close(self) -> None:
        """Leave all as it is: there is nothing to put back."""


def write_bytes(data: bytes) -> None:
    """Write to standard output, in UTF-8 whatever the locale, and send it off."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
