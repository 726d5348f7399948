"""The endpoints of other protocols as their clients see them, and what they ask of the model."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import httpx
import openai
import pytest

from tests.adapters.anthropic.test_messages import message_of as message_of_blocks
from tests.adapters.openai.test_responses import message_of as message_of_items
from tests.adapters.openai.upstream import answering, breaking, playing, says, upstream
from tests.adapters.serve.running import served, settings
from tests.adapters.serve.test_chat_completions import MESSAGE, TEXT, TOOLS

pytestmark = pytest.mark.asyncio

NO_UPSTREAM = "http://127.0.0.1:1/v1"
SCHEMA = {"type": "object"}
RUN = {"threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {}}
ASKED = "<|im_start|>user\nWeather?<|im_end|>\n<|im_start|>assistant\n"
CALL = '<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>'
SAID = (
    "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWeather?<|im_end|>\n"
    f"<|im_start|>assistant\n<think>\nHm.\n</think>\n\nI look.{CALL}<|im_end|>\n"
    "<|im_start|>tool weather\nsunny<|im_end|>\n<|im_start|>user\nSo?<|im_end|>\n<|im_start|>assistant\n"
)
"""A conversation with reasoning, a call and its result, as the model sees it whatever the protocol."""


async def ask(path: str, body: Any, play: Any, **changes: Any) -> tuple[httpx.Response, Any]:
    """Post a body; the answer, and what the upstream was asked."""
    async with (
        upstream(play) as behind,
        served(settings(behind.url, **changes)) as server,
        httpx.AsyncClient(base_url=server.url.removesuffix("/v1")) as http,
    ):
        answer = await http.post(path, json=body)
    return answer, behind.exchanges[0].body if behind.exchanges else None


def events_in(answer: httpx.Response) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in answer.text.split("\n") if line.startswith("data: ")]
    return [line if line == "[DONE]" else json.loads(line) for line in lines]


def anthropic_client(url: str) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(base_url=url.removesuffix("/v1"), api_key="key", max_retries=0)


MESSAGES: dict[str, Any] = {
    "model": "m",
    "max_tokens": 99,
    "messages": [{"role": "user", "content": "Weather?"}],
    "tools": [{"name": "weather", "input_schema": SCHEMA}],
}


async def test_the_messages_api_gives_the_message_whole_and_streamed() -> None:
    async with (
        upstream(playing(says(TEXT))) as behind,
        served(settings(behind.url, key="key")) as server,
        anthropic_client(server.url) as ai,
    ):
        whole = await ai.messages.create(**MESSAGES)
        async with ai.messages.stream(**MESSAGES) as stream:
            streamed = await stream.get_final_message()
    for message in (whole, streamed):
        assert message_of_blocks(message) == MESSAGE
        assert (message.stop_reason, message.usage.input_tokens, message.usage.output_tokens) == ("tool_use", 3, 5)
    assert behind.exchanges[0].body["max_tokens"] == 99


async def test_the_responses_api_gives_the_message_whole_and_streamed() -> None:
    body: Any = {"model": "m", "input": "Weather?", "tools": [{"type": "function", "name": "weather"}]}
    async with (
        upstream(playing(says(TEXT))) as behind,
        served(settings(behind.url)) as server,
        openai.AsyncOpenAI(base_url=server.url, api_key="none", max_retries=0) as ai,
    ):
        whole = await ai.responses.create(**body, max_output_tokens=77, instructions="Be brief.")
        events = [event async for event in await ai.responses.create(**body, stream=True)]
    streamed = events[-1].response
    for response in (whole, streamed):
        assert message_of_items(response) == MESSAGE
        assert response.status == "completed"
        assert response.usage is not None
        assert response.usage.total_tokens == 8
    assert whole.instructions == "Be brief."
    assert behind.exchanges[0].body["max_tokens"] == 77


async def test_the_ai_sdk_gets_chunks_with_its_header_and_a_done() -> None:
    messages = [{"role": "user", "id": "u", "parts": [TEXT_PART]}]
    body = {"id": "c", "trigger": "submit-message", "messages": messages, "tools": TOOLS}
    answer, asked = await ask("/ui/chat", body, playing(says(TEXT)))
    events = events_in(answer)
    assert answer.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert events[-1] == "[DONE]"
    assert events[-2]["finishReason"] == "tool-calls"
    available = [[event["toolName"], event["input"]] for event in events[:-1] if "input" in event]
    assert available == MESSAGE["calls"]
    assert asked["prompt"].endswith(ASKED)


async def test_a_front_end_of_ag_ui_gets_a_run() -> None:
    tool = {"name": "weather", "description": "", "parameters": SCHEMA}
    body = {**RUN, "messages": [{"id": "u", "role": "user", "content": "Weather?"}], "tools": [tool]}
    answer, asked = await ask("/ag-ui", body, playing(says(TEXT)))
    events = events_in(answer)
    assert events[0] == {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
    assert events[-1]["type"] == "RUN_FINISHED"
    assert events[-1]["result"]["usage"]["total_tokens"] == 8
    assert [event["type"] for event in events].count("TOOL_CALL_END") == 2
    assert asked["prompt"].endswith(ASKED)


TEXT_PART = {"type": "text", "text": "Weather?"}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "sunny"}]}
FUNCTION = {"name": "weather", "arguments": '{"city": "Paris"}'}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (
            "/v1/messages",
            {
                "max_tokens": 9,
                "system": [{"type": "text", "text": "Be brief."}],
                "messages": [
                    {"role": "user", "content": "Weather?"},
                    {
                        "role": "assistant",
                        "content": [
                            {"type": "thinking", "thinking": "Hm.", "signature": ""},
                            {"type": "text", "text": "I look."},
                            {"type": "tool_use", "id": "a", "name": "weather", "input": {"city": "Paris"}},
                        ],
                    },
                    {"role": "user", "content": [RESULT, {"type": "text", "text": "So?"}]},
                ],
            },
        ),
        (
            "/v1/responses",
            {
                "instructions": "Be brief.",
                "input": [
                    {"role": "user", "content": "Weather?"},
                    {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
                    {"role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
                    {"type": "function_call", "call_id": "a", **FUNCTION},
                    {"type": "function_call_output", "call_id": "a", "output": "sunny"},
                    {"role": "user", "content": [{"type": "input_text", "text": "So?"}]},
                ],
            },
        ),
        (
            "/ui/chat",
            {
                "messages": [
                    {"role": "system", "parts": [{"type": "text", "text": "Be brief."}]},
                    {"role": "user", "parts": [TEXT_PART]},
                    {
                        "role": "assistant",
                        "parts": [
                            {"type": "step-start"},
                            {"type": "reasoning", "text": "Hm."},
                            {"type": "text", "text": "I look."},
                            {"type": "data-malformed", "data": {}},
                            {
                                "type": "tool-weather",
                                "toolCallId": "a",
                                "state": "output-available",
                                "input": {"city": "Paris"},
                                "output": "sunny",
                            },
                        ],
                    },
                    {"role": "user", "parts": [{"type": "text", "text": "So?"}]},
                ]
            },
        ),
        (
            "/ag-ui",
            {
                **RUN,
                "messages": [
                    {"id": "1", "role": "system", "content": "Be brief."},
                    {"id": "2", "role": "user", "content": "Weather?"},
                    {"id": "3", "role": "reasoning", "content": "Hm."},
                    {
                        "id": "4",
                        "role": "assistant",
                        "content": "I look.",
                        "toolCalls": [{"id": "a", "type": "function", "function": FUNCTION}],
                    },
                    {"id": "5", "role": "tool", "toolCallId": "a", "content": "sunny"},
                    {"id": "6", "role": "user", "content": [{"type": "text", "text": "So?"}]},
                ],
            },
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_conversation_reaches_the_model_the_same_in_every_protocol(path: str, body: Any) -> None:
    _, asked = await ask(path, body, playing(says(["Hi"])))
    assert asked["prompt"] == SAID


async def test_what_the_assistant_has_begun_goes_on_in_the_messages_api() -> None:
    messages: Any = [*MESSAGES["messages"], {"role": "assistant", "content": "It is"}]
    async with (
        upstream(playing(says([" sunny."]))) as behind,
        served(settings(behind.url)) as server,
        anthropic_client(server.url) as ai,
    ):
        async with ai.messages.stream(**{**MESSAGES, "messages": messages}) as stream:
            streamed = await stream.get_final_message()
        whole = await ai.messages.create(**{**MESSAGES, "messages": messages})
    for message in (streamed, whole):
        assert message_of_blocks(message)["content"].strip() == "sunny."
    assert behind.exchanges[0].body["prompt"].endswith("assistant\nIt is")


@pytest.mark.parametrize("path", ["/ui/chat", "/ag-ui"])
async def test_what_goes_on_is_not_said_again_and_there_is_one_answer(path: str) -> None:
    said = {"id": "m", "role": "assistant", "content": "It is", "parts": [{"type": "text", "text": "It is"}]}
    more = {"continue_final_message": True, "n": 2}
    body = {**PATHS[path], **more, "forwardedProps": more}
    answer, asked = await ask(path, {**body, "messages": [*body["messages"], said]}, playing(says([" sunny."])))
    pieces = [event["delta"] for event in events_in(answer) if event != "[DONE]" and "delta" in event]
    assert "".join(pieces).strip() == "sunny."
    assert asked["prompt"].endswith("assistant\nIt is")


async def test_an_ai_sdk_message_with_results_goes_on_under_its_id() -> None:
    tool = {"type": "tool-f", "toolCallId": "a", "state": "output-error", "rawInput": "{", "errorText": "no"}
    messages = [{"role": "user", "parts": [TEXT_PART]}, {"role": "assistant", "id": "m1", "parts": [tool]}]
    answer, asked = await ask("/ui/chat", {"messages": messages}, playing(says(["Hi"])))
    assert events_in(answer)[0] == {"type": "start", "messageId": "m1"}
    assert "tool f\nno" in asked["prompt"]


PATHS = {
    "/v1/messages": MESSAGES | {"stream": True},
    "/v1/responses": {"input": "Weather?", "stream": True},
    "/ui/chat": {"messages": [{"role": "user", "parts": [TEXT_PART]}]},
    "/ag-ui": {**RUN, "messages": [{"id": "u", "role": "user", "content": "Weather?"}]},
}


@pytest.mark.parametrize("path", PATHS)
async def test_an_answer_that_breaks_off_ends_with_an_error_and_without_the_call(path: str) -> None:
    text = 'Hi<tool_call>{"name": "weather", "arguments": {"city": "Par'
    answer, _ = await ask(path, PATHS[path], breaking(says([text], reason=None, usage=None, done=False)))
    events = [event for event in events_in(answer) if event != "[DONE]"]
    last = events[-1]
    failure = {
        "/v1/messages": lambda: last["error"]["message"],
        "/v1/responses": lambda: last["response"]["error"]["message"],
        "/ui/chat": lambda: last["errorText"],
        "/ag-ui": lambda: last["message"],
    }[path]()
    assert failure == "the upstream failed"
    assert (
        last["type"]
        == {
            "/v1/messages": "error",
            "/v1/responses": "response.failed",
            "/ui/chat": "error",
            "/ag-ui": "RUN_ERROR",
        }[path]
    )
    assert not any(event["type"] == "tool-input-available" for event in events)


@pytest.mark.parametrize("path", PATHS)
async def test_what_the_upstream_refuses_has_a_status(path: str) -> None:
    answer, _ = await ask(path, PATHS[path], answering("429 Too Many Requests", b'{"error": "busy"}'))
    assert answer.status_code == 429
    assert "retry-after" in answer.headers
    error = answer.json()["error"]
    assert error["type"] == "rate_limit_error"
    assert (answer.json().get("type") == "error") == (path == "/v1/messages")


@pytest.mark.parametrize(
    ("path", "body", "param", "words"),
    [
        ("/v1/messages", {"messages": []}, "max_tokens", "missing"),
        ("/v1/messages", {"max_tokens": 9, "messages": [5]}, "messages[0]", "an object"),
        ("/v1/messages", {"max_tokens": 9, "messages": [{"role": "tool"}]}, "role", "user or assistant"),
        ("/v1/messages", MESSAGES | {"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "", "only text"),
        ("/v1/messages", MESSAGES | {"tools": [{"type": "bash_20250124", "name": "bash"}]}, "tools[0]", "not run"),
        ("/v1/messages", MESSAGES | {"tool_choice": {"type": ["any"]}}, "tool_choice", "auto, any"),
        ("/v1/messages", MESSAGES | {"mcp_servers": [{}]}, "mcp_servers", "no tools are run"),
        ("/v1/responses", {"input": "Hi", "previous_response_id": "r"}, "previous_response_id", "not kept"),
        ("/v1/responses", {"input": [{"type": "item_reference", "id": "a"}]}, "input[0]", "only messages"),
        ("/v1/responses", {"input": "Hi", "tools": [{"type": "web_search"}]}, "tools[0]", "type function"),
        ("/v1/responses", {"input": 5}, "input", "an array"),
        ("/v1/responses", {}, "messages", "at least one"),
        ("/ui/chat", {"messages": [{"role": "user"}, {"role": "x", "parts": []}]}, "messages[1]", "one of"),
        ("/ui/chat", {"messages": [{"role": "user", "parts": [{"type": "file"}]}]}, "parts[0]", "only text"),
        ("/ui/chat", {"messages": "Hi"}, "messages", "an array"),
        ("/ag-ui", {"messages": []}, "threadId", "missing"),
        ("/ag-ui", {**RUN, "messages": [{"role": "wizard"}]}, "messages[0].role", "wizard"),
        ("/ag-ui", {**RUN, "context": [{}], "messages": []}, "context[0]", "missing"),
    ],
)
async def test_what_can_not_be_kept_is_refused_with_what_is_wrong(path: str, body: Any, param: str, words: str) -> None:
    async with (
        served(settings(NO_UPSTREAM)) as server,
        httpx.AsyncClient(base_url=server.url.removesuffix("/v1")) as http,
    ):
        answer = await http.post(path, json=body)
    error = answer.json()["error"]
    assert (answer.status_code, error["type"]) == (400, "invalid_request_error")
    assert words in error["message"]
    assert param in error["message"]


@pytest.mark.parametrize("path", PATHS)
async def test_the_key_is_asked_for(path: str) -> None:
    async with (
        served(settings(NO_UPSTREAM, key="right")) as server,
        httpx.AsyncClient(base_url=server.url.removesuffix("/v1")) as http,
    ):
        for headers in ({}, {"x-api-key": "wrong"}, {"authorization": "Bearer wrong"}):
            assert (await http.post(path, json=PATHS[path], headers=headers)).status_code == 401


async def test_choices_of_tools_and_formats_reach_the_model_from_each_api() -> None:
    forced = MESSAGES | {"tool_choice": {"type": "tool", "name": "weather"}, "stop_sequences": ["X"], "top_k": 4}
    _, asked = await ask("/v1/messages", forced, playing(says(["Hi"])))
    assert asked["prompt"].endswith('<tool_call>{"name": "weather", "arguments":')
    assert (asked["stop"], asked["top_k"]) == (["X"], 4)
    form = {"type": "json_schema", "name": "a", "schema": SCHEMA}
    body = {"input": "Hi", "text": {"format": form}, "temperature": 0.5}
    _, asked = await ask("/v1/responses", body, playing(says(["{}"])))
    assert asked["temperature"] == 0.5
    assert asked["response_format"] == {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}
