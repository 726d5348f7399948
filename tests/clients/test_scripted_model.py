"""The scripted model that clients are tried with writes what each family's models write, after any prompt."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clients import model
from clients.__main__ import FAMILIES
from clients.family import Family, families
from streamparse import load_response_template, parse_response
from streamparse.adapters.serve.beginning import Beginnings
from streamparse.adapters.serve.prompt import PromptRenderer
from streamparse.adapters.serve.request import read_request
from streamparse.infer.source import ChatTemplate

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": model.TOOL,
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
        },
    }
]
every_family = pytest.mark.parametrize("family", families(), ids=lambda family: family.name)


def asked(question: str) -> list[dict[str, Any]]:
    return [{"role": "system", "content": "Be kind."}, {"role": "user", "content": question}]


def answered(question: str) -> list[dict[str, Any]]:
    function = {"name": model.TOOL, "arguments": model.ARGUMENTS}
    return [
        *asked(question),
        {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "a", "content": model.RESULT},
    ]


def message(family: Family, messages: list[dict[str, Any]]) -> dict[str, Any]:
    prompt = PromptRenderer(ChatTemplate(family.own_template())).render(messages, TOOLS)
    said = model.ScriptedModel(family.form).completes(prompt)
    parsed = parse_response(said.text, family.name, prefix=prompt, tools=TOOLS, errors="report")
    assert isinstance(parsed, dict)
    return parsed


@every_family
def test_it_calls_the_tool_first(family: Family) -> None:
    (call,) = message(family, asked(model.QUESTION))["tool_calls"]
    assert (call["function"]["name"], call["function"]["arguments"]) == (model.TOOL, model.ARGUMENTS)


@every_family
def test_it_answers_when_the_prompt_has_the_result(family: Family) -> None:
    parsed = message(family, answered(model.QUESTION))
    assert parsed["content"] == model.ANSWER
    assert not parsed.get("tool_calls")


@every_family
def test_it_reasons_where_its_family_does(family: Family) -> None:
    thought = message(family, asked(model.GREETING)).get("reasoning_content")
    assert thought == (None if family.form.reasoning is None else model.THOUGHT)


@every_family
@pytest.mark.parametrize("question", [model.CUT_SHORT, model.BROKEN])
def test_a_call_that_breaks_off_is_never_a_call(family: Family, question: str) -> None:
    assert not message(family, asked(question)).get("tool_calls")


def test_it_goes_on_with_a_call_that_the_prompt_has_begun() -> None:
    (qwen,) = (family for family in families() if family.name == "qwen3")
    prompt = f'<|im_start|>user\n{model.QUESTION}<|im_end|>\n<|im_start|>assistant\n<tool_call>\n{{"name": "'
    assert model.ScriptedModel(qwen.form).completes(prompt).text.startswith('get_weather", "arguments"')


@pytest.mark.parametrize("name", ["WeatherRecord", "PartialWeatherRecord", "final_result"])
def test_a_record_is_a_call_of_the_tool_that_the_framework_gives(name: str) -> None:
    (qwen,) = (family for family in families() if family.name == "qwen3")
    prompt = f"{name}\n<|im_start|>user\n{model.RECORDED}<|im_end|>\n<|im_start|>assistant\n"
    begun = f'<tool_call>\n{{"name": "{name}", "arguments":'
    assert model.ScriptedModel(qwen.form).completes(prompt + begun).text.startswith(' {"city": "Rome"')


@every_family
def test_it_writes_json_alone_where_its_engine_holds_it_to_that(family: Family) -> None:
    prompt = PromptRenderer(ChatTemplate(family.own_template())).render(asked(model.AS_JSON), [])
    writes = model.ScriptedModel(family.form).completes
    assert json.loads(writes(prompt, held=True).text) == model.RECORD
    assert family.form.reasoning is None or writes(prompt).text != writes(prompt, held=True).text


def test_it_goes_on_with_a_call_that_the_prompt_has_begun_in_another_way_than_its_own() -> None:
    (gpt,) = (family for family in families() if family.name == "gpt_oss")
    turn = f"{model.RECORDED}<|end|><|start|>assistant"
    begun = " to=functions.get_weather<|channel|>commentary json<|message|>"
    writes = model.ScriptedModel(gpt.form, gpt.in_history).completes
    assert writes(turn + begun).text == '{"city": "Rome", "days": 3}<|call|>'
    assert writes(turn).text.startswith("<|channel|>analysis")


def test_it_says_no_words_in_a_call_that_the_prompt_has_begun() -> None:
    (qwen,) = (family for family in families() if family.name == "qwen3")
    writes = model.ScriptedModel(qwen.form).completes
    assert model.WORDS in writes(f"{model.WORDY}<|im_end|>\n<|im_start|>assistant\n").text
    prompt = f'{model.WORDY}<|im_end|>\n<|im_start|>assistant\n<tool_call>\n{{"name":'
    assert writes(prompt).text.startswith(' "get_weather"')


@pytest.mark.parametrize("name", FAMILIES)
def test_the_chat_template_of_our_own_begins_the_call_of_any_tool(name: str) -> None:
    family = next(family for family in families() if family.name == name)
    recorder = [{"type": "function", "function": {"name": "WeatherRecord", "parameters": {}}}]
    body = json.dumps({"messages": asked(model.RECORDED), "tools": recorder, "tool_choice": "required"}).encode()
    beginnings = Beginnings(PromptRenderer(ChatTemplate(family.own_template())), load_response_template(name))
    begun = beginnings.of(read_request(body, most_choices=1))
    assert "WeatherRecord" in begun.begun
    text = begun.begun + model.ScriptedModel(family.form).completes(begun.prompt).text
    parsed = parse_response(text, name, prefix=begun.prefix, tools=recorder)
    assert isinstance(parsed, dict)
    assert parsed["tool_calls"][0]["function"]["arguments"] == model.RECORD
