"""The model that is installed, on the page: a tiny one stands for it, and is made to write what the test wants."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import pytest

from streamparse.adapters.huggingface.smollm2 import SmolLM2
from streamparse.adapters.web import Input, Pace
from streamparse.adapters.web.generation import events_of
from streamparse.adapters.web.live import TOKENS_AT_MOST, SmallModel
from tests.adapters.huggingface.tiny import Writes, tiny_model, tiny_tokenizer


class Forced:
    """The tiny model, made to write a text and to end its turn."""

    def __init__(self, text: str) -> None:
        self.device = tiny_model().device
        self.writes = Writes(text)
        self.generate = partial(tiny_model().generate, logits_processor=[self.writes])


def asked(monkeypatch: pytest.MonkeyPatch, text: str, *, think: bool) -> tuple[Forced, Input]:
    model = Forced(text)
    monkeypatch.setattr(SmolLM2, "load", lambda: SmolLM2(model, tiny_tokenizer()))
    return model, SmallModel().ask("How big is an ant?", think=think)


async def answer(made: Input, *, pieces: int | None = None) -> list[dict[str, Any]]:
    """The events; or only those until so many pieces have been written."""
    collected = []
    events = events_of(made, Pace(2000).turns())
    try:
        async for event in events:
            collected.append(event)
            if pieces is not None and len(made.pieces) >= pieces:
                break
    finally:
        await events.aclose()  # type: ignore[attr-defined]
    return collected


def test_an_answer_comes_token_by_token_with_its_special_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    _, made = asked(monkeypatch, "It is small.<|im_end|>", think=False)
    message = anyio.run(answer, made)[-1]["message"]
    assert message == {"role": "assistant", "content": "It is small."}
    assert "".join(made.pieces) == "It is small.<|im_end|>"
    assert len(made.pieces) > 3


def test_it_thinks_first_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    _, made = asked(monkeypatch, "An ant.\n</think>\n\nSmall.<|im_end|>", think=True)
    assert made.prefix.endswith("<think>\n")
    message = anyio.run(answer, made)[-1]["message"]
    assert message == {"role": "assistant", "reasoning_content": "An ant.", "content": "Small."}


def test_who_leaves_stops_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    model, made = asked(monkeypatch, "Very ", think=False)
    anyio.run(partial(answer, made, pieces=5))
    assert model.writes.written < TOKENS_AT_MOST
