"""What a user of ``ResponseParser`` and ``parse_response`` sees: events, messages, errors, snapshots."""

from __future__ import annotations

import copy
import gc
import json
import weakref
from pathlib import Path
from typing import Any

import pytest

from streamparse import (
    FinalizedError,
    LimitError,
    Limits,
    ParseError,
    PrefixError,
    ResponseParser,
    SnapshotError,
    SourceError,
    StreamparseError,
    TemplateError,
    get_response_parser,
    load_response_template,
    parse_response,
)
from streamparse.arguments import ErrorMode
from streamparse.stages.schema_typing import NO_TOOLS

TEMPLATE: dict[str, Any] = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|assistant|>",
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>"},
        "tool_calls": {
            "open": "<call>",
            "close": "</call>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close": "<|end|>"},
    },
}
CALL = '<call>{"name": "f", "arguments": {"x": "1"}}</call>'
TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}]


def parse(text: str, *, prefix: str = "", **options: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    parser = ResponseParser(TEMPLATE, prefix, **options)
    events = parser.feed(text)
    message, last = parser.finalize()
    return message, events + last


# events and messages


def test_events_come_with_the_text_and_the_message_at_the_end() -> None:
    parser = ResponseParser(TEMPLATE, prefix="")
    assert parser.feed("<think>Hm") == [
        {"type": "region_open", "field": "thinking"},
        {"type": "region_chunk", "field": "thinking", "text": "Hm", "dirty": False},
    ]
    assert parser.feed("</thi") == []
    assert parser.feed("nk>Hi") == [
        {"type": "region_close", "field": "thinking", "value": "Hm"},
        {"type": "region_open", "field": "content"},
        {"type": "region_chunk", "field": "content", "text": "Hi", "dirty": False},
    ]
    assert parser.finalize() == (
        {"role": "assistant", "thinking": "Hm", "content": "Hi"},
        [{"type": "region_close", "field": "content", "value": "Hi"}],
    )


def test_what_looks_like_a_delimiter_is_held_until_it_is_clear_what_it_is() -> None:
    parser = ResponseParser(TEMPLATE, prefix="")
    assert parser.feed("a <")[-1]["text"] == "a "
    assert parser.held == 1
    assert parser.feed("b")[-1]["text"] == "<b"
    assert parser.held == 0


def test_a_structured_region_streams_raw_text_and_closes_with_its_value() -> None:
    message, events = parse(CALL, tools=TOOLS)
    assert events == [
        {"type": "region_open", "field": "tool_calls"},
        {"type": "region_chunk", "field": "tool_calls", "text": CALL[6:-7], "dirty": True},
        {
            "type": "region_close",
            "field": "tool_calls",
            "value": {"type": "function", "function": {"name": "f", "arguments": {"x": 1}}},
        },
    ]
    assert message["tool_calls"] == [events[-1]["value"]]


def test_the_prefix_gives_events_before_the_first_piece() -> None:
    parser = ResponseParser(TEMPLATE, prefix="<|assistant|>old<|end|><|user|>q<|assistant|><think>So")
    assert parser.initial_events == [
        {"type": "region_open", "field": "thinking"},
        {"type": "region_chunk", "field": "thinking", "text": "So", "dirty": False},
    ]
    assert parser.feed(" be it</think>")[-1] == {"type": "region_close", "field": "thinking", "value": "So be it"}


def test_changing_an_event_changes_nothing_else() -> None:
    parser = ResponseParser(TEMPLATE, prefix="")
    events = parser.feed(CALL)
    events[-1]["value"]["function"]["arguments"]["x"] = "changed"
    events[-1]["value"]["function"]["more"] = []
    assert parser.finalize()[0]["tool_calls"][0]["function"] == {"name": "f", "arguments": {"x": "1"}}


def test_a_template_can_be_changed_after_it_was_given() -> None:
    template = copy.deepcopy(TEMPLATE)
    parser = ResponseParser(template, prefix="")
    template["defaults"]["role"] = "changed"
    template["fields"]["thinking"]["open"] = "changed"
    assert parser.feed("<think>")[0]["field"] == "thinking"
    assert parser.finalize()[0]["role"] == "assistant"


def test_changing_a_message_changes_no_other_one() -> None:
    template = {"defaults": {"tags": ["a"]}, "start_anchor": "@", "fields": {"content": {}}}
    first = parse_response("x", template, prefix="")
    first["tags"].append("b")
    assert parse_response("x", template, prefix="")["tags"] == ["a"]


def test_spans_say_which_characters_an_event_consumed() -> None:
    _, events = parse("<think>ab</think>c", spans=True)
    assert [(event["type"], event["start"], event["end"]) for event in events] == [
        ("region_open", 0, 7),
        ("region_chunk", 7, 9),
        ("region_close", 9, 17),
        ("region_open", 17, 17),
        ("region_chunk", 17, 18),
        ("region_close", 18, 18),
    ]
    assert events[0]["captures"] == {}


def test_text_may_come_as_bytes_cut_within_a_character() -> None:
    parser = ResponseParser(TEMPLATE, prefix="")
    encoded = "<think>Grüße 🦜</think>".encode()
    for number in range(len(encoded)):
        parser.feed(encoded[number : number + 1])
    assert parser.finalize()[0]["thinking"] == "Grüße 🦜"


# several outputs, token ids


def test_a_list_of_texts_is_a_batch() -> None:
    assert parse_response(["a", "<think>b</think>"], TEMPLATE, prefix="") == [
        {"role": "assistant", "content": "a"},
        {"role": "assistant", "thinking": "b"},
    ]
    assert parse_response([], TEMPLATE, prefix="") == []


def test_each_text_of_a_batch_may_have_a_prefix_of_its_own() -> None:
    messages = parse_response(["a", "b"], TEMPLATE, prefix=["<|assistant|>", "<|assistant|><think>"])
    assert messages == [{"role": "assistant", "content": "a"}, {"role": "assistant", "thinking": "b"}]
    with pytest.raises(PrefixError):
        parse_response(["a", "b"], TEMPLATE, prefix=["", "", ""])


class Letters:
    """A tokenizer with a token for each letter, and one for each delimiter."""

    response_template = TEMPLATE
    words = ("<think>", "</think>", "<|assistant|>", *"abcdefghijklmnopqrstuvwxyz")

    def encode(self, text: str) -> list[int]:
        ids = []
        while text:
            number = next(number for number, word in enumerate(self.words) if text.startswith(word))
            ids.append(number)
            text = text[len(self.words[number]) :]
        return ids

    def decode(self, ids: list[int]) -> str:
        return "".join(self.words[number] for number in ids)


def test_token_ids_go_in_where_text_does() -> None:
    tokenizer = Letters()
    ids = tokenizer.encode("<think>hm</think>hi")
    expected = {"role": "assistant", "thinking": "hm", "content": "hi"}
    assert parse_response(ids, tokenizer=tokenizer, prefix="") == expected
    assert parse_response([ids, ids], tokenizer=tokenizer, prefix="") == [expected, expected]
    parser = ResponseParser(prefix=tokenizer.encode("<|assistant|>"), tokenizer=tokenizer)
    for number in ids:
        parser.feed(number)
    assert parser.finalize()[0] == expected


def test_the_tokenizers_own_template_is_used_where_none_is_given() -> None:
    parser = get_response_parser(Letters(), prefix="<|assistant|><think>")
    assert parser.initial_events == [{"type": "region_open", "field": "thinking"}]
    other = {"start_anchor": "@", "fields": {"x": {}}}
    assert parse_response("a", other, tokenizer=Letters(), prefix="") == {"x": "a"}


def test_a_tokenizer_without_a_template_says_what_can_be_done() -> None:
    class Plain(Letters):
        response_template = None

    with pytest.raises(TemplateError, match=r"has no response_template.*; pass a template"):
        get_response_parser(Plain(), prefix="")


def test_token_ids_without_a_tokenizer_are_refused() -> None:
    with pytest.raises(StreamparseError, match="tokenizer="):
        ResponseParser(TEMPLATE, prefix="").feed([1, 2])
    with pytest.raises(PrefixError, match="tokenizer="):
        ResponseParser(TEMPLATE, prefix=[1, 2])


# errors


def test_a_prefix_that_was_forgotten_is_explained() -> None:
    for call in (lambda: ResponseParser(TEMPLATE), lambda: parse_response("a", TEMPLATE)):
        with pytest.raises(PrefixError, match=r'chat templates often write.*pass prefix=""') as caught:
            call()
        assert isinstance(caught.value, ValueError)


def test_an_error_says_field_position_and_a_piece_of_the_text() -> None:
    parser = ResponseParser(TEMPLATE, prefix="")
    parser.feed("Hi <call>")
    with pytest.raises(
        ParseError, match=r"field 'tool_calls', position 10: not JSON: .* \(near '\{oops\}'\)"
    ) as caught:
        parser.feed("{oops}</call>")
    assert (caught.value.field, caught.value.position) == ("tool_calls", 10)
    assert isinstance(caught.value, ValueError)


def test_the_first_error_in_the_text_is_raised_however_it_is_cut() -> None:
    template = copy.deepcopy(TEMPLATE)
    template["fields"]["tool_calls"]["transform"] = {"name": "{content.name}"}
    text = "<call>{}</call><call>{</call>"
    errors = []
    for pieces in ([text], list(text)):
        parser = ResponseParser(template, prefix="")
        with pytest.raises(ParseError) as caught:
            list(map(parser.feed, pieces))
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
    assert "{content.name}" in errors[0]


def test_a_malformed_prefix_raises_at_once() -> None:
    with pytest.raises(ParseError, match="not JSON"):
        ResponseParser(TEMPLATE, prefix="<|assistant|><call>{oops}</call>")


def test_a_missing_field_is_an_error_at_the_end() -> None:
    template = {"start_anchor": "@", "fields": {"x": {"open": "<x>", "optional": False}, "content": {}}}
    parser = ResponseParser(template, prefix="")
    parser.feed("a")
    with pytest.raises(ParseError, match="'x'"):
        parser.finalize()


@pytest.mark.parametrize("text", ["a", ""])
def test_a_parser_is_at_its_end_after_finalize(text: str) -> None:
    parser = ResponseParser(TEMPLATE, prefix="")
    parser.feed("a")
    parser.finalize()
    with pytest.raises(FinalizedError) as caught:
        parser.feed(text)
    assert isinstance(caught.value, RuntimeError)
    with pytest.raises(FinalizedError):
        parser.finalize()


def test_a_parser_is_at_its_end_after_an_error() -> None:
    parser = ResponseParser(TEMPLATE, prefix="")
    with pytest.raises(ParseError):
        parser.feed("<call>{</call>")
    with pytest.raises(FinalizedError, match="stopped at an error"):
        parser.feed("a")
    with pytest.raises(FinalizedError, match="stopped at an error"):
        parser.finalize()


def test_a_parser_is_at_its_end_after_an_error_at_the_end() -> None:
    parser = ResponseParser(TEMPLATE, prefix="")
    parser.feed("<call>{")
    with pytest.raises(ParseError):
        parser.finalize()
    with pytest.raises(FinalizedError):
        parser.finalize()


def test_all_errors_are_of_one_family() -> None:
    for faulty in (None, 5, {}, {"fields": {}}, "no such template"):
        with pytest.raises(StreamparseError):
            ResponseParser(faulty, prefix="")  # type: ignore[arg-type]


def test_an_unknown_error_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="'strict', 'report', 'repair'"):
        ResponseParser(TEMPLATE, prefix="", errors="ignore")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("limits", "text", "name"),
    [
        (Limits(region_text=10), "a" * 11, "region_text"),
        (Limits(regions=2), "<think></think>" * 3, "regions"),
    ],
)
def test_a_limit_says_which_it_is(limits: Limits, text: str, name: str) -> None:
    with pytest.raises(LimitError, match=f"Limits.{name}") as caught:
        parse(text, limits=limits)
    assert caught.value.limit == name


