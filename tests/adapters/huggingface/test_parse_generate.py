"""``parse_generate`` with real ``generate()``: a tiny model with random weights, made to write given outputs."""

from __future__ import annotations

import copy
import json
from functools import partial
from typing import Any

import anyio
import pytest

import streamparse
from streamparse import PrefixError, SourceError, parse_generate, parse_stream
from streamparse.adapters.huggingface import StopSwitch, TokenStreamer, text_source

from .tiny import HOW_TO_RUN, Writes, spelled, tiny_model, tiny_tokenizer

torch = pytest.importorskip("torch", reason=HOW_TO_RUN)
pytestmark = pytest.mark.anyio

QUESTION = [{"role": "user", "content": "How is the weather in Rome?"}]
OUTPUT = (
    "<think>\nLook it up.\n</think>\n\nI will look.\n"
    '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome", "days": "2"}}\n</tool_call><|im_end|>'
)
TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather in a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    },
}
CALL = {"type": "function", "function": {"name": "weather", "arguments": {"city": "Rome", "days": 2}}}


def answering(output: str | list[int], messages: Any = QUESTION, **options: Any) -> streamparse.ParseStream:
    """The stream of a generation that writes an output."""
    options = {"max_new_tokens": 400, "do_sample": False, **options}
    return parse_generate(tiny_model(), tiny_tokenizer(), messages, logits_processor=[Writes(output)], **options)


async def events_of(stream: streamparse.ParseStream) -> list[dict[str, Any]]:
    async with stream:
        return [event async for event in stream]


async def test_one_call_from_a_question_to_a_message() -> None:
    stream = answering(OUTPUT, tools=[TOOL])
    events = await events_of(stream)
    assert events[-1]["message"] == {
        "role": "assistant",
        "reasoning_content": "Look it up.",
        "content": "I will look.",
        "tool_calls": [CALL],
    }
    assert events[-1]["problems"] == []
    assert events[-1]["finish_reason"] == "stop"
    written = len(tiny_tokenizer()(OUTPUT)["input_ids"])
    prompt = tiny_tokenizer().apply_chat_template(QUESTION, tools=[TOOL], add_generation_prompt=True, tokenize=False)
    prompt_tokens = len(tiny_tokenizer()(prompt)["input_ids"])
    assert stream.end is not None
    assert stream.end.usage == {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": written,
        "total_tokens": prompt_tokens + written,
    }


async def test_the_response_template_may_be_named_or_be_the_tokenizers_own() -> None:
    tokenizer = copy.deepcopy(tiny_tokenizer())
    tokenizer.response_template = {
        "start_anchor": "<|im_start|>assistant\n",
        "fields": {"everything": {"close": "<|im_end|>"}},
    }
    options: dict[str, Any] = {"max_new_tokens": 400, "do_sample": False}
    own = parse_generate(tiny_model(), tokenizer, QUESTION, logits_processor=[Writes("Hi<|im_end|>")], **options)
    assert (await events_of(own))[-1]["message"] == {"everything": "Hi"}
    named = answering(OUTPUT, template="qwen3")
    assert (await events_of(named))[-1]["message"]["reasoning_content"] == "Look it up."


async def test_another_chat_template_is_applied_and_read_by() -> None:
    chat_template = (
        "{% for m in messages %}[{{ m.role }}]{{ m.content }}[end]{% endfor %}"
        "{% if add_generation_prompt %}[assistant]{% endif %}"
    )
    (end,) = set(tiny_tokenizer()("]")["input_ids"])
    events = await events_of(answering("Hi[end]", chat_template=chat_template, eos_token_id=end))
    assert events[-1]["message"] == {"role": "assistant", "content": "Hi"}
    assert events[-1]["finish_reason"] == "stop"


async def test_an_assistants_last_message_is_continued_and_is_part_of_the_message() -> None:
    begun = [*QUESTION, {"role": "assistant", "content": "<think>\nLook"}]
    events = await events_of(answering(" it up.\n</think>\n\nI will.<|im_end|>", begun))
    assert events[-1]["message"] == {
        "role": "assistant",
        "reasoning_content": "Look it up.",
        "content": "I will.",
    }


async def test_the_limit_of_new_tokens_is_a_finish_reason_and_a_call_that_was_cut_off_does_not_count() -> None:
    tokens = len(tiny_tokenizer()(OUTPUT)["input_ids"]) - 5
    events = await events_of(answering(OUTPUT, max_new_tokens=tokens))
    assert events[-1]["finish_reason"] == "length"
    assert "tool_calls" not in events[-1]["message"]
    (cut_off,) = (event for event in events if event["type"] == "region_malformed")
    assert cut_off["incomplete"]


