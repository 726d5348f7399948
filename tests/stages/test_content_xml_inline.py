"""``xml-inline``: a tag for each key, whatever the pattern that finds the tags."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.errors import ContentError, LimitError
from streamparse.limits import Limits
from streamparse.stages.content import SourcedDict, check_content, prepare_content

PARAMETER = r"<parameter=(?P<key>[^>\n]+)>\s*(?P<value>.*?)\s*</parameter>"
GUESSING = {"name": "json", "args": {"allow_non_json": True}}

patterns = st.sampled_from(
    [
        PARAMETER,
        r"<(?P<key>\w+)>(?P<value>.*?)</\1>",
        r"(?P<key>\w)=(?P<value>\S+)",
        r"(?P<key>\w)(?:=(?P<value>\d))?",
        r"(?P<value>\d)",
        r"(?P<key>\w)",
        r"(?P<key>a)?b",
        r"<(?:a(?P<key>1)|b(?P<key>\w))>(?P<value>.)",
    ]
)
arguments = st.fixed_dictionaries(
    {"tag_pattern": patterns},
    optional={
        "merge_duplicates": st.booleans(),
        "value_parser": st.sampled_from([None, {}, GUESSING, {"name": "int"}, {"name": "json"}, {"name": "nope"}]),
    },
)
pieces = st.sampled_from(
    ["<parameter=a>", "<parameter=b c>", "</parameter>", "<a>", "</a>", "<b>", "</b>", "a=1", "b", "=", *"1 \n<>b2[]x"]
)


@given(text=st.lists(pieces, max_size=12).map("".join), arguments=arguments)
def test_any_text_gives_what_transformers_gives(reference, ours, text, arguments):
    assert ours(text, "xml-inline", arguments) == reference(text, "xml-inline", arguments)


keys = st.from_regex(r"[\w-]{1,4}", fullmatch=True)
lines = st.from_regex(r"[^<\s]+([ \n]+[^<\s]+)*", fullmatch=True)


@given(st.dictionaries(keys, lines))
def test_parameters_written_one_by_one_come_back(values):
    text = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values.items())
    assert prepare_content("xml-inline", {"tag_pattern": PARAMETER})(text) == values


def test_a_repeated_key_keeps_the_last_value_or_all_of_them():
    text = "<parameter=a>[1]</parameter><parameter=a>[2]</parameter><parameter=b>3</parameter>"
    arguments = {"tag_pattern": PARAMETER, "value_parser": {"name": "json"}}
    assert prepare_content("xml-inline", arguments)(text) == {"a": [2], "b": 3}
    assert prepare_content("xml-inline", {**arguments, "merge_duplicates": True})(text) == {"a": [[1], [2]], "b": 3}


def test_an_error_in_a_value_is_reported_where_it_is_in_the_region():
    parse = prepare_content("xml-inline", {"tag_pattern": PARAMETER, "value_parser": {"name": "json"}})
    with pytest.raises(ContentError) as caught:
        parse("<parameter=a>\n {}\n</parameter><parameter=b>  [1, x]</parameter>")
    assert caught.value.position == len("<parameter=a>\n {}\n</parameter><parameter=b>  [1, ")


def test_a_pattern_without_a_key_fails_only_where_a_tag_is_found():
    parse = prepare_content("xml-inline", {"tag_pattern": r"(?P<value>\d)"})
    assert parse("a") == {}
    with pytest.raises(ContentError, match="key"):
        parse("a1")


def test_a_missing_pattern_fails_when_a_text_is_parsed_and_warns_before():
    errors, warnings = check_content("xml-inline", {}, "p")
    assert (errors, [warning.path for warning in warnings]) == ([], ["p.tag_pattern"])
    with pytest.raises(ContentError, match="tag_pattern"):
        prepare_content("xml-inline", {})("a")


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        "[z-a]",
        r"\p{nonsense}",
        "(?iuL)a",
        5,
        ["x"],
        "(" * 3000 + ")" * 3000,
        "(?:(?:a{999}){999}){999}",
        "a" * 99_999,
    ],
)
def test_a_pattern_that_cannot_be_compiled_is_an_error_when_the_template_loads(pattern):
    errors, _ = check_content("xml-inline", {"tag_pattern": pattern}, "p")
    assert [error.path for error in errors] == ["p.tag_pattern"]
    with pytest.raises(ContentError):
        prepare_content("xml-inline", {"tag_pattern": pattern})("a")


def test_missing_groups_are_warned_of():
    _, warnings = check_content("xml-inline", {"tag_pattern": "x"}, "p")
    assert ["key" in str(warnings[0]), "value" in str(warnings[1])] == [True, True]


def test_a_value_parser_that_there_is_not_fails_only_where_it_is_used():
    arguments = {"tag_pattern": PARAMETER, "value_parser": {"name": "yaml"}}
    errors, warnings = check_content("xml-inline", arguments, "p")
    assert (errors, [warning.path for warning in warnings]) == ([], ["p.value_parser.name"])
    parse = prepare_content("xml-inline", arguments)
    assert parse("nothing") == {}
    with pytest.raises(ContentError, match="yaml"):
        parse("<parameter=a>1</parameter>")


@pytest.mark.parametrize(
    ("value_parser", "path"),
    [
        ("int", "p.value_parser"),
        (False, "p.value_parser"),
        ({"name": ["int"]}, "p.value_parser.name"),
        ({"name": "int", "args": None}, "p.value_parser.args"),
        ({"name": "kv-lines", "args": {"line_sep": 1}}, "p.value_parser.args.line_sep"),
    ],
)
def test_a_value_parser_that_can_never_work_is_an_error_when_the_template_loads(value_parser, path):
    errors, _ = check_content("xml-inline", {"tag_pattern": PARAMETER, "value_parser": value_parser}, "p")
    assert [error.path for error in errors] == [path]


def test_what_a_value_parser_ignores_is_warned_of():
    value_parser = {"name": "json", "arguments": {}, "args": {"unquoted": True}}
    _, warnings = check_content("xml-inline", {"tag_pattern": PARAMETER, "value_parser": value_parser}, "p")
    assert {warning.path for warning in warnings} == {"p.value_parser.arguments", "p.value_parser.args.unquoted"}


def test_value_parsers_in_value_parsers_are_bounded():
    arguments: dict = {"tag_pattern": r"(?P<key>\w)=(?P<value>.*)"}
    arguments["value_parser"] = {"name": "xml-inline", "args": arguments}
    errors, _ = check_content("xml-inline", arguments, "p")
    assert "nested" in str(errors[0])
    with pytest.raises(ContentError, match="nested"):
        prepare_content("xml-inline", arguments)("a=" * 30)
    assert prepare_content("xml-inline", arguments)("a=b=") == {"a": {"b": {}}}


def test_a_pattern_that_runs_away_is_stopped_by_a_limit_that_is_named():
    parse = prepare_content(
        "xml-inline",
        {"tag_pattern": r"<(?P<key>\w+)(?P<value>.*?)(?:x+)+y"},
        limits=Limits(pattern_seconds=0.05),
    )
    with pytest.raises(LimitError) as caught:
        parse("<a" + "x" * 5000)
    assert caught.value.limit == "pattern_seconds"


def test_values_remember_their_texts_where_that_is_asked_for():
    arguments = {"tag_pattern": PARAMETER, "value_parser": GUESSING}
    text = '<parameter=zip>90210</parameter><parameter=a>plain</parameter><parameter=q>"b"</parameter>'
    value = prepare_content("xml-inline", arguments, keep_source=True)(text)
    assert value == {"zip": 90210, "a": "plain", "q": "b"}
    assert isinstance(value, SourcedDict)
    assert value.sources == {"zip": "90210", "q": '"b"'}
    assert type(prepare_content("xml-inline", arguments)(text)) is dict


def test_a_parser_that_does_not_guess_has_the_last_word_on_strings():
    arguments = {"tag_pattern": PARAMETER, "value_parser": {"name": "json"}}
    text = '<parameter=n>1</parameter><parameter=q>"b"</parameter>'
    value = prepare_content("xml-inline", arguments, keep_source=True)(text)
    assert isinstance(value, SourcedDict)
    assert value.sources == {"n": "1"}


def test_collected_values_remember_each_text():
    arguments = {"tag_pattern": PARAMETER, "value_parser": GUESSING, "merge_duplicates": True}
    text = "<parameter=a>1</parameter><parameter=a>x</parameter><parameter=a>2</parameter>"
    value = prepare_content("xml-inline", arguments, keep_source=True)(text)
    assert value == {"a": [1, "x", 2]}
    assert isinstance(value, SourcedDict)
    assert value.sources == {"a": ["1", None, "2"]}


DECLARED = r'<p name="(?P<key>[^"]+)"(?: string="(?P<string>true|false)")?>(?P<value>.*?)</p>'
TYPED = r"<(?P<key>\w+)(?: type=(?P<type>\w+))?>(?P<value>.*?)</\1>"


@pytest.mark.parametrize(
    ("pattern", "text", "value"),
    [
        (DECLARED, '<p name="zip" string="true">90210</p>', "90210"),
        (DECLARED, '<p name="zip" string="true"> {"a": 1} </p>', ' {"a": 1} '),
        (DECLARED, '<p name="zip" string="false">-7</p>', -7),
        (DECLARED, '<p name="zip">-7</p>', -7),
        (TYPED, "<zip type=string>90210</zip>", "90210"),
        (TYPED, "<zip type=number>90210</zip>", 90210),
        (r"(?P<key>zip):(?P<type>\w+)=(?P<value>\S+)", "zip:string=90210", "90210"),
    ],
)
def test_a_tag_may_say_what_its_value_is_which_the_lenient_modes_believe(pattern, text, value):
    arguments = {"tag_pattern": pattern, "value_parser": GUESSING}
    assert prepare_content("xml-inline", arguments, keep_source=True)(text) == {"zip": value}


def test_what_a_tag_says_of_its_value_is_nothing_to_the_strict_mode():
    arguments = {"tag_pattern": DECLARED, "value_parser": GUESSING}
    assert prepare_content("xml-inline", arguments)('<p name="zip" string="true">90210</p>') == {"zip": 90210}


def test_a_value_declared_as_text_is_not_read_from_anything_else():
    arguments = {"tag_pattern": DECLARED, "value_parser": GUESSING}
    value = prepare_content("xml-inline", arguments, keep_source=True)('<p name="a" string="true"> 1 </p>')
    assert isinstance(value, SourcedDict)
    assert value.sources == {}


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("\n<parameter=a\n1\n</parameter>\n", 1),
        ("<parameter=a>1</parameter><parameter=b\n2\n</parameter>", 26),
        ("<parameter=a>1</parameter> <parameter=b>2", 27),
        (' {"a": 1}', 1),
    ],
)
def test_the_lenient_modes_make_no_call_with_less_than_was_written(text, position):
    with pytest.raises(ContentError) as caught:
        prepare_content("xml-inline", {"tag_pattern": PARAMETER}, keep_source=True)(text)
    assert caught.value.position == position
    assert "b" not in prepare_content("xml-inline", {"tag_pattern": PARAMETER})(text)


@pytest.mark.parametrize("text", ["", "\n", "<parameter=a>1</parameter> and so on"])
def test_other_text_between_tags_is_passed_over(text):
    arguments = {"tag_pattern": PARAMETER}
    assert prepare_content("xml-inline", arguments, keep_source=True)(text) == prepare_content("xml-inline", arguments)(
        text
    )


@pytest.mark.parametrize(("text", "strict"), [("    x = 1\n    y", "x = 1\n    y"), (' "a" ', "a"), (" 7 ", 7)])
def test_text_keeps_its_indentation_in_the_lenient_modes(text, strict):
    arguments = {"tag_pattern": r"<(?P<key>\w+)>(?P<value>.*?)</\1>", "value_parser": GUESSING}
    assert prepare_content("xml-inline", arguments)(f"<a>{text}</a>") == {"a": strict}
    lenient = text if text.strip() == strict else strict
    value = prepare_content("xml-inline", arguments, keep_source=True)(f"<a>{text}</a>")
    assert value == {"a": lenient}
    assert isinstance(value, SourcedDict)
    assert value.sources == ({} if lenient == text else {"a": text})
