"""Calls whose parts stand elsewhere, are missing, or are written in another way than their family writes them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.field.forms import FORMS, Form, compact
from tests.field.reading import call, message_of

NOTHING = {"name": "zz", "arguments": {}}
OBJECTS = [
    compact(NOTHING),
    compact({"name": "zz", "parameters": {}}),
    '{"tool_call_id": "0", "tool_name": "zz", "parameters": {}}',
    compact({"name": "zz", "args": {}}),
]
EMPTY = {str(form): form.calls([("zz", {})]) for form in FORMS}
JSON_FORMS = [form for form in FORMS if any(written in EMPTY[str(form)] for written in OBJECTS)]
json_forms = pytest.mark.parametrize("form", JSON_FORMS, ids=str)
UNMARKED = ("llama3_json", "xlam")
"""Families in whose JSON nothing but a call's own members says that it is a call."""
# What a call without its arguments is in the other forms; in Functionary's and Mistral's only arguments make a call.
NAMED_APART = [
    form
    for form in FORMS
    if form not in JSON_FORMS
    and EMPTY[str(form)].count("{}") == 1
    and form.family not in ("apertus", "functionary", "mistral")
]


def written_as(form: Form, written: str) -> str:
    """A call of the form, but for the JSON object that says what it calls."""
    text = EMPTY[str(form)]
    usual = next(candidate for candidate in OBJECTS if candidate in text)
    return text.replace(usual, written) + form.turn_end


def keys(form: Form) -> tuple[str, str]:
    """The names of the members that the form has for a call's name and arguments."""
    text = EMPTY[str(form)]
    arguments = next((key for key in ("parameters", "args") if f'"{key}"' in text), "arguments")
    return ("tool_name" if "tool_name" in text else "name"), arguments


@json_forms
@pytest.mark.parametrize("key", ["arguments", "parameters"])
def test_either_name_for_arguments(form: Form, key: str) -> None:
    text = written_as(form, compact({keys(form)[0]: "f", key: {"a": 1}}))
    assert message_of(form.family, text, prefix=form.prompt) == {"tool_calls": [call("f", a=1)]}


@json_forms
@pytest.mark.parametrize("key", ["arguments", "parameters"])
def test_name_and_arguments_of_the_function(form: Form, key: str) -> None:
    text = written_as(form, compact({"type": "function", "function": {"name": "f", key: {"a": 1}}}))
    assert message_of(form.family, text, prefix=form.prompt) == {"tool_calls": [call("f", a=1)]}


@pytest.mark.parametrize("form", [form for form in JSON_FORMS if form.family not in UNMARKED], ids=str)
def test_a_call_whose_arguments_may_have_another_name_does_not_run_without_them(form: Form) -> None:
    text = written_as(form, compact({keys(form)[0]: "f", "input": {"a": 1}}))
    assert message_of(form.family, text, prefix=form.prompt, problems=1) == {}


@json_forms
@pytest.mark.parametrize("arguments", ['{"a": {"b": "ü\\"\\n"}}', '{"a": 1}'])
def test_arguments_as_a_string_of_json(form: Form, arguments: str) -> None:
    name, key = keys(form)
    text = written_as(form, compact({name: "f", key: arguments}))
    expected = {"tool_calls": [call("f", a=1 if arguments == '{"a": 1}' else {"b": 'ü"\n'})]}
    assert message_of(form.family, text, prefix=form.prompt) == expected


@json_forms
@pytest.mark.parametrize("arguments", ["", None, "{}"])
def test_arguments_that_say_nothing(form: Form, arguments: Any) -> None:
    name, key = keys(form)
    text = written_as(form, compact({name: "f", key: arguments}))
    assert message_of(form.family, text, prefix=form.prompt) == {"tool_calls": [call("f")]}


# A JSON object without arguments is data where nothing but the object says that it is a call.
@pytest.mark.parametrize("form", [form for form in JSON_FORMS if str(form) not in UNMARKED], ids=str)
def test_no_arguments_at_all(form: Form) -> None:
    text = written_as(form, compact({keys(form)[0]: "f"}))
    assert message_of(form.family, text, prefix=form.prompt) == {"tool_calls": [call("f")]}


def test_an_object_with_a_name_is_no_call_by_itself() -> None:
    assert message_of("llama3_json", '{"name": "f"}') == {"content": '{"name": "f"}'}


@json_forms
def test_the_order_of_members_is_free(form: Form) -> None:
    name, key = keys(form)
    text = written_as(form, compact({key: {"a": 1}, name: "f"}))
    assert message_of(form.family, text, prefix=form.prompt) == {"tool_calls": [call("f", a=1)]}


@json_forms
def test_arguments_named_as_the_members_of_a_call(form: Form) -> None:
    name, key = keys(form)
    arguments = {"name": "x", "arguments": "y", "parameters": {}, "id": 1}
    text = written_as(form, compact({name: "f", key: arguments}))
    assert message_of(form.family, text, prefix=form.prompt) == {"tool_calls": [call("f", **arguments)]}