# the lenient modes


def test_a_malformed_region_is_an_event_and_parsing_goes_on() -> None:
    parser = ResponseParser(TEMPLATE, prefix="", errors="report")
    events = parser.feed('<call>{"name": }</call>Hi' + CALL)
    message, _ = parser.finalize()
    malformed = next(event for event in events if event["type"] == "region_malformed")
    assert (malformed["field"], malformed["text"], malformed["incomplete"]) == ("tool_calls", '{"name": }', False)
    assert [problem["type"] for problem in parser.problems] == ["region_malformed"]
    assert message["content"] == "Hi"
    assert [call["function"]["name"] for call in message["tool_calls"]] == ["f"]


def test_a_call_that_was_cut_off_is_no_call() -> None:
    parser = ResponseParser(TEMPLATE, prefix="", errors="report")
    parser.feed('<call>{"name": "f", "arguments": {}}')
    message, events = parser.finalize("length")
    assert events[-1]["type"] == "region_malformed"
    assert events[-1]["incomplete"]
    assert "tool_calls" not in message


def test_text_that_no_field_claims_is_reported() -> None:
    template = {"start_anchor": "@", "fields": {"x": {"open": "<x>", "close": "</x>"}}}
    parser = ResponseParser(template, prefix="", errors="report")
    events = parser.feed("ab<x>c</x>d")
    assert events[0] == {"type": "region_unclaimed", "text": "ab", "start": 0, "end": 2}
    assert events[-1] == {"type": "region_unclaimed", "text": "d", "start": 10, "end": 11}


