"""What is refused, and how; limits; the endpoints beside chat completions."""

from __future__ import annotations

import json
from typing import Any

import anyio
import httpx
import openai
import pytest

from streamparse.adapters.serve import create_app
from tests.adapters.openai.upstream import answering, playing, says, stalling, upstream
from tests.adapters.serve.running import served, settings
from tests.adapters.serve.test_chat_completions import ASK, client, read_into

pytestmark = pytest.mark.asyncio

USER = {"role": "user", "content": "Hi"}
TOOL = {"type": "function", "function": {"name": "f"}}
NAMED = {"type": "function", "function": {"name": "g"}}
CALL = {"type": "function", "function": {"name": "f", "arguments": "{}"}}
DEEP = b'{"a":[' * 450 + b"]}" * 450
NO_UPSTREAM = "http://127.0.0.1:1/v1"


class Said:
    """An ASGI ``send`` that keeps the body."""

    def __init__(self) -> None:
        self.body = b""

    async def __call__(self, message: Any) -> None:
        self.body += message.get("body", b"")


async def refused(body: Any, **changes: Any) -> tuple[int, dict[str, Any]]:
    """The status and the error of a request."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with served(settings(NO_UPSTREAM, **changes)) as server, httpx.AsyncClient() as http:
        answer = await http.post(f"{server.url}/chat/completions", content=content)
    assert answer.headers["content-type"] == "application/json"
    error = answer.json()["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    return answer.status_code, error


@pytest.mark.parametrize(
    ("body", "param", "words"),
    [
        (b"{oops", None, "not JSON"),
        (b"[" * 100_000, None, "not JSON"),
        (b"\xff", None, "not JSON"),
        ([1], None, "no JSON object"),
        ({}, "messages", "at least one message"),
        ({"messages": []}, "messages", "at least one message"),
        ({"messages": {}}, "messages", "of type array"),
        ({"messages": ["Hi"]}, "messages[0]", "with a role"),
        ({"messages": [USER, {"content": "a"}]}, "messages[1]", "with a role"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0]", "content must be text"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0]", "parts of type text"),
        ({"messages": [{"role": "assistant", "tool_calls": 5}]}, "messages[0]", "array"),
        ({"messages": [{"role": "assistant", "tool_calls": [{}]}]}, "messages[0]", "with a name"),
        ({"messages": [USER], "tools": [{}]}, "tools[0]", "has a name"),
        ({"messages": [USER], "tools": [{"function": {"name": "f", "parameters": 5}}]}, "tools[0]", "JSON schema"),
        ({"messages": [USER], "n": 0}, "n", "at least 1"),
        ({"messages": [USER], "n": 99}, "n", "more than 8"),
        ({"messages": [USER], "n": True}, "n", "whole number"),
        ({"messages": [USER], "max_tokens": "9"}, "max_tokens", "whole number"),
        ({"messages": [USER], "stream": 1}, "stream", "of type boolean"),
        ({"messages": [USER], "tool_choice": "required"}, "tool_choice", "without tools"),
        ({"messages": [USER], "tool_choice": "any"}, "tool_choice", "must be auto"),
        ({"messages": [USER], "tools": [TOOL], "tool_choice": NAMED}, "tool_choice", "none of the tools"),
        ({"messages": [USER], "tools": [TOOL], "tool_choice": {"type": "function"}}, "tool_choice", "no name"),
        ({"messages": [USER], "tools": [TOOL], "tool_choice": {"type": "allowed_tools"}}, "tool_choice", "a list"),
        ({"messages": [USER], "tools": [{"type": "custom", "custom": {}}]}, "tools[0]", "type function"),
        ({"messages": [USER], "tools": [TOOL], "response_format": {"type": "json_object"}}, "response_format", "calls"),
        ({"messages": [USER], "response_format": {"type": "xml"}}, "response_format", "json_schema with a schema"),
        ({"messages": [USER], "add_generation_prompt": False}, "add_generation_prompt", "continue_final_message"),
        ({"messages": [USER], "continue_final_message": True}, "continue_final_message", "the assistant's"),
        (
            {"messages": [USER], "continue_final_message": True, "add_generation_prompt": True},
            "continue_final_message",
            "another message",
        ),
        ({"messages": [USER], "logprobs": True}, "logprobs", "log probabilities"),
        ({"messages": [USER], "functions": [{"name": "f"}]}, "functions", "give tools"),
        (
            {"messages": [{"role": "assistant", "tool_calls": [CALL | {"id": [1]}]}]},
            "messages[0]",
            "id of a call must be text",
        ),
        (
            {"messages": [{"role": "tool", "tool_call_id": {}}]},
            "messages[0]",
            "_id of a call must be text",
        ),
        (b'{"messages": [{"role": "user"}], "logit_bias": %s}' % DEEP, "logit_bias", "deeper than 200"),
        (b'{"messages": [{"role": "user", "x": %s}]}' % DEEP, "messages", "deeper than 200"),
        (b'{"messages": [{"role": "user"}], "n": %s}' % DEEP, "n", "deeper than 200"),
        ({"messages": [USER], "parallel_tool_calls": "no"}, "parallel_tool_calls", "of type boolean"),
    ],
)
async def test_a_request_that_can_not_be_served_is_refused_with_what_is_wrong(
    body: Any, param: str | None, words: str
) -> None:
    status, error = await refused(body)
    assert (status, error["type"], error["param"]) == (400, "invalid_request_error", param)
    assert words in error["message"]


async def test_what_the_chat_template_refuses_is_told_in_its_words() -> None:
    template = type(settings("").chat_template)("{{ raise_exception('roles must alternate') }}")
    status, error = await refused({"messages": [USER]}, chat_template=template)
    assert (status, error["param"]) == (400, "messages")
    assert "roles must alternate" in error["message"]


async def test_arguments_are_text_where_the_chat_template_wants_that() -> None:
    template = type(settings("").chat_template)(
        "{% for message in messages %}{% for call in message.tool_calls or [] %}"
        "{{ 'call: ' + call.function.arguments }}{% endfor %}{% endfor %}"
    )
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    messages: Any = [{"role": "assistant", "content": "", "tool_calls": [call]}]
    async with (
        upstream(playing(says(["Hi"]))) as behind,
        served(settings(behind.url, chat_template=template)) as server,
        client(server.url) as ai,
    ):
        await ai.chat.completions.create(model="m", messages=messages)
    assert behind.exchanges[0].body["prompt"] == 'call: {"x": 1}'


async def test_what_is_nested_no_deeper_than_may_be_goes_to_the_upstream() -> None:
    body = b'{"messages": [{"role": "user", "content": "a"}], "logit_bias": %s}' % (b"[" * 200 + b"]" * 200)
    async with (
        upstream(playing(says(["Hi"]))) as behind,
        served(settings(behind.url)) as server,
        httpx.AsyncClient() as http,
    ):
        assert (await http.post(f"{server.url}/chat/completions", content=body)).status_code == 200
    assert json.dumps(behind.exchanges[0].body["logit_bias"]) == "[" * 200 + "]" * 200


async def test_arguments_that_are_nested_too_deep_go_to_the_chat_template_as_they_were_written() -> None:
    call = {"type": "function", "function": {"name": "f", "arguments": DEEP.decode()}}
    body = {"messages": [{"role": "assistant", "tool_calls": [call]}]}
    async with (
        upstream(playing(says(["Hi"]))) as behind,
        served(settings(behind.url)) as server,
        httpx.AsyncClient() as http,
    ):
        assert (await http.post(f"{server.url}/chat/completions", json=body)).status_code == 200
    assert DEEP.decode().replace('"', '\\"') in behind.exchanges[0].body["prompt"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_client_that_takes_nothing_holds_its_place_no_longer_than_the_time_there_is(
    stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamparse.adapters.serve.app.LAST_WORD_SECONDS", 0.1)
    content = json.dumps({"messages": [USER], "stream": stream}).encode()
    received = [{"type": "http.request", "body": content}]
    said = []

    async def receive() -> Any:
        if not received:
            await anyio.sleep_forever()
        return received.pop()

    async def send(message: Any) -> None:
        said.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):  # the last one can't be sent
            await anyio.sleep_forever()

    async with upstream(playing(says(["Hi"]))) as behind:
        app = create_app(settings(behind.url, request_seconds=0.5))
        scope = {"type": "http", "method": "POST", "path": "/v1/chat/completions", "headers": [], "query_string": b""}
        async with app.router.lifespan_context(app):
            with anyio.fail_after(10):
                await app(scope, receive, send)
                await app({**scope, "method": "GET", "path": "/metrics"}, receive, said_by := Said())
    assert said[-1]["body"]
    assert b'streamparse_requests_total{outcome="timed_out"} 1.0' in said_by.body


async def test_a_key_may_have_any_characters() -> None:
    async with served(settings(NO_UPSTREAM, key="schlüssel", model="mine")) as server, httpx.AsyncClient() as http:
        for key, status in (("schlüssel", 200), ("schlussel", 401)):
            answer = await http.get(f"{server.url}/models", headers={"Authorization": f"Bearer {key}".encode()})
            assert answer.status_code == status


@pytest.mark.parametrize("body", [b"[" * 5000, b'{"a":' * 900 + b"1" + b"}" * 900, b"x" * 5_000_000])
async def test_a_list_of_models_that_can_not_be_read_is_a_bad_gateway(body: bytes) -> None:
    async with (
        upstream(answering("200 OK", body)) as behind,
        served(settings(behind.url)) as server,
        httpx.AsyncClient() as http,
    ):
        answer = await http.get(f"{server.url}/models")
    assert answer.status_code == 502
    assert "does not list its models" in answer.json()["error"]["message"]


async def test_a_body_that_is_too_large_is_refused() -> None:
    status, error = await refused({"messages": [USER] * 100}, max_body=1000)
    assert (status, error["message"]) == (413, "the body has more than 1000 bytes")


async def test_an_upstream_that_is_not_there_is_a_bad_gateway() -> None:
    status, error = await refused({"messages": [USER]})
    assert (status, error["type"], error["code"]) == (502, "server_error", "upstream_error")
    assert error["message"] == "the upstream failed"


async def test_the_key_and_the_model_are_checked() -> None:
    async with (
        upstream(playing(says(["Hi"]))) as behind,
        served(settings(behind.url, key="secret", upstream_key="other", model="mine")) as server,
    ):
        async with client(server.url, api_key="wrong") as ai:
            with pytest.raises(openai.AuthenticationError, match="missing or wrong"):
                await ai.chat.completions.create(**ASK)
            with pytest.raises(openai.AuthenticationError):
                await ai.models.list()
        async with client(server.url, api_key="secret") as ai:
            with pytest.raises(openai.NotFoundError, match="no model 'm'"):
                await ai.chat.completions.create(**ASK)
            assert (await ai.chat.completions.create(**{**ASK, "model": "mine"})).model == "mine"
            assert [model.id async for model in ai.models.list()] == ["mine"]
    assert behind.exchanges[0].headers["authorization"] == "Bearer other"


async def test_the_models_of_the_upstream_are_listed_if_none_is_named() -> None:
    listed = {"object": "list", "data": [{"id": "a", "object": "model", "created": 0, "owned_by": "b"}]}
    async with (
        upstream(answering("200 OK", json.dumps(listed).encode())) as behind,
        served(settings(behind.url)) as server,
        client(server.url) as ai,
    ):
        assert [model.id async for model in ai.models.list()] == ["a"]
    async with served(settings(NO_UPSTREAM)) as server, client(server.url) as ai:
        with pytest.raises(openai.InternalServerError, match="does not list its models"):
            await ai.models.list()


async def test_more_requests_than_there_are_places_for_are_told_to_come_back() -> None:
    async with (
        upstream(stalling(says(["Hi"], reason=None, done=False))) as behind,
        served(settings(behind.url, max_requests=1)) as server,
        client(server.url) as ai,
        await ai.chat.completions.create(**ASK, stream=True) as stream,
    ):
        await anext(aiter(stream))
        with pytest.raises(openai.RateLimitError, match="1 requests are being served") as caught:
            await ai.chat.completions.create(**ASK)
        assert caught.value.response.headers["retry-after"] == "1"


@pytest.mark.parametrize("begun", [False, True], ids=["before the answer", "in the answer"])
async def test_a_request_that_takes_too_long_is_ended(begun: bool) -> None:
    body = says(["Hi"], reason=None, done=False) if begun else b""
    async with (
        upstream(stalling(body)) as behind,
        served(settings(behind.url, request_seconds=0.3)) as server,
        client(server.url) as ai,
    ):
        with pytest.raises(openai.APIError, match=r"took more than 0\.3 seconds"):
            await read_into([], await ai.chat.completions.create(**ASK, stream=True))
        with pytest.raises(openai.InternalServerError, match=r"took more than 0\.3 seconds") as caught:
            await ai.chat.completions.create(**ASK)
        assert caught.value.status_code == 504
        with anyio.fail_after(5):
            for exchange in behind.exchanges:
                await exchange.gone.wait()


async def test_health_and_metrics_say_how_it_goes() -> None:
    text = '<tool_call>{"name": "f", "arguments": {}}</tool_call><tool_call>{"f": 1}</tool_call>'
    async with (
        upstream(playing(says([text]))) as behind,
        served(settings(behind.url)) as server,
        client(server.url) as ai,
    ):
        await ai.chat.completions.create(**ASK)
        with pytest.raises(openai.BadRequestError):
            await ai.chat.completions.create(model="m", messages=[])
        async with httpx.AsyncClient(base_url=server.url.removesuffix("/v1")) as http:
            assert (await http.get("/health")).json() == {"status": "ok"}
            lines = (await http.get("/metrics")).text.splitlines()
    for line in (
        'streamparse_requests_total{outcome="ok"} 1.0',
        'streamparse_requests_total{outcome="refused"} 1.0',
        "streamparse_requests_running 0.0",
        'streamparse_tokens_total{kind="prompt"} 3.0',
        'streamparse_tokens_total{kind="completion"} 5.0',
        "streamparse_tool_calls_total 1.0",
        "streamparse_malformed_total 1.0",
        "streamparse_first_chunk_seconds_count 1.0",
    ):
        assert line in lines


async def test_other_paths_and_methods_are_refused_in_the_same_form() -> None:
    async with served(settings(NO_UPSTREAM)) as server, httpx.AsyncClient() as http:
        missing = await http.get(f"{server.url}/embeddings")
        wrong = await http.get(f"{server.url}/chat/completions")
    assert (missing.status_code, missing.json()["error"]["message"]) == (404, "Not Found")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
    assert wrong.json()["error"]["type"] == "invalid_request_error"