@json_forms
@pytest.mark.parametrize("arguments", [{"a": 1}, '{"a": 1}'])
def test_the_shape_of_the_chat_completions_api(form: Form, arguments: Any) -> None:
    text = written_as(form, compact({"type": "function", "function": {"name": "f", "arguments": arguments}}))
    assert message_of(form.family, text, prefix=form.prompt) == {"tool_calls": [call("f", a=1)]}


@json_forms
def test_spaces_and_lines_are_free(form: Form) -> None:
    name, key = keys(form)
    text = written_as(form, f'{{\n  "{name}" : "f",\n  "{key}" : {{\n    "a" : 1\n  }}\n}}')
    assert message_of(form.family, text, prefix=form.prompt) == {"tool_calls": [call("f", a=1)]}


@pytest.mark.parametrize("form", NAMED_APART, ids=str)
def test_a_named_call_without_arguments(form: Form) -> None:
    text = EMPTY[str(form)].replace("{}", "") + form.turn_end
    assert message_of(form.family, text, prefix=form.prompt) == {"tool_calls": [call("zz")]}


@pytest.mark.parametrize(
    ("family", "text", "name"),
    [
        (
            "qwen3",
            '<tool_call>{"name": "mcp:files/read-file.v2", "arguments": {}}</tool_call>',
            "mcp:files/read-file.v2",
        ),
        ("qwen3_5", "<tool_call><function=mcp:read-file.v2></function></tool_call>", "mcp:read-file.v2"),
        (
            "deepseek_v31",
            "<｜tool▁call▁begin｜>mcp:read-file.v2<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
            "mcp:read-file.v2",
        ),
        (
            "deepseek_v3",
            "<｜tool▁call▁begin｜>function<｜tool▁sep｜>a.b-c:d\n```json\n{}\n```<｜tool▁call▁end｜>",
            "a.b-c:d",
        ),
        ("deepseek_dsml", '<｜DSML｜function_calls><｜DSML｜invoke name="a.b-c:d"></｜DSML｜invoke>', "a.b-c:d"),
        ("kimi_k2", "<|tool_call_begin|>functions.a.b-c:d:0<|tool_call_argument_begin|>{}<|tool_call_end|>", "a.b-c:d"),
        ("glm45", "<tool_call>a.b-c:d</tool_call>", "a.b-c:d"),
        ("minimax_m2", '<minimax:tool_call><invoke name="a.b-c:d"></invoke></minimax:tool_call>', "a.b-c:d"),
        ("gpt_oss", "<|channel|>commentary to=functions.a.b-c:d<|message|>{}<|call|>", "a.b-c:d"),
        ("gemma4", "<|tool_call>call:a.b-c:d{}<tool_call|>", "a.b-c:d"),
        ("mistral", "[TOOL_CALLS]a.b-c:d[ARGS]{}", "a.b-c:d"),
        ("functionary", "<function=a.b-c:d>{}</function>", "a.b-c:d"),
        ("functionary", ">>>a.b-c:d\n{}", "a.b-c:d"),
        ("step3", '<｜tool_call_begin｜><steptml:invoke name="a.b-c:d"></steptml:invoke>', "a.b-c:d"),
        ("lfm2", "<|tool_call_start|>[a.b-c()]<|tool_call_end|>", "a.b-c"),
        ("llama4_pythonic", "[a.b-c()]", "a.b-c"),
    ],
)
def test_names_with_dots_dashes_and_colons(family: str, text: str, name: str) -> None:
    assert message_of(family, text) == {"tool_calls": [call(name)]}


@pytest.mark.parametrize("form", [form for form in FORMS if "f(a=1)" in form.calls([("f", {"a": 1})])], ids=str)
def test_tuples_anywhere_in_a_value(form: Form) -> None:
    text = form.calls([("f", {"a": 0})]).replace("0", '{"x": [1, (2, 3)], "y": (), "z": (4)}') + form.turn_end
    expected = {"tool_calls": [call("f", a={"x": [1, [2, 3]], "y": [], "z": 4})]}
    assert message_of(form.family, text, prefix=form.prompt) == expected


@pytest.mark.parametrize(
    ("text", "message", "problems"),
    [
        ("<|tool_call>f{a:1}<tool_call|>", {"tool_calls": [call("f", a=1)]}, 0),
        ("Use <|tool_call>f for it.", {"content": "Use <|tool_call>f for it."}, 0),
        ("<|tool_call>call:f(a=1)<tool_call|>Hi", {"content": "Hi", "tool_calls": [call("f", a=1)]}, 0),
    ],
)
def test_other_openings_of_gemma(text: str, message: dict[str, Any], problems: int) -> None:
    assert message_of("gemma4", text, problems=problems) == message
