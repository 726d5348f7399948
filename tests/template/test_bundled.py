"""The bundled templates read what their models write, with streamparse and with transformers alike."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from transformers.utils import chat_parsing as reference

from streamparse import ResponseParser, get_response_template, parse_response, response_template_names
from streamparse.template.bundled import bundled_source
from streamparse.template.policy import EXTENSION_KEY

CHATML = "<|im_start|>user\nWeather in Paris and Rome?<|im_end|>\n<|im_start|>assistant\n"
HARMONY = "<|start|>user<|message|>Weather?<|end|><|start|>assistant"
COMMAND = "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>Weather?<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>"
GEMMA = "<bos><|turn>user\nWeather?<turn|>\n<|turn>model\n"


class Sample(NamedTuple):
    """What a model of a family writes after a prompt, and the message it stands for."""

    template: str
    what: str
    prefix: str
    text: str
    message: dict[str, Any]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


SAMPLES = [
    Sample(
        "qwen3",
        "reasoning, text and two calls",
        CHATML,
        "<think>\nTwo cities.\n</think>\n\nI will look.\n"
        '<tool_call>\n{"name": "weather", "arguments": {"city": "Paris"}}\n</tool_call>\n'
        '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome", "days": 2}}\n</tool_call><|im_end|>\n',
        {
            "reasoning_content": "Two cities.",
            "content": "I will look.",
            "tool_calls": [call("weather", city="Paris"), call("weather", city="Rome", days=2)],
        },
    ),
    Sample(
        "qwen3",
        "thinking switched off by the prompt",
        CHATML + "<think>\n\n</think>\n\n",
        "Sunny.<|im_end|>\n<|endoftext|>",
        {"content": "Sunny."},
    ),
    Sample(
        "qwen3",
        "thinking opened by the prompt",
        CHATML + "<think>\n",
        "Easy.\n</think>\n\nSunny,\nall day.<|im_end|>",
        {"reasoning_content": "Easy.", "content": "Sunny,\nall day."},
    ),
    Sample(
        "qwen3",
        "text before and after a call",
        CHATML,
        'First.\n<tool_call>{"name": "weather", "arguments": {}}</tool_call>\nThen.<|im_end|>',
        {"content": "First.\n\nThen.", "tool_calls": [call("weather")]},
    ),
    Sample(
        "qwen3_5",
        "tagged arguments keep their lines and indentation",
        CHATML + "<think>\n",
        "Write it.\n</think>\n\n<tool_call>\n<function=write-file>\n<parameter=path>\na.py\n</parameter>\n"
        "<parameter=text>\n    if x:\n        y\n\n</parameter>\n</function>\n</tool_call><|im_end|>\n",
        {
            "reasoning_content": "Write it.",
            "tool_calls": [call("write-file", path="a.py", text="    if x:\n        y\n")],
        },
    ),
    Sample(
        "qwen3_5",
        "two calls, one without arguments, one quoting the markup",
        CHATML + "<think>\n\n</think>\n\n",
        "Now:\n\n<tool_call>\n<function=now>\n</function>\n</tool_call>\n<tool_call>\n<function=say>\n<parameter=text>\n"
        "End with </function> or </tool_call>.\n</parameter>\n</function>\n</tool_call><|im_end|>\n",
        {"content": "Now:", "tool_calls": [call("now"), call("say", text="End with </function> or </tool_call>.")]},
    ),
    Sample(
        "gpt_oss",
        "reasoning, a word to the user, and the recipient in the channel's header",
        HARMONY,
        "<|channel|>analysis<|message|>Need the tool.<|end|>"
        "<|start|>assistant<|channel|>commentary<|message|>I will look.<|end|>"
        "<|start|>assistant<|channel|>commentary to=functions.weather <|constrain|>json<|message|>"
        '{"city": "Paris"}<|call|>',
        {
            "reasoning_content": "Need the tool.",
            "content": "I will look.",
            "tool_calls": [call("weather", city="Paris")],
        },
    ),
    Sample(
        "gpt_oss",
        "the recipient in the role's header",
        HARMONY,
        ' to=functions.weather<|channel|>commentary <|constrain|>json<|message|>{"city": "Paris"}<|call|>',
        {"tool_calls": [call("weather", city="Paris")]},
    ),
    Sample(
        "gpt_oss",
        "two rounds of reasoning, then the answer",
        HARMONY,
        "<|channel|>analysis<|message|>One.<|end|><|start|>assistant<|channel|>analysis<|message|>Two.<|end|>"
        "<|start|>assistant<|channel|>final<|message|>Sunny.<|return|>",
        {"reasoning_content": "One.\n\nTwo.", "content": "Sunny."},
    ),
    Sample(
        "gpt_oss",
        "an answer in a declared format",
        HARMONY,
        '<|channel|>final <|constrain|>json<|message|>{"sunny": true}<|return|>',
        {"content": '{"sunny": true}'},
    ),
    Sample(
        "cohere2",
        "reasoning and a list of calls",
        COMMAND,
        "<|START_THINKING|>Look it up.<|END_THINKING|><|START_ACTION|>[\n"
        '    {"tool_call_id": "0", "tool_name": "weather", "parameters": {"city": "Paris"}},\n'
        '    {"tool_call_id": "1", "tool_name": "weather", "parameters": {"city": "Rome"}}\n'
        "]<|END_ACTION|><|END_OF_TURN_TOKEN|>",
        {
            "reasoning_content": "Look it up.",
            "tool_calls": [call("weather", city="Paris"), call("weather", city="Rome")],
        },
    ),
    Sample(
        "cohere2",
        "an answer between its marks",
        COMMAND + "<|START_THINKING|><|END_THINKING|>",
        "<|START_RESPONSE|>Sunny.<|END_RESPONSE|><|END_OF_TURN_TOKEN|>",
        {"content": "Sunny."},
    ),
    Sample("cohere2", "an answer without marks", COMMAND, "Sunny.<|END_OF_TURN_TOKEN|>", {"content": "Sunny."}),
    Sample(
        "gemma4",
        "reasoning and two calls",
        GEMMA,
        "<|channel>thought\nLook it up.\n<channel|>"
        '<|tool_call>call:weather{city:<|"|>Paris<|"|>,days:2}<tool_call|>'
        '<|tool_call>call:mcp:read-file{path:<|"|>a {b}<|"|>,raw:true}<tool_call|><|tool_response>',
        {
            "reasoning_content": "Look it up.",
            "tool_calls": [call("weather", city="Paris", days=2), call("mcp:read-file", path="a {b}", raw=True)],
        },
    ),
    Sample(
        "gemma4",
        "the answer after a tool's result, in the same turn",
        GEMMA + '<|tool_call>call:now{}<tool_call|><|tool_response>response:now{value:<|"|>9<|"|>}<tool_response|>',
        "It is nine.<turn|>\n",
        {"content": "It is nine."},
    ),
    Sample(
        "gemma4",
        "thinking switched off by the prompt",
        GEMMA + "<|channel>thought\n<channel|>",
        "Sunny.<turn|>",
        {"content": "Sunny."},
    ),
    Sample(
        "smollm3",
        "reasoning, text and a call",
        CHATML,
        "<think>\nLook it up.\n</think>\nI will look.\n"
        '<tool_call>\n{"name": "weather", "arguments": {"city": "Paris"}}\n</tool_call><|im_end|>\n',
        {"reasoning_content": "Look it up.", "content": "I will look.", "tool_calls": [call("weather", city="Paris")]},
    ),
]

samples = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.template}: {sample.what}")
templates = pytest.mark.parametrize("name", response_template_names())


def in_version_1(name: str) -> dict[str, Any]:
    """The template without what only streamparse knows."""
    return {key: value for key, value in bundled_source(name).items() if key != EXTENSION_KEY}


@samples
@pytest.mark.parametrize("errors", ["strict", "report", "repair"])
@pytest.mark.parametrize("size", [1, 1_000_000], ids=["by character", "whole"])
def test_text_becomes_the_message(sample: Sample, errors: Any, size: int) -> None:
    parser = ResponseParser(sample.template, prefix=sample.prefix, errors=errors)
    for start in range(0, len(sample.text), size):
        parser.feed(sample.text[start : start + size])
    message, _ = parser.finalize()
    for made in message.get("tool_calls", []):
        made.pop("id", None)  # the lenient modes keep ids that version 1 has no words for; see tests/field
    assert message == {"role": "assistant", **sample.message}
    assert parser.problems == []


def test_a_header_whose_end_never_comes_does_not_run_into_the_next_message() -> None:
    text = "<|channel|>commentary to=functions.f<|end|><|start|>assistant<|channel|>final<|message|>Sorry.<|return|>"
    message = parse_response(text, "gpt_oss", prefix=HARMONY)
    assert message["content"] == "Sorry."
    assert "tool_calls" not in message


@samples
def test_transformers_reads_the_same_message_with_the_same_template(sample: Sample) -> None:
    message = reference.parse_response(sample.text, in_version_1(sample.template), prefix=sample.prefix)
    assert message == {"role": "assistant", **sample.message}


@templates
def test_a_bundled_template_gives_no_warning(name: str) -> None:
    assert get_response_template(name).warnings == ()


@templates
def test_transformers_loads_every_bundled_template(name: str) -> None:
    assert reference.parse_response("", in_version_1(name), prefix="") == bundled_source(name).get("defaults", {})


@templates
def test_reasoning_goes_where_chat_templates_read_it_back(name: str) -> None:
    assert set(bundled_source(name)["fields"]) <= {"reasoning_content", "tool_calls", "content"}