def test_a_prompt_without_the_anchor_does_not_become_the_answer() -> None:
    parser = ResponseParser(TEMPLATE, prefix="some other prompt", errors="report")
    assert parser.initial_events == []
    assert [problem["type"] for problem in parser.problems] == ["anchor_missing"]
    parser.feed("Hi")
    assert parser.finalize()[0]["content"] == "Hi"


@pytest.mark.parametrize("default", ["", "text", None, 5, {}])
def test_a_default_that_values_cannot_be_added_to_gives_way(default: Any) -> None:
    template = copy.deepcopy(TEMPLATE)
    template["defaults"]["tool_calls"] = default
    parser = ResponseParser(template, prefix="", errors="report")
    parser.feed(CALL)
    assert len(parser.finalize()[0]["tool_calls"]) == 1
    with pytest.raises(ParseError, match="default"):
        parse_response(CALL, template, prefix="")


# snapshots


def test_a_parser_is_taken_up_elsewhere() -> None:
    parser = ResponseParser(TEMPLATE, prefix="<|assistant|><think>So", tools=TOOLS)
    parser.feed(" be it</th")
    saved = parser.snapshot()
    again = ResponseParser.restore(saved, TEMPLATE, tools=TOOLS)
    assert again.initial_events == []
    assert again.feed("ink>" + CALL) == parser.feed("ink>" + CALL)
    assert again.finalize() == parser.finalize()


