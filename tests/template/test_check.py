"""Faults and warnings of templates: all of them at once, each with its path and in words that say what to do."""

from __future__ import annotations

from typing import Any

import pytest

from streamparse import TemplateError, load_response_template
from streamparse.template.check import check_template


def template(*, fields: Any = None, **more: Any) -> dict[str, Any]:
    return {"start_anchor": "@@", "fields": {"content": {}} if fields is None else fields, **more}


def field(**keys: Any) -> dict[str, Any]:
    return template(fields={"x": keys})


def found(kind: int, source: Any) -> list[str]:
    return [str(fault) for fault in check_template(source)[kind]]


FAULTS: dict[str, tuple[Any, str]] = {
    "no template": (None, "must be a dict"),
    "a list": ([], "must be a dict"),
    "no fields": ({"start_anchor": "@"}, "'fields' is missing"),
    "empty fields": (template(fields={}), "fields: must not be empty"),
    "fields of another kind": (template(fields=[]), "fields: must be of type object, not list"),
    "an unknown key": (template(more=1), "unknown keys ['more']; known are "),
    "an unknown key of a field": (field(opne="<x>"), "fields.x: unknown keys ['opne']; known are "),
    "a field that is none": (template(fields={"x": None}), "fields.x: must be of type object, not null"),
    "another version": (template(version=2), "version: version 2 is not supported"),
    "defaults of another kind": (template(defaults=[]), "defaults: must be of type object, not list"),
    "no anchor": ({"fields": {"content": {}}}, "needs 'start_anchor' or 'start_anchor_pattern'"),
    "two anchors": (template(start_anchor_pattern="@"), "start_anchor: can't stand beside 'start_anchor_pattern'"),
    "an empty anchor": ({**template(), "start_anchor": ""}, "start_anchor: must not be an empty string"),
    "an anchor that is no pattern": (
        {"start_anchor_pattern": "(", "fields": {"content": {}}},
        "start_anchor_pattern: is not a valid pattern",
    ),
    "open and open_pattern": (field(open="a", open_pattern="b"), "fields.x.open: can't stand beside 'open_pattern'"),
    "close and close_pattern": (field(close="a", close_pattern="b"), "fields.x.close: can't stand beside"),
    "an empty literal": (field(open=""), "fields.x.open: must not be an empty string"),
    "an empty literal among others": (field(open=["a", ""]), "fields.x.open.1: must not be an empty string"),
    "no literal": (field(open=[]), "fields.x.open: must not be empty"),
    "a literal that is a number": (field(close=5), "fields.x.close: must be of type string or array, not int"),
    "a pattern that is null": (field(open_pattern=None), "fields.x.open_pattern: must be of type string, not null"),
    "a pattern that is none": (field(open_pattern="(?P<a"), "fields.x.open_pattern: is not a valid pattern"),
    "two implicit fields": (template(fields={"a": {}, "b": {}}), "fields: only one field may lack 'open'"),
    "an unknown parser": (field(content="yaml"), "fields.x.content: 'yaml' is not one of"),
    "arguments that are null": (field(content_args=None), "fields.x.content_args: must be of type object, not null"),
    "an xml pattern that is none": (
        field(content="xml-inline", content_args={"tag_pattern": "("}),
        "fields.x.content_args.tag_pattern: can't be compiled",
    ),
    "string delimiters of another kind": (
        field(content="json", content_args={"string_delims": [["<"]]}),
        "fields.x.content_args.string_delims: must be a list of [open, close] pairs",
    ),
    "a value parser's own arguments": (
        field(content="kv-lines", content_args={"value_parser": {"name": "json", "args": {"string_delims": 5}}}),
        "fields.x.content_args.value_parser.args.string_delims",
    ),
    "join without repeats": (field(join=","), "fields.x.join: needs 'repeats': true"),
    "join of another kind": (field(join=5, repeats=True), "fields.x.join: must be of type string or null, not int"),
    "named groups that nothing uses": (
        field(open_pattern="<(?P<a>.)>"),
        "named groups ['a'] but it has no 'transform'",
    ),
    "each without a transform": (field(transform_each=True), "fields.x.transform_each: needs a 'transform'"),
    "each of another kind": (field(transform=[], transform_each=1), "fields.x.transform_each: must be of type boolean"),
    "a placeholder amid text": (field(transform={"a": ["to {content}"]}), "fields.x.transform.a"),
    "a policy for no field": (template(streamparse={"fields": {"y": {}}}), "streamparse.fields.y: there is no such"),
    "a policy of unknown keys": (template(streamparse={"hold": 1}), "streamparse: unknown keys ['hold']"),
    "a beginning in no field": (template(streamparse={"starts_in": "y"}), "streamparse.starts_in: 'y' is no field"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_fault(what: str) -> None:
    source, said = FAULTS[what]
    faults = found(0, source)
    assert len(faults) == 1, faults
    assert said in faults[0]
    with pytest.raises(TemplateError, match="the response template has a fault"):
        load_response_template(source)


WARNINGS: dict[str, tuple[Any, str]] = {
    "a version that is no integer": (template(version=1.0), "version: 1.0 counts as 1"),
    "a version that is true": (template(version=True), "version: True counts as 1"),
    "an empty anchor pattern": (
        {"start_anchor_pattern": "", "fields": {"content": {}}},
        "start_anchor_pattern: an empty pattern matches at the end",
    ),
    "a literal twice": (field(open=["a", "b", "a"]), "fields.x.open: 'a' stands here more than once"),
    "repeats that is no boolean": (field(repeats="false"), "fields.x.repeats: 'false' counts as True"),
    "optional that is no boolean": (field(optional=0), "fields.x.optional: 0 counts as False"),
    "a placeholder that nothing supplies": (field(transform={"a": "{name}"}), "fields.x.transform.a"),
    "arguments that are ignored": (field(content="json", content_args={"prefix": "["}), "fields.x.content_args.prefix"),
    "tags without a pattern": (field(content="xml-inline"), "fields.x.content_args.tag_pattern"),
    "a value parser that there isn't": (
        field(content="kv-lines", content_args={"value_parser": {"name": "yaml"}}),
        "fields.x.content_args.value_parser.name",
    ),
    "a default that values can't be added to": (
        template(fields={"x": {"repeats": True}}, defaults={"x": None}),
        "defaults.x: the field's values are added to it, so it must be a list, not null",
    ),
    "a default that values can't be joined to": (
        template(fields={"x": {"repeats": True, "join": ""}}, defaults={"x": []}),
        "defaults.x: the field's values are added to it, so it must be a str or null, not list",
    ),
    "a pattern that can match nothing": (field(open_pattern="a*"), "fields.x.open_pattern: "),
    "a pattern whose match may grow": (field(close_pattern="</x>|$"), "fields.x.close_pattern: "),
    "a pattern that no automaton can run": (field(close_pattern=r"(a|b)\1"), "fields.x.close_pattern: "),
}


@pytest.mark.parametrize("what", WARNINGS)
def test_warning(what: str, caplog: pytest.LogCaptureFixture) -> None:
    source, said = WARNINGS[what]
    assert found(0, source) == []
    assert any(said in warning for warning in found(1, source)), found(1, source)
    loaded = load_response_template(source)
    assert [str(warning) for warning in loaded.warnings] == found(1, source)


def test_every_fault_is_reported_at_once_with_its_path() -> None:
    source = {
        "version": 3,
        "more": 1,
        "fields": {
            "a": {"open": "", "close_pattern": "(", "join": ","},
            "b": {"open_pattern": "<(?P<n>.)>", "content": "yaml"},
            "c": {},
            "d": {"transform": "x {content}"},
        },
    }
    with pytest.raises(TemplateError) as caught:
        load_response_template(source)
    paths = {fault.path for fault in caught.value.faults}
    assert paths >= {
        "version",
        "",
        "fields.a.open",
        "fields.a.close_pattern",
        "fields.a.join",
        "fields.b",
        "fields.b.content",
        "fields",
        "fields.d.transform",
    }
    message = str(caught.value)
    assert message.startswith(f"the response template has {len(caught.value.faults)} faults\n")
    assert all(str(fault) in message for fault in caught.value.faults)


def test_a_good_template_has_neither() -> None:
    source = template(
        version=1,
        defaults={"role": "assistant"},
        fields={
            "thinking": {"open": ["<think>", "<thought>"], "close": "</think>"},
            "content": {"repeats": True, "join": "\n"},
            "calls": {
                "open_pattern": r"<call name=(?P<name>\w+)>",
                "close": "</call>",
                "content": "json",
                "content_args": {"allow_non_json": True},
                "transform": {"function": {"name": "{name}", "arguments": "{content}"}},
                "repeats": True,
                "optional": True,
            },
        },
    )
    assert check_template(source) == ([], [])


def test_checking_changes_nothing() -> None:
    source = template(fields={"x": {"open": ["b", "a"]}})
    check_template(source)
    assert source == template(fields={"x": {"open": ["b", "a"]}})


def test_a_template_that_is_nested_too_deep_or_holds_itself_is_a_fault() -> None:
    deep: list[Any] = []
    for _ in range(1000):
        deep = [deep]
    itself: dict[str, Any] = {}
    itself["again"] = itself
    for default, path in ((deep, "defaults.x.0"), (itself, "defaults.x.again")):
        with pytest.raises(TemplateError) as caught:
            load_response_template({"start_anchor": "@@", "fields": {"content": {}}, "defaults": {"x": default}})
        assert [fault.path for fault in caught.value.faults] == [path]


@pytest.mark.parametrize("many", [[0] * 200, {str(number): 0 for number in range(200)}], ids=["list", "object"])
def test_a_template_with_too_much_in_it_is_a_fault(many: Any) -> None:
    fits, too_much = ({str(number): many for number in range(count)} for count in (49, 50))
    assert found(0, template(defaults={"x": fits})) == []
    (fault,) = found(0, template(defaults={"x": too_much}))
    assert fault.startswith("defaults.x.")
    assert "the template has more than 10000 members and items; leave out" in fault


@pytest.mark.parametrize("value", [{1, 2}, (1,), b"x", object(), {"deep": [{"set": {1}}]}])
def test_what_is_no_json_data_is_a_fault_wherever_it_would_reach_a_message(value: Any) -> None:
    (default,) = found(0, template(defaults={"x": value}))
    assert default.startswith("defaults.x")
    assert "must be JSON data, not " in default
    (constant,) = found(0, field(transform={"x": value, "y": "{content}"}))
    assert constant.startswith("fields.x.transform.x")


@pytest.mark.parametrize("transform", ["str", 5, True, {"a": "b"}, [], ["x"]])
def test_a_transform_without_a_placeholder_is_a_warning(transform: Any) -> None:
    assert found(0, field(transform=transform)) == []
    assert "fields.x.transform: has no placeholder, so every region of this field has the same value" in found(
        1, field(transform=transform)
    )


@pytest.mark.parametrize("broken", ["{content", "content}", "{ content }", "{content.}"])
def test_what_looks_like_a_placeholder_is_a_warning(broken: str) -> None:
    warnings = found(1, field(transform={"a": broken, "b": "{content}"}))
    assert warnings == [
        f"fields.x.transform.a: {broken!r} looks like a placeholder but is plain text; write {{name}} or {{name.key}}"
    ]


def test_a_group_that_may_take_no_part_is_a_warning_unless_a_policy_reads_the_calls() -> None:
    optional = {
        "open_pattern": r"<(?P<a>x)?(?:(?P<b>y)|(?P<c>z))(?P<d>w)>",
        "close": "</x>",
        "transform": {group: f"{{{group}}}" for group in "abcd"},
    }
    source = template(fields={"x": optional})
    assert [warning.partition(":")[0] for warning in found(1, source)] == [f"fields.x.transform.{key}" for key in "abc"]
    assert found(1, {**source, "streamparse": {"fields": {"x": {"calls": {"name": ["name"]}}}}}) == []


@pytest.mark.parametrize(
    "pattern",
    ["(?:(?:a{1000}){1000}){1000}", "(?:(?:a{1000}){1000}){1000}(?R)?", "a" * 20_001, "(" * 5_000 + ")" * 5_000],
    ids=["repeats", "repeats beyond our reader", "long", "nested"],
)
def test_a_pattern_that_would_take_the_compiler_too_much_is_a_fault(pattern: str) -> None:
    for source in (
        field(open_pattern=pattern, close="</x>"),
        {"start_anchor_pattern": pattern, "fields": {"content": {}}},
    ):
        faults = found(0, source)
        assert any("is not a valid pattern: " in fault for fault in faults)


def test_literals_that_are_far_too_long_are_a_fault() -> None:
    assert found(0, field(open=["<x>", "a" * 20_000])) == ["fields.x.open: is longer than 20000 characters"]
