"""What whoever runs the server sees and sets: the log, CORS; and what a client may not see of the upstream."""

from __future__ import annotations

import logging
from typing import Any

import httpx
import openai
import pytest

from tests.adapters.openai.upstream import answering, breaking, playing, says, upstream
from tests.adapters.serve.running import served, settings
from tests.adapters.serve.test_chat_completions import ASK, PLAIN, client

pytestmark = pytest.mark.asyncio

SECRET = "the prompt is a secret"
CALL = '<tool_call>{"name": "weather", "arguments": {"city": "Ro'


async def test_a_request_is_a_line_of_log_without_a_word_of_the_prompt(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="streamparse.serve")
    messages: Any = [{"role": "user", "content": SECRET}]
    async with (
        upstream(playing(says([SECRET]))) as behind,
        served(settings(behind.url)) as server,
        client(server.url) as ai,
        httpx.AsyncClient() as http,
    ):
        await ai.chat.completions.create(model="m\n2", messages=messages)
        await http.get(f"{server.url}/no%0Asuch")
        with pytest.raises(openai.BadRequestError):
            await ai.chat.completions.create(model="m", messages=messages, tool_choice=SECRET)  # type: ignore[call-overload]
    lines = [record.getMessage() for record in caplog.records if record.name == "streamparse.serve"]
    assert [line.split()[:3] for line in lines] == [
        ["POST", "/v1/chat/completions", "200"],
        ["GET", "/v1/no\\nsuch", "404"],
        ["POST", "/v1/chat/completions", "400"],
    ]
    assert lines[0].endswith(r"s model=m\n2 prompt=3 completion=5")
    assert lines[2].endswith("failed: tool_choice")
    assert SECRET not in "".join(lines)


@pytest.mark.parametrize(
    "play",
    [
        answering("400 Bad", f'{{"error": {{"message": "{SECRET}"}}}}'.encode()),
        playing(b"data: " + SECRET.encode() + b"\n\n"),
        playing(says([SECRET], reason=None, done=False) + f'data: {{"error": "{SECRET}"}}\n\n'.encode()),
    ],
)
async def test_a_failure_is_logged_without_what_the_upstream_wrote(play: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="streamparse.serve")
    async with upstream(play) as behind, served(settings(behind.url)) as server, client(server.url) as ai:
        with pytest.raises(openai.APIError):
            await ai.chat.completions.create(**ASK)
    (line,) = [record.getMessage() for record in caplog.records if record.name == "streamparse.serve"]
    assert f"failed: {behind.url}/completions" in line
    assert SECRET not in line


async def test_pages_of_the_origins_that_are_named_may_use_the_server() -> None:
    asking = {"Origin": "http://page.test", "Access-Control-Request-Method": "POST"}
    for origins, allowed in [((), None), (("http://page.test",), "http://page.test"), (("http://other.test",), None)]:
        async with (
            served(settings("http://127.0.0.1:1/v1", model="m", key="k", cors_origins=origins)) as server,
            httpx.AsyncClient() as http,
        ):
            before = await http.options(f"{server.url}/chat/completions", headers=asking)
            answer = await http.get(f"{server.url}/models", headers={"Origin": "http://page.test"})
        assert before.headers.get("access-control-allow-origin") == allowed
        assert answer.headers.get("access-control-allow-origin") == allowed
        assert answer.status_code == 401


async def test_a_model_is_found_by_its_name() -> None:
    async with served(settings("http://127.0.0.1:1/v1", model="org/mine")) as server, client(server.url) as ai:
        assert (await ai.models.retrieve("org/mine")).id == "org/mine"
        with pytest.raises(openai.NotFoundError, match="there is no model 'other'"):
            await ai.models.retrieve("other")


@pytest.mark.parametrize("reason", ["abort", "error", "cancelled"])
async def test_an_upstream_that_gives_up_has_not_stopped(reason: str) -> None:
    async with (
        upstream(playing(says(["Hi"], reason=reason))) as behind,
        served(settings(behind.url)) as server,
        client(server.url) as ai,
    ):
        with pytest.raises(openai.InternalServerError, match="the upstream failed"):
            await ai.chat.completions.create(**ASK)
        with pytest.raises(openai.APIError, match="the upstream failed"):
            _ = [chunk async for chunk in await ai.chat.completions.create(**ASK, stream=True)]


async def test_an_end_without_a_finish_reason_is_no_stop() -> None:
    async with (
        upstream(playing(says(["Hi"], reason=None))) as behind,
        served(settings(behind.url)) as server,
        client(server.url) as ai,
    ):
        answer = await ai.chat.completions.create(**PLAIN)
    assert answer.choices[0].finish_reason == "length"


async def test_an_upstream_that_breaks_off_leaves_no_call_that_could_be_read() -> None:
    pieces: list[str] = []
    async with (
        upstream(breaking(says(CALL, reason=None, done=False))) as behind,
        served(settings(behind.url)) as server,
        client(server.url) as ai,
    ):

        async def read() -> None:
            async for chunk in await ai.chat.completions.create(**ASK, stream=True):
                pieces.extend(call.function.arguments for call in chunk.choices[0].delta.tool_calls or [])

        with pytest.raises(openai.APIError, match="the upstream failed"):
            await read()
    assert "".join(pieces) == '{"city":"Ro",]'


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_without_tools_there_are_no_calls(stream: bool) -> None:
    text = '<tool_call>{"name": "weather", "arguments": {}}</tool_call>'
    async with (
        upstream(playing(says([text]))) as behind,
        served(settings(behind.url)) as server,
        client(server.url) as ai,
    ):
        if stream:
            async with ai.chat.completions.stream(**PLAIN) as events:
                answer: Any = await events.get_final_completion()
        else:
            answer = await ai.chat.completions.create(**PLAIN, tools=[])
    message = answer.choices[0].message
    assert (message.content, message.tool_calls or []) == (text, [])
    assert answer.choices[0].finish_reason == "stop"


async def test_whole_calls_are_sent_in_one_piece() -> None:
    async with (
        upstream(playing(says(CALL + 'me"}}</tool_call>' + CALL))) as behind,
        served(settings(behind.url, whole_calls=True)) as server,
        client(server.url) as ai,
    ):
        chunks = [chunk async for chunk in await ai.chat.completions.create(**ASK, stream=True)]
    calls = [call.function for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []]
    assert [(call.name, call.arguments) for call in calls] == [("weather", '{"city":"Rome"}')]


async def test_when_to_try_again_is_passed_on_and_addresses_are_not() -> None:
    said = b'{"error": {"message": "busy at http://10.1.2.3:8000/v1, ask 10.1.2.3:8000"}}'
    async with (
        upstream(answering("429 Many\r\nretry-after: 17", said)) as behind,
        served(settings(behind.url)) as server,
        client(server.url) as ai,
    ):
        with pytest.raises(openai.RateLimitError) as caught:
            await ai.chat.completions.create(**ASK)
    assert caught.value.response.headers["retry-after"] == "17"
    assert "busy at [address]" in str(caught.value)
    assert "10.1.2.3" not in str(caught.value)
