"""The server in front of a real llama.cpp: a small model writes, and official clients read."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx
import jsonschema
import openai
import pytest

from streamparse.infer.source import ChatTemplate
from tests.adapters.serve.llama_cpp import MISSING, llama_cpp
from tests.adapters.serve.running import CHATML, served, settings
from tests.adapters.serve.test_beginnings import THINKING

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.skipif(
        bool(MISSING), reason=f"{' and '.join(MISSING)} can't be imported; make test installs what these tests need"
    ),
]

TOOL = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
}
ASK: dict[str, Any] = {
    "model": "smollm2",
    "messages": [{"role": "user", "content": "What do bees do all day?"}],
    "max_tokens": 12,
    "temperature": 0,
    "seed": 1,
}
ARGUMENTS = 'root ::= " {\\"city\\": \\"" [A-Z] [a-z]{2,8} "\\"}}" "</tool_call>"'
"""What is left of a call whose name stands in the prompt, as a grammar of llama.cpp: a small model writes no calls."""


@pytest.fixture(scope="module")
def upstream() -> Iterator[str]:
    with llama_cpp() as url:
        yield url


@asynccontextmanager
async def asking(url: str, **changes: Any) -> AsyncIterator[openai.AsyncOpenAI]:
    kind = changes.setdefault("server", "llama.cpp")
    where = url if kind == "llama.cpp-native" else f"{url}/v1"
    async with (
        served(settings(where, keep_bos=False, **changes)) as server,
        openai.AsyncOpenAI(base_url=server.url, api_key="none", max_retries=0, timeout=60) as ai,
    ):
        yield ai


async def read(ai: openai.AsyncOpenAI, stream: bool, **body: Any) -> Any:
    """The first choice of an answer, whole or as the official client puts its chunks together."""
    if not stream:
        return (await ai.chat.completions.create(**{**ASK, **body})).choices[0]
    async with ai.chat.completions.stream(**{**ASK, **body}) as events:
        async for _ in events:
            pass
        return events.current_completion_snapshot.choices[0]


@pytest.mark.parametrize("kind", ["llama.cpp", "llama.cpp-native"])
async def test_an_answer_is_the_same_streamed_and_whole(upstream: str, kind: str) -> None:
    async with asking(upstream, server=kind) as ai:
        whole, streamed = await read(ai, False), await read(ai, True)
        usage = (await ai.chat.completions.create(**ASK)).usage
    assert whole.message.content
    assert whole.message.content == streamed.message.content
    assert whole.finish_reason == "length"
    assert usage is not None
    assert usage.completion_tokens == ASK["max_tokens"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_forced_call_is_made(upstream: str, stream: bool) -> None:
    async with asking(upstream) as ai:
        body: dict[str, Any] = {"tools": [TOOL], "tool_choice": "required", "extra_body": {"grammar": ARGUMENTS}}
        choice = await read(ai, stream, **body, max_tokens=60)
    (call,) = choice.message.tool_calls
    assert call.function.name == "weather"
    assert json.loads(call.function.arguments).keys() == {"city"}
    assert choice.finish_reason == "tool_calls"


WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "pattern": "^[A-Z][a-z]{2,9}$"},
        "days": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
HELD = {"type": "function", "function": {"name": "weather", "parameters": WEATHER, "strict": True}}
NOW = {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}


@pytest.mark.parametrize("kind", ["llama.cpp", "llama.cpp-native"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_model_that_has_to_call_writes_a_call_that_is_valid(upstream: str, kind: str, stream: bool) -> None:
    named = {"type": "function", "function": {"name": "weather"}}
    async with asking(upstream, server=kind) as ai:
        extra = {"chat_template_kwargs": {"enable_thinking": False}}  # it would think until its tokens are used up
        choice = await read(ai, stream, tools=[HELD, NOW], tool_choice=named, extra_body=extra, max_tokens=120)
    (call,) = choice.message.tool_calls
    assert call.function.name == "weather"
    jsonschema.validate(json.loads(call.function.arguments), WEATHER)
    assert choice.message.content is None
    assert choice.finish_reason == "tool_calls"


async def test_a_strict_tool_leaves_a_model_free_to_talk(upstream: str) -> None:
    """The grammar is lazy: without a call the answer is what it is without a grammar."""
    messages = [{"role": "user", "content": "What do bees do all day?"}]
    async with asking(upstream) as ai:
        free = await read(ai, False, tools=[{**HELD, "function": {**HELD["function"], "strict": False}}])
        held = await read(ai, False, tools=[HELD], messages=messages)
    assert held.message.content
    assert held.finish_reason == free.finish_reason == "length"


async def test_a_call_that_a_model_begins_by_itself_is_valid_for_a_strict_tool(upstream: str) -> None:
    """The model has called the tool before, with a key that is none; so it begins a call again, and is held to it."""
    messages: list[dict[str, Any]] = []
    for city in ("Oslo", "Bern", "Lima"):
        call = {"id": city, "type": "function", "function": {"name": "weather", "arguments": {"town": city}}}
        messages += [
            {"role": "user", "content": f"Weather in {city}?"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
        ]
    async with asking(upstream) as ai:
        choice = await read(
            ai,
            False,
            messages=[*messages, {"role": "user", "content": "Weather in Rome?"}],
            tools=[HELD],
            max_tokens=90,
        )
    assert choice.message.tool_calls
    for call in choice.message.tool_calls:
        jsonschema.validate(json.loads(call.function.arguments), WEATHER)


async def test_json_beside_tools_is_json_or_a_call(upstream: str) -> None:
    held = {"type": "json_schema", "json_schema": {"name": "busy", "schema": {"type": "boolean"}}}
    async with asking(upstream) as ai:
        extra = {"chat_template_kwargs": {"enable_thinking": False}}
        choice = await read(ai, False, tools=[HELD], response_format=held, extra_body=extra, max_tokens=120)
    if choice.message.tool_calls:
        jsonschema.validate(json.loads(choice.message.tool_calls[0].function.arguments), WEATHER)
    else:
        assert isinstance(json.loads(choice.message.content), bool)


async def test_a_forced_call_that_is_cut_off_is_none(upstream: str) -> None:
    body: dict[str, Any] = {"tools": [TOOL], "tool_choice": "required", "extra_body": {"grammar": ARGUMENTS}}
    async with asking(upstream) as ai:
        whole = await read(ai, False, **body, max_tokens=4)
        chunks = [
            chunk async for chunk in await ai.chat.completions.create(**{**ASK, **body, "max_tokens": 4}, stream=True)
        ]
    assert whole.message.tool_calls is None
    assert whole.message.content.startswith('<tool_call>{"name": "weather", "arguments":')
    assert whole.finish_reason == "length"
    pieces = [call.function.arguments for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []]
    assert "".join(pieces).endswith("]")


@pytest.mark.parametrize("chat_template", [CHATML, THINKING], ids=["plain", "opens reasoning"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_json_is_the_content(upstream: str, chat_template: ChatTemplate, stream: bool) -> None:
    held = {"type": "json_schema", "json_schema": {"name": "busy", "schema": {"type": "boolean"}}}
    async with asking(upstream, chat_template=chat_template) as ai:
        choice = await read(ai, stream, response_format=held, max_tokens=40)
    assert isinstance(json.loads(choice.message.content), bool)  # of an object it would write white space only
    assert choice.finish_reason == "stop"


async def test_a_stop_string_ends_the_answer(upstream: str) -> None:
    async with asking(upstream) as ai:
        word = (await read(ai, False)).message.content.split()[2]
        choice = await read(ai, False, stop=[word])
    assert word not in choice.message.content
    assert choice.finish_reason == "stop"


async def test_without_parallel_calls_the_first_is_the_last(upstream: str) -> None:
    call = r'"<tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Rome\"}}</tool_call>"'
    body: dict[str, Any] = {"tools": [TOOL], "max_tokens": 200, "extra_body": {"grammar": f"root ::= {call} {call}"}}
    async with asking(upstream) as ai:
        both = await read(ai, False, **body)
        one = await read(ai, False, **body, parallel_tool_calls=False)
    assert len(both.message.tool_calls) == 2
    assert len(one.message.tool_calls) == 1
    assert one.finish_reason == "tool_calls"


async def test_a_client_that_leaves_lets_the_model_stop(upstream: str) -> None:
    async with asking(upstream) as ai:
        body = {**ASK, "max_tokens": 200, "extra_body": {"ignore_eos": True}}
        async with await ai.chat.completions.create(**body, stream=True) as stream:
            async for chunk in stream:
                if chunk.choices[0].delta.content:
                    break
        async with httpx.AsyncClient(base_url=upstream) as http:
            with anyio.fail_after(30):
                while any(slot["is_processing"] for slot in (await http.get("/slots")).json()):
                    await anyio.sleep(0.05)


async def test_the_model_is_listed_and_found(upstream: str) -> None:
    async with asking(upstream) as ai:
        (listed,) = [model async for model in ai.models.list()]
        assert (await ai.models.retrieve(listed.id)).id == listed.id
        with pytest.raises(openai.NotFoundError):
            await ai.models.retrieve("another")


async def test_what_llama_cpp_refuses_is_told_without_its_address(upstream: str) -> None:
    long = [{"role": "user", "content": "bees " * 4000}]
    async with asking(upstream) as ai:
        with pytest.raises(openai.BadRequestError, match="context") as caught:
            await ai.chat.completions.create(**{**ASK, "messages": long})
    assert upstream not in str(caught.value)
