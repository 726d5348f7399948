from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from transformers import BatchEncoding

from streamparse.batches import as_batch, prefixes_for
from streamparse.errors import PrefixError, SourceError


@pytest.mark.parametrize(
    ("outputs", "items", "batched"),
    [
        ("text", ["text"], False),
        ("", [""], False),
        ([], [], True),
        (["a"], ["a"], True),
        (("a", "b"), ["a", "b"], True),
        ([5, 6], [[5, 6]], False),
        (5, [[5]], False),
        ([[5, 6]], [[5, 6]], True),
        ([[5, 6], (7,), []], [[5, 6], [7], []], True),
        (np.array([5, 6]), [[5, 6]], False),
        (np.array([[5, 6], [7, 8]]), [[5, 6], [7, 8]], True),
        ([np.array([5, 6]), np.array([7])], [[5, 6], [7]], True),
        ([np.int64(5), np.int64(6)], [[5, 6]], False),
        (BatchEncoding({"input_ids": [5, 6], "attention_mask": [1, 1]}), [[5, 6]], False),
    ],
)
def test_one_output_is_told_from_a_batch(outputs: Any, items: list[Any], batched: bool) -> None:
    assert as_batch(outputs) == (items, batched)


@pytest.mark.parametrize("outputs", [None, 1.5, [["a"]], [[[5]]], [5, "a"], ["a", 1.5], b"bytes"])
def test_what_is_neither_is_refused(outputs: Any) -> None:
    with pytest.raises(SourceError):
        as_batch(outputs)


@pytest.mark.parametrize(
    ("prefix", "prefixes"),
    [
        ("p", ["p", "p"]),
        ("", ["", ""]),
        ([], ["", ""]),
        ([5, 6], [[5, 6], [5, 6]]),
        (np.array([5, 6]), [[5, 6], [5, 6]]),
        (["p", "q"], ["p", "q"]),
        ([[5], [6, 7]], [[5], [6, 7]]),
        (np.array([[5], [6]]), [[5], [6]]),
        (BatchEncoding({"input_ids": np.array([[5], [6]])}), [[5], [6]]),
    ],
)
def test_a_prefix_goes_with_every_output_and_prefixes_with_one_each(prefix: Any, prefixes: list[Any]) -> None:
    assert prefixes_for(prefix, 2) == prefixes


def test_prefixes_that_do_not_match_the_outputs_are_refused() -> None:
    with pytest.raises(PrefixError, match="got 1 output but 2 prefixes: pass a single prefix"):
        prefixes_for(["p", "q"], 1)
    with pytest.raises(PrefixError, match="got 3 outputs but 1 prefix:"):
        prefixes_for([[5]], 3)
    with pytest.raises(PrefixError, match="prefix: expected token ids"):
        prefixes_for(1.5, 1)
