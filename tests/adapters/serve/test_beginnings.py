"""Where an answer begins: a call that has to be made, or JSON, begins in the prompt as the chat template writes it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import openai
import pytest

from streamparse.adapters.serve.beginning import Beginnings
from streamparse.adapters.serve.errors import RequestError
from streamparse.adapters.serve.prompt import PromptRenderer
from streamparse.adapters.serve.request import read_request
from streamparse.infer import infer_response_template
from streamparse.infer.source import ChatTemplate
from streamparse.template import load_response_template
from tests.adapters.openai.upstream import playing, says, stalling, upstream
from tests.adapters.serve.running import CHATML, served, settings
from tests.adapters.serve.test_chat_completions import ASK, PLAIN, TOOLS, asked, client

pytestmark = pytest.mark.asyncio

SHARED = Path(os.environ.get("STREAMPARSE_SHARED", Path(__file__).parents[4] / "shared"))
CHAT_TEMPLATES = SHARED / "cases" / "chat" / "chat_templates"

THINKING = ChatTemplate(
    CHATML.text.replace("<|im_start|>assistant\n{% if enable", "<|im_start|>assistant\n<think>\n{% if enable")
    .replace("{% if enable_thinking is false %}<think>\n\n</think>", "{% if enable_thinking is false %}\n</think>")
    .replace(
        "{{ message.content }}",
        "{% if loop.last and not message.reasoning_content and message.role == 'assistant' %}<think>\n\n</think>\n\n"
        "{% endif %}{{ message.content }}",
    )
)
"""It opens reasoning in the prompt, and shows an answer without any as one that has closed it."""
NAMED = {"type": "function", "function": {"name": "weather"}}
OTHER = {"type": "function", "function": {"name": "time"}}
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
JSON_FORMAT = {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": SCHEMA}}


CALLING = ChatTemplate(
    CHATML.text.replace(
        "<|im_start|>assistant\n{% if enable", '<|im_start|>assistant\n<tool_call>{"name": "{% if enable'
    )
)
"""Its prompts begin a call by themselves, up to the open quote of the name."""


async def test_a_prompt_that_begins_a_call_by_itself_is_kept_where_any_call_will_do() -> None:
    async with (
        upstream(playing(says('weather", "arguments": {"city": "Rome"}}</tool_call>'))) as behind,
        served(settings(behind.url, chat_template=CALLING)) as server,
        client(server.url) as ai,
    ):
        answer = await ai.chat.completions.create(**{**ASK, "tools": [*TOOLS, OTHER]}, tool_choice="required")
    assert asked(behind)["prompt"].endswith('<|im_start|>assistant\n<tool_call>{"name": "')
    (call,) = answer.choices[0].message.tool_calls
    assert (call.function.name, call.function.arguments) == ("weather", '{"city":"Rome"}')


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("chat_template", [CHATML, THINKING], ids=["plain", "opens reasoning"])
@pytest.mark.parametrize(
    ("choice", "tools", "begun", "written"),
    [
        ("required", [*TOOLS, OTHER], '<tool_call>{"name":', ' "weather", "arguments": {"city": "Rome"}}</tool_call>'),
        ("required", TOOLS, '<tool_call>{"name": "weather", "arguments":', ' {"city": "Rome"}}</tool_call>'),
        (NAMED, [*TOOLS, OTHER], '<tool_call>{"name": "weather", "arguments":', ' {"city": "Rome"}}</tool_call>'),
    ],
    ids=["any", "the only one", "named"],
)
async def test_a_call_that_has_to_be_made_begins_in_the_prompt(
    choice: Any, tools: Any, begun: str, written: str, chat_template: ChatTemplate, stream: bool
) -> None:
    async with (
        upstream(playing(says(written))) as behind,
        served(settings(behind.url, chat_template=chat_template)) as server,
        client(server.url) as ai,
    ):
        body = {**PLAIN, "tools": tools, "tool_choice": choice}
        if stream:
            async with ai.chat.completions.stream(**body) as events:
                answer: Any = await events.get_final_completion()
        else:
            answer = await ai.chat.completions.create(**body)
    assert asked(behind)["prompt"].endswith(begun)
    assert asked(behind)["prompt"].count("<think>") == asked(behind)["prompt"].count("</think>")
    (call,) = answer.choices[0].message.tool_calls
    assert (call.function.name, call.function.arguments) == ("weather", '{"city":"Rome"}')
    assert answer.choices[0].message.content is None
    assert answer.choices[0].finish_reason == "tool_calls"


async def test_a_call_that_was_begun_and_comes_to_nothing_shows_its_markup() -> None:
    async with (
        upstream(playing(says(' "weather", "arguments": oops</tool_call>'))) as behind,
        served(settings(behind.url)) as server,
        client(server.url) as ai,
    ):
        answer = await ai.chat.completions.create(**{**ASK, "tools": [*TOOLS, OTHER]}, tool_choice="required")
    assert answer.choices[0].message.content == '<tool_call>{"name": "weather", "arguments": oops</tool_call>'
    assert answer.choices[0].finish_reason == "length"


async def test_where_no_call_can_begin_a_forced_one_is_refused_with_the_reason() -> None:
    template = ChatTemplate("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% endfor %}")
    async with served(settings("http://127.0.0.1:1/v1", chat_template=template)) as server, client(server.url) as ai:
        with pytest.raises(openai.BadRequestError, match="no call can begin in the prompt"):
            await ai.chat.completions.create(**ASK, tool_choice="required")


async def test_only_the_allowed_tools_are_shown() -> None:
    allowed: Any = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [NAMED]}}
    async with (
        upstream(playing(says("Hi"))) as behind,
        served(settings(behind.url)) as server,
        client(server.url) as ai,
    ):
        answer = await ai.chat.completions.create(**{**ASK, "tools": [*TOOLS, OTHER]}, tool_choice=allowed)
        assert answer.choices[0].message.content == "Hi"
        assert json.dumps(TOOLS) in asked(behind)["prompt"]
        allowed["allowed_tools"]["mode"] = "required"
        await ai.chat.completions.create(**{**ASK, "tools": [*TOOLS, OTHER]}, tool_choice=allowed)
        assert asked(behind)["prompt"].endswith('{"name": "weather", "arguments":')


@pytest.mark.parametrize("chat_template", [CHATML, THINKING], ids=["plain", "opens reasoning"])
@pytest.mark.parametrize(
    ("kind", "sent"),
    [
        ("vllm", {"response_format": JSON_FORMAT}),
        ("openai", {"response_format": JSON_FORMAT}),
        ("sglang", {"json_schema": json.dumps(SCHEMA)}),
        ("llama.cpp", {"json_schema": SCHEMA}),
        ("llama.cpp-native", {"json_schema": SCHEMA}),
    ],
)
async def test_json_comes_out_as_content(kind: str, sent: dict[str, Any], chat_template: ChatTemplate) -> None:
    written = '{"a": "<think>quoted</think> <tool_call>{}</tool_call>"}'
    async with (
        upstream(playing(says(written))) as behind,
        served(settings(behind.url, chat_template=chat_template, server=kind)) as server,
        client(server.url) as ai,
    ):
        answer: Any = await ai.chat.completions.create(**PLAIN, response_format=JSON_FORMAT)
    assert answer.choices[0].message.content == written
    assert "reasoning_content" not in answer.choices[0].message.to_dict()
    body = asked(behind)
    assert {key: body[key] for key in sent} == sent
    assert ("response_format" in body) == ("response_format" in sent)
    assert body["prompt"].count("<think>") == body["prompt"].count("</think>")


async def test_a_message_is_gone_on_with() -> None:
    messages: Any = [*PLAIN["messages"], {"role": "assistant", "content": "The weather "}]
    extra = {"continue_final_message": True, "add_generation_prompt": False}
    async with (
        upstream(playing(says("is fine."))) as behind,
        served(settings(behind.url)) as server,
        client(server.url) as ai,
    ):
        answer = await ai.chat.completions.create(model="m", messages=messages, extra_body=extra)
    assert answer.choices[0].message.content == "is fine."
    assert asked(behind)["prompt"].endswith("<|im_start|>assistant\nThe weather ")


FIRST = '<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>'
LISTED = '<tool_calls>[{"name": "weather", "arguments": {"city": "Rome"}}, {"name": "weather", "arguments": {}}]'


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("template", "text"),
    [("qwen3", f"{FIRST}So"), ("qwen3", f"{FIRST}\n{FIRST}And more."), ("hunyuan_a13b", f"{LISTED}</tool_calls>So")],
    ids=["one", "several", "a list"],
)
async def test_without_parallel_calls_the_first_ends_the_answer_and_the_upstream_stops(
    template: str, text: str, stream: bool
) -> None:
    async with (
        upstream(stalling(says([text], reason=None, done=False))) as behind,
        served(settings(behind.url, template=template, silence_seconds=20)) as server,
        client(server.url) as ai,
    ):
        if stream:
            async with ai.chat.completions.stream(**ASK, parallel_tool_calls=False) as events:
                answer: Any = await events.get_final_completion()
        else:
            answer = await ai.chat.completions.create(**ASK, parallel_tool_calls=False)
        await behind.exchanges[0].gone.wait()
    (call,) = answer.choices[0].message.tool_calls
    assert (call.function.name, call.function.arguments) == ("weather", '{"city":"Rome"}')
    assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == (None, "tool_calls")


NO_CALLS = {"functionary-medium", "Mistral-Nemo", "firefunction", "command-r-plus", "R1-Distill-Llama"}
"""Chat templates of the shared folder that show no call where the prompt ends, or none that comes back."""


@pytest.mark.skipif(
    not CHAT_TEMPLATES.is_dir(),
    reason=f"the public chat templates are not in {SHARED}; $STREAMPARSE_SHARED may say where they are",
)
async def test_for_public_chat_templates_calls_and_json_begin_where_they_are_read() -> None:
    refused: dict[str, int] = {"required": 0, "json": 0}
    files = sorted(CHAT_TEMPLATES.glob("llamacpp__*.jinja"))
    tools = [{"type": "function", "function": {"name": name, "description": "d"}} for name in ("weather", "time")]
    for file in files:
        inferred = infer_response_template(file)
        template = load_response_template(inferred.template)
        beginnings = Beginnings(PromptRenderer(ChatTemplate(file.read_text(), "<s>", "</s>")), template)
        for kind, more in (
            ("required", {"tools": tools, "tool_choice": "required"}),
            ("json", {"response_format": {"type": "json_object"}}),
        ):
            if kind == "required" and not inferred.tool_calls:
                continue
            body = json.dumps({**PLAIN, **more}).encode()
            try:
                beginnings.of(read_request(body, most_choices=1))
            except RequestError:
                if not any(name in file.stem for name in NO_CALLS):
                    refused[kind] += 1
    assert refused["required"] <= 1
    assert refused["json"] <= 3
