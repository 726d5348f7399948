"""Saved state as bytes: JSON with a version and a checksum, so that what can't be taken up is refused, not misread.

In: JSON-able state. Out: bytes, and from bytes the same state again, or a :class:`SnapshotError` that says why not.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

from streamparse.errors import LimitError, SnapshotError
from streamparse.limits import DEFAULT_LIMITS, how_to_raise

SNAPSHOT_VERSION = 1
_FREE = (".message.message", ".mode_state")


def state_to_bytes(state: dict[str, Any], limit: int = DEFAULT_LIMITS.snapshot_size) -> bytes:
    """State as bytes; raises LimitError for more than ``limit`` of them.

    >>> state_to_bytes({"tail": "<th"})
    b'{"version":1,"tail":"<th","checksum":4164025079}'
    """
    versioned = {"version": SNAPSHOT_VERSION, **state}
    content = _as_json(versioned)
    data = b'%s,"checksum":%d}' % (content[:-1], zlib.crc32(content))
    if len(data) > limit:
        reason = f"the snapshot has more than {limit} bytes; {how_to_raise('snapshot_size')}"
        raise LimitError(reason, limit="snapshot_size")
    return data


def state_from_bytes(data: bytes, limit: int = DEFAULT_LIMITS.snapshot_size) -> dict[str, Any]:
    """The state that :func:`state_to_bytes` saved.

    Raises SnapshotError for damaged data, for a newer version, and for more than ``limit`` bytes.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise SnapshotError(f"a snapshot is bytes, as snapshot() gave them, not {type(data).__name__}")
    if len(data) > limit:
        raise SnapshotError(f"the snapshot has more than {limit} bytes; {how_to_raise('snapshot_size')}")
    try:
        state: dict[str, Any] = json.loads(bytes(data))
        version = state["version"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise SnapshotError(f"the snapshot is damaged: {type(error).__name__}: {error}") from error
    if version != SNAPSHOT_VERSION:
        raise SnapshotError(f"the snapshot has version {version!r}; this release reads version {SNAPSHOT_VERSION}")
    if state.pop("checksum", None) != zlib.crc32(_as_json(state)):
        raise SnapshotError("the snapshot is damaged: its checksum is not that of its content")
    del state["version"]
    return state


def expect_like(saved: Any, fresh: Any, path: str, *, nullable: bool = False) -> None:
    """Raise SnapshotError where a saved state is not made as a fresh one is: other parts, or parts of other kinds.

    What is null in a fresh state may be anything in a saved one, and so may the values in a message; with ``nullable``
    any part of a saved one may be null.

    >>> expect_like({"tail": "<th", "open": "x"}, {"tail": "", "open": None}, "state")
    >>> expect_like({"tail": 5, "open": None}, {"tail": "", "open": None}, "state")
    Traceback (most recent call last):
        ...
    streamparse.errors.SnapshotError: the snapshot is damaged: state.tail is int, not str
    """
    if fresh is None or (nullable and saved is None):
        return
    if type(saved) is not type(fresh):
        kinds = f"{type(saved).__name__}, not {type(fresh).__name__}"
        raise SnapshotError(f"the snapshot is damaged: {path} is {kinds}")
    if not isinstance(fresh, dict) or path.endswith(_FREE):
        return
    if path.endswith(".captures"):
        fresh = dict.fromkeys(saved, "")
    if saved.keys() != fresh.keys():
        raise SnapshotError(f"the snapshot is damaged: {path} has not the parts that it should have")
    for key, value in fresh.items():
        expect_like(saved[key], value, f"{path}.{key}", nullable=nullable)


def damaged(error: Exception) -> SnapshotError:
    """The error for a snapshot that turns out to describe no possible state."""
    return SnapshotError(f"the snapshot is damaged: {type(error).__name__}: {error}")


def _as_json(state: dict[str, Any]) -> bytes:
    return json.dumps(state, separators=(",", ":")).encode("ascii")
