"""``json``: exact values, dialects, and errors that say where."""

from __future__ import annotations

import json
import sys
import threading

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamparse.errors import ContentError, LimitError
from streamparse.limits import Limits
from streamparse.stages.content import check_content, prepare_content
from streamparse.stages.content.json_dialect import Dialect
from streamparse.stages.content.json_value import depth

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)

PAIRS = [["<q>", "</q>"], ["`", "`"], ["|", "|"], ["", '"'], ["a", ""], ["1", "0"], ["", ""], ["‹", "›"]]
dialects = st.fixed_dictionaries(
    {},
    optional={
        "string_delims": st.lists(st.sampled_from(PAIRS), max_size=3),
        "unquoted_keys": st.booleans(),
        "allow_non_json": st.booleans(),
        "strip": st.booleans(),
    },
)
pieces = st.sampled_from(
    [
        *'{}[],:"\\ \n`|1_é',
        "a",
        "b_c",
        "-2.5e3",
        "NaN",
        "true",
        "<q>",
        "</q>",
        '"x"',
        '{"a":',
        "{k:",
        ", k :",
        '\\"',
        "\x01",
    ]
)
jsonish = st.lists(pieces, max_size=16).map("".join)


def written(delimiter: tuple[str, str], quoted: bool) -> st.SearchStrategy[tuple[str, object]]:
    """Values with how a model would write them in a dialect, strings between delimiters and keys bare."""
    opening, closing = delimiter
    text = st.text(st.characters(exclude_characters="<>\x01\x02", codec="utf-8"), max_size=6)
    key = st.from_regex(r"[a-zA-Z_é][a-zA-Z0-9_é]{0,4}", fullmatch=True)
    leaf = text.map(lambda t: (f"{opening}{t}{closing}", t)) | st.integers().map(lambda n: (str(n), n))

    def grow(inner: st.SearchStrategy[tuple[str, object]]) -> st.SearchStrategy[tuple[str, object]]:
        lists = st.lists(inner, max_size=3).map(lambda xs: (f"[{', '.join(x for x, _ in xs)}]", [v for _, v in xs]))
        name = '"{}"' if quoted else "{}"
        objects = st.dictionaries(key, inner, max_size=3).map(
            lambda d: (
                "{" + ",".join(f"{name.format(k)} : {x}" for k, (x, _) in d.items()) + "}",
                {k: v for k, (_, v) in d.items()},
            )
        )
        return lists | objects

    return st.recursive(leaf, grow, max_leaves=8)


@given(text=jsonish, arguments=dialects)
@example(text='{"a":`x<q>1</q>y`}', arguments={"string_delims": PAIRS[:2]})
@example(text='{a:"q, b: 1}', arguments={"unquoted_keys": True})
@example(text="\x01", arguments={"string_delims": PAIRS[:1], "allow_non_json": True})
def test_any_text_gives_what_transformers_gives(reference, ours, text, arguments):
    assert ours(text, "json", arguments) == reference(text, "json", arguments)


@given(values)
def test_every_value_that_python_writes_comes_back(value):
    assert repr(prepare_content("json", {})(json.dumps(value))) == repr(json.loads(json.dumps(value)))


@given(written(("<q>", "</q>"), quoted=False))
def test_a_dialect_gives_the_values_that_were_written_in_it(pair):
    text, value = pair
    parse = prepare_content("json", {"string_delims": [["<q>", "</q>"]], "unquoted_keys": True})
    assert parse(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9223372036854775807123", 9223372036854775807123),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("Infinity", float("inf")),
        ('"\\ud800"', "\ud800"),
    ],
)
def test_values_are_those_of_pythons_json(text, value):
    assert prepare_content("json", {})(text) == value


@pytest.mark.parametrize(
    ("text", "position", "arguments"),
    [
        ('{"a": 1,}', 8, {}),
        ("[1 2]", 3, {}),
        ("{a: <q>x</q>, b: oops}", 17, {"string_delims": [["<q>", "</q>"]], "unquoted_keys": True}),
        ("{aa: 1, bb 2}", 8, {"unquoted_keys": True}),
        ("<q>a</q> <q>b</q>", 9, {"string_delims": [["<q>", "</q>"]]}),
        ("[<q>a\x01</q>]", 5, {"string_delims": [["<q>", "</q>"]]}),
    ],
)
def test_an_error_says_where_in_the_text_as_written(text, position, arguments):
    with pytest.raises(ContentError) as caught:
        prepare_content("json", arguments)(text)
    assert caught.value.position == position