def test_a_parser_that_is_taken_up_elsewhere_keeps_the_ids_that_it_made() -> None:
    parser = ResponseParser("qwen3", prefix="", deltas=True, call_ids=True)
    events = parser.feed('<tool_call>{"name": "f", "arguments": {"a": "x')
    again = ResponseParser.restore(parser.snapshot(), "qwen3")
    events += again.feed('y"}}</tool_call>') + again.finalize()[1]
    ids = [event["id"] for event in events if event["type"] == "region_delta" and "id" in event]
    assert ids == [event["value"]["id"] for event in events if event["type"] == "region_close"]


def test_a_snapshot_is_json_and_leaves_its_parser_as_it_was() -> None:
    parser = ResponseParser(TEMPLATE, prefix="")
    parser.feed("ab<thi")
    assert json.loads(parser.snapshot())["version"] == 1
    assert parser.snapshot() == parser.snapshot()
    assert parser.feed("nk>c")[-1]["text"] == "c"


def test_a_snapshot_without_the_message_keeps_the_events() -> None:
    parser = ResponseParser(TEMPLATE, prefix="")
    parser.feed("<think>secret</think>Hi")
    saved = parser.snapshot(message=False)
    assert b"secret" not in saved
    again = ResponseParser.restore(saved, TEMPLATE)
    assert again.finalize()[1] == parser.finalize()[1]


