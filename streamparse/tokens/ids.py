"""Token ids in whatever holds them (an int, a list, an array or a tensor of any framework); out comes a list of int."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamparse.errors import SourceError


def as_ids(item: Any) -> list[int]:
    """One id or one sequence of ids as a new list of ints.

    Takes an int (numpy's too), a list or another sequence of them, and anything with ``tolist``: an array or a
    tensor with no or one dimension, on any device. Raises SourceError for a batch and for what is no token id.

    >>> as_ids(7), as_ids((1, 2, 3))
    ([7], [1, 2, 3])
    """
    plain = _plain(item)
    if isinstance(plain, str | bytes) or not isinstance(plain, int | Sequence) or isinstance(plain, bool):
        raise SourceError(f"expected token ids, got {_describe(item)}")
    ids = [plain] if isinstance(plain, int) else list(plain)
    if any(type(value) is not int for value in ids):
        ids = [_one_id(value, len(ids)) for value in ids]
    if ids and min(ids) < 0:
        raise SourceError(f"{min(ids)} is not a token id: ids start at 0 (-100 marks padding in training labels)")
    return ids


def holds_ids(item: Any) -> bool:
    """Whether the item is meant as token ids, in one dimension or more: an int, a sequence, or an array or a tensor.

    >>> holds_ids([1, 2]), holds_ids("text"), holds_ids(b"bytes"), holds_ids(None)
    (True, False, False, False)
    """
    if isinstance(item, str | bytes | bytearray | memoryview | bool):
        return False
    return isinstance(item, int | Sequence) or hasattr(item, "tolist")


def _plain(value: Any) -> Any:
    """Arrays, tensors and their scalars as Python's own lists and numbers; the rest as it is."""
    to_list = getattr(value, "tolist", None)
    return value if to_list is None or isinstance(value, memoryview) else to_list()


def _one_id(value: Any, count: int) -> int:
    """One element of a sequence of so many as an id."""
    plain = _plain(value)
    if type(plain) is int:
        return plain
    if isinstance(plain, Sequence) and not isinstance(plain, str | bytes):
        rows = "1 row" if count == 1 else f"{count} rows"
        raise SourceError(
            f"expected one sequence of token ids, got a batch of {rows}: "
            "feed the rows to a parser each (`ids[0]` where there is only one)"
        )
    raise SourceError(f"expected token ids, got a sequence that holds {_describe(value)}")


def _describe(value: Any) -> str:
    """A value for an error message: its kind, and itself where that is short."""
    shown = repr(value)
    return f"{type(value).__name__} {shown}" if len(shown) <= 40 else type(value).__name__
