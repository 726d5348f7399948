"""``stop_strings`` and ``stop()`` of ``parse_generate``, with a model that needs no torch."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, ClassVar

import anyio
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamparse import ArgumentError, parse_generate
from streamparse.adapters.huggingface.stop_text import StopText

Event = dict[str, Any]


class Characters:
    """A tokenizer whose token ids are the characters' numbers; ids above them stand for several at once."""

    eos_token_id = 0
    all_special_ids: ClassVar = [0]
    words: ClassVar = {200_000: "END.", 200_001: "a EN"}

    def decode(self, ids: Iterable[int], **_options: Any) -> str:
        return "".join(self.words.get(token_id, chr(token_id) if token_id else "<|im_end|>") for token_id in ids)

    def apply_chat_template(self, messages: Any, **_options: Any) -> dict[str, Any]:
        return {"input_ids": np.array([[*map(ord, "<|im_start|>assistant\n")]])}


class Model:
    """Writes given ids as ``generate()`` does: it asks the criteria after each, and looks for stop strings itself."""

    generation_config = SimpleNamespace(eos_token_id=0, max_new_tokens=1000, max_length=None, max_time=None)

    def __init__(self, ids: Iterable[int]) -> None:
        self.ids = ids
        self.arguments: dict[str, Any] = {}
        self.put = 0

    def generate(self, input_ids: Any, streamer: Any, stopping_criteria: Any, **arguments: Any) -> None:
        self.arguments = arguments
        streamer.put(input_ids)
        written: list[int] = []
        for token_id in self.ids:
            written.append(token_id)
            streamer.put(np.array([token_id]))
            self.put += 1
            stops = arguments.get("stop_strings") or ()
            text = arguments["tokenizer"].decode(written) if stops else ""
            if any(stop in text for stop in stops) or token_id == 0:
                break
            if any(criterion(np.array([written]), None).tolist() == [True] for criterion in stopping_criteria):
                break
        streamer.end()


async def events_of(model: Model, **options: Any) -> list[Event]:
    stream = parse_generate(model, Characters(), [{"role": "user", "content": "Hi"}], template="qwen3", **options)
    async with stream:
        return [event async for event in stream]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("ids", "content"),
    [
        ([*map(ord, "One END two")], "One"),
        ([*map(ord, "One "), 200_001, *map(ord, "D two")], "One a"),
        ([*map(ord, "One"), 200_000, *map(ord, " two")], "One"),
        ([*map(ord, "ENEND")], "EN"),
    ],
)
async def test_a_stop_string_ends_the_generation_and_is_no_part_of_it(ids: list[int], content: str) -> None:
    model = Model(ids)
    events = await events_of(model, stop_strings=["END", "\n\n"])
    assert events[-1]["message"] == {"role": "assistant", "content": content}
    assert events[-1]["finish_reason"] == "stop"
    assert model.arguments["stop_strings"] == ["END", "\n\n"]
    assert isinstance(model.arguments["tokenizer"], Characters)


@pytest.mark.anyio
async def test_reasoning_and_calls_are_parsed_before_it_and_what_it_cuts_is_no_call() -> None:
    text = '<think>Hm</think>Hi<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    whole = (await events_of(Model([*map(ord, text), 0]), stop_strings="STOP"))[-1]
    assert whole["message"]["reasoning_content"] == "Hm"
    assert [call["function"]["name"] for call in whole["message"]["tool_calls"]] == ["f"]
    assert whole["finish_reason"] == "stop"
    cut = (await events_of(Model([*map(ord, text), 0]), stop_strings="arguments"))[-1]
    assert "tool_calls" not in cut["message"]


@pytest.mark.anyio
async def test_without_them_the_parser_gets_tokens_and_generate_no_tokenizer() -> None:
    model = Model([*map(ord, "Hi"), 0])
    assert (await events_of(model))[-1]["message"]["content"] == "Hi"
    assert "tokenizer" not in model.arguments
    assert "stop_strings" not in model.arguments


@pytest.mark.anyio
@pytest.mark.parametrize("stop_strings", [5, [""], [5], b"x"])
async def test_other_stop_strings_are_refused(stop_strings: Any) -> None:
    with pytest.raises(ArgumentError, match="stop_strings must be"):
        await events_of(Model([]), stop_strings=stop_strings)


@pytest.mark.anyio
async def test_stop_ends_the_model_and_gives_the_message() -> None:
    def endless() -> Iterable[int]:
        while True:
            yield ord("x")

    model = Model(endless())
    stream = parse_generate(model, Characters(), [{"role": "user", "content": "Hi"}], template="qwen3")
    events: list[Event] = []
    with anyio.fail_after(30):
        async with stream:
            async for event in stream:
                events.append(event)
                if len(events) == 5:
                    stream.stop()
    assert events[-1]["type"] == "message"
    assert events[-1]["finish_reason"] == "stop"
    assert set(events[-1]["message"]["content"]) == {"x"}
    assert model.put < 100_000


@given(
    text=st.text("abE", max_size=30),
    stops=st.lists(st.text("abE", min_size=1, max_size=4), min_size=1, max_size=3),
    places=st.lists(st.integers(0, 30), max_size=8),
)
@example(text="abE", stops=["abE", "b"], places=[1, 2])
def test_the_text_is_that_before_the_first_stop_string_that_is_complete(
    text: str, stops: list[str], places: list[int]
) -> None:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    stage = StopText(Characters(), stops)
    given = [out for start, end in pairwise(edges) for out in stage.feed([*map(ord, text[start:end])])]
    given += stage.finish()
    by_character = StopText(Characters(), stops)
    single = [out for character in text for out in by_character.feed([ord(character)])] + by_character.finish()
    found = [text.find(stop) for stop in stops if stop in text]
    if not found:
        assert "".join(given) == text
    assert not any(stop in "".join(given) for stop in stops)
    assert "".join(given) == "".join(single)
