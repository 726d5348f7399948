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
    Sample(
        "kimi_k3",
        "reasoning that the prompt opened, an answer and a call whose tags name types",
        '<|open|>message role="assistant"<|sep|><|open|>think<|sep|>',
        "Look.<|close|>think<|sep|><|open|>response<|sep|>One moment.<|close|>response<|sep|><|open|>tools<|sep|>"
        '<|open|>call tool="read" index="1"<|sep|><|open|>argument key="path" type="string"<|sep|>/a "b"'
        '<|close|>argument<|sep|><|open|>argument key="lines" type="array"<|sep|>[1, 2]<|close|>argument<|sep|>'
        "<|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|><|end_of_msg|>",
        {
            "reasoning_content": "Look.",
            "content": "One moment.",
            "tool_calls": [call("read", path='/a "b"', lines=[1, 2])],
        },
    ),
    Sample(
        "deepseek_v41",
        "marks with a blank, two calls",
        "<｜User｜>Weather?<｜Assistant｜><think>",
        "Look.</think>One moment.\n\n<｜DSML｜ calls>\n"
        '<｜DSML｜ invoke name="weather">\n<｜DSML｜ parameter name="city" string="true">Paris</｜DSML｜ parameter>\n'
        '<｜DSML｜ parameter name="days" string="false">[1, 2]</｜DSML｜ parameter>\n</｜DSML｜ invoke>\n'
        '<｜DSML｜ invoke name="now">\n</｜DSML｜ invoke>\n</｜DSML｜ calls><｜end▁of▁sentence｜>',
        {
            "reasoning_content": "Look.",
            "content": "One moment.",
            "tool_calls": [call("weather", city="Paris", days=[1, 2]), call("now")],
        },
    ),
    Sample(
        "functiongemma",
        "a list and a number beside a text",
        "<start_of_turn>user\nMove them.<end_of_turn>\n<start_of_turn>model\n",
        "<start_function_call>call:move{to:<escape>A {b}, c<escape>,kinds:[<escape>pdf<escape>],size:100}"
        "<end_function_call><start_function_response>",
        {"tool_calls": [call("move", to="A {b}, c", kinds=["pdf"], size=100)]},
    ),
    Sample(
        "functiongemma",
        "the answer behind a result",
        "<start_of_turn>model\n<start_function_call>call:now{}<end_function_call><start_function_response>"
        "response:now{value:<escape>9<escape>}<end_function_response>",
        "It is nine.<end_of_turn>\n",
        {"content": "It is nine."},
    ),
    Sample(
        "hy_v3",
        "two calls in one section",
        "<｜hy_User:opensource｜>Weather?<｜hy_Assistant:opensource｜><think:opensource>",
        "Look.</think:opensource>One moment.<tool_calls:opensource>\n"
        "<tool_call:opensource>weather<tool_sep:opensource>\n<arg_key:opensource>city</arg_key:opensource>\n"
        "<arg_value:opensource>Paris</arg_value:opensource>\n</tool_call:opensource>\n"
        "<tool_call:opensource>now<tool_sep:opensource>\n</tool_call:opensource>\n"
        "</tool_calls:opensource><｜hy_eos:opensource｜>",
        {
            "reasoning_content": "Look.",
            "content": "One moment.",
            "tool_calls": [call("weather", city="Paris"), call("now")],
        },
    ),
    Sample(
        "hy_v4",
        "a call without arguments before one with",
        "<｜hy_User｜>Weather?<｜hy_Assistant｜>",
        "<think>Look.</think><tool_calls><tool_call>now</tool_call><tool_call>weather<arg_key>city</arg_key>"
        "<arg_value>Paris</arg_value></tool_call></tool_calls><｜hy_eos｜>",
        {"reasoning_content": "Look.", "tool_calls": [call("now"), call("weather", city="Paris")]},
    ),
    Sample(
        "gigachat3",
        "an answer and a call behind its mark",
        "user<|role_sep|>\nWeather?<|message_sep|>\n\nassistant<|role_sep|>\n",
        'One moment.<|function_call|>{"name": "weather", "arguments": {"city": "Paris"}}<|message_sep|>\n\n',
        {"content": "One moment.", "tool_calls": [call("weather", city="Paris")]},
    ),
    Sample(
        "gigachat3",
        "a call in a turn of its own",
        "user<|role_sep|>\nWeather?<|message_sep|>\n\nassistant<|role_sep|>\n",
        "One moment.<|message_sep|>\n\nfunction call<|role_sep|>\n"
        '{"name": "weather", "arguments": {"city": "Paris"}}<|message_sep|>\n\n',
        {"content": "One moment.", "tool_calls": [call("weather", city="Paris")]},
    ),
    Sample(
        "jamba",
        "text and a list of calls",
        "<|bom|><|user|> Weather?<|eom|><|bom|><|assistant|>",
        ' One moment. <tool_calls>[\n{"name": "weather", "arguments": {"city": "Paris"}},\n'
        '{"name": "now", "arguments": {}}\n]</tool_calls><|eom|>',
        {"content": "One moment.", "tool_calls": [call("weather", city="Paris"), call("now")]},
    ),
    Sample(
        "internlm2",
        "text and a call",
        CHATML,
        'One moment.<|action_start|><|plugin|>\n{"name": "weather", "arguments": {"city": "Paris"}}<|action_end|>'
        "<|im_end|>\n",
        {"content": "One moment.", "tool_calls": [call("weather", city="Paris")]},
    ),
    Sample(
        "intern_s1",
        "reasoning and two calls",
        CHATML,
        '<think>Look.</think>\n<|action_start|> <|plugin|>\n{"name": "weather", "parameters": {"city": "Paris"}}'
        '<|action_end|>\n<|action_start|> <|plugin|>\n{"name": "now", "parameters": {}}<|action_end|><|im_end|>',
        {"reasoning_content": "Look.", "tool_calls": [call("weather", city="Paris"), call("now")]},
    ),
    Sample(
        "mimo",
        "values are what stands between their tags",
        CHATML + "<think>",
        "Write.</think><tool_call>\n<function=write>\n<parameter=path>a.py</parameter>\n"
        "<parameter=text>\n  x\n</parameter>\n</function>\n</tool_call><|im_end|>",
        {"reasoning_content": "Write.", "tool_calls": [call("write", path="a.py", text="\n  x\n")]},
    ),
    Sample(
        "longcat",
        "reasoning that the prompt opened, and two calls",
        "[Round 0] USER:Weather? /think_on ASSISTANT:<longcat_think>\n",
        "Look.\n</longcat_think>\nOne moment.<longcat_tool_call>weather\n<longcat_arg_key>city</longcat_arg_key>\n"
        "<longcat_arg_value>Paris</longcat_arg_value>\n</longcat_tool_call>\n"
        "<longcat_tool_call>now\n</longcat_tool_call></longcat_s>",
        {
            "reasoning_content": "Look.",
            "content": "One moment.",
            "tool_calls": [call("weather", city="Paris"), call("now")],
        },
    ),
    Sample(
        "plamo3",
        "reasoning, text and two calls",
        "user<|plamo:msg|>Weather?<|plamo:tag|>assistant<|plamo:msg|>",
        "<|plamo:begin_think:plamo|>Look.<|plamo:end_think:plamo|>One moment.<|plamo:begin_tool_requests:plamo|>"
        "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>weather<|plamo:end_tool_name:plamo|>"
        '<|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{"city": "Paris"}'
        "<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>"
        "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>now<|plamo:end_tool_name:plamo|>"
        "<|plamo:begin_tool_arguments:plamo|><|plamo:msg|>{}<|plamo:end_tool_arguments:plamo|>"
        "<|plamo:end_tool_request:plamo|><|plamo:end_tool_requests:plamo|><|plamo:tag|>",
        {
            "reasoning_content": "Look.",
            "content": "One moment.",
            "tool_calls": [call("weather", city="Paris"), call("now")],
        },
    ),
    Sample(
        "inkling",
        "messages of three kinds",
        "<|message_user|><|content_text|>Weather?<|end_message|><|message_model|>",
        "<|content_thinking|>Look.<|end_message|><|message_model|><|content_text|>One moment.<|end_message|>"
        '<|message_model|>weather<|content_invoke_tool_json|>{"name":"weather","args":{"city":"Paris"}}<|end_message|>'
        "<|content_model_end_sampling|>",
        {
            "reasoning_content": "Look.",
            "content": "One moment.",
            "tool_calls": [call("weather", city="Paris")],
        },
    ),
    Sample(
        "muse_glimmer",
        "reasoning, a word to the user and a call",
        "<|start|>user<|message|>Weather?<|eot|><|start|>assistant",
        " to=self<|message|>Look.<|eom|><|start|>assistant to=user<|message|>One moment.<|eom|>"
        '<|start|>assistant to=weather<|message|><atem:function_calls>\n<atem:invoke name="weather">\n'
        '<atem:parameter name="city">Paris</atem:parameter>\n<atem:parameter name="days">2</atem:parameter>\n'
        "</atem:invoke>\n</atem:function_calls><|eot|>",
        {
            "reasoning_content": "Look.",
            "content": "One moment.",
            "tool_calls": [call("weather", city="Paris", days=2)],
        },
    ),
    Sample(
        "solar_open",
        "reasoning, then an answer",
        "<|begin|>user<|content|>Weather?<|end|><|begin|>assistant",
        "<|think|>Look.<|end|><|begin|>assistant<|content|>Sunny.<|end|>",
        {"reasoning_content": "Look.", "content": "Sunny."},
    ),
    Sample(
        "xlam",
        "a list of calls",
        CHATML,
        '[{"name": "weather", "arguments": {"city": "Paris"}}, {"name": "now", "arguments": {}}]<|im_end|>',
        {"tool_calls": [call("weather", city="Paris"), call("now")]},
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


@pytest.mark.parametrize("errors", ["strict", "report", "repair"])
def test_a_call_of_muse_runs_only_behind_the_header_of_a_tool(errors: Any) -> None:
    call_of = '<atem:function_calls>\n<atem:invoke name="f">\n</atem:invoke>\n</atem:function_calls>'
    for header, field in ((" to=user<|message|>", "content"), (" to=self<|message|>", "reasoning_content")):
        text = f"{header}{call_of}\nis how.<|eot|>"
        message = parse_response(text, "muse_glimmer", prefix="<|start|>assistant", errors=errors)
        message[field] = message[field].lstrip() if errors != "strict" else message[field]
        assert message == {"role": "assistant", field: f"{call_of}\nis how." if errors == "strict" else "is how."}


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
