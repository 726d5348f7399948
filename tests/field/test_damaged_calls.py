"""Calls whose JSON is damaged where only one thing can be meant, in every family that writes JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streamparse import ResponseParser
from tests.field.forms import CHATML, FORMS, Call, Form
from tests.field.reading import call, message_of, shape

OBJECTS = {
    '{"name": "zz", "arguments": {}}': ("name", "arguments"),
    '{"name": "zz", "parameters": {}}': ("name", "parameters"),
    '{"tool_call_id": "0", "tool_name": "zz", "parameters": {}}': ("tool_name", "parameters"),
}
EMPTY = {str(form): form.calls([("zz", {})]) for form in FORMS}
MARKED = [
    form
    for form in FORMS
    if any(usual in EMPTY[str(form)] for usual in OBJECTS)
    and str(form) not in ("llama3_json", "xlam")  # there nothing but whole JSON says that it is a call
]


def written_as(form: Form, damaged: str) -> str:
    """A call of the form whose JSON object is the damaged one."""
    text = EMPTY[str(form)]
    usual = next(written for written in OBJECTS if written in text)
    name, arguments = OBJECTS[usual]
    return text.replace(usual, damaged.replace("NAME", name).replace("ARGS", arguments)) + form.turn_end


DAMAGED: dict[str, tuple[str, dict[str, Any]]] = {
    "single quotes": ("{'NAME': 'f', 'ARGS': {'a': 'x'}}", {"a": "x"}),
    "Python literals": ('{"NAME": "f", "ARGS": {"a": True, "b": None}}', {"a": True, "b": None}),
    "trailing commas": ('{"NAME": "f", "ARGS": {"a": [1, 2,],},}', {"a": [1, 2]}),
    "raw line breaks and tabs": ('{"NAME": "f", "ARGS": {"a": "x\n\ty"}}', {"a": "x\n\ty"}),
    "invalid escapes": (r'{"NAME": "f", "ARGS": {"a": "C:\proj \d+"}}', {"a": r"C:\proj \d+"}),
    "keys without quotes": ('{NAME: "f", ARGS: {a: 1}}', {"a": 1}),
    "missing commas": ('{"NAME": "f" "ARGS": {"a": "x" "b": 1 "c": "y"}}', {"a": "x", "b": 1, "c": "y"}),
    "missing commas and line breaks": (
        '{"NAME": "f"\n"ARGS": {"a": ["x" "y"]\n"b": ""\n"c": 1}}',
        {"a": ["x", "y"], "b": "", "c": 1},
    ),
    "missing commas and single quotes": ("{'NAME': 'f' 'ARGS': {'a': 'x' 'b': True}}", {"a": "x", "b": True}),
    "quotes inside a string": ('{"NAME": "f", "ARGS": {"a": "say "hi" now"}}', {"a": 'say "hi" now'}),
}


@pytest.mark.parametrize("what", DAMAGED)
@pytest.mark.parametrize("form", MARKED, ids=str)
def test_what_can_mean_one_thing_is_mended_and_said(form: Form, what: str) -> None:
    damaged, arguments = DAMAGED[what]
    text = written_as(form, damaged)
    expected = {"tool_calls": [call("f", **arguments)]}
    assert message_of(form.family, text, prefix=form.prompt) == expected
    assert message_of(form.family, text, prefix=form.prompt, deltas=True) == expected
    parser = ResponseParser(form.family, form.prompt, errors="repair")
    events = parser.feed(text) + parser.finalize()[1]
    assert any(event.get("repaired") for event in events)


@pytest.mark.parametrize("what", DAMAGED)
@pytest.mark.parametrize("form", MARKED, ids=str)
def test_where_nothing_is_to_be_mended_it_is_reported_and_the_rest_kept(form: Form, what: str) -> None:
    text = form.says("Hi.") + written_as(form, DAMAGED[what][0])
    message = message_of(form.family, text, prefix=form.prompt, errors="report", problems=1)
    assert message == {"content": "Hi."}


HERMES = [form for form in FORMS if "<tool_call>\n{" in EMPTY[str(form)]]


@pytest.mark.parametrize("form", HERMES, ids=str)
@pytest.mark.parametrize(
    "damaged",
    [
        '{"name": "f", "arguments": {"a": 1}',
        '{"name": "f", "arguments": {"a": 1}}}',
        '{{"name": "f", "arguments": {"a": 1}}}',
        '{"name": "f" "arguments": {"a": 1}}',
        '{"name": "f", "arguments": {"a": 1}} and so on',
        '```json\n{"name": "f", "arguments": {"a": 1}}\n```',
        '```\n{"name": "f", "arguments": {"a": 1}}\n```\n',
        '[{"name": "f", "arguments": {"a": 1}}]',
    ],
)
def test_brackets_fences_and_text_around_the_object(form: Form, damaged: str) -> None:
    text = written_as(form, damaged)
    assert message_of(form.family, text, prefix=form.prompt) == {"tool_calls": [call("f", a=1)]}


@pytest.mark.parametrize("form", HERMES, ids=str)
def test_marks_that_are_written_twice(form: Form) -> None:
    one = written_as(form, '{"name": "f", "arguments": {"a": 1}}')
    doubled = one.replace("<tool_call>\n", "<tool_call>\n<tool_call>\n").replace(
        "</tool_call>", "</tool_call>\n</tool_call>"
    )
    assert message_of(form.family, doubled, prefix=form.prompt) == {"tool_calls": [call("f", a=1)]}


TAGS = "<tool_call>\n<function=f>\n{}\n</function>\n</tool_call>"


@pytest.mark.parametrize("family", ["qwen3_5", "qwen3_coder", "nemotron_v3"])
@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        ("<parameter=a>\nx\n<parameter=b>\ny\n</parameter>", {"a": "x", "b": "y"}),
        ("<parameter=a>\nx\n</parameter>\n</parameter>", {"a": "x"}),
        ("<parameter=a>\nx\n</param>", {"a": "x"}),
        ("<parameter=a>\nEnds with </parameter> here.\n</parameter>", {"a": "Ends with </parameter> here."}),
        (
            "<parameter=a>\nEnds with </function>\n</tool_call> here.\n</parameter>",
            {"a": "Ends with </function>\n</tool_call> here."},
        ),
        ("<parameter=a>\nx", {"a": "x"}),
        ('{"a": "x"}', {"a": "x"}),
    ],
)
def test_tags_that_are_missing_doubled_or_quoted(family: str, body: str, arguments: dict[str, Any]) -> None:
    assert message_of(family, TAGS.format(body), prefix=CHATML) == {"tool_calls": [call("f", **arguments)]}


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("<tool_call>f<arg_key>a</arg_key></arg_key><arg_value>x</arg_value></tool_call>", {"a": "x"}),
        ("<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x</arg_value></arg_value>\n</tool_call>", {"a": "x"}),
        (
            "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x\n<arg_key>b</arg_key>\n<arg_value>y</arg_value>\n</tool_call>",
            {"a": "x", "b": "y"},
        ),
        (
            "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x </arg_value> y</arg_value>\n</tool_call>",
            {"a": "x </arg_value> y"},
        ),
    ],
)
def test_pairs_of_tags_that_are_doubled_missing_or_quoted(text: str, arguments: dict[str, Any]) -> None:
    assert message_of("glm45", text) == {"tool_calls": [call("f", **arguments)]}


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{a:<|"|>x<|"|>b:1}', {"a": "x", "b": 1}),
        ('{a:<|"|>f(<|"|>y<|"|>)<|"|>,b:[<|"|>z<|"|>]}', {"a": 'f("y")', "b": ["z"]}),
        ('{a:<|"|>x\n\ty<|"|>,}', {"a": "x\n\ty"}),
        ("{'a': 'x'}", {"a": "x"}),
    ],
)
def test_a_dialect_with_commas_and_quotes_in_other_places(text: str, arguments: dict[str, Any]) -> None:
    assert message_of("gemma4", f"<|tool_call>call:f{text}<tool_call|>") == {"tool_calls": [call("f", **arguments)]}


@pytest.mark.parametrize(
    ("family", "before", "after"),
    [
        ("lfm2", "<|tool_call_start|>", "<|tool_call_end|>"),
        ("llama4_pythonic", "<|python_start|>", "<|python_end|>"),
        ("llama4_pythonic", "", "<|eot|>"),
        ("olmo3", "<function_calls>", "</function_calls>"),
    ],
)
@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ("f(a='x\ny')", {"a": "x\ny"}),
        ("f(a='it's')", {"a": "it's"}),
        ("f(a=true, b=null)", {"a": True, "b": None}),
        ("f(a=[1, 2,],)", {"a": [1, 2]}),
        ("f(a={'k': 'v'})", {"a": {"k": "v"}}),
        (r"f(a='C:\proj')", {"a": r"C:\proj"}),
        ("f(a=12345678901234567890)", {"a": 12345678901234567890}),
    ],
)
def test_calls_as_in_python_that_python_would_not_read(
    family: str, before: str, after: str, written: str, arguments: Any
) -> None:
    assert message_of(family, f"{before}[{written}]{after}") == {"tool_calls": [call("f", **arguments)]}


def test_a_value_that_parses_is_never_changed() -> None:
    arguments = """{"a": "{'x': 1,}", "b": "None", "c": "```json\\n{}\\n```"}"""
    text = f'<tool_call>{{"name": "f", "arguments": {arguments}}}</tool_call>'
    parser = ResponseParser("qwen3", "", errors="repair")
    events = parser.feed(text)
    message, _ = parser.finalize()
    assert shape(message) == {"tool_calls": [call("f", a="{'x': 1,}", b="None", c="```json\n{}\n```")]}
    assert all("repaired" not in event for event in events)


@pytest.mark.parametrize("form", MARKED, ids=str)
def test_arguments_as_a_string_of_damaged_json(form: Form) -> None:
    text = written_as(form, '{"NAME": "f", "ARGS": "{\'a\': [1, None,],}"}')
    expected = {"tool_calls": [call("f", a=[1, None])]}
    for deltas in (False, True):
        assert message_of(form.family, text, prefix=form.prompt, deltas=deltas) == expected
    assert message_of(form.family, text, prefix=form.prompt, errors="report", problems=1) == {}


TYPED = [{"type": "function", "function": {"name": "f", "parameters": {
    "type": "object",
    "properties": {"a": {"type": "object"}, "b": {"type": ["array", "null"]}, "c": {"type": "string"}},
}}}]  # fmt: skip
TAGGED = [form for form in FORMS if "quoted" in form.calls([("f", {"a": "quoted"})]).replace('"quoted"', "")]


@pytest.mark.parametrize("form", TAGGED, ids=str)
def test_damaged_json_where_the_schema_wants_an_object_or_a_list(form: Form) -> None:
    values = {"a": "{'x': True,}", "b": "[1 // one\n, 2,]", "c": "{'x': True,}"}
    text = form.calls([("f", values)]).replace('string="true"', 'string="false"') + form.turn_end
    expected = {"tool_calls": [call("f", a={"x": True}, b=[1, 2], c=values["c"])]}
    for deltas in (False, True):
        assert message_of(form.family, text, prefix=form.prompt, tools=TYPED, deltas=deltas) == expected
    parser = ResponseParser(form.family, form.prompt, tools=TYPED, errors="repair", deltas=True)
    events = [event for character in text for event in parser.feed(character)] + parser.finalize()[1]
    pieces = [event.get("arguments", "") for event in events if event["type"] == "region_delta"]
    assert json.loads("".join(pieces)) == expected["tool_calls"][0]["function"]["arguments"]
    assert [event["repaired"] for event in events if "repaired" in event] != []
    damaged = values | {"a": "{'x': 1, 2}"}
    text = form.calls([("f", damaged)]) + form.turn_end
    message = message_of(form.family, text, prefix=form.prompt, tools=TYPED)
    assert message["tool_calls"][0]["function"]["arguments"]["a"] == damaged["a"], "what it means can't be told"


LISTED = [form for form in FORMS if any(mark in form.calls([("f", {})]) for mark in ('[{"', "f()"))]


@pytest.mark.parametrize("form", LISTED, ids=str)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_call_of_a_list_that_has_no_value_is_left_out_alone(form: Form, place: int) -> None:
    calls: list[Call] = [("f", {"a": 1}), ("g", {"b": "x"}), ("h", {})]
    calls.insert(place, ("bad", {"c": "MISSING", "d": "x"}))
    text = form.calls(calls).replace('"MISSING"', "") + form.turn_end
    expected = {"tool_calls": form.made([made for made in calls if made[0] != "bad"])}
    for errors in ("report", "repair"):
        for deltas in (False, True):
            if errors == "report" and form.note == "" and form.family == "olmo3":
                continue  # there a list lacks its brackets, which is mended
            options = {"errors": errors, "deltas": deltas, "problems": 1}
            assert message_of(form.family, text, prefix=form.prompt, **options) == expected


@pytest.mark.parametrize("form", [form for form in LISTED if '"arguments"' in form.calls([("f", {})])], ids=str)
def test_what_is_no_call_in_a_list_is_left_out_alone(form: Form) -> None:
    calls: list[Call] = [("f", {"a": 1}), ("", {"a": 1}), ("g", {"b": "x"})]
    text = form.calls(calls).replace('"name": "", ', "") + form.turn_end
    expected = {"tool_calls": form.made([calls[0], calls[2]])}
    for errors in ("report", "repair"):
        assert message_of(form.family, text, prefix=form.prompt, errors=errors, problems=1) == expected
    parser = ResponseParser(form.family, form.prompt, errors="report", deltas=True)
    events = parser.feed(text) + parser.finalize()[1]
    assert [event["error"] for event in events if event["type"] == "region_malformed"] == ["the call has no name"]
