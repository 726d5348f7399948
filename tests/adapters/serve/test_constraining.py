"""Calls that were asked for: servers that take a grammar are sent one, and the prompt is left as it is."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest

from streamparse.adapters.serve.beginning import Beginnings
from streamparse.adapters.serve.prompt import PromptRenderer
from streamparse.adapters.serve.request import read_request
from streamparse.grammar import to_grammar
from streamparse.template import load_response_template
from tests.adapters.openai.upstream import playing, says, upstream
from tests.adapters.serve.running import CHATML, served, settings
from tests.adapters.serve.test_beginnings import CALLING, JSON_FORMAT, NAMED, OTHER, THINKING
from tests.adapters.serve.test_chat_completions import ASK, PLAIN, TOOLS, asked, client

pytestmark = pytest.mark.asyncio

CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>'
STRICT = [{"type": "function", "function": {**TOOLS[0]["function"], "strict": True}}]
ASKED: dict[str, dict[str, Any]] = {
    "required": {"tools": [*TOOLS, OTHER], "tool_choice": "required"},
    "named": {"tools": [*TOOLS, OTHER], "tool_choice": NAMED},
    "strict": {"tools": STRICT},
    "one call": {"tools": TOOLS, "parallel_tool_calls": False},
    "json or calls": {"tools": TOOLS, "response_format": JSON_FORMAT},
}


def grammar_in(kind: str, body: dict[str, Any]) -> dict[str, Any]:
    """The grammar of a request, taken from where the server's protocol has it; each of its parts checked for its type.

    vLLM: ``StructuredOutputsParams.structural_tag`` is a text, which holds JSON of the type ``structural_tag`` with a
    ``format`` (``vllm/sampling_params.py``). SGLang: ``CompletionRequest.response_format`` is an object of that type
    (``python/sglang/srt/entrypoints/openai/serving_completions.py``). llama.cpp: ``grammar`` is a text, a trigger has a
    ``type`` and a ``value`` (``tools/server/server-task.cpp``).
    """
    if kind == "vllm":
        assert set(body["structured_outputs"]) == {"structural_tag"}
        assert "response_format" not in body
        tag: Any = json.loads(body["structured_outputs"]["structural_tag"])
    elif kind == "sglang":
        assert not {"json_schema", "regex", "ebnf"} & set(body)
        tag = body["response_format"]
    else:
        assert body["grammar"].startswith("root ::= ")
        assert "json_schema" not in body
        assert ("grammar_triggers" in body) == body.get("grammar_lazy", False)
        assert all(
            trigger["type"] == 1 and isinstance(trigger["value"], str) for trigger in body.get("grammar_triggers", [])
        )
        return {"grammar": body["grammar"], "lazy": body.get("grammar_lazy", False)}
    assert tag["type"] == "structural_tag"
    assert isinstance(tag["format"]["type"], str)
    return {"tag": tag}


@pytest.mark.parametrize("kind", ["llama.cpp", "llama.cpp-native", "vllm", "sglang"])
@pytest.mark.parametrize("name", ASKED)
async def test_a_server_that_takes_a_grammar_is_sent_one_and_the_prompt_as_it_is(kind: str, name: str) -> None:
    async with (
        upstream(playing(says(CALL))) as behind,
        served(settings(behind.url, server=kind)) as server,
        client(server.url) as ai,
    ):
        answer = await ai.chat.completions.create(**{**PLAIN, **ASKED[name]})
    body = asked(behind)
    sent = grammar_in(kind, body)
    assert body["prompt"].endswith("<|im_start|>assistant\n")
    (call,) = answer.choices[0].message.tool_calls
    assert (call.function.name, call.function.arguments) == ("weather", '{"city":"Rome"}')
    assert answer.choices[0].finish_reason == "tool_calls"
    options: dict[str, Any] = {
        "tool_choice": ASKED[name].get("tool_choice", "auto"),
        "parallel": "parallel_tool_calls" not in ASKED[name],
        "response_format": ASKED[name].get("response_format"),
    }
    target: Any = "gbnf" if kind.startswith("llama") else "structural_tag"
    expected = to_grammar("qwen3", ASKED[name]["tools"], target=target, prefix=body["prompt"], **options)
    if "tag" in sent:
        assert sent["tag"] == expected.value
    else:
        assert sent == {"grammar": expected.text, "lazy": expected.lazy}


async def test_a_model_that_is_made_to_call_may_reason_first() -> None:
    async with (
        upstream(playing(says(f"Rome, then.\n</think>\n\n{CALL}"))) as behind,
        served(settings(behind.url, server="vllm", chat_template=THINKING)) as server,
        client(server.url) as ai,
    ):
        answer: Any = await ai.chat.completions.create(**ASK, tool_choice="required")
    assert asked(behind)["prompt"].endswith("<think>\n")
    assert answer.choices[0].message.reasoning_content == "Rome, then."
    assert len(answer.choices[0].message.tool_calls) == 1


@pytest.mark.parametrize(
    ("changes", "body"),
    [
        ({"server": "openai"}, {}),
        ({"server": "vllm", "grammars": False}, {}),
        ({"server": "vllm"}, {"extra_body": {"structured_outputs": {"regex": ".*"}}}),
        ({"server": "llama.cpp"}, {"extra_body": {"grammar": 'root ::= "x"'}}),
        ({"server": "sglang"}, {"extra_body": {"regex": ".*"}}),
    ],
    ids=["a server without", "told not to", "vLLM, own", "llama.cpp, own", "SGLang, own"],
)
async def test_where_no_grammar_is_sent_a_forced_call_begins_in_the_prompt(changes: Any, body: Any) -> None:
    async with (
        upstream(playing(says(' {"city": "Rome"}}</tool_call>'))) as behind,
        served(settings(behind.url, **changes)) as server,
        client(server.url) as ai,
    ):
        answer = await ai.chat.completions.create(**ASK, tool_choice="required", **body)
    sent = asked(behind)
    assert sent["prompt"].endswith('<tool_call>{"name": "weather", "arguments":')
    assert {key: sent.get(key) for key in body.get("extra_body", {})} == body.get("extra_body", {})
    assert ("structured_outputs" in sent) == ("structured_outputs" in body.get("extra_body", {}))
    assert len(answer.choices[0].message.tool_calls or []) == 1


@pytest.mark.parametrize("kind", ["llama.cpp", "vllm", "sglang"])
async def test_an_unforced_request_is_sent_without_a_grammar(kind: str) -> None:
    async with (
        upstream(playing(says("Hi"))) as behind,
        served(settings(behind.url, server=kind)) as server,
        client(server.url) as ai,
    ):
        await ai.chat.completions.create(**ASK)
    assert not {"grammar", "structured_outputs", "response_format"} & set(asked(behind))


async def test_a_prompt_that_begins_a_call_by_itself_gets_no_grammar() -> None:
    request = read_request(
        json.dumps({**ASK, "tools": [*TOOLS, OTHER], "tool_choice": "required"}).encode(), most_choices=1
    )
    beginning = Beginnings(PromptRenderer(CALLING), load_response_template("qwen3"), "vllm").of(request)
    assert beginning.prompt.endswith('<tool_call>{"name": "')
    assert beginning.held == {}


async def test_an_answer_is_in_json_where_the_model_calls_no_tool() -> None:
    async with (
        upstream(playing(says('{"a": 5}'))) as behind,
        served(settings(behind.url, server="vllm")) as server,
        client(server.url) as ai,
    ):
        answer = await ai.chat.completions.create(**{**PLAIN, **ASKED["json or calls"]})
    assert answer.choices[0].message.content == '{"a": 5}'
    assert answer.choices[0].message.tool_calls is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"server": "openai"}, "needs an upstream that takes a grammar"),
        ({"server": "vllm", "grammars": False}, "needs an upstream that takes a grammar"),
        ({"server": "vllm", "template": "llama3_json", "chat_template": CHATML}, "no grammar can hold this answer"),
    ],
    ids=["a server without", "told not to", "calls are bare JSON"],
)
async def test_json_beside_tools_is_refused_where_no_grammar_can_say_it(changes: Any, reason: str) -> None:
    async with served(settings("http://127.0.0.1:1/v1", **changes)) as server, client(server.url) as ai:
        with pytest.raises(openai.BadRequestError, match=reason):
            await ai.chat.completions.create(**{**PLAIN, **ASKED["json or calls"]})
