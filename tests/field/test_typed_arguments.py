"""Arguments get the types that the tools declare, whatever they are written in; text and digits are kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.field.forms import FORMS, Call, Form
from tests.field.reading import call, message_of

TAG_FORMS = [
    form for form in FORMS if not any(character in form.calls([("f", {"a": "b"})]) for character in ('"b"', "('", "{"))
]
tag_forms = pytest.mark.parametrize("form", TAG_FORMS, ids=str)


def tools_of(schema: Any, **definitions: Any) -> list[dict[str, Any]]:
    """One tool ``f`` whose parameter ``a`` has the schema."""
    parameters = {"type": "object", "properties": {"a": schema}} | definitions
    return [{"type": "function", "function": {"name": "f", "parameters": parameters}}]


def test_which_forms_write_values_as_they_are() -> None:
    assert {form.family for form in TAG_FORMS} == {
        "qwen3_5",
        "deepseek_dsml",
        "deepseek_v41",
        "glm45",
        "hy_v3",
        "hy_v4",
        "kimi_k3",
        "longcat",
        "mimo",
        "minimax_m2",
        "muse_glimmer",
        "seed_oss",
        "step3",
        "nemotron_v3",
    }


@tag_forms
@pytest.mark.parametrize(
    ("schema", "written", "value"),
    [
        ({"type": "string"}, "90210", "90210"),
        ({"type": "string"}, "007", "007"),
        ({"type": "string"}, "true", "true"),
        ({"type": "string"}, "null", "null"),
        ({"type": "string"}, '{\n  "a": 1\n}', '{\n  "a": 1\n}'),
        ({"type": "string"}, "[1, 2]", "[1, 2]"),
        ({"type": "string"}, "12345678901234567890.00", "12345678901234567890.00"),
        ({"type": "string"}, "&lt;b&gt;", "&lt;b&gt;"),
        ({"type": "string"}, "    if x:\n        y", "    if x:\n        y"),
        ({"type": "string"}, "", ""),
        ({"type": "integer"}, "5", 5),
        ({"type": "integer"}, "-7", -7),
        ({"type": "integer"}, "1234567890123456789", 1234567890123456789),
        ({"type": "number"}, "9223372036854775807", 9223372036854775807),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "False", False),
        ({"type": "array", "items": {"type": "integer"}}, "[1, 2]", [1, 2]),
        ({"type": "object"}, '{"a": {"b": "c"}}', {"a": {"b": "c"}}),
        ({"type": ["string", "null"]}, "4", "4"),
        ({"type": ["integer", "null"]}, "4", 4),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": "string", "nullable": True}, "4", "4"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}, "5", 5),
        ({"oneOf": [{"type": "null"}, {"type": "array"}]}, "[5]", [5]),
        ({"allOf": [{"type": "integer"}]}, "5", 5),
        ({"enum": ["1", "2"]}, "1", "1"),
        ({"$ref": "#/$defs/Options"}, '{"n": 1}', {"n": 1}),
        ({"type": "integer"}, "not a number", "not a number"),
    ],
)
def test_the_declared_type_decides(form: Form, schema: Any, written: str, value: Any) -> None:
    tools = tools_of(schema, **{"$defs": {"Options": {"type": "object"}}})
    calls: list[Call] = [("f", {"a": written})]
    text = form.calls(calls)
    assert message_of(form.family, text, prefix=form.prompt, tools=tools) == {"tool_calls": [call("f", a=value)]}


@tag_forms
def test_without_tools_text_keeps_its_indentation(form: Form) -> None:
    for value in ("    x = 1\n    y = 2", "\tx", "a\n\n\nb", "ends with a space "):
        calls: list[Call] = [("f", {"a": value, "b": "z"})]
        assert message_of(form.family, form.calls(calls), prefix=form.prompt) == {"tool_calls": form.made(calls)}


@pytest.mark.parametrize("form", [form for form in FORMS if form not in TAG_FORMS], ids=str)
@pytest.mark.parametrize("value", ["  two  ", "a\nb\tc", "Größe – 東京 😀", "\\d+ \"q\" 'r'", "1", "true", ""])
def test_strings_keep_every_character(form: Form, value: str) -> None:
    calls: list[Call] = [("f", {"a": value, "b": [value], "c": {"d": value}})]
    text = form.calls(calls) + form.turn_end
    assert message_of(form.family, text, prefix=form.prompt) == {"tool_calls": form.made(calls)}


ESCAPING = [form for form in FORMS if form not in TAG_FORMS and form.family not in ("gemma4", "functiongemma")]


@pytest.mark.parametrize("form", ESCAPING, ids=str)
def test_escapes_are_read_whole_wherever_they_are_cut(form: Form) -> None:
    plain = form.calls([("f", {"a": "VALUE"})])
    text = plain.replace("VALUE", "\\ud83d\\ude00 \\u00fc\\n\\\\")
    assert message_of(form.family, text, prefix=form.prompt) == {"tool_calls": [call("f", a="😀 ü\n\\")]}


@pytest.mark.parametrize("number", [0, -1, 2**53 - 1, 1.5, 1e300, True, None])
@pytest.mark.parametrize("form", [form for form in FORMS if form.typed], ids=str)
def test_numbers_keep_their_kind(form: Form, number: Any) -> None:
    calls: list[Call] = [("f", {"a": number, "b": [number]})]
    message = message_of(form.family, form.calls(calls), prefix=form.prompt)
    assert json.dumps(message) == json.dumps({"tool_calls": form.made(calls)})


@pytest.mark.parametrize("form", [form for form in FORMS if form.typed and "(" not in form.calls([("f", {})])], ids=str)
def test_big_integers_keep_their_digits(form: Form) -> None:
    calls: list[Call] = [("f", {"a": 12345678901234567890123})]
    assert message_of(form.family, form.calls(calls), prefix=form.prompt) == {"tool_calls": form.made(calls)}


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_name_that_no_tool_has_is_passed_on(form: Form) -> None:
    calls: list[Call] = [("unknown", {"a": "b"})]
    text = form.calls(calls)
    made = message_of(form.family, text, prefix=form.prompt, tools=tools_of({"type": "string"}))
    assert made == {"tool_calls": form.made(calls)}
