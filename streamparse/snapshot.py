"""Saved state as bytes: JSON with a version and a checksum, so that what can't be taken up is refused, not misread.

In: JSON-able state. Out: bytes, and from bytes the same state again, or a :class:`SnapshotError` that says why not.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

from streamparse.errors import SnapshotError

SNAPSHOT_VERSION = 1


def state_to_bytes(state: dict[str, Any]) -> bytes:
    """State as bytes.

    >>> state_to_bytes({"tail": "<th"})
    b'{"version":1,"tail":"<th","checksum":4164025079}'
    """
    versioned = {"version": SNAPSHOT_VERSION, **state}
    return _as_json({**versioned, "checksum": zlib.crc32(_as_json(versioned))})


def state_from_bytes(data: bytes) -> dict[str, Any]:
    """The state that :func:`state_to_bytes` saved; raises SnapshotError for damaged data and for a newer version."""
    try:
        state: dict[str, Any] = json.loads(data)
        version = state["version"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise SnapshotError(f"the snapshot is damaged: {type(error).__name__}: {error}") from error
    if version != SNAPSHOT_VERSION:
        raise SnapshotError(f"the snapshot has version {version!r}; this release reads version {SNAPSHOT_VERSION}")
    if state.pop("checksum", None) != zlib.crc32(_as_json(state)):
        raise SnapshotError("the snapshot is damaged: its checksum is not that of its content")
    del state["version"]
    return state


def _as_json(state: dict[str, Any]) -> bytes:
    return json.dumps(state, separators=(",", ":")).encode("ascii")
