"""The errors of this adapter.

StreamparseError
├── KafkaError           the broker or its client can't do what is needed; the client's own error is chained
│   └── FencedError      another worker has taken this one's place
└── BadRecordError       a record isn't in the format of docs/kafka.md
"""

from __future__ import annotations

from streamparse.errors import StreamparseError


class KafkaError(StreamparseError):
    """The broker, or the client, can't do what is needed."""


class FencedError(KafkaError):
    """Another worker with the same instance name has started; this one has stopped, and has written nothing since."""


class BadRecordError(StreamparseError):
    """A record isn't in the format that docs/kafka.md describes; the message says why.

    ``begins`` says that it was to begin a generation.
    """

    def __init__(self, reason: str, *, begins: bool = False) -> None:
        self.begins = begins
        super().__init__(reason)
