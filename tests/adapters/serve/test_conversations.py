"""What clients send in a conversation and in tools: what OpenAI's API allows reaches the chat template."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streamparse.adapters.serve.prompt import PromptRenderer
from streamparse.adapters.serve.request import read_request
from streamparse.infer.source import ChatTemplate

USER = {"role": "user", "content": "Hi"}
STRICT = (
    "{% for tool in tools or [] %}[{{ tool.function.name + ': ' + tool.function.description }}"
    "{% for name in tool.function.parameters.properties.keys() %} {{ name }}{% endfor %}]{% endfor %}"
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}"
    "{% if m.tool_calls is defined %}{% for call in m.tool_calls %}({{ call.function.name }}"
    "{% for key, value in call.function.arguments.items() %} {{ key }}={{ value }}{% endfor %}){% endfor %}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
"""A chat template that takes nothing for granted but descriptions, schemas and arguments that are objects."""


def prompt(*messages: Any, source: str = STRICT, tools: Any = ()) -> str:
    request = read_request(json.dumps({"messages": messages, "tools": list(tools)}).encode(), most_choices=1)
    return PromptRenderer(ChatTemplate(source)).render(request.messages, request.tool_choice.tools)


def called(arguments: Any, **more: Any) -> dict[str, Any]:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call], **more}


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "<user>ab"),
        ({"role": "developer", "content": "Be brief.", "name": "boss"}, "<system>Be brief."),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}, "<assistant>No."),
        ({"role": "assistant", "content": None, "refusal": "No."}, "<assistant>No."),
        ({"role": "assistant", "content": "a", "tool_calls": None, "function_call": None}, "<assistant>a"),
        ({"role": "assistant", "content": "a", "tool_calls": [], "audio": None, "annotations": []}, "<assistant>a"),
        ({"role": "assistant", "function_call": {"name": "f", "arguments": '{"x": 1}'}}, "<assistant>(f x=1)"),
        ({"role": "function", "name": "f", "content": "7"}, "<tool>7"),
        ({"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "7"}]}, "<tool>7"),
        (called('{"x": 1}'), "<assistant>(f x=1)"),
        ({key: value for key, value in called("{}").items() if key != "content"}, "<assistant>(f)"),
        (called(""), "<assistant>(f)"),
        (called('{"tz":"Eur",]'), '<assistant>(f arguments={"tz":"Eur",])'),
        (called("[1]"), "<assistant>(f arguments=[1])"),
        (called("5"), "<assistant>(f arguments=5)"),
        (
            {"role": "assistant", "tool_calls": [{"type": "custom", "custom": {"name": "f", "input": "go"}}]},
            "<assistant>(f input=go)",
        ),
    ],
)
def test_what_the_api_allows_in_a_history_is_shown(message: Any, shown: str) -> None:
    assert prompt(USER, message) == f"<user>Hi{shown}<assistant>"


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        ({"name": "f"}, "[f: ]"),
        ({"name": "f", "description": None, "parameters": None, "strict": None}, "[f: ]"),
        ({"name": "f", "description": "d", "parameters": {}, "strict": True}, "[f: d]"),
        ({"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "string"}}}}, "[f:  x]"),
    ],
)
def test_a_tool_may_lack_what_the_api_lets_it_lack(function: Any, shown: str) -> None:
    assert prompt(USER, tools=[{"type": "function", "function": function}]) == f"{shown}<user>Hi<assistant>"


def reasoning_template(reading: str) -> str:
    return (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n"
        f"{{% if {reading} %}}<think>\n{{{{ {reading} }}}}\n</think>\n{{% endif %}}"
        "{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )


PARTS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.content is string %}{{ m.content }}{% else %}"
    "{% for part in m.content %}{% if part.type == 'thinking' %}<think>\n{{ part.thinking }}\n</think>\n"
    "{% else %}{{ part.text }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.mark.parametrize(
    "source",
    [*(reasoning_template(f"m.{key}") for key in ("reasoning_content", "reasoning", "thinking")), PARTS],
    ids=["reasoning_content", "reasoning", "thinking", "parts"],
)
@pytest.mark.parametrize(
    "sent",
    [
        {"content": "Hi", "reasoning_content": "Hm."},
        {"content": "Hi", "reasoning": "Hm."},
        {"content": "Hi", "thinking": "Hm."},
        {"content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Hi"}]},
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                {"type": "text", "text": "Hi"},
            ]
        },
        {"content": [{"type": "reasoning", "text": "Hm."}, {"type": "text", "text": "Hi"}]},
    ],
    ids=["reasoning_content", "reasoning", "thinking", "thinking part", "thinking parts", "reasoning part"],
)
def test_reasoning_that_is_sent_back_reaches_the_key_that_the_template_reads(source: str, sent: Any) -> None:
    assert "assistant\n<think>\nHm.\n</think>\nHi<|im_end|>" in prompt(
        USER, {"role": "assistant", **sent}, USER, source=source
    )


def test_reasoning_goes_where_a_template_takes_it_beside_only_one_of_content_and_calls() -> None:
    source = (
        "{% for m in messages %}"
        "{% if m.tool_calls and m.content and m.thinking %}{{ raise_exception('both') }}{% endif %}"
        "<{{ m.role }}>{{ m.thinking }}{{ m.content }}{% endfor %}<assistant>"
    )
    message = called("{}", content="Let me look.", thinking="Hm.")
    assert prompt(USER, message, source=source).endswith("<assistant>Let me look.<assistant>")
