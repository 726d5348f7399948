"""Events as chunks: what a client puts together is the message, whatever the cuts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from streamparse.adapters.openai import ChatCompletionChunks, chat_completion
from tests.adapters.openai.messages import accumulated, chunked, comparable, parsed
from tests.properties.outcomes import loaded
from tests.properties.policies import familiar_samples, lenient_samples
from tests.properties.templates import TOOLS, Sample
from tests.properties.texts import prefixes, texts
from tests.template.test_bundled import SAMPLES
from tests.template.test_bundled import Sample as Written

BOTH = pytest.mark.parametrize("deltas", [True, False], ids=["deltas", "whole calls"])


def pieces_of(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


@BOTH
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.template}: {sample.what}")
def test_a_client_puts_together_the_message(sample: Written, deltas: bool) -> None:
    for pieces in ([sample.text], pieces_of(sample.text, 1), pieces_of(sample.text, 7)):
        message, events = parsed(sample.template, pieces, sample.prefix, deltas=deltas)
        chunks = chunked(sample.template, events)
        assert comparable(accumulated(chunks)) == comparable(message)
        assert comparable(chat_completion(chunks)["choices"][0]["message"]) == comparable(message)
        for chunk in chunks:
            ChatCompletionChunk.model_validate(chunk, strict=True)
        ChatCompletion.model_validate(chat_completion(chunks), strict=True)


@BOTH
@pytest.mark.parametrize("errors", ["report", "repair"])
@settings(max_examples=50)
@given(data=st.data())
def test_whatever_a_model_writes_the_message_is_in_what_a_client_gets(
    errors: str, deltas: bool, data: st.DataObject
) -> None:
    sample: Sample = data.draw(familiar_samples(), "template")
    text, prefix = data.draw(texts(sample), "text"), data.draw(prefixes(sample), "prefix")
    together = []
    for pieces in ([text], list(text)):
        message, events = parsed(sample.template, pieces, prefix, errors=errors, deltas=deltas, tools=TOOLS)
        got = accumulated(chunked(sample.template, events))
        together.append(
            [(call["function"]["name"], call["function"]["arguments"]) for call in got.get("tool_calls", [])]
        )
        calls = [call for call in got.get("tool_calls", []) if is_json(call["function"]["arguments"])]
        read = comparable({**got, "tool_calls": calls})
        expected = comparable(message)
        for name, arguments in expected.get("calls", []):
            assert [name, arguments] in read["calls"]
        if not deltas:
            assert read.get("calls") == expected.get("calls"), "a call that is malformed"
            assert len(calls) == len(got.get("tool_calls", []))
        if not any(event["type"] == "region_malformed" for event in events):
            assert read == expected
    assert together[0] == together[1], "the cuts show"


@settings(max_examples=50)
@given(data=st.data())
def test_whatever_a_template_says_what_goes_out_is_valid_and_the_same_for_all_cuts(data: st.DataObject) -> None:
    sample: Sample = data.draw(lenient_samples(), "template")
    template = loaded(sample.template)
    text = data.draw(texts(sample), "text")
    deltas, repair = data.draw(st.booleans(), "deltas"), data.draw(st.booleans(), "repair")
    together = []
    for pieces in ([text], list(text)):
        _, events = parsed(template, pieces, deltas=deltas, errors="repair" if repair else "report", tools=TOOLS)
        chunks = chunked(template, events)
        for chunk in chunks:
            ChatCompletionChunk.model_validate(chunk, strict=True)
        message = chat_completion(chunks)["choices"][0]["message"]
        for call in message.get("tool_calls", []):
            call["id"] = ""
        together.append(message)
    assert together[0] == together[1], "the cuts show"


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def chunks_of(template: str, text: str, **options: Any) -> list[dict[str, Any]]:
    _, events = parsed(template, list(text), deltas=True, **options)
    return chunked(template, events)


def deltas_of(template: str, text: str, **options: Any) -> list[dict[str, Any]]:
    return [chunk["choices"][0]["delta"] for chunk in chunks_of(template, text, **options)]


def test_the_role_comes_first_and_the_finish_reason_last() -> None:
    _, events = parsed("qwen3", ["Hi"])
    chunks = chunked("qwen3", events, model="m", id="chatcmpl-1", created=7)
    choices = [chunk["choices"][0] for chunk in chunks]
    assert choices[0]["delta"] == {"role": "assistant", "content": None}
    assert [choice["finish_reason"] for choice in choices] == [None, None, "stop"]
    assert choices[-1]["delta"] == {}
    assert {(chunk["id"], chunk["object"], chunk["created"], chunk["model"]) for chunk in chunks} == {
        ("chatcmpl-1", "chat.completion.chunk", 7, "m")
    }


def test_text_goes_out_as_it_comes_without_the_white_space_at_its_ends() -> None:
    text = "<think>\nHm,  so.\n</think>\n\n One \n\n<tool_call>\n"
    call = '{"name": "f", "arguments": {}}\n</tool_call>\n\n'
    deltas = deltas_of("qwen3", f"{text}{call}Two.\n<|im_end|>")
    assert [delta for delta in deltas if "content" in delta][1:5] == [
        {"content": "O"},
        {"content": "n"},
        {"content": "e"},
        {"content": "\n\nT"},
    ]
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == "Hm,  so."


def test_a_call_is_announced_with_an_id_and_its_name_as_soon_as_that_is_known() -> None:
    deltas = deltas_of("qwen3", '<tool_call>{"name": "weather", "arguments": {"city": "Rome"')
    entry = deltas[1]["tool_calls"][0]
    assert entry == {
        "index": 0,
        "id": entry["id"],
        "type": "function",
        "function": {"name": "weather", "arguments": ""},
    }
    assert len(entry["id"]) == 9
    assert entry["id"].isalnum()
    rest = [delta["tool_calls"][0] for delta in deltas[2:-1]]
    assert all(entry.keys() == {"index", "function"} and entry["function"].keys() == {"arguments"} for entry in rest)
    assert "".join(entry["function"]["arguments"] for entry in rest) == '{"city":"Rome",]'


def test_the_id_that_a_model_writes_is_kept() -> None:
    text = '<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"x": 1}<|tool_call_end|>'
    assert deltas_of("kimi_k2", text)[1]["tool_calls"][0]["id"] == "functions.f:0"


def arguments_sent(template: str, text: str, **options: Any) -> list[str]:
    message = accumulated(chunks_of(template, text, **options))
    return [call["function"]["arguments"] for call in message.get("tool_calls", [])]


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ('{"name": "f", "arguments": {"a": 1,}}', '{"a":1,]'),
        ('{"name": "f", "arguments": {"a": {"b": {}}}', '{"a":{"b":{}},]'),  # the call's own brace is missing
        ('{"name": "f", "arguments": {}} and more', "{]"),
        ('{"name": "f", oops', "{]"),
    ],
)
def test_the_arguments_of_a_malformed_call_never_become_json(written: str, sent: str) -> None:
    assert arguments_sent("qwen3", f"<tool_call>{written}</tool_call>") == [sent]
    assert not is_json(sent)


def test_a_call_that_is_cut_off_ends_with_length() -> None:
    _, events = parsed(
        "qwen3", ['<tool_call>{"name": "f", "arguments": {"a": 1}}'], deltas=True, finish_reason="length"
    )
    chunks = chunked("qwen3", events)
    assert chunks[-1]["choices"][0]["finish_reason"] == "length"
    assert not is_json(accumulated(chunks)["tool_calls"][0]["function"]["arguments"])


def test_a_malformed_call_that_was_not_announced_is_content_and_none() -> None:
    written = '\n{"f": "weather"}\n'
    _, events = parsed("qwen3", [f"Look: <tool_call>{written}</tool_call> Sorry."], deltas=True)
    chunks = chunked("qwen3", events)
    assert accumulated(chunks)["content"] == f"Look:\n\n<tool_call>{written}</tool_call>\n\nSorry."
    assert chunks[-1]["choices"][0]["finish_reason"] == "length"
    (problem,) = chunks[-1]["choices"][0]["streamparse"]["problems"]
    assert problem["text"] == written
    assert problem["error"].endswith("the call has no name")


@pytest.mark.parametrize(
    ("template", "text", "content"),
    [
        ("qwen3", '<tool_call>{"name": "f", "arguments": {"a": 1,}}</tool_call>', None),
        ("qwen3", '<tool_call>{"name": "f", "arguments": {"a": 1', None),
        ("qwen3_5", "<tool_call>\n<function=f>\n<parameter=a>\n1\n</function>\n</tool_call>", None),
        ("mistral", '[TOOL_CALLS]f[ARGS]{"a": 1,}', None),
        ("gpt_oss", '<|channel|>commentary to=functions.f <|message|>{"a": 1,}<|call|>', None),
        ("deepseek_v31", '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": 1', None),
        (
            "hunyuan_a13b",
            '<tool_calls>[{"name": "f", "arguments": 5}, {"name": "g", "arguments": {}}]</tool_calls>',
            '<tool_calls>{"name": "f", "arguments": 5}</tool_calls>',
        ),
    ],
)
def test_a_whole_answer_shows_a_malformed_call_with_its_markup_and_name(
    template: str, text: str, content: str | None
) -> None:
    _, events = parsed(template, list(text), deltas=True)
    choice = chat_completion(chunked(template, events, whole_calls=True))["choices"][0]
    shown = choice["message"]["content"]
    assert (text if content is None else content) in shown or shown in text
    assert "f" in shown
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(shown)
    calls = [call["function"]["name"] for call in choice["message"].get("tool_calls", [])]
    assert (calls, choice["finish_reason"]) == ((["g"], "tool_calls") if content else ([], "length"))


@pytest.mark.parametrize("whole_calls", [True, False])
def test_only_a_well_formed_call_ends_with_tool_calls(whole_calls: bool) -> None:
    good = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    bad = good.replace("{}", '{"a": 1,}')
    for text, expected in [(good, "tool_calls"), (bad, "length"), (bad + good, "tool_calls"), ("Hi", "stop")]:
        _, events = parsed("qwen3", list(text), deltas=True)
        chunks = chunked("qwen3", events, whole_calls=whole_calls)
        assert chunks[-1]["choices"][0]["finish_reason"] == expected


def test_whole_calls_go_out_in_one_piece_when_they_are_well_formed() -> None:
    text = '<tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call><tool_call>{"name": "g", "arguments": {"y": '
    _, events = parsed("qwen3", list(text), deltas=True)
    entries = [
        entry
        for chunk in chunked("qwen3", events, whole_calls=True)
        for entry in chunk["choices"][0]["delta"].get("tool_calls", [])
    ]
    assert [entry["function"] for entry in entries] == [{"name": "f", "arguments": '{"x":1}'}]


def test_in_a_list_of_calls_the_malformed_one_alone_is_spoiled() -> None:
    listed = '<tool_calls>[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {"b": 2'
    assert arguments_sent("hunyuan_a13b", listed) == ['{"a":1}', '{"b":]']
    broken = '<tool_calls>[{"name": "f", "arguments": {}}, {"name": "g", "arguments": 5}]</tool_calls>'
    assert arguments_sent("hunyuan_a13b", broken) == ["{}", "{]"]
    behind = broken.replace("]<", ', {"name": "g", "arguments": {"c": 3}}]<')
    assert arguments_sent("hunyuan_a13b", behind) == ["{}", "{]", '{"c":3}']


def test_well_formed_calls_end_with_tool_calls_and_the_finish_reason_of_the_engine_else() -> None:
    call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    for text, reason, expected in [
        (call, "stop", "tool_calls"),
        (call, None, "tool_calls"),
        ("Hi", "stop", "stop"),
        ("Hi", "length", "length"),
        ("Hi", "content_filter", "content_filter"),
        ("Hi", "eos_token", "stop"),
    ]:
        _, events = parsed("qwen3", [text], finish_reason=reason)
        assert chunked("qwen3", events)[-1]["choices"][0]["finish_reason"] == expected


def test_the_usage_comes_in_a_chunk_of_its_own_when_asked_for() -> None:
    _, events = parsed("qwen3", ["Hi"])
    machine = ChatCompletionChunks("qwen3", include_usage=True)
    chunks = [chunk for event in events for chunk in machine.feed(event)]
    assert all(chunk["usage"] is None for chunk in chunks)
    usage = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
    last = machine.usage_chunk(usage)
    assert (last["choices"], last["usage"]) == ([], usage)
    assert chat_completion([*chunks, last])["usage"] == usage


def test_events_without_a_message_are_finished_by_hand_and_only_once() -> None:
    machine = ChatCompletionChunks("qwen3")
    assert [chunk["choices"][0]["finish_reason"] for chunk in machine.finish("length")] == [None, "length"]
    assert machine.finish() == []


def test_several_choices_are_several_machines() -> None:
    chunks = []
    for index, text in enumerate(["Hi", "Hello"]):
        _, events = parsed("qwen3", [text])
        chunks += chunked("qwen3", events, id="chatcmpl-1", created=0, index=index)
    choices = chat_completion(chunks)["choices"]
    assert [(choice["index"], choice["message"]["content"]) for choice in choices] == [(0, "Hi"), (1, "Hello")]


TEMPLATE: dict[str, Any] = {
    "start_anchor": "@",
    "fields": {
        "thinking": {"open": "<t>", "close": "</t>", "content_args": {"strip": False}},
        "plan": {"open": "<p>", "close": "</p>"},
        "score": {"open": "<s>", "close": "</s>", "content": "float"},
        "content": {},
    },
}


def test_other_fields_of_text_go_out_under_their_own_names_and_reasoning_under_one() -> None:
    message, events = parsed(TEMPLATE, list("<t> Hm. </t><p> Go. </p><s>0.5</s>Hi"))
    assert accumulated(chunked(TEMPLATE, events)) == {
        "role": "assistant",
        "reasoning_content": " Hm. ",
        "plan": "Go.",
        "content": "Hi",
    }
    assert message["score"] == 0.5


def test_content_that_is_parsed_goes_out_when_it_is() -> None:
    template = {"start_anchor": "@", "fields": {"content": {"content": "json"}}}
    _, events = parsed(template, ['{"a": [1, ', "2]}"])
    assert accumulated(chunked(template, events))["content"] == '{"a":[1,2]}'
