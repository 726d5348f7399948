"""What public fault reports describe without one right message: what must be seen, and what must never be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from streamparse import ResponseParser, get_response_template
from streamparse.errors import SourceError
from streamparse.tokens.needed import refuse_dropped_tokens
from tests.field.forms import CHATML, DEEPSEEK, FORMS, Form
from tests.field.reading import SIZES, WHOLE, call, message_of, shape
from tests.properties.time_limit import ended_in_time

Event = dict[str, Any]


def events_of(family: str, text: str, size: int = 1, prefix: str = "", **options: Any) -> tuple[Event, list[Event]]:
    """The message, and the events of all of it."""
    finish_reason = options.pop("finish_reason", None)
    parser = ResponseParser(family, prefix, errors=options.pop("errors", "repair"), **options)
    events = list(parser.initial_events)
    for at in range(0, len(text), size):
        events += parser.feed(text[at : at + size])
    message, last = parser.finalize(finish_reason)
    return message, [*events, *last]


def closes(events: list[Event], field: str) -> list[Event]:
    return [event for event in events if event["type"] == "region_close" and event["field"] == field]


@pytest.mark.parametrize("finish_reason", ["stop", "length", None])
def test_reasoning_that_ended_without_its_close_says_so(finish_reason: str | None) -> None:
    message, events = events_of(
        "qwen3", "The capital is Paris.", prefix=CHATML + "<think>\n", finish_reason=finish_reason
    )
    assert shape(message) == {"reasoning_content": "The capital is Paris."}
    assert closes(events, "reasoning_content")[0]["unclosed"] is True
    _, events = events_of("qwen3", "Hm.</think>Hi", prefix=CHATML + "<think>\n")
    assert all("unclosed" not in event for event in events), "closed reasoning, and an answer that just ends"


def tokenizer_of(text: str, *tokens: str) -> Tokenizer:
    """A tokenizer that has the tokens as such, and every other text byte by byte."""
    alphabet = {character: number for number, character in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(vocab=alphabet, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, normalized=False) for token in tokens])
    assert tokenizer.decode(tokenizer.encode(text).ids, skip_special_tokens=False) == text
    return tokenizer


def ids_of(tokenizer: Tokenizer, parts: list[tuple[str, bool]]) -> list[int]:
    """Ids for texts, each with whether it is one token."""
    ids: list[int] = []
    for text, is_token in parts:
        spelled = [tokenizer.encode(character).ids for character in text]
        ids += [tokenizer.token_to_id(text)] if is_token else [number for numbers in spelled for number in numbers]
    return ids


QUOTED_TOKENS = [
    (
        "qwen3",
        CHATML + "<think>\n",
        ("</think>", "<tool_call>", "</tool_call>"),
        [("It looks for `</think>` there.\n", False), ("</think>", True), ("\n\nDone.", False)],
        {"reasoning_content": "It looks for `</think>` there.", "content": "Done."},
    ),
    (
        "deepseek_r1",
        DEEPSEEK + "<think>\n",
        ("<think>", "</think>"),
        [("</think> or <think>?", False), ("</think>", True), ("Neither </think>.", False)],
        {"reasoning_content": "</think> or <think>?", "content": "Neither </think>."},
    ),
    (
        "qwen3",
        CHATML,
        ("<tool_call>", "</tool_call>"),
        [
            ('<tool_call>{"name": "f", "arguments": {}}</tool_call>', False),
            ("<tool_call>", True),
            ('{"name": "g", "arguments": {"a": "</tool_call>"}}', False),
            ("</tool_call>", True),
        ],
        {
            "content": '<tool_call>{"name": "f", "arguments": {}}</tool_call>',
            "tool_calls": [call("g", a="</tool_call>")],
        },
    ),
]


@pytest.mark.parametrize(("family", "prefix", "tokens", "parts", "message"), QUOTED_TOKENS)
@pytest.mark.parametrize("size", [1, 3, WHOLE])
def test_only_the_token_itself_opens_and_closes(
    family: str, prefix: str, tokens: Any, parts: Any, message: Event, size: int
) -> None:
    text = "".join(part for part, _ in parts)
    tokenizer = tokenizer_of(text, *tokens)
    ids = ids_of(tokenizer, parts)
    parser = ResponseParser(family, prefix, errors="repair", tokenizer=tokenizer)
    for at in range(0, len(ids), size):
        parser.feed(ids[at : at + size])
    assert shape(parser.finalize()[0]) == message


def test_from_text_alone_a_quoted_close_closes_and_nothing_is_lost() -> None:
    text = "It looks for `</think>` there.\n</think>\n\nDone."
    message = message_of("qwen3", text, prefix=CHATML + "<think>\n", problems=1)
    assert message["reasoning_content"] == "It looks for `"
    assert message["content"] == "` there.\nDone."


def test_a_source_that_has_dropped_its_special_tokens_is_refused() -> None:
    tokenizer = tokenizer_of("", "<tool_call>", "</tool_call>")
    with pytest.raises(SourceError, match="skip_special_tokens=True drops '<tool_call>', '</tool_call>'"):
        refuse_dropped_tokens(get_response_template("qwen3").source, tokenizer)


@pytest.mark.parametrize("text", ["삼겹살 좋아요", "👩‍🚀 naïve", "<think>思考</think>好的"])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
def test_characters_that_arrive_byte_by_byte(text: str, size: int) -> None:
    data = text.encode()
    parser = ResponseParser("qwen3", "", errors="repair")
    events = [event for at in range(0, len(data), size) for event in parser.feed(data[at : at + size])]
    message, last = parser.finalize()
    assert all("\ufffd" not in event.get("text", "") for event in [*events, *last])
    assert message == ResponseParser("qwen3", "").finalize()[0] | message_of("qwen3", text)


# The calls of gpt-oss are messages, which can't be part of another one.
@pytest.mark.parametrize("form", [form for form in FORMS if form.family != "gpt_oss"], ids=str)
def test_with_calls_switched_off_their_markup_is_the_answer(form: Form) -> None:
    text = "For example: " + form.calls([("f", {"a": 1})]) + " end."
    if "3.2" in str(form):
        text = "all\n" + text
    message = message_of(form.family, text, prefix=form.prompt, without=["tool_calls"], problems=None)
    assert "tool_calls" not in message
    content = "".join(message["content"].split())
    if any(mark in text for mark in ("<|", "<｜", ">>>")):
        # the template's other marks, such as Llama's <|python_tag|>, still are no text
        assert all(part in content for part in ("Forexample:", "f", "end."))
    else:
        assert content == "".join(text.split())


@pytest.mark.parametrize(
    ("family", "bad", "good"),
    [
        (
            "qwen3_5",
            "<tool_call>\n<function=a>\n<parameter=p\nx\n</parameter>\n</function>\n</tool_call>",
            "<tool_call>\n<function=f>\n</function>\n</tool_call>",
        ),
        (
            "minimax_m2",
            '<minimax:tool_call><invoke name="a"><parameter name="p>x</parameter></invoke></minimax:tool_call>',
            '<minimax:tool_call><invoke name="f"></invoke></minimax:tool_call>',
        ),
        ("glm45", "<tool_call>a\n<arg_key>p</arg_key>\nx</arg_value>\n</tool_call>", "<tool_call>f\n</tool_call>"),
        ("qwen3", "<tool_call>{}</tool_call>", '<tool_call>{"name": "f"}</tool_call>'),
        ("qwen3", '<tool_call>{"name": "", "arguments": {}}</tool_call>', '<tool_call>{"name": "f"}</tool_call>'),
        ("qwen3", '<tool_call>{"name": "x", "arguments": {"a": }}</tool_call>', '<tool_call>{"name": "f"}</tool_call>'),
        ("qwen3", '<tool_call>{"name": "x", "arguments": [1]}</tool_call>', '<tool_call>{"name": "f"}</tool_call>'),
        (
            "kimi_k2",
            "<|tool_call_begin|>x:0<|tool_call_argument_begin|>nope<|tool_call_end|>",
            "<|tool_call_begin|>f:1<|tool_call_argument_begin|>{}<|tool_call_end|>",
        ),
        (
            "deepseek_v31",
            "<｜tool▁call▁begin｜>x<｜tool▁sep｜>nope<｜tool▁call▁end｜>",
            "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
        ),
        (
            "gpt_oss",
            "<|channel|>commentary to=functions.x<|message|>nope<|call|>",
            "<|start|>assistant<|channel|>commentary to=functions.f<|message|>{}<|call|>",
        ),
    ],
)
@pytest.mark.parametrize("errors", ["report", "repair"])
@pytest.mark.parametrize("size", SIZES)
def test_a_bad_call_is_reported_with_its_text_and_loses_no_other(
    family: str, bad: str, good: str, errors: str, size: int
) -> None:
    message, events = events_of(family, bad + "\n" + good, size, errors=errors)
    assert shape(message) == {"tool_calls": [call("f")]}
    malformed = [event for event in events if event["type"] == "region_malformed"]
    assert len(malformed) == 1
    assert malformed[0]["text"] in bad
    assert malformed[0]["error"]
    assert isinstance(malformed[0]["position"], int)


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("lfm2", "<|tool_call_start|>[g('Paris', unit='c'), f()]<|tool_call_end|>"),
        ("lfm2", "<|tool_call_start|>[f(), g('Paris')]<|tool_call_end|>"),
        ("llama4_pythonic", "<|python_start|>[g('Paris'), f()]<|python_end|>"),
        ("olmo3", "<function_calls>\ng('Paris')\nf()\n</function_calls>"),
    ],
)
def test_a_value_without_a_name_keeps_its_call_from_running_and_no_other(family: str, text: str) -> None:
    for deltas in (False, True):
        message, events = events_of(family, text, deltas=deltas)
        assert shape(message) == {"tool_calls": [call("f")]}
        malformed = [event for event in events if event["type"] == "region_malformed"]
        assert ["Paris" in event["text"] for event in malformed] == [True]


def test_ids_are_made_for_calls_without_one_and_never_twice() -> None:
    text = '<tool_call>{"name": "f", "arguments": {}}</tool_call>' * 3
    made = set()
    for _ in range(3):
        parser = ResponseParser("qwen3", "", errors="repair", call_ids=True)
        parser.feed(text)
        made |= {one["id"] for one in parser.finalize()[0]["tool_calls"]}
    assert len(made) == 9


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_call_is_seen_while_it_is_written(form: Form) -> None:
    arguments = {"path": "/tmp/a", "text": "line one\nline two"}
    text = form.calls([("read", arguments)]) + form.turn_end
    parser = ResponseParser(form.family, form.prompt, errors="report", deltas=True)
    names, pieces, ended = [], [], None
    for at, character in enumerate(text):
        for event in parser.feed(character):
            if event["type"] == "region_delta":
                assert ended is None or at == ended, "nothing comes after the call's end"
                names += [event["name"]] if "name" in event else []
                pieces += [event["arguments"]] if "arguments" in event else []
            ended = at if event["type"] == "region_close" and event["field"] == "tool_calls" else ended
    parser.finalize()
    assert names == ["read"]
    assert json.loads("".join(pieces)) == arguments
    assert len(pieces) > 10, "the arguments don't come all at once"


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("in_one_piece", [False, True])
def test_a_made_id_comes_with_the_name_and_is_that_of_the_message(form: Form, in_one_piece: bool) -> None:
    text = form.calls([("read", {"path": "/tmp/a"}), ("stop", {})]) + form.turn_end
    parser = ResponseParser(form.family, form.prompt, errors="report", deltas=True, call_ids=True)
    events = [event for piece in ([text] if in_one_piece else text) for event in parser.feed(piece)]
    message, last = parser.finalize()
    deltas = [event for event in events + last if event["type"] == "region_delta"]
    given_out = {event["index"]: event["id"] for event in deltas if "id" in event}
    assert [given_out[index] for index in sorted(given_out)] == [call["id"] for call in message["tool_calls"]]
    assert len(set(given_out.values())) == 2
    first = [next(event for event in deltas if event["index"] == index) for index in given_out]
    # Mistral's models may write an id of their own at the end of a call in a list.
    assert all("id" in event for event in first) or str(form) == "mistral list"


# What took parsers seconds to minutes. The limit is for them, not a measure: each takes milliseconds here.
LONG = {
    "a long value in small pieces": (
        "qwen3_5",
        "<tool_call>\n<function=f>\n<parameter=a>\n" + "x" * 200_000 + "\n</parameter>\n</function>\n</tool_call>",
    ),
    "a run of white space in a value": (
        "qwen3_5",
        "<tool_call>\n<function=f>\n<parameter=a>\nx" + " " * 100_000 + "\n</function>\n</tool_call>",
    ),
    "a run of white space in prose": ("qwen3_5", "Hi" + " \n" * 50_000 + "there"),
    "many arguments, cut off": ("llama4_pythonic", "[f(" + ", ".join(f"a{number}=1" for number in range(5000))),
    "many opens": ("qwen3", "<tool_call>" * 20_000),
    "many beginnings of opens": ("qwen3", "<tool_" * 30_000),
    "many closes in a value": (
        "qwen3_5",
        "<tool_call>\n<function=f>\n<parameter=a>\n" + "</parameter> </function> " * 5000,
    ),
    "many quotes in a string": ("qwen3", '<tool_call>{"name": "f", "arguments": {"a": "' + '" ' * 50_000),
    "many calls in one list": (
        "mistral",
        "[TOOL_CALLS] [" + ", ".join(['{"name": "f", "arguments": {}}'] * 2000) + "]",
    ),
    "many small calls": ("llama3_json", '{"name": "f", "parameters": {}}; ' * 2000),
    "many drafts": ("qwen3", "<think>" + '<tool_call>{"name": "f", "arguments": {}}</tool_call> or ' * 2000),
    "brackets": ("qwen3", "<tool_call>" + '{"a":' * 20_000),
}


@pytest.mark.parametrize("what", LONG)
@pytest.mark.parametrize("size", [7, WHOLE])
def test_no_text_takes_long(what: str, size: int) -> None:
    family, text = LONG[what]
    with ended_in_time(60):
        for options in ({}, {"deltas": True}):
            _, events = events_of(family, text, size, spans=True, **options)
            assert events[-1]["end"] == len(text)
