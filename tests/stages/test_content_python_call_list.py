"""``python-call-list``: the documented grammar, and nothing beside it."""

from __future__ import annotations

import json
import math
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from streamparse.errors import ContentError
from streamparse.stages.content import check_content, prepare_content

parse = prepare_content("python-call-list", {})

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,3}([-.][A-Za-z0-9_]{1,3}){0,2}", fullmatch=True)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8
)
arguments = st.dictionaries(names, values, max_size=3)
calls = st.lists(st.builds(lambda name, given: {"name": name, "arguments": given}, names, arguments), max_size=3)

SPACE = ["", " ", "\n\t", "\r "]
TOKENS = [
    *"[]()='\"\\,{}: \n1é/\x0c\ud800", "f", "g.h", "a-b", "x=", "'s'", "-0", "1.5", "1e5", "True", "null", "nan",
    "\\u0041", "\\ud83d", "\\ude00", "\\'", "\\x", "[f(a=", "9007199254740992", "12345678901234567", "1e999",
]  # fmt: skip


def written(calls, space=" ", quote='"', constants=("True", "False", "None")):
    """Calls as a model writes them."""
    true, false, none = constants

    def value(v):
        if v is None or isinstance(v, bool):
            return {True: true, False: false, None: none}[v]
        if isinstance(v, str):
            body = json.dumps(v, ensure_ascii=False)[1:-1]
            return f'"{body}"' if quote == '"' else "'" + body.replace('\\"', '"').replace("'", "\\'") + "'"
        if isinstance(v, list):
            return f"[{space}" + f"{space},{space}".join(map(value, v)) + f"{space}]"
        if isinstance(v, dict):
            return "{" + f"{space},".join(f"{value(k)}{space}:{space}{value(x)}" for k, x in v.items()) + "}"
        return json.dumps(v)

    def call(c):
        pairs = f"{space},{space}".join(f"{k}{space}={space}{value(v)}" for k, v in c["arguments"].items())
        return f"{c['name']}{space}({space}{pairs}{space})"

    return f"{space}[{space}" + f"{space},{space}".join(map(call, calls)) + f"{space}]{space}"


@given(
    calls,
    st.sampled_from(SPACE),
    st.sampled_from("'\""),
    st.sampled_from([("True", "False", "None"), ("true", "false", "null")]),
)
def test_calls_that_a_model_writes_come_back(calls, space, quote, constants):
    assert repr(parse(written(calls, space, quote, constants))) == repr(calls)


@given(text=st.lists(st.sampled_from(TOKENS), max_size=14).map("".join))
def test_any_text_gives_what_transformers_gives(reference, ours, text):
    assert ours(text, "python-call-list", {}) == reference(text, "python-call-list", {})


@given(calls=calls, cut=st.integers(0, 60), extra=st.sampled_from(["", *TOKENS]), dropped=st.integers(0, 2))
def test_calls_with_a_slip_in_them_give_what_transformers_gives(reference, ours, calls, cut, extra, dropped):
    text = written(calls)
    text = text[:cut] + extra + text[cut + dropped :]
    assert ours(text, "python-call-list", {}) == reference(text, "python-call-list", {})


@given(calls, st.integers(0, 60))
def test_a_list_that_breaks_off_is_an_error_at_its_end(calls, cut):
    text = written(calls, space="").rstrip()
    cut = min(cut, len(text) - 1)
    with pytest.raises(ContentError) as caught:
        parse(text[:cut])
    assert 0 <= caught.value.position <= cut


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("ok [f()]", 0),
        ("[f()] done", 6),
        ("[f(a=1, 2)]", 8),
        ("[f(a=1,a=2)]", 7),
        ("[f(a={'k':1, 'k':2})]", 13),
        ("[f(a=[1,])]", 8),
        ("[f(a='x\ny')]", 5),
        ("[f(a='abc\\q')]", 9),
        ("[f(a='abc\\ud83d\\ud83d')]", 9),
        ("[f(a=007)]", 6),
        ("[f(a=9007199254740992)]", 5),
        ("[f(a={1: 2})]", 6),
        ("[f(a=(1,2))]", 5),
        ("[f(a=1", 6),
        ("[f() g()]", 5),
    ],
)
def test_an_error_stands_where_the_text_leaves_the_grammar(text, position):
    with pytest.raises(ContentError) as caught:
        parse(text)
    assert caught.value.position == position


@pytest.mark.parametrize("depth", [100, 101])
def test_values_nest_a_hundred_deep_and_no_deeper(depth):
    text = f"[f(a={'[' * depth}{']' * depth})]"
    if depth == 100:
        assert repr(parse(text)[0]["arguments"]["a"]) == "[" * depth + "]" * depth
    else:
        with pytest.raises(ContentError, match="100"):
            parse(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_read_as_json_reads_them(number):
    text = repr(number)
    assume(re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", text))
    assert math.copysign(1, parse(f"[f(x={text})]")[0]["arguments"]["x"]) == math.copysign(1, number)
    assert parse(f"[f(x={text})]")[0]["arguments"]["x"] == number


@pytest.mark.parametrize(
    "text",
    [
        "[" * 1_000_000,
        "[f(a='" + "\\'" * 500_000,
        "[f(a=" + "1" * 1_000_000,
        "[" + "a." * 500_000,
        "[" + " " * 1_000_000,
    ],
)
def test_a_megabyte_that_is_no_list_is_refused_by_its_content_not_its_size(text):
    with pytest.raises(ContentError):
        parse(text)


def test_a_long_list_is_read_to_its_end():
    many = [{"name": "f", "arguments": {"a": i, "b": ["x\n", {"k": None}]}} for i in range(2000)]
    assert parse(written(many)) == many


def unbracketed(text: str):
    return prepare_content("python-call-list", {"brackets": False}, keep_source=True)(text)


@pytest.mark.parametrize("text", ["f(a=1)\ng()", "f(a=1), g()", "f(a=1),\ng()\n", "\n f(a=1) \n\n g()"])
def test_calls_may_stand_without_brackets_on_lines_or_with_commas(text):
    assert [call["name"] for call in unbracketed(text)] == ["f", "g"]
    assert unbracketed(text)[0]["arguments"] == {"a": 1}


@pytest.mark.parametrize("text", ["", "f() g()", "f(),", "f(", "[f()]", "f()]", "f\n()\nx", "f(),,g()"])
def test_calls_without_brackets_keep_to_their_grammar(text):
    with pytest.raises(ContentError):
        unbracketed(text)


def test_the_strict_mode_wants_the_brackets_as_transformers_does():
    with pytest.raises(ContentError):
        prepare_content("python-call-list", {"brackets": False})("f()")


def test_other_arguments_are_ignored_with_a_warning():
    assert [w.path for w in check_content("python-call-list", {"strip": True}, "p")[1]] == ["p.strip"]
