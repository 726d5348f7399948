"""The server as the official client sees it: in front of raw completions, it answers with chat completions."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest

from tests.adapters.openai.messages import comparable
from tests.adapters.openai.upstream import USAGE, Upstream, answering, breaking, playing, says, stalling, upstream
from tests.adapters.serve.running import served, settings
from tests.template.test_bundled import SAMPLES
from tests.template.test_bundled import Sample as Written

pytestmark = pytest.mark.asyncio

TEXT = (
    "<think>\nTwo cities.\n</think>\n\nI will look.\n"
    '<tool_call>\n{"name": "weather", "arguments": {"city": "Paris"}}\n</tool_call>\n'
    '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome", "days": 2}}\n</tool_call><|im_end|>\n'
)
MESSAGE = {
    "role": "assistant",
    "reasoning_content": "Two cities.",
    "content": "I will look.",
    "calls": [["weather", {"city": "Paris"}], ["weather", {"city": "Rome", "days": 2}]],
}
TOOLS: list[Any] = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
PLAIN: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Weather?"}]}
ASK: dict[str, Any] = {**PLAIN, "tools": TOOLS}


def client(url: str, **options: Any) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(**{"base_url": url, "api_key": "none", "max_retries": 0, **options})


async def read_into(texts: list[str], stream: Any) -> None:
    async for chunk in stream:
        texts.append(chunk.choices[0].delta.content or "")


def asked(server: Upstream) -> dict[str, Any]:
    body: dict[str, Any] = server.exchanges[-1].body
    return body


async def test_a_whole_answer_is_the_message_with_its_usage() -> None:
    async with (
        upstream(playing(says([TEXT]))) as behind,
        served(settings(behind.url)) as server,
        client(server.url) as ai,
    ):
        answer = await ai.chat.completions.create(**ASK)
    choice = answer.choices[0]
    assert comparable(choice.message.to_dict()) == MESSAGE
    assert (choice.finish_reason, answer.object, answer.model) == ("tool_calls", "chat.completion", "m")
    assert answer.usage is not None
    assert answer.usage.to_dict() == USAGE
    assert len({call.id for call in choice.message.tool_calls or []}) == 2


async def test_a_streamed_answer_is_the_same_message_put_together_by_the_client() -> None:
    async with (
        upstream(playing(says(TEXT))) as behind,
        served(settings(behind.url)) as server,
        client(server.url) as ai,
    ):
        chunks = []
        async with ai.chat.completions.stream(**ASK, stream_options={"include_usage": True}) as stream:
            kinds = [event.type async for event in stream]
            answer = await stream.get_final_completion()
        async for chunk in await ai.chat.completions.create(**ASK, stream=True):
            chunks.append(chunk)
    assert comparable({**answer.choices[0].message.to_dict(), "parsed": None}) == MESSAGE
    assert answer.choices[0].finish_reason == "tool_calls"
    assert answer.usage is not None
    assert answer.usage.to_dict() == USAGE
    assert kinds.count("tool_calls.function.arguments.done") == 2
    assert kinds.count("tool_calls.function.arguments.delta") > 10
    assert [chunk.choices[0].finish_reason for chunk in chunks][-2:] == [None, "tool_calls"]
    assert chunks[0].choices[0].delta.role == "assistant"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_what_models_of_all_families_write_comes_as_their_message(stream: bool) -> None:
    samples = iter(SAMPLES)
    seen: list[Written] = []

    async def play(exchange: Any) -> None:
        pieces = [seen[-1].text[start : start + 3] for start in range(0, len(seen[-1].text), 3)]
        await playing(says(pieces), [7, 70, 700])(exchange)

    async with upstream(play) as behind:
        for sample in samples:
            seen.append(sample)
            template = type(settings("").chat_template)("{{ prompt }}")
            given = settings(behind.url, chat_template=template, template=sample.template)
            async with served(given) as server, client(server.url) as ai:
                body: dict[str, Any] = {**ASK, "extra_body": {"chat_template_kwargs": {"prompt": sample.prefix}}}
                if stream:
                    async with ai.chat.completions.stream(**body) as events:
                        answer: Any = await events.get_final_completion()
                else:
                    answer = await ai.chat.completions.create(**body)
            got = comparable({**answer.choices[0].message.to_dict(), "parsed": None})
            assert got == comparable({"role": "assistant", **sample.message}), sample
            assert asked(behind)["prompt"] == sample.prefix


async def test_messages_are_rendered_as_chat_templates_expect_them() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
    messages: list[Any] = [
        {"role": "developer", "content": [{"type": "text", "text": "Be "}, {"type": "text", "text": "brief."}]},
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "reasoning_content": "Hm.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "sunny"},
    ]
    async with (
        upstream(playing(says(["Hi"]))) as behind,
        served(settings(behind.url)) as server,
        client(server.url) as ai,
    ):
        extra = {"chat_template_kwargs": {"enable_thinking": False}}
        await ai.chat.completions.create(model="m", messages=messages, tools=TOOLS, extra_body=extra)
    assert asked(behind)["prompt"] == (
        f"<|im_start|>system\n{json.dumps(TOOLS)}<|im_end|>\n"
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWeather?<|im_end|>\n"
        "<|im_start|>assistant\n<think>\nHm.\n</think>\n\n"
        '<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call><|im_end|>\n'
        "<|im_start|>tool weather\nsunny<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    )


async def test_sampling_parameters_go_to_the_upstream_and_nothing_that_would_spoil_the_text() -> None:
    given = {"temperature": 0.3, "stop": ["END"], "seed": 7, "logit_bias": {"5": 1}, "frequency_penalty": 0.1}
    extra = {"top_k": 4, "skip_special_tokens": True, "echo": True, "prompt": "mine", "metadata": {"a": "b"}}
    async with (
        upstream(playing(says(["Hi"]))) as behind,
        served(settings(behind.url, server="vllm", max_tokens=99)) as server,
        client(server.url) as ai,
    ):
        await ai.chat.completions.create(**ASK, **given, extra_body=extra)  # type: ignore[call-overload]
        first = asked(behind)
        await ai.chat.completions.create(**ASK, max_completion_tokens=5)
    assert {key: first[key] for key in given} == given
    assert (first["top_k"], first["max_tokens"], first["model"]) == (4, 99, "m")
    assert first["skip_special_tokens"] is False
    assert "<|im_start|>user" in first["prompt"]
    assert not {"echo", "metadata", "messages", "max_completion_tokens"} & first.keys()
    assert asked(behind)["max_tokens"] == 5


async def test_with_no_tools_allowed_markup_is_content_and_no_tool_is_shown() -> None:
    text = 'So: <tool_call>{"name": "weather", "arguments": {}}</tool_call>'
    async with (
        upstream(playing(says([text]))) as behind,
        served(settings(behind.url)) as server,
        client(server.url) as ai,
    ):
        answer = await ai.chat.completions.create(**ASK, tool_choice="none")
    assert answer.choices[0].message.content == text
    assert answer.choices[0].message.tool_calls is None
    assert answer.choices[0].finish_reason == "stop"
    assert "weather" not in asked(behind)["prompt"]


async def test_arguments_have_the_types_that_the_tools_declare() -> None:
    text = "<tool_call>\n<function=add>\n<parameter=n>\n5\n</parameter>\n</function>\n</tool_call>"
    schema = {"type": "object", "properties": {"n": {"type": "string"}}}
    tools: Any = [{"type": "function", "function": {"name": "add", "parameters": schema}}]
    async with (
        upstream(playing(says([text]))) as behind,
        served(settings(behind.url, template="qwen3_5")) as server,
        client(server.url) as ai,
    ):
        answer: Any = await ai.chat.completions.create(**PLAIN, tools=tools)
    assert answer.choices[0].message.tool_calls[0].function.arguments == '{"n":"5"}'


async def test_finish_reasons_are_those_of_the_upstream_where_they_matter() -> None:
    found = []
    for text, reason in [("Hi", "stop"), ("Hi", "length"), ('<tool_call>{"name": "f", "argum', "length")]:
        async with (
            upstream(playing(says([text], reason=reason))) as behind,
            served(settings(behind.url)) as server,
            client(server.url) as ai,
        ):
            answer = await ai.chat.completions.create(**ASK)
            last = [chunk async for chunk in await ai.chat.completions.create(**ASK, stream=True)][-1]
            found.append((answer.choices[0].finish_reason, last.choices[0].finish_reason))
    assert found == [("stop", "stop"), ("length", "length"), ("length", "length")]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_several_choices_are_several_completions(stream: bool) -> None:
    texts = iter(["One.", '<tool_call>{"name": "f", "arguments": {}}</tool_call>', "Three."])

    async def play(exchange: Any) -> None:
        await playing(says([next(texts)]))(exchange)

    async with upstream(play) as behind, served(settings(behind.url)) as server, client(server.url) as ai:
        if stream:
            async with ai.chat.completions.stream(**ASK, n=3, seed=5, stream_options={"include_usage": True}) as events:
                answer: Any = await events.get_final_completion()
        else:
            answer = await ai.chat.completions.create(**ASK, n=3, seed=5)
    assert [choice.index for choice in answer.choices] == [0, 1, 2]
    contents = sorted(str(choice.message.content) for choice in answer.choices)
    assert contents == ["None", "One.", "Three."]
    assert sorted(exchange.body["seed"] for exchange in behind.exchanges) == [5, 6, 7]
    assert answer.usage.to_dict() == {"prompt_tokens": 3, "completion_tokens": 15, "total_tokens": 18}


async def test_a_malformed_call_is_told_of_and_takes_nothing_else_along() -> None:
    text = (
        '<tool_call>{"name": "f", "arguments": {"a": 1,}}</tool_call>'
        '<tool_call>{"name": "g", "arguments": {}}</tool_call>Done.'
    )
    async with (
        upstream(playing(says(text))) as behind,
        served(settings(behind.url)) as server,
        client(server.url) as ai,
    ):
        whole: Any = (await ai.chat.completions.create(**ASK)).choices[0]
        async with ai.chat.completions.stream(**ASK) as events:
            streamed: Any = (await events.get_final_completion()).choices[0]
    assert [call.function.name for call in whole.message.tool_calls] == ["g"]
    assert whole.message.content == '<tool_call>{"name": "f", "arguments": {"a": 1,}}</tool_call>\n\nDone.'
    assert [call.function.arguments for call in streamed.message.tool_calls] == ['{"a":1,]', "{}"]
    assert streamed.message.content == "Done."
    assert whole.model_extra["streamparse"]["problems"][0]["error"].startswith("not JSON")


@pytest.mark.parametrize(
    ("play", "kind", "words"),
    [
        (answering("400 Bad", b'{"error": {"message": "too long"}}'), openai.BadRequestError, "too long"),
        (answering("404 Not", b'{"error": {"message": "no model m"}}'), openai.NotFoundError, "no model m"),
        (answering("429 Many", b'{"error": {"message": "busy"}}'), openai.RateLimitError, "busy"),
        (answering("401 No", b'{"error": {"message": "your key"}}'), openai.InternalServerError, "the upstream failed"),
        (answering("500 No", b"oops"), openai.InternalServerError, "the upstream failed"),
        (stalling(b""), openai.InternalServerError, "took too long to answer"),
    ],
)
async def test_what_the_upstream_refuses_has_its_status(play: Any, kind: type[Exception], words: str) -> None:
    async with (
        upstream(play) as behind,
        served(settings(behind.url, silence_seconds=0.3)) as server,
        client(server.url) as ai,
    ):
        with pytest.raises(kind, match=words):
            await ai.chat.completions.create(**ASK)
        if kind is not openai.InternalServerError:
            with pytest.raises(kind, match=words):
                await ai.chat.completions.create(**ASK, stream=True)


@pytest.mark.parametrize(
    "play",
    [
        breaking(says(["One ", "two"], reason=None, done=False)),
        stalling(says(["One ", "two"], reason=None, done=False)),
        playing(says(["One ", "two"], reason=None, done=False) + b'data: {"error": {"message": "no memory"}}\n\n'),
    ],
    ids=["dies", "stalls", "tells of an error"],
)
async def test_an_upstream_that_fails_in_the_middle_is_an_error_in_the_stream(play: Any) -> None:
    async with (
        upstream(play) as behind,
        served(settings(behind.url, silence_seconds=1.0)) as server,
        client(server.url) as ai,
    ):
        got: list[str] = []
        with pytest.raises(openai.APIError, match=r"the upstream (failed|took too long)"):
            await read_into(got, await ai.chat.completions.create(**ASK, stream=True))
        assert "".join(got) == "One two"
        with pytest.raises(openai.InternalServerError, match=r"the upstream (failed|took too long)"):
            await ai.chat.completions.create(**ASK)