def test_text_that_is_no_json_is_the_value_where_that_is_allowed():
    assert prepare_content("json", {"allow_non_json": True})(" hi ") == "hi"
    assert prepare_content("json", {"allow_non_json": True, "strip": False})(" hi ") == " hi "
    assert prepare_content("json", {"allow_non_json": True})("") == ""


def test_a_number_too_long_is_an_error_even_where_text_is_allowed():
    with pytest.raises(LimitError, match=r"Limits\.number_length"):
        prepare_content("json", {"allow_non_json": True})("1" * 4301)


@pytest.mark.parametrize(("name", "text"), [("json", "[1, {}]"), ("int", "-{}"), ("json", "-{}")])
def test_how_long_a_number_may_be_can_be_chosen(name, text):
    parse = prepare_content(name, {}, limits=Limits(number_length=5))
    assert "12345" in repr(parse(text.format("12345")))
    with pytest.raises(LimitError) as caught:
        parse(text.format("123456"))
    assert caught.value.limit == "number_length"


@pytest.mark.parametrize("name", ["json", "int"])
def test_a_program_that_lifts_pythons_limit_still_has_that_of_the_parser(name):
    allowed = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        with pytest.raises(LimitError, match=r"Limits\.number_length"):
            prepare_content(name, {})("1" * 4301)
    finally:
        sys.set_int_max_str_digits(allowed)


@pytest.mark.parametrize("name", ["json", "int"])
def test_where_python_allows_less_the_error_says_so(name):
    with pytest.raises(LimitError, match=r"sys\.set_int_max_str_digits"):
        prepare_content(name, {}, limits=Limits(number_length=10_000))("1" * 4301)


@pytest.mark.parametrize("text", ["[" * 5000 + "]" * 5000, "[" * 100_000, '{"a":' * 600 + "1" + "}" * 600])
@pytest.mark.parametrize("arguments", [{}, {"allow_non_json": True}, {"unquoted_keys": True}])
def test_nesting_beyond_the_limit_is_an_error_that_names_it(text, arguments):
    with pytest.raises(LimitError) as caught:
        prepare_content("json", arguments)(text)
    assert caught.value.limit == "json_depth"


def test_the_depth_limit_is_exact_and_can_be_chosen():
    parse = prepare_content("json", {}, limits=Limits(json_depth=3))
    assert parse('[{"a": [1]}, "[[[[", [[]], [], []]') == [{"a": [1]}, "[[[[", [[]], [], []]
    with pytest.raises(LimitError):
        parse("[[[[]]], 1, [], []]")


def test_depth_counts_no_bracket_within_strings():
    assert depth('["]][[", {"\\"[": [[]]}]') == 4


def test_a_stack_that_is_nearly_full_gives_an_error_of_ours():
    outcome: list[type[BaseException]] = []

    def deep(left: int) -> None:
        if left:
            return deep(left - 1)
        try:
            prepare_content("json", {})("[" * 500 + "]" * 500)
        except Exception as error:
            outcome.append(type(error))
        return None

    thread = threading.Thread(target=deep, args=(sys.getrecursionlimit() - 200,))
    thread.start()
    thread.join()
    assert outcome in ([LimitError], [])  # interpreters from 3.12 on count the decoder's depth apart


@pytest.mark.parametrize(
    "delimiters", [None, 5, False, "ab", [["<q>"]], [["<q>", "</q>", "x"]], [["<q>", 5]], [5], [None]]
)
def test_string_delimiters_of_another_shape_are_an_error_when_the_template_loads(delimiters):
    errors, _ = check_content("json", {"string_delims": delimiters}, "fields.x.content_args")
    assert [error.path for error in errors] == ["fields.x.content_args.string_delims"]


def test_arguments_that_only_other_parsers_know_are_warned_of():
    errors, warnings = check_content("json", {"strip_prefix": "x", "string_delims": [["a", "b"]]}, "p")
    assert (errors, [warning.path for warning in warnings]) == ([], ["p.strip_prefix"])


@given(jsonish, st.lists(st.sampled_from(PAIRS), max_size=3), st.booleans())
def test_positions_of_rewritten_text_lead_back_to_the_same_character_where_it_was_kept(text, pairs, unquoted):
    if "\x01" in text:
        return
    rewritten = Dialect(tuple((opening, closing) for opening, closing in pairs), unquoted).to_json(text)
    origins = [rewritten.origin(position) for position in range(len(rewritten.text) + 1)]
    assert origins == sorted(origins)
    assert all(0 <= origin <= len(text) for origin in origins)
    if not pairs and not unquoted:
        assert origins == list(range(len(text) + 1))