async def test_delimiters_are_tokens_and_spans_count_tokens() -> None:
    thought = "The tag </think> ends it."
    spelled_out = spelled(thought)
    marks, rest = (tiny_tokenizer()(text)["input_ids"] for text in ("<think>", "</think>Hi<|im_end|>"))
    ids = [*marks, *spelled_out, *rest]
    events = await events_of(answering(ids, spans=True))
    assert events[-1]["message"]["reasoning_content"] == thought
    (close,) = (event for event in events if event["type"] == "region_close" and event["field"] == "reasoning_content")
    assert (close["token_start"], close["token_end"]) == (1 + len(spelled_out), 2 + len(spelled_out))


async def test_deltas_and_call_ids() -> None:
    events = await events_of(answering(OUTPUT, deltas=True, call_ids=True))
    deltas = [event for event in events if event["type"] == "region_delta"]
    arguments = "".join(delta.get("arguments", "") for delta in deltas)
    assert json.loads(arguments) == {"city": "Rome", "days": "2"}
    assert events[-1]["message"]["tool_calls"][0]["id"] == deltas[0]["id"]


async def test_leaving_the_loop_stops_the_model_within_a_token() -> None:
    writes = Writes("word ")
    async with answering_with(writes, ahead=4) as stream:
        async for event in stream:
            if event["type"] == "region_chunk":
                break
        seen = stream.statistics().amount
    assert seen <= writes.written <= seen + 4 + 2
    assert writes.written < 2000


async def test_the_model_waits_for_a_slow_reader() -> None:
    writes = Writes("word ")
    async with answering_with(writes, ahead=4) as stream:
        for _ in range(20):
            await anext(stream)
            await anyio.sleep(0.005)
            assert writes.written <= stream.statistics().amount + 4 + 2


def answering_with(writes: Writes, **options: Any) -> streamparse.ParseStream:
    options = {"max_new_tokens": 2000, "do_sample": False, **options}
    return parse_generate(tiny_model(), tiny_tokenizer(), QUESTION, logits_processor=[writes], **options)


async def test_a_stop_switch_of_the_callers_ends_the_answer_and_keeps_it() -> None:
    switch, writes = StopSwitch(), Writes("x")
    async with answering_with(writes, stopping_criteria=[switch]) as stream:
        async for event in stream:
            if event["type"] == "region_chunk":
                switch.set()
    assert event["type"] == "message"
    assert event["message"]["content"] == "x" * writes.written
    assert event["finish_reason"] == "stop"


async def test_what_generate_raises_is_raised_to_the_reader() -> None:
    def out_of_memory(input_ids: Any, scores: Any) -> Any:
        raise MemoryError("no room")

    settings = {"max_new_tokens": 5, "logits_processor": [out_of_memory]}
    stream = parse_generate(tiny_model(), tiny_tokenizer(), QUESTION, **settings)
    with pytest.raises(SourceError, match=r"generate\(\) failed: MemoryError: no room") as failure:
        await events_of(stream)
    assert isinstance(failure.value.__cause__, MemoryError)


async def test_an_argument_that_generate_does_not_know_is_told_by_generate() -> None:
    with pytest.raises(SourceError, match="max_new_tokns"):
        await events_of(answering("Hi", max_new_tokns=5))


async def test_several_sequences_are_refused() -> None:
    with pytest.raises(SourceError, match="one sequence"):
        await events_of(answering("Hi", do_sample=True, num_return_sequences=2))


async def test_several_conversations_are_refused() -> None:
    with pytest.raises(PrefixError, match="one conversation, not 2"):
        answering("Hi", [QUESTION, QUESTION])


async def test_another_streamer_is_refused() -> None:
    with pytest.raises(SourceError, match="a streamer of its own"):
        answering("Hi", streamer=TokenStreamer())


async def test_text_streamers_with_real_generate() -> None:
    from transformers import TextIteratorStreamer

    tokenizer, stop = tiny_tokenizer(), StopSwitch()
    streamer = TextIteratorStreamer(tokenizer, skip_prompt=True)
    prompt = tokenizer.apply_chat_template(QUESTION, add_generation_prompt=True, tokenize=False)
    generate = partial(
        tiny_model().generate,
        **tokenizer(prompt, return_tensors="pt"),
        streamer=streamer,
        stopping_criteria=[stop],
        logits_processor=[Writes(OUTPUT)],
        max_new_tokens=400,
        eos_token_id=tokenizer.eos_token_id,
    )
    source = text_source(streamer, generate, prefix=prompt, stop=stop)
    events = await events_of(parse_stream(source, prefix=prompt, tokenizer=tokenizer, tools=[TOOL]))
    assert events[-1]["message"]["tool_calls"] == [CALL]


async def test_two_generations_at_once() -> None:
    messages: dict[str, Any] = {}

    async def answer(words: str) -> None:
        messages[words] = (await events_of(answering(f"{words}<|im_end|>")))[-1]["message"]["content"]

    async with anyio.create_task_group() as tasks:
        for words in ("one", "two", "three"):
            tasks.start_soon(answer, words)
    assert messages == {words: words for words in ("one", "two", "three")}
