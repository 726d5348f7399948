"""Why a generation ended, as far as its settings tell."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from streamparse.adapters.huggingface import Ending

MODEL = SimpleNamespace(generation_config=SimpleNamespace(eos_token_id=[2, 3], max_length=20))


@pytest.mark.parametrize(
    ("arguments", "tokens", "last", "reason"),
    [
        ({"max_new_tokens": 5}, 3, 2, "stop"),
        ({"max_new_tokens": 5}, 5, 3, "stop"),
        ({"max_new_tokens": 5}, 5, 7, "length"),
        ({"max_new_tokens": 5, "eos_token_id": 7}, 3, 7, "stop"),
        ({"max_new_tokens": 5, "eos_token_id": np.array([7])}, 5, 2, "length"),
        ({"generation_config": SimpleNamespace(eos_token_id=7, max_new_tokens=5)}, 3, 7, "stop"),
        ({"generation_config": SimpleNamespace(eos_token_id=7, max_new_tokens=5)}, 5, 2, "length"),
        ({}, 10, 7, "length"),
        ({}, 9, 7, None),
        ({"max_new_tokens": 5, "stop_strings": ["."]}, 3, 7, "stop"),
        ({"max_new_tokens": 5, "stopping_criteria": [object()]}, 3, 7, "stop"),
        ({"max_new_tokens": 5, "stopping_criteria": [object()]}, 5, 7, "length"),
        ({"max_new_tokens": 5, "max_time": 1.0}, 3, 7, "length"),
        ({"max_new_tokens": 5, "max_time": 1.0, "stop_strings": ["."]}, 3, 7, None),
        ({"max_new_tokens": 5}, 0, None, None),
    ],
)
def test_the_reason_behind_a_prompt_of_ten_tokens(
    arguments: dict[str, Any], tokens: int, last: int | None, reason: str | None
) -> None:
    assert Ending.of(MODEL, arguments).finish_reason(prompt=10, tokens=tokens, last=last) == reason


def test_a_model_that_says_nothing_of_its_limit_came_to_that_of_generate() -> None:
    assert Ending.of(object(), {}).finish_reason(prompt=10, tokens=20, last=7) == "length"
