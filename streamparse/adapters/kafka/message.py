"""Records as the client library gives them."""

from __future__ import annotations

from typing import Any, Protocol

from streamparse.adapters.kafka.wire import Record

TEXT = [("content", b"text")]
"""The headers of most records: a chunk of text, and nothing else is said."""


class Message(Protocol):
    """A record as the client library gives it; ``timestamp`` is its kind and milliseconds."""

    def key(self) -> bytes | None: ...  # noqa: D102
    def value(self) -> bytes | None: ...  # noqa: D102
    def headers(self) -> Any: ...  # noqa: D102
    def offset(self) -> int: ...  # noqa: D102
    def timestamp(self) -> tuple[int, int]: ...  # noqa: D102


def record_of(message: Message) -> Record:
    """A message of the client as a record."""
    return Record(
        message.key(), message.value(), message.headers() or (), message.offset(), message.timestamp()[1] / 1000
    )
