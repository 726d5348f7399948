"""What waits for one who follows a generation: records that have come, bounded, and how to wake the one who waits."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from streamparse.adapters.kafka.scan import Place
from streamparse.adapters.kafka.wire import Headers

WAITING = 2_000
"""Records that may wait for one who follows."""


@dataclass
class Follower:
    """One who follows a generation: what has come since, and how to wake it."""

    wake: Callable[[], None]
    records: deque[tuple[int, bytes, Headers | None]] = field(default_factory=deque)
    missed: Place | None = None  # the first record that was not put there, as too many were
    failure: Exception | None = None

    def put(self, partition: int, offset: int, message: Any) -> None:
        """Put a record there, unless too many are: then it is read again later."""
        if self.missed is None and len(self.records) >= WAITING:
            self.missed = Place(partition, offset)
        if self.missed is None:
            self.records.append((offset, message.value(), message.headers()))
