"""Transforms: what a template makes of a parsed value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.errors import ContentError
from streamparse.stages.transform import apply_transform, check_transform, transform_value

leaves = st.sampled_from(
    [
        "{content}",
        "{content.a}",
        "{content.a.b}",
        "{name}",
        "{é}",
        "{0}",
        "plain",
        "{}",
        "{ x }",
        "{a.}",
        "{a-b}",
        5,
        None,
        False,
    ]
)
transforms = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
)
contents = st.sampled_from(["text", 1.0, None, [1], {}, {"a": {"b": [1]}}, {"a": None}, {"a": "x"}])
scopes = st.fixed_dictionaries({"content": contents}, optional={"name": st.just("f"), "é": st.just(1), "0": st.just(2)})


@pytest.fixture(scope="session")
def reference_transform():
    from transformers.utils.chat_parsing.content_parsers import _apply_transform

    return _apply_transform


@given(transform=transforms, scope=scopes)
def test_any_transform_gives_what_transformers_gives(reference_transform, transform, scope):
    try:
        expected = repr(reference_transform(transform, scope))
    except (KeyError, ValueError):
        with pytest.raises(ContentError):
            apply_transform(transform, scope)
    else:
        assert repr(apply_transform(transform, scope)) == expected


@given(st.text(st.sampled_from("{}ab. \n-é1"), max_size=8))
def test_a_string_is_mixed_when_transformers_refuses_it(text):
    from transformers.utils.chat_parsing.content_parsers import validate_transform_strings

    errors, _ = check_transform({"x": text}, "t", groups=["a", "b"])
    try:
        validate_transform_strings("t", {"x": text})
    except ValueError:
        assert [error.path for error in errors] == ["t.x"]
    else:
        assert errors == []


def test_types_are_kept_and_the_template_is_not_touched():
    transform = {"function": {"name": "{name}", "arguments": "{content}"}, "list": ["{content.a}", 1.0, None]}
    scope = {"name": "f", "content": {"a": [1]}}
    result = apply_transform(transform, scope)
    assert result == {"function": {"name": "f", "arguments": {"a": [1]}}, "list": [[1], 1.0, None]}
    result["function"]["name"] = "changed"
    assert transform["function"]["name"] == "{name}"


def test_each_item_of_a_list_is_reshaped_with_its_keys_over_the_captures():
    items = [{"a": 1}, {"a": 2, "n": "own"}]
    assert transform_value(items, {"n": "q"}, {"n": "{n}", "a": "{a}"}, True) == [
        {"n": "q", "a": 1},
        {"n": "own", "a": 2},
    ]


@pytest.mark.parametrize("value", [{"a": 1}, "text", None, [1], [{"a": 1}, []]])
def test_each_needs_a_list_of_dictionaries(value):
    with pytest.raises(ContentError, match="transform_each"):
        transform_value(value, {}, {"n": "{a}"}, True)


@pytest.mark.parametrize(
    ("transform", "said"),
    [
        ("{content.b}", "'b'"),
        ("{content.0}", "'0'"),
        ("{missing}", "missing"),
        ("{content.a.x}", "int"),
        ("{content.c.x}", "list"),
    ],
)
def test_a_placeholder_that_finds_nothing_says_which(transform, said):
    with pytest.raises(ContentError, match=said):
        transform_value({"a": 1, "c": [1]}, {}, transform, False)


def test_a_missing_argument_list_is_left_to_the_schema_where_that_is_wanted():
    call = {"type": "function", "function": {"name": "{content.name}", "arguments": "{content.arguments}"}}
    named = {"name": "f"}
    assert transform_value(named, {}, call, False, lenient=True) == {"type": "function", "function": {"name": "f"}}
    assert transform_value(
        [named], {}, {"function": {"name": "{name}", "arguments": "{args}"}}, True, lenient=True
    ) == [{"function": {"name": "f"}}]
    with pytest.raises(ContentError):
        transform_value(named, {}, call, False)
    with pytest.raises(ContentError):
        transform_value({}, {}, call, False, lenient=True)


def test_what_nothing_supplies_is_warned_of_with_its_place():
    errors, warnings = check_transform(
        {"a": "{content}", "b": [{"c": "{nobody.x}"}], "d": "{maybe}", "e": "{name}"},
        "fields.x.transform",
        groups=["name", "maybe"],
        optional_groups=["maybe"],
    )
    assert errors == []
    assert [warning.path for warning in warnings] == ["fields.x.transform.b.0.c", "fields.x.transform.d"]


def test_names_of_items_are_not_known_beforehand():
    assert check_transform({"n": "{anything}"}, "t", each=True) == ([], [])


def test_a_group_called_content_is_out_of_reach():
    assert len(check_transform("{content}", "t", groups=["content"])[1]) == 1


@pytest.mark.parametrize("build", [lambda inner: {"a": inner}, lambda inner: [inner]])
def test_a_transform_nested_too_deep_is_an_error_not_a_crash(build):
    transform: object = "{content}"
    for _ in range(5000):
        transform = build(transform)
    errors, _ = check_transform(transform, "t")
    assert [error.path for error in errors] == ["t"]


def test_every_fault_is_found_at_once():
    errors, _ = check_transform({"a": "x {name}", "b": ["{name} {name}", "{name}"], "c": "{a}b"}, "t", groups=["name"])
    assert [error.path for error in errors] == ["t.a", "t.b.0", "t.c"]
