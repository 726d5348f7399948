from __future__ import annotations

import array
from collections import deque
from typing import Any

import numpy as np
import pytest

from streamparse.errors import SourceError
from streamparse.tokens.ids import as_ids, holds_ids


class Tensor:
    """As a tensor of any framework: not a sequence, but it becomes a list."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def tolist(self) -> Any:
        return self.data


@pytest.mark.parametrize(
    ("item", "ids"),
    [
        (5, [5]),
        ([5, 6], [5, 6]),
        ((5, 6), [5, 6]),
        ([], []),
        (range(3), [0, 1, 2]),
        (deque([5]), [5]),
        (array.array("I", [5, 6]), [5, 6]),
        (np.int64(5), [5]),
        (np.array(5), [5]),
        (np.array([5, 6], dtype=np.uint32), [5, 6]),
        ([np.int32(5), 6], [5, 6]),
        (Tensor(5), [5]),
        (Tensor([5, 6]), [5, 6]),
        ([Tensor(5), Tensor(6)], [5, 6]),
    ],
)
def test_ids_are_taken_out_of_whatever_holds_them(item: Any, ids: list[int]) -> None:
    assert holds_ids(item)
    assert as_ids(item) == ids
    assert all(type(token_id) is int for token_id in as_ids(item))


def test_the_list_is_a_copy() -> None:
    ids = [1, 2]
    assert as_ids(ids) is not ids


@pytest.mark.parametrize("batch", [[[5, 6]], [(5, 6)], np.array([[5, 6]]), Tensor([[5, 6]]), [np.array([5, 6])]])
def test_a_batch_of_one_is_refused_with_the_way_out(batch: Any) -> None:
    with pytest.raises(SourceError, match=r"a batch of 1 row: .*`ids\[0\]`"):
        as_ids(batch)


@pytest.mark.parametrize(
    "item", [1.5, None, "5", b"5", [1.5], ["a"], [None], [True], True, {5}, np.array([1.5]), object()]
)
def test_what_is_no_token_id_is_refused(item: Any) -> None:
    with pytest.raises(SourceError, match="expected token ids, got"):
        as_ids(item)


@pytest.mark.parametrize("item", [-1, [5, -100], np.array([-1])])
def test_negative_ids_are_refused(item: Any) -> None:
    with pytest.raises(SourceError, match="not a token id"):
        as_ids(item)


@pytest.mark.parametrize("item", ["text", b"bytes", bytearray(b"x"), memoryview(b"x"), None, 1.5, True, {}])
def test_text_bytes_and_other_things_do_not_hold_ids(item: Any) -> None:
    assert not holds_ids(item)
