"""Tags as models write them: what the markup shows is mended, and an argument that may be lost is no call."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.errors import ContentError, LimitError
from streamparse.repair import Damaged, check_tags
from streamparse.repair.tags_repair import mend_tags
from streamparse.stages.content import prepare_content

GUESSING = {"name": "json", "args": {"allow_non_json": True}}
QWEN: dict[str, Any] = {"tag_pattern": r"<parameter=(?P<key>[^>\n]+)>\n?(?P<value>.*?)\n?</parameter>"}
GLM: dict[str, Any] = {
    "tag_pattern": r"<arg_key>(?P<key>.*?)</arg_key>\s*<arg_value>\n?(?P<value>.*?)\n?</arg_value>",
    "value_parser": GUESSING,
}
MINIMAX: dict[str, Any] = {"tag_pattern": r'<parameter name="(?P<key>[^"]+)">\n?(?P<value>.*?)\n?</parameter>'}
DEEPSEEK: dict[str, Any] = {
    "tag_pattern": r'<｜DSML｜parameter name="(?P<key>[^"]+)"(?: string="(?P<string>true|false)")?>'
    r"(?P<value>.*?)</｜DSML｜parameter>",
    "value_parser": GUESSING,
}
NAMED: dict[str, Any] = {"tag_pattern": r"<(?P<key>\w+)>(?P<value>.*?)</\1>"}
OTHER: dict[str, Any] = {"tag_pattern": r"(?P<key>\w+)=(?P<value>\S+)"}
FAMILIES = [QWEN, GLM, MINIMAX, DEEPSEEK]

HEADS = {
    id(QWEN): "<parameter={}>\n", id(GLM): "<arg_key>{}</arg_key>\n<arg_value>", id(MINIMAX): '<parameter name="{}">\n',
    id(DEEPSEEK): '<｜DSML｜parameter name="{}" string="true">',
}  # fmt: skip
ENDS = {id(QWEN): "\n</parameter>\n", id(GLM): "</arg_value>\n", id(MINIMAX): "\n</parameter>\n",
        id(DEEPSEEK): "</｜DSML｜parameter>\n"}  # fmt: skip


def head(family: dict[str, Any], key: str) -> str:
    return HEADS[id(family)].format(key)


def tag(family: dict[str, Any], key: str, value: str) -> str:
    return head(family, key) + value + ENDS[id(family)]


def closing(family: dict[str, Any]) -> str:
    return ENDS[id(family)].strip()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_value_without_a_closing_tag_ends_where_the_next_tag_begins(mended, family):
    text = head(family, "path") + "/tmp/a\n" + tag(family, "content", "hi") + tag(family, "x", "y")
    value, repaired = mended("xml-inline", text, family)
    assert value == {"path": "/tmp/a", "content": "hi", "x": "y"}
    assert repaired == ["a missing closing tag"]
    assert check_tags(text, family) == "a missing closing tag"


@pytest.mark.parametrize("family", FAMILIES)
def test_two_closing_tags_may_be_missing(mended, family):
    text = head(family, "a") + "1 x\n" + head(family, "b") + "2 x\n\n" + tag(family, "c", "3 x")
    assert mended("xml-inline", text, family)[0] == {
        "a": "1 x",
        "b": "2 x\n",
        "c": "3 x",
    }


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("after", [" here.", "\nhere", "</b>", " and {} there", "{}x"])
def test_a_closing_tag_in_a_value_is_text(mended, family, after):
    quoted = f"ends with {closing(family)}{after.format(closing(family))}"
    text = tag(family, "content", quoted) + tag(family, "n", "x")
    value, repaired = mended("xml-inline", text, family)
    assert value == {"content": quoted, "n": "x"}
    assert repaired == ["a closing tag inside a value"]
    assert mended("xml-inline", tag(family, "n", "x") + tag(family, "content", quoted), family)[0] == value


@pytest.mark.parametrize("family", FAMILIES)
def test_a_whole_tag_in_a_value_is_text(mended, family):
    inner = tag(family, "b", "x").strip()
    text = tag(family, "doc", f"\n{inner}\n that was it") + tag(family, "n", "y")
    value, repaired = mended("xml-inline", text, family)
    assert value["doc"].strip() == f"{inner}\n that was it"
    assert value["n"] == "y"
    assert repaired == ["a tag inside a value"]


def test_a_beginning_that_is_mentioned_in_a_line_is_text(mended):
    text = tag(QWEN, "a", "use <parameter=q> to say so")
    assert mended("xml-inline", text, QWEN) == ({"a": "use <parameter=q> to say so"}, [])


@pytest.mark.parametrize(
    "wrong",
    [
        "</param>",
        "</parameters>",
        "</paramter>",
        "</parameter",
        "/parameter>",
        "</parameter=a>",
        "<parameter>",
        r"<\/parameter>",
        "</ parameter >",
    ],
)
@pytest.mark.parametrize("family", [QWEN, MINIMAX])
def test_a_closing_tag_of_a_similar_name_counts_where_it_ends_a_value(mended, family, wrong):
    text = f"{head(family, 'a')}<b>x</b>\n{wrong}\n" + tag(family, "n", "y")
    value, repaired = mended("xml-inline", text, family)
    assert value == {"a": "<b>x</b>", "n": "y"}
    assert repaired == ["a wrong closing tag"]


def test_a_beginning_that_is_not_whole_is_text_within_a_value(mended):
    text = tag(QWEN, "a", "x\n<parameter= begins a tag")
    assert mended("xml-inline", text, QWEN) == ({"a": "x\n<parameter= begins a tag"}, [])


@pytest.mark.parametrize("mention", ["see\n<arg_key> first", "<arg_key>\nand more", "\n <arg_key>x</arg_key> y"])
def test_a_tag_that_is_mentioned_does_not_reach_into_the_next_one(mended, mention):
    text = tag(GLM, "a", f"x {mention}") + tag(GLM, "b", "y")
    assert mended("xml-inline", text, GLM) == ({"a": f"x {mention}", "b": "y"}, [])


def test_closing_tags_may_be_mixed_up(mended):
    text = "<arg_key>a</arg_key><arg_value>x</arg_key><arg_key>b</arg_key><arg_value>[1]</arg_value>"
    assert mended("xml-inline", text, GLM) == ({"a": "x", "b": [1]}, ["a wrong closing tag"])
    text = '<｜DSML｜parameter name="a" string="true">x</parameter>\n' + tag(DEEPSEEK, "b", "y")
    assert mended("xml-inline", text, DEEPSEEK) == ({"a": "x", "b": "y"}, ["a wrong closing tag"])


@pytest.mark.parametrize("end", ["<value>1</value>", "<param>1</param>", "</div>"])
@pytest.mark.parametrize("family", [QWEN, GLM])
def test_a_closing_tag_whose_beginning_is_in_the_value_is_part_of_it(mended, family, end):
    text = f"{head(family, 'a')}x {end}\n" + tag(family, "n", "y")
    assert mended("xml-inline", text, family) == ({"a": f"x {end}", "n": "y"}, ["a missing closing tag"])


@pytest.mark.parametrize("end", ["ameter>", "</pa", "</parameter x", "</parameter \n more"])
def test_a_value_with_the_remains_of_a_closing_tag_is_in_doubt(mended, end):
    assert mended("xml-inline", f"<parameter=a>\nx\n{end}\n" + tag(QWEN, "n", "y"), QWEN)[0] is None


def test_a_wrong_closing_tag_with_text_after_it_is_in_doubt(mended):
    text = "<parameter=a>\nx\n</param>\nmore\n" + tag(QWEN, "b", "y")
    assert mended("xml-inline", text, QWEN)[0] is None


@pytest.mark.parametrize("family", FAMILIES)
def test_a_doubled_closing_tag_is_dropped(mended, family):
    text = tag(family, "a", "x") + closing(family) + "\n" + tag(family, "b", "y") + closing(family)
    assert mended("xml-inline", text, family) == ({"a": "x", "b": "y"}, ["a doubled closing tag"])


@pytest.mark.parametrize(
    ("family", "text", "value"),
    [
        (GLM, "<arg_key>path</arg_key></arg_key><arg_value>/tmp/x</arg_value>", {"path": "/tmp/x"}),
        (GLM, "<arg_key><arg_key>path</arg_key>\n<arg_value>/tmp/x</arg_value>", {"path": "/tmp/x"}),
        (GLM, "<arg_key>path</arg_key></arg_key></arg_key><arg_value>1</arg_value>", {"path": 1}),
        (QWEN, "<parameter=<parameter=path>\n/tmp/x\n</parameter>", {"path": "/tmp/x"}),
    ],
)
def test_stray_tags_at_the_edges_of_a_key_are_dropped(mended, family, text, value):
    assert mended("xml-inline", text, family) == (value, ["a stray tag in a key"])


@pytest.mark.parametrize(
    ("family", "text"),
    [
        (QWEN, "<parameter=path\n/tmp/x\n</parameter>\n"),
        (QWEN, tag(QWEN, "a", "x") + "<parameter=path\n/tmp/x\n</parameter>\n"),
        (QWEN, "<parameter=path\n/tmp/x\n</parameter>\n" + tag(QWEN, "a", "x")),
        (QWEN, "<parameter=a>\nx\n<parameter=path\n/tmp/x\n</parameter>\n"),
        (QWEN, "<parameter=>\nx\n</parameter>"),
        (QWEN, tag(QWEN, "a", "x") + "<paramter=b>\ny\n</parameter>\n"),
        (QWEN, tag(QWEN, "a", "x") + '<parameter name="b">\ny\n</parameter>\n'),
        (QWEN, tag(QWEN, "a", "x") + "<param=b>\ny\n</parameter>\n"),
        (QWEN, tag(QWEN, "a", "x") + "parameter=b>\ny\n</parameter>\n"),
        (MINIMAX, tag(MINIMAX, "a", "x") + "<parameter=b>\ny\n</parameter>\n"),
        (GLM, tag(GLM, "a", "x") + "<arg_kye>b</arg_key>\n<arg_value>y</arg_value>\n"),
        (DEEPSEEK, tag(DEEPSEEK, "a", "x") + '<parameter name="b">y</｜DSML｜parameter>'),
        (MINIMAX, '<parameter name="path>\nx</parameter>\n<parameter name="b">\ny</parameter>'),
        (MINIMAX, "<parameter name=path>\nx</parameter>"),
        (GLM, "<arg_key>a</arg_key>x</arg_value><arg_key>b</arg_key><arg_value>y</arg_value>"),
        (GLM, "<arg_key>a</arg_key>"),
        (GLM, "<arg_key>a<arg_value>x</arg_value>\n<arg_key>b</arg_key><arg_value>y</arg_value>"),
        (QWEN, "just words"),
        (QWEN, "path: /tmp/x"),
        (QWEN, "[1, 2]"),
        (QWEN, '{"a": 1'),
        (QWEN, "</parameter>"),
        (QWEN, tag(QWEN, "a", "x") + "words"),
        (QWEN, tag(QWEN, "a", "x") + "words\n" + tag(QWEN, "b", "y")),
        (QWEN, "words" + tag(QWEN, "a", "x")),
        (QWEN, tag(QWEN, "a", "x") + "</function>\n<function=g>\n" + tag(QWEN, "b", "y")),
        (NAMED, "<a>1</a> words <b>2</b>"),
        (NAMED, "<a>1</a><b>2"),
        (OTHER, "a=1 words"),
        (OTHER, "words"),
    ],
)
def test_where_an_argument_may_be_lost_there_is_no_value(mended, family, text):
    assert mended("xml-inline", text, family)[0] is None
    assert check_tags(text, family) is not None


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("after", ["", "\n", "</function>", "\n</invoke>\n</tool_calls> "])
def test_what_is_written_right_is_left_alone(mended, family, after):
    text = "\n " + tag(family, "a", "<p>x</p>\n") + "\n" + tag(family, "b", "y") + after
    value, repaired = mended("xml-inline", text, family)
    assert value == prepare_content("xml-inline", family, keep_source=True)(text)
    assert repaired == []
    assert check_tags(text, family) is None


@pytest.mark.parametrize("family", [NAMED, OTHER])
def test_tags_of_other_shapes_are_read_as_they_are(mended, family):
    text = "<a>1</a>\n<b>2</b>" if family is NAMED else "a=1 b=2"
    assert mended("xml-inline", text, family) == ({"a": "1", "b": "2"}, [])
    assert check_tags(text, family) is None


@pytest.mark.parametrize("text", ["", " \n "])
def test_no_text_is_no_arguments(mended, text):
    assert mended("xml-inline", text, QWEN) == ({}, [])
    assert check_tags(text, QWEN) is None


def test_arguments_may_be_written_as_json(mended):
    assert mended("xml-inline", '\n{"path": "/tmp/x"}\n', QWEN) == ({"path": "/tmp/x"}, ["arguments written as JSON"])
    value, repaired = mended("xml-inline", "{'path': '/tmp/x',}", GLM)
    assert value == {"path": "/tmp/x"}
    assert repaired == ["arguments written as JSON", "single quotes", "a trailing comma"]


@pytest.mark.parametrize("after", ["", "</function>", " </function>\n", "</param>\n</function>"])
def test_the_end_of_a_closed_region_ends_a_value_after_a_line(mended, after):
    text = tag(QWEN, "a", "x") + "<parameter=b>\n<i>y</i>\n" + after
    known = {"wrappers": frozenset({"function"})}
    assert mended("xml-inline", text, QWEN, **known)[0] is None
    assert mended("xml-inline", text, QWEN, allow_truncated=True, **known)[0] == {"a": "x", "b": "<i>y</i>"}


def test_the_end_of_a_region_ends_no_value_within_a_line(mended):
    text = "<parameter=b>\nEnd with "
    assert mended("xml-inline", text, QWEN, allow_truncated=True)[0] is None


def test_values_say_what_they_are_in_mended_texts_too(mended):
    text = (
        '<｜DSML｜parameter name="zip" string="true">90210\n'
        '<｜DSML｜parameter name="n" string="false">-7</｜DSML｜parameter>'
    )
    assert mended("xml-inline", text, DEEPSEEK)[0] == {"zip": "90210", "n": -7}


def test_values_that_their_parser_cannot_read_are_mended(mended):
    family = {**QWEN, "value_parser": {"name": "json"}}
    value, repaired = mended("xml-inline", tag(QWEN, "a", "{'b': True,}") + tag(QWEN, "c", "1"), family)
    assert value == {"a": {"b": True}, "c": 1}
    assert repaired == ["single quotes", "a Python literal", "a trailing comma"]
    assert mended("xml-inline", tag(QWEN, "a", "words"), family)[0] is None
    assert mended("xml-inline", tag(QWEN, "a", "x"), {**QWEN, "value_parser": {"name": "int"}})[0] is None


def test_repeated_keys_are_collected_as_in_a_text_that_is_right(mended):
    text = "<parameter=a>\n1\n" + tag(QWEN, "a", "2")
    assert mended("xml-inline", text, {**QWEN, "merge_duplicates": True})[0] == {"a": ["1", "2"]}
    assert mended("xml-inline", text, QWEN)[0] == {"a": "2"}


@pytest.mark.parametrize("arguments", [{}, {"tag_pattern": 3}, {"tag_pattern": "("}])
def test_a_template_without_a_pattern_is_an_error_of_this_family(mended, arguments):
    assert mended("xml-inline", "x", arguments)[0] is None


# Properties

keys = st.from_regex(r"[a-z_]{1,4}", fullmatch=True)
lines = st.from_regex(r"[^<>\s]([ \t]*[^<>\s]){0,5}", fullmatch=True)
markup = st.sampled_from(["<b>x</b>", "a < b", "</div>", "use <parameter=q> so", "x", "<parameter= is it", "[1]", "é"])
values = st.lists(lines | markup, min_size=1, max_size=3).map("\n".join)
arguments = st.dictionaries(keys, values, min_size=1, max_size=4)
families = st.sampled_from(FAMILIES)


@given(families, arguments, st.sampled_from(["", "\n", "</function>\n"]))
def test_whatever_is_written_right_is_read_the_same(family, given_arguments, after):
    text = "".join(tag(family, key, value) for key, value in given_arguments.items()) + after
    outcome = mend_tags(Damaged(text, family))
    read = prepare_content("xml-inline", family, keep_source=True)(text)
    assert (repr(outcome.value), outcome.repaired) == (repr(read), [])


@given(families, st.dictionaries(keys, values.filter(lambda it: "<" not in it), min_size=2, max_size=4), st.data())
def test_a_closing_tag_that_is_missing_changes_nothing(family, given_arguments, data):
    places = data.draw(st.lists(st.booleans(), min_size=len(given_arguments), max_size=len(given_arguments)))
    places[-1] = False
    text = "".join(
        head(family, key) + value + "\n" if missing else tag(family, key, value)
        for (key, value), missing in zip(given_arguments.items(), places, strict=True)
    )
    right = "".join(tag(family, key, value) for key, value in given_arguments.items())
    assert repr(mend_tags(Damaged(text, family)).value) == repr(mend_tags(Damaged(right, family)).value)


@given(families, st.dictionaries(keys, lines, min_size=1, max_size=4), lines, st.data())
def test_a_closing_tag_in_any_value_is_part_of_it(family, given_arguments, more, data):
    quoting = data.draw(st.sampled_from(sorted(given_arguments)))
    quoted = f"x {given_arguments[quoting]} {closing(family)} {more}"
    text = "".join(tag(family, key, quoted if key == quoting else f"x {it}") for key, it in given_arguments.items())
    right = {key: quoted if key == quoting else f"x {it}" for key, it in given_arguments.items()}
    assert mend_tags(Damaged(text, family)).value == right


@given(families, arguments, st.data())
def test_tags_that_were_cut_off_are_whole_tags_or_nothing(family, given_arguments, data):
    parts = [tag(family, key, value) for key, value in given_arguments.items()]
    text = "".join(parts)
    cut = data.draw(st.integers(0, len(text) - 1))
    try:
        outcome = mend_tags(Damaged(text[:cut], family))
    except ContentError:
        return
    whole = next(n for n in range(len(parts), -1, -1) if text[:cut].startswith("".join(parts[:n]).rstrip()))
    assert [*outcome.value] == [*given_arguments][:whole]


pieces = st.sampled_from(
    ["<parameter=a>", "<parameter=", "<parameter=b>\n", "</parameter>", "</param>", "<arg_key>", "</arg_key>", "k",
     "<arg_value>", "</arg_value>", '<parameter name="a">', '<parameter name="', '">', "<｜DSML｜parameter name=\"a\">",
     "</｜DSML｜parameter>", "\n", " ", "x", "{", '{"a": 1}', "</function>", "<a>", "</a>", "a=1", "<", ">"]
)  # fmt: skip


@given(st.lists(pieces, max_size=14).map("".join), st.sampled_from([*FAMILIES, NAMED, OTHER]), st.booleans())
def test_any_text_is_mended_or_refused(text, family, allow_truncated):
    check_tags(text, family)
    try:
        outcome = mend_tags(Damaged(text, family, allow_truncated, wrappers=frozenset({"function"})))
    except (ContentError, LimitError):
        return
    assert isinstance(outcome.value, dict)
    if not outcome.repaired:
        assert repr(outcome.value) == repr(prepare_content("xml-inline", family)(text))


@pytest.mark.parametrize(
    ("family", "text"),
    [
        (QWEN, "<parameter=a>\n" * 50_000),
        (QWEN, "<parameter=a>" * 50_000),
        (QWEN, "</parameter>" * 50_000),
        (QWEN, "<parameter=a>\n" + "</parameter> x " * 50_000),
        (QWEN, "<parameter=a>\nx\n</parameter>\n" * 30_000),
        (QWEN, "<parameter=" * 50_000),
        (QWEN, "\n<parameter=" * 50_000),
        (QWEN, "<parameter=a>\n" + "</function>" * 50_000),
        (QWEN, "<parameter=a>\n" + "</param>" * 50_000 + "\n" + "<parameter=b>\n" * 3),
        (QWEN, "<parameter=a>\n" + " " * 500_000 + "<parameter=b>"),
        (QWEN, "<parameter=a>\n" + "<" * 500_000 + "\n<parameter=b>"),
        (GLM, "<arg_key>" * 50_000),
        (GLM, "<arg_key>a</arg_key><arg_value>" * 20_000),
        (GLM, "<arg_key>" + "</arg_key>" * 50_000),
        (GLM, "<arg_key>a</arg_key>" + " " * 500_000),
        (DEEPSEEK, '<｜DSML｜parameter name="a' * 30_000),
        (NAMED, "<a>1</a>" * 50_000),
    ],
)
def test_long_texts_take_no_longer_than_they_should(family, text):
    # Anything that isn't linear takes minutes on these; the time bound of the test run would end it.
    check_tags(text, family)
    try:
        mend_tags(Damaged(text, family, True, wrappers=frozenset({"function"})))
    except (ContentError, LimitError):
        return
