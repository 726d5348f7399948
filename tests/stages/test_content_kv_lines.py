"""``kv-lines``: a line for each key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.errors import ContentError
from streamparse.stages.content import check_content, prepare_content

value_parsers = st.sampled_from(
    [None, {}, {"name": "int"}, {"name": "bool"}, {"name": "json", "args": {"allow_non_json": True}}, {"name": "nope"}]
)
arguments = st.fixed_dictionaries(
    {},
    optional={
        "line_sep": st.sampled_from(["\n", ";", "\n\n", None, "", ":"]),
        "kv_sep": st.sampled_from([":", "=", "::", "", "\n"]),
        "strip": st.sampled_from([True, False, 0, "no"]),
        "value_parser": value_parsers | st.just({"name": "kv-lines", "args": {"kv_sep": "="}}),
    },
)


@given(text=st.text(st.sampled_from("ab:=;\n\t 1\x85　"), max_size=16), arguments=arguments)
def test_any_text_gives_what_transformers_gives(reference, ours, text, arguments):
    assert ours(text, "kv-lines", arguments) == reference(text, "kv-lines", arguments)


@given(st.dictionaries(st.from_regex(r"\w+", fullmatch=True), st.from_regex(r"\S+( \S+)*", fullmatch=True)))
def test_what_is_written_line_by_line_comes_back(values):
    text = "\n".join(f"{key}: {value}" for key, value in values.items())
    assert prepare_content("kv-lines", {})(text) == values


def test_lines_without_a_separator_are_skipped_and_the_last_of_equal_keys_counts():
    assert prepare_content("kv-lines", {})("a: 1\nnoise\n\na: x:y") == {"a": "x:y"}


@pytest.mark.parametrize(
    ("text", "arguments", "position"),
    [
        ("a: 1\n  b :  x2\n", {}, 12),
        (" a=q;b=1", {"line_sep": ";", "kv_sep": "=", "strip": False}, 3),
        ("a:1\nb:{1}", {"value_parser": {"name": "json"}}, 7),
        (
            "k: a=1,b=z",
            {
                "value_parser": {
                    "name": "kv-lines",
                    "args": {"kv_sep": "=", "line_sep": ",", "value_parser": {"name": "int"}},
                }
            },
            9,
        ),
    ],
)
def test_an_error_in_a_value_is_reported_where_it_is_in_the_region(text, arguments, position):
    arguments = {"value_parser": {"name": "int"}, **arguments}
    with pytest.raises(ContentError) as caught:
        prepare_content("kv-lines", arguments)(text)
    assert caught.value.position == position


@pytest.mark.parametrize("arguments", [{"line_sep": 5}, {"kv_sep": None}, {"kv_sep": ["x"]}, {"value_parser": "int"}])
def test_separators_that_are_no_text_are_an_error_when_the_template_loads(arguments):
    errors, _ = check_content("kv-lines", arguments, "p")
    assert [error.path for error in errors] == [f"p.{name}" for name in arguments]


@pytest.mark.parametrize("arguments", [{"line_sep": ""}, {"kv_sep": ""}, {"line_sep": None}, {"prefix": "x"}])
def test_what_only_fails_or_surprises_at_parse_time_is_a_warning(arguments):
    errors, warnings = check_content("kv-lines", arguments, "p")
    assert (errors, [warning.path for warning in warnings]) == ([], [f"p.{name}" for name in arguments])


def test_a_line_that_is_all_separators_takes_no_time():
    assert prepare_content("kv-lines", {})(":" * 1_000_000) == {"": ":" * 999_999}