def test_a_finished_parser_stays_finished() -> None:
    parser = ResponseParser(TEMPLATE, prefix="")
    parser.finalize()
    with pytest.raises(FinalizedError):
        ResponseParser.restore(parser.snapshot(), TEMPLATE).feed("a")


def saved_parser() -> bytes:
    parser = ResponseParser(TEMPLATE, prefix="")
    parser.feed("<think>a</think>some <th")
    return parser.snapshot()


def test_a_snapshot_of_another_template_is_refused() -> None:
    other = {**TEMPLATE, "defaults": {}}
    with pytest.raises(SnapshotError, match="another response template"):
        ResponseParser.restore(saved_parser(), other)


def test_a_snapshot_of_a_newer_version_is_refused() -> None:
    newer = json.dumps(json.loads(saved_parser()) | {"version": 2})
    with pytest.raises(SnapshotError, match="version 2; this release reads version 1"):
        ResponseParser.restore(newer.encode(), TEMPLATE)


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"null", b"\xff", b"{" * 100_000])
def test_what_is_no_snapshot_is_refused(data: Any) -> None:
    with pytest.raises(SnapshotError, match="damaged"):
        ResponseParser.restore(data, TEMPLATE)


def test_damage_is_noticed_wherever_it_is() -> None:
    saved = saved_parser()
    for place in range(len(saved)):
        for damaged in (saved[:place], saved[:place] + bytes([saved[place] ^ 1]) + saved[place + 1 :]):
            with pytest.raises(SnapshotError):
                ResponseParser.restore(damaged, TEMPLATE)


def test_a_loaded_template_and_its_source_are_one_for_snapshots(tmp_path: Path) -> None:
    (tmp_path / "template.json").write_text(json.dumps(TEMPLATE), encoding="utf-8")
    assert ResponseParser.restore(saved_parser(), load_response_template(TEMPLATE)).held == 3
    assert ResponseParser.restore(saved_parser(), tmp_path / "template.json").held == 3


@pytest.mark.parametrize("errors", ["strict", "report", "repair"])
def test_of_a_generation_that_has_ended_nothing_waits_for_the_garbage_collector(errors: ErrorMode) -> None:
    parser = ResponseParser("qwen3", "", errors=errors)
    for piece in ("<think>Hm", "</think>Hello", '<tool_call>{"name": "f", "arguments": {}}</tool_call>'):
        parser.feed(piece)
    parser.finalize()
    parts = [
        weakref.ref(parser),
        weakref.ref(parser.pipeline._regions),
        weakref.ref(parser.pipeline.downstream._transform._schemas),
    ]
    gc.disable()
    try:
        del parser
        alive = [part() for part in parts]
    finally:
        gc.enable()
    assert alive == [None, None, NO_TOOLS if errors != "repair" else None]


def test_bytes_after_text_that_is_held_are_refused_too() -> None:
    parser = ResponseParser("qwen3", "<|im_start|>assistant\n<think>\n")
    assert parser.feed("") == parser.feed("<") == []
    again = ResponseParser.restore(parser.snapshot(), "qwen3")
    for one in (parser, again):
        with pytest.raises(SourceError, match="the source gave bytes after text"):
            one.feed(b"x")


def test_text_after_a_piece_that_was_refused_is_known_to_be_text() -> None:
    parser = ResponseParser("qwen3", "<|im_start|>assistant\n<think>\n")
    parser.feed("")
    with pytest.raises(SourceError, match="a source gives text"):
        parser.feed(1.5)  # type: ignore[arg-type]
    parser.feed("a")
    with pytest.raises(SourceError, match="the source gave bytes after text"):
        parser.feed(b"x")


def test_too_many_events_stop_the_parser_when_its_snapshot_is_taken_too() -> None:
    parser = ResponseParser("qwen3", "", limits=Limits(events=5))
    for piece in ["Hello"] + [" w"] * 10 + [" <"]:
        parser.feed(piece)
    with pytest.raises(LimitError, match="position 26: more than 5 events"):
        parser.snapshot()
    assert parser.statistics().characters == 26
    with pytest.raises(FinalizedError, match="more than 5 events"):
        parser.feed("more")
    with pytest.raises(FinalizedError, match="more than 5 events"):
        ResponseParser.restore(parser.snapshot(), "qwen3").feed("more")


