"""``text``, ``int``, ``float`` and ``bool``: what a user gets for one plain value between two delimiters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.errors import ContentError, LimitError
from streamparse.stages.content import CONTENT_PARSERS, check_content, prepare_content

SCALARS = ["text", "int", "float", "bool"]

numberish = st.text(st.sampled_from("0123456789+-_.eE \t\n\x1c\x85　٣naifINFx\ud800"), max_size=8)


@pytest.mark.parametrize("name", SCALARS)
@given(text=numberish | st.text(max_size=12), arguments=st.sampled_from([{}, {"strip": False}, {"strip": 0}]))
def test_scalars_are_those_of_transformers(reference, ours, name, text, arguments):
    assert ours(text, name, arguments) == reference(text, name, arguments)


@pytest.mark.parametrize("name", SCALARS)
def test_the_text_of_a_scalar_is_part_of_its_value_so_its_chunks_are_clean(name):
    assert CONTENT_PARSERS[name].streams


@pytest.mark.parametrize("name", ["json", "xml-inline", "kv-lines", "python-call-list"])
def test_the_chunks_of_structured_text_are_dirty(name):
    assert not CONTENT_PARSERS[name].streams


def test_every_parser_of_the_format_is_there():
    structured = {"json", "xml-inline", "kv-lines", "python-call-list"}
    assert set(CONTENT_PARSERS) == {*SCALARS, *structured}


def test_text_keeps_its_white_space_where_it_is_asked_to():
    assert prepare_content("text", {"strip": False})(" a\n") == " a\n"
    assert prepare_content("text", {})("　a​ ") == "a​"


def test_an_integer_keeps_all_its_digits():
    digits = "9" * 4300
    assert prepare_content("int", {})(digits) == int(digits)


def test_an_integer_that_python_will_not_read_is_an_error_that_says_why():
    with pytest.raises(LimitError, match=r"more than 4300 digits.*Limits\.number_length"):
        prepare_content("int", {})("9" * 4301)


@pytest.mark.parametrize(("name", "text"), [("int", "  7x"), ("int", ""), ("float", "  1,5"), ("float", "")])
def test_what_is_no_number_is_reported_where_it_starts(name, text):
    with pytest.raises(ContentError) as caught:
        prepare_content(name, {})(text)
    assert caught.value.position == len(text) - len(text.lstrip())


def test_an_unknown_argument_and_a_flag_that_is_no_boolean_are_warned_of():
    errors, warnings = check_content("text", {"prefix": "x", "strip": "false"}, "fields.x.content_args")
    assert errors == []
    assert [warning.path for warning in warnings] == ["fields.x.content_args.prefix", "fields.x.content_args.strip"]


@pytest.mark.parametrize("arguments", [None, [], "strip", 5])
def test_arguments_that_are_no_object_are_an_error_unless_the_parser_takes_none(arguments):
    assert check_content("text", arguments, "p")[0]
    errors, warnings = check_content("python-call-list", arguments, "p")
    assert (len(errors), len(warnings)) == (0, 1)
