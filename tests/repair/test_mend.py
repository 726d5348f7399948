"""Mending as the parser uses it: a field of a bundled template and the text of one of its regions."""

from __future__ import annotations

from typing import Any

import pytest

from streamparse import get_response_template
from streamparse.errors import ContentError, LimitError
from streamparse.repair import MENDERS, Damaged, mend
from streamparse.repair.lines_repair import mend_lines
from streamparse.template import load_response_template
from streamparse.template.model import Field


def calls_of(family: str) -> Field:
    return get_response_template(family).fields["tool_calls"]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


@pytest.mark.parametrize(
    ("family", "text", "value"),
    [
        ("qwen3", '\n{"name": "f", "arguments": {"a": "x\ty",}}\n', call("f", a="x\ty")),
        ("qwen3", "{'name': 'f', 'arguments': {'a': True}}", call("f", a=True)),
        ("hunyuan_a13b", '[{"name": "f", "arguments": {}}]]', [call("f")]),
        ("granite3", '[{"name": "f", "arguments": {}} {"name": "g", "arguments": {}}]', [call("f"), call("g")]),
        ("kimi_k2", '{"pattern": "\\d+"}', {"pattern": "\\d+"}),
        ("gemma4", '{command:<|"|>look<|"|>angle:90}', {"command": "look", "angle": 90}),
        ("qwen3_5", "\n<parameter=a>\nx\n<parameter=b>\ny\n</parameter>\n", {"a": "x", "b": "y"}),
        ("seed_oss", "<parameter=a>\nx </parameter> y\n</parameter>\n</function>", {"a": "\nx </parameter> y\n"}),
        ("glm45", "<arg_key>a</arg_key></arg_key><arg_value>1</arg_value>", {"a": 1}),
        ("minimax_m2", '<parameter name="a">x</param>\n<parameter name="b">y</parameter>', {"a": "x", "b": "y"}),
        ("lfm2", "[f(a='x\ny')]", [call("f", a="x\ny")]),
        ("lfm2", '{"name": "f", "arguments": {"a": 1,}}', call("f", a=1)),
        ("olmo3", "f(a='x\ny')\ng()", [call("f", a="x\ny"), call("g")]),
        ("llama4_pythonic", "[f(a=1,), g()]", [call("f", a=1), call("g")]),
    ],
)
def test_the_fields_of_bundled_templates_are_mended(family, text, value):
    mended = mend(calls_of(family), text)
    assert mended.value == value
    assert mended.repaired


@pytest.mark.parametrize("family", ["qwen3", "gemma4", "qwen3_5", "glm45", "lfm2", "olmo3"])
def test_what_cannot_be_mended_raises_the_error_of_the_first_reading(family):
    field = calls_of(family)
    text = "no call at all (sorry"
    with pytest.raises(ContentError) as own:
        field.parse_with_source(text)
    with pytest.raises(ContentError) as caught:
        mend(field, text)
    assert (caught.value.reason, caught.value.position) == (own.value.reason, own.value.position)


def test_where_only_the_markup_is_wrong_the_error_says_how():
    with pytest.raises(ContentError, match="text between the tags"):
        mend(calls_of("qwen3_5"), "<parameter=a>\nx\n</parameter>\nwords")


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("qwen3", '{"name": "f", "arguments": {"a": 1}'),
        ("qwen3_5", "<parameter=a>\nx\n</function>\n"),
        ("lfm2", "[f(a=1)"),
    ],
)
def test_what_is_missing_at_the_end_is_supplied_where_the_region_was_closed(family, text):
    field = calls_of(family)
    with pytest.raises(ContentError):
        mend(field, text)
    assert mend(field, text, allow_truncated=True).value


def test_a_bad_call_of_a_list_is_told_of():
    mended = mend(calls_of("lfm2"), "[get_weather('Paris'), ping()]")
    assert mended.value == [call("ping")]
    assert [(fault.index, fault.name, fault.text) for fault in mended.faults] == [
        (0, "get_weather", "get_weather('Paris')")
    ]


def test_a_field_of_text_has_nothing_to_mend():
    field = get_response_template("qwen3").fields["reasoning_content"]
    with pytest.raises(ContentError, match="can't be mended"):
        mend(field, "x")


def test_nesting_beyond_the_limit_says_so():
    with pytest.raises(LimitError):
        mend(calls_of("qwen3"), "[" * 1000 + ",")


def test_values_of_lines_are_mended():
    arguments = {"kv_sep": "=", "value_parser": {"name": "json"}}
    mended = mend_lines(Damaged("a={'x': 1}\nb=[1,]\nc=2", arguments))
    assert mended.value == {"a": {"x": 1}, "b": [1], "c": 2}
    assert mended.repaired == ["single quotes", "a trailing comma"]
    with pytest.raises(ContentError):
        mend_lines(Damaged("a=words", arguments))
    with pytest.raises(ContentError):
        mend_lines(Damaged("a=words", {"kv_sep": "=", "value_parser": {"name": "float"}}))


def test_lines_of_a_template_are_mended():
    source = {
        "start_anchor": "A:",
        "fields": {
            "plan": {
                "open": "<plan>",
                "close": "</plan>",
                "content": "kv-lines",
                "content_args": {"value_parser": {"name": "json"}},
            },
        },
    }
    mended = mend(load_response_template(source).fields["plan"], "a: True\nb: 1")
    assert (mended.value, mended.repaired) == ({"a": True, "b": 1}, ["a Python literal"])


def test_there_is_a_mender_for_each_structured_content():
    assert set(MENDERS) == {"json", "xml-inline", "python-call-list", "kv-lines"}