def test_deltas_end_where_a_call_is_too_long_and_a_restored_parser_gives_the_same() -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {"first": "' + "a" * 40 + '", "n": 1, "m": 2}}\n</tool_call>'
    call = '<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>'
    parser = ResponseParser("qwen3", "", errors="report", deltas=True, limits=Limits(region_text=60))
    given, indices = "", []
    for piece in text + call:
        parser = ResponseParser.restore(parser.snapshot(), "qwen3", limits=Limits(region_text=60))
        for event in parser.feed(piece):
            if event["type"] == "region_delta":
                indices += [event["index"]] * ("name" in event)
                given += event.get("arguments", "")
    whole = ResponseParser("qwen3", "", errors="report", deltas=True, limits=Limits(region_text=60))
    events = [event for piece in text + call for event in whole.feed(piece)] + whole.finalize()[1]
    parser.finalize()
    assert "".join(event.get("arguments", "") for event in events if event["type"] == "region_delta") == given
    assert given == '{"first":"' + "a" * 22 + "{}"
    assert indices == [0, 1]
    assert parser.message == whole.message


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize("cut", [1, 3, 20])
@pytest.mark.parametrize("kinds", ["text after bytes", "bytes after text"])
def test_text_and_bytes_do_not_mix_however_they_are_cut_and_whatever_was_restored(
    kinds: str, cut: int, saved: bool
) -> None:
    text = "Hello and so on. "
    first, second = (text, "é".encode()[:1]) if kinds == "bytes after text" else (text.encode() + b"\xc3", " you")
    parser = ResponseParser(TEMPLATE, "")
    for at in range(0, len(first), cut):
        parser.feed(first[at : at + cut])
    if saved:
        parser = ResponseParser.restore(parser.snapshot(), TEMPLATE)
    parser.feed(b"")
    with pytest.raises(SourceError, match=kinds):
        parser.feed(second)


@pytest.mark.parametrize("errors", ["strict", "report"])
@pytest.mark.parametrize("prefix", ["", "<think>Hm", "Hm <thi"])
def test_a_prefix_is_no_text_of_the_source_even_where_its_end_is_held(prefix: str, errors: ErrorMode) -> None:
    parser = ResponseParser("qwen3", prefix, errors=errors)
    assert parser.statistics().characters == 0
    parser.feed(b"nk>x")
    assert parser.statistics().characters == 4


BROKEN = {
    "no JSON": ("qwen3", "<tool_call>hello</tool_call>"),
    "no call": ("qwen3", "<tool_call>[1]</tool_call>"),
    "two faults": ("qwen3", '<tool_call>[{"name": 1}, {"name": "f", "arguments": 3}]</tool_call>'),
    "no reading has a value": (
        "deepseek_r1",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n=\n```",
    ),
    "one of two": ("lfm2", '<|tool_call_start|>[{"name": "f", "arguments": {}}, {"na<|tool_call_end|>'),
    "tags": ("qwen3_coder", "<tool_call>\n<function=f>\n<parameter=a>\n1\n</function>\n</tool_call>"),
    "tags that close nothing": ("minimax_m2", "<minimax:tool_call>\n</parameter>x\n</minimax:tool_call>"),
}


@pytest.mark.parametrize("errors", ["strict", "report", "repair"])
@pytest.mark.parametrize("broken", BROKEN)
def test_of_a_generation_whose_call_is_broken_nothing_waits_for_the_garbage_collector(
    broken: str, errors: ErrorMode
) -> None:
    template, text = BROKEN[broken]

    def parts_of_one_that_is_gone() -> list[weakref.ref[Any]]:
        parser = ResponseParser(template, "", errors=errors)
        parts: list[weakref.ref[Any]] = [weakref.ref(parser), weakref.ref(parser.pipeline._regions)]
        try:
            parser.feed(f"Hello {text} and so on")
            parser.finalize()
        except ParseError:
            assert errors == "strict"
        return parts

    gc.disable()
    try:
        alive = [part() for part in parts_of_one_that_is_gone()]
    finally:
        gc.enable()
    assert alive == [None, None]
