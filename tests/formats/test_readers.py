"""What is known of a structured region's text while it is being written."""

from __future__ import annotations

import itertools
import json
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.formats import FORMATS, Reader, json_reader, tags_reader
from tests.properties.time_limit import ended_in_time

PARAMETER = {"tag_pattern": r"<parameter=(?P<key>[^>\n]+)>\s*(?P<value>.*?)\s*</parameter>"}
ARGUMENT = {"tag_pattern": r"<arg_key>(?P<key>.*?)</arg_key>\s*<arg_value>(?P<value>.*?)</arg_value>"}
GEMMA = {"unquoted_keys": True, "string_delims": [['<|"|>', '<|"|>']]}


def known(reader: Reader) -> tuple[Any, ...]:
    return reader.begins, reader.inside, reader.complete, reader.end, reader.broken


def all_known(reader: Reader) -> tuple[Any, ...]:
    return *known(reader), reader.broken_inside, reader.tolerances, reader.whole_items


def after(reader: Reader, *pieces: str) -> Reader:
    for piece in pieces:
        reader.feed(piece)
    return reader


def cut(text: str, places: list[int]) -> list[str]:
    bounds = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in itertools.pairwise(bounds)]


TEXTS = st.text(st.sampled_from("ab \n\t\\\"'{}[],:<>|=/é😀"), max_size=12).filter(lambda text: '<|"|>' not in text)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=8
)
NESTED = st.lists(VALUES, max_size=3) | st.dictionaries(TEXTS, VALUES, max_size=3)
PLACES = st.lists(st.integers(0, 10_000), max_size=6)
NAMES = st.text(string.ascii_letters, min_size=1, max_size=5)


def gemma(value: Any) -> str:
    if isinstance(value, str):
        return f'<|"|>{value}<|"|>'
    if isinstance(value, list):
        return f"[{','.join(map(gemma, value))}]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{gemma(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


GEMMA_VALUES = st.dictionaries(
    NAMES,
    st.recursive(
        SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
    ),
    max_size=3,
)


def python(value: Any, quote: str) -> str:
    if isinstance(value, str):
        body = json.dumps(value, ensure_ascii=False)[1:-1]
        return f'"{body}"' if quote == '"' else "'" + body.replace('\\"', '"').replace("'", "\\'") + "'"
    if isinstance(value, list):
        return f"[{', '.join(python(item, quote) for item in value)}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{python(key, quote)}: {python(item, quote)}" for key, item in value.items()) + "}"
    return repr(value)


CALL_LISTS = st.builds(
    lambda calls, quote: (
        "["
        + ", ".join(
            name + "(" + ", ".join(f"{key}={python(item, quote)}" for key, item in arguments.items()) + ")"
            for name, arguments in calls
        )
        + "]"
    ),
    st.lists(
        st.tuples(
            NAMES, st.dictionaries(NAMES, st.recursive(SCALARS, lambda i: st.lists(i, max_size=2), max_leaves=4))
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from("'\""),
)

JSON_TEXTS = st.builds(
    lambda value, indent, ascii_only: json.dumps(value, indent=indent, ensure_ascii=ascii_only),
    NESTED,
    st.sampled_from([None, 1]),
    st.booleans(),
)
TAG_VALUES = st.text(st.sampled_from("ab <>/=\n"), max_size=8).filter(lambda text: "<" not in text)
TAG_TEXTS = st.lists(st.tuples(NAMES, TAG_VALUES), min_size=1, max_size=3).map(
    lambda tags: "".join(f"\n<parameter={key}>\n{value}\n</parameter>" for key, value in tags) + "\n"
)
BODIES: st.SearchStrategy[tuple[str, dict[str, Any], str]] = st.one_of(
    st.tuples(st.just("json"), st.just({}), JSON_TEXTS),
    st.tuples(st.just("json"), st.just(GEMMA), GEMMA_VALUES.map(gemma)),
    st.tuples(st.just("python-call-list"), st.just({}), CALL_LISTS),
    st.tuples(st.just("xml-inline"), st.just(PARAMETER), TAG_TEXTS),
)
SELF_DELIMITED = ("json", "python-call-list")


@given(BODIES, PLACES)
def test_a_well_written_body_is_complete_where_it_ends_and_nowhere_before(
    body: tuple[str, dict[str, Any], str], places: list[int]
) -> None:
    content, arguments, text = body
    reader = FORMATS[content].new_reader(arguments, ())
    taken = 0
    for piece in cut(text, places):
        assert not (reader.complete and content in SELF_DELIMITED)
        assert not reader.broken
        after(reader, piece)
        taken += len(piece)
    assert known(reader) == (
        True,
        False,
        True,
        len(text) if content in SELF_DELIMITED else None,
        False,
    )
    after(reader, " \n")
    assert reader.complete


@given(BODIES, PLACES, st.text(st.sampled_from("{}[]()\"'\\,:=<>/par>|ame 1t.\n"), max_size=10), st.integers(0, 10_000))
def test_cuts_do_not_matter_whatever_the_text(
    body: tuple[str, dict[str, Any], str], places: list[int], noise: str, place: int
) -> None:
    content, arguments, text = body
    place %= len(text) + 1
    text = text[:place] + noise + text[place:]
    whole = after(FORMATS[content].new_reader(arguments, ()), text)
    assert all_known(after(FORMATS[content].new_reader(arguments, ()), *cut(text, places))) == all_known(whole)
    assert all_known(after(FORMATS[content].new_reader(arguments, ()), *text)) == all_known(whole)


@given(BODIES, st.integers(0, 10_000))
def test_a_copy_and_a_snapshot_go_their_own_way(body: tuple[str, dict[str, Any], str], place: int) -> None:
    content, arguments, text = body
    place %= len(text) + 1
    reader = after(FORMATS[content].new_reader(arguments, ()), text[:place])
    before = known(reader)
    saved = json.dumps(reader.snapshot())
    copy = after(reader.copy(), text[place:])
    assert known(reader) == before
    restored = FORMATS[content].new_reader(arguments, ())
    restored.restore(json.loads(saved))
    assert known(restored) == before
    assert all_known(after(restored, text[place:])) == all_known(copy) == all_known(after(reader, text[place:]))


@given(JSON_TEXTS | st.text(st.sampled_from('{}[]":,1a.-e tru'), max_size=8), st.integers(0, 10_000))
def test_json_that_python_reads_is_complete_and_its_beginnings_are_not(text: str, place: int) -> None:
    for part in (text, text[: place % (len(text) + 1)]):
        reader = after(json_reader({}, scalars=True), part)
        try:
            json.loads(part)
        except json.JSONDecodeError:
            continue
        assert reader.complete
        assert not reader.broken
        assert reader.begins is not False


@given(JSON_TEXTS, st.integers(0, 10_000))
def test_json_is_inside_a_string_exactly_where_a_plain_scan_is(text: str, place: int) -> None:
    part = text[: place % (len(text) + 1)]
    inside = escaped = False
    for character in part:
        if escaped:
            escaped = False
        elif inside and character == "\\":
            escaped = True
        elif character == '"':
            inside = not inside
    assert after(json_reader({}), part).inside == inside


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("", None),
        (" \n", None),
        ("{", None),
        ("{ ", None),
        ('{"', True),
        ("{'", True),
        ("{}", True),
        ("[]", True),
        ("[[", True),
        ("[1,", True),
        ("[tr", None),
        ("[true]", True),
        ("[try this]", False),
        ("{name", None),
        ("{name: ", True),
        ("{name}", False),
        ("{...}", False),
        ("7", False),
        ('"a"', False),
        ("tags mark a call", False),
        ("</tool_call>", False),
    ],
)
def test_a_json_call_begins_with_a_bracket_and_what_fits_after_it(text: str, begins: bool | None) -> None:
    assert after(json_reader({}), *text).begins is begins


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("[", None),
        ("[get_weather", None),
        ("[get_weather(", True),
        ("[a.b-c (", True),
        ("[]", None),
        ("[1]", False),
        ("[see below]", False),
        ("get_weather(", False),
        ('[{"name"', False),
    ],
)
def test_a_call_list_begins_with_a_bracket_a_name_and_a_parenthesis(text: str, begins: bool | None) -> None:
    assert after(FORMATS["python-call-list"].new_reader({}, ()), *text).begins is begins


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("\n", None),
        ("\n<param", None),
        ("\n<parameter=", True),
        ("<b>", False),
        ("the tags <parameter=x>", False),
    ],
)
def test_tags_begin_with_the_first_literal_of_their_pattern(text: str, begins: bool | None) -> None:
    assert after(FORMATS["xml-inline"].new_reader(PARAMETER, ()), *text).begins is begins


@pytest.mark.parametrize(
    "text",
    [
        '{"old": "\t\tif x {\n\t\t}"}',
        r'{"pattern": "\d+\s*x", "dir": "C:\proj"}',
        '{"a": 12, "b": 3,}',
        '{"a": 1 "b": 2}',
        "{'a': 'x', \"b\": 'it's'}",
        '{"a": True, "b": None, "c": [False,]}',
        '{"a": "he said "hi" to me"}',
    ],
)
def test_what_can_be_mended_does_not_hide_where_a_json_value_ends(text: str) -> None:
    reader = after(json_reader({}), *text, "\n")
    assert known(reader) == (True, False, True, len(text), False)


@pytest.mark.parametrize(
    "text", ['{"a": }', '{"a": nil}', '{"a" 1}', '{"a": [1}', '{"a": 1]', '{"a":: 1}', '{"a": 01}']
)
def test_what_no_reader_can_make_a_value_of_is_broken(text: str) -> None:
    reader = after(json_reader({}), *text)
    assert reader.broken
    assert not reader.complete


@pytest.mark.parametrize("text", ['```json\n{"a": 1}', "```\n[{}]", '{{"a": {"b": 1}}}', '{{"a": "}}"}}'])
def test_a_fence_before_a_value_and_doubled_braces_are_passed_over(text: str) -> None:
    for reader in (after(FORMATS["json"].new_reader({}, ()), *text), after(FORMATS["json"].new_reader({}, ()), text)):
        assert (reader.begins, reader.end, reader.broken) == (True, len(text), False)


@pytest.mark.parametrize("text", ["``` json call {", "`{}`", "{{x}}"])
def test_what_only_looks_like_a_fence_or_a_doubled_brace_is_no_value(text: str) -> None:
    for reader in (after(FORMATS["json"].new_reader({}, ()), *text), after(FORMATS["json"].new_reader({}, ()), text)):
        assert not reader.begins
        assert not reader.complete


def test_items_of_a_list_are_whole_where_another_follows() -> None:
    for content, text, size in (
        ("json", '[{"a": "x, y"}, {"b": [1, 2', 14),
        ("json", '[{"a": 1}', None),
        ("json", '{"a": [1, 2, 3', None),
        ("python-call-list", "[f(a=1), g(b=[1, ", 7),
        ("python-call-list", "[f(a=1)", None),
    ):
        assert after(FORMATS[content].new_reader({}, ()), *text).whole_items == size


def test_text_after_a_json_value_leaves_its_end_known() -> None:
    reader = after(json_reader({}), '{"a": []}; {"b": "')
    assert (reader.end, reader.complete, reader.inside, reader.broken) == (9, False, False, False)


@pytest.mark.parametrize(
    "text",
    [
        '{code:<|"|>x = f(<|"|><|"|><|"|> SELECT 1 <|"|><|"|><|"|>).df()<|"|>,refs:[<|"|>df_1<|"|>]}',
        '{command:<|"|>look<|"|>angle:90}',
        '{a:<|"|><|"|>,b:{c:<|"|>}<|"|> }}',
    ],
)
def test_a_string_delimiter_counts_only_where_what_follows_fits(text: str) -> None:
    reader = after(json_reader(GEMMA), *text)
    assert known(reader) == (True, False, True, len(text), False)


@pytest.mark.parametrize(
    "text",
    [
        "[run(command='cat > f.py << EOF\nprint(1)\nEOF')]",
        "[get_weather('Paris', unit='celsius'), ping()]",
        "[f(a='it's', b=[1, {'x': None}],)]",
        '[Calendar.create_event(title="demo", metadata={"reminder": true, "x": null})]',
    ],
)
def test_what_can_be_mended_does_not_hide_where_a_call_list_ends(text: str) -> None:
    reader = after(FORMATS["python-call-list"].new_reader({}, ()), *text)
    assert known(reader) == (True, False, True, len(text), False)


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("\nadd(a=1)\nnow(b='x', c=[1])\n", (True, False, True, None, False)),
        ("add(a=1), now()", (True, False, True, None, False)),
        ("", (None, False, False, None, False)),
        ("ad", (None, False, False, None, False)),
        ("add(a='x", (True, True, False, None, False)),
        ("see below", (False, False, False, None, True)),
        ("add()]", (True, False, False, None, True)),
        ("[add()]", (False, False, False, None, True)),
    ],
)
def test_calls_may_stand_in_lines_without_brackets(text: str, state: tuple[Any, ...]) -> None:
    assert known(after(FORMATS["python-call-list"].new_reader({"brackets": False}, ()), *text)) == state


def test_a_close_tag_ends_a_value_only_where_what_follows_fits() -> None:
    reader = FORMATS["xml-inline"].new_reader(PARAMETER, ())
    after(reader, "<parameter=content>\nA block ends with </parameter>")
    assert not reader.inside
    after(reader, " here.\n")
    assert reader.inside
    after(reader, "</parameter>\n")
    assert (reader.inside, reader.complete) == (False, True)
    after(reader, "<parameter=path>\n/tmp")
    assert reader.inside


def test_what_follows_the_body_fits_after_a_close_tag_too() -> None:
    text = "<parameter=a>\n1\n</parameter>\n</function>"
    assert after(tags_reader(PARAMETER), *text).inside
    assert after(tags_reader(PARAMETER, ("</function>",)), *text).complete


def test_tags_end_where_what_follows_the_body_stands() -> None:
    ends = ("</function>", "</tool_call>")
    body = "<parameter=a>\n1\n</parameter>\n"
    for text in (body, "\n", ""):
        for follows in ("</function>", "</tool_call>", "</function>\n</tool_call>"):
            assert after(tags_reader(PARAMETER, ends), *text, *follows).end == len(text)
    quoted = body.replace("1", "1</parameter></function> or so")
    reader = after(tags_reader(PARAMETER, ends), *quoted)
    assert (reader.inside, reader.complete, reader.end) == (False, True, None)
    assert after(reader, *"</tool_call>").end == len(quoted)


def test_tags_with_a_part_of_what_follows_the_body_are_complete() -> None:
    reader = after(tags_reader(PARAMETER, ("</function>",)), "<parameter=a>1</parameter></func")
    assert (reader.complete, reader.end) == (True, None)
    assert not after(reader, "x").complete


@pytest.mark.parametrize(
    "text",
    [
        "<arg_key>path</arg_key>\n<arg_value>/tmp/x</arg_value>",
        "<arg_key>path</arg_key></arg_key><arg_value>/tmp/x</arg_value>",
    ],
)
def test_a_stray_tag_after_the_key_is_passed_over(text: str) -> None:
    assert known(after(FORMATS["xml-inline"].new_reader(ARGUMENT, ()), *text)) == (True, False, True, None, False)


def test_a_tag_that_is_not_finished_on_its_line_is_broken() -> None:
    assert after(FORMATS["xml-inline"].new_reader(PARAMETER, ()), "<parameter=path\n/tmp/x\n</parameter>\n").broken


def test_of_tags_of_an_unknown_shape_little_is_known() -> None:
    reader = FORMATS["xml-inline"].new_reader({"tag_pattern": r"(?P<key>\w+)=(?P<value>'[^']*'|[^,)]*)"}, ())
    assert reader.begins is None
    assert known(after(reader, "a='x")) == (True, False, True, None, False)


def test_lines_are_complete_where_a_line_is() -> None:
    reader = FORMATS["kv-lines"].new_reader({"line_sep": "\r\n"}, ())
    states = []
    for character in "a: 1\r\nb":
        reader.feed(character)
        states.append(reader.complete)
    assert states == [False, False, False, False, False, True, False]


@pytest.mark.parametrize(
    "filler", ["\\", '"', "[", "{", "a", "1", " ", '" ', '"a', "<", "</parameter>", "\n<parameter="]
)
@pytest.mark.parametrize("content", ["json", "xml-inline", "python-call-list"])
def test_long_texts_are_followed_character_by_character(content: str, filler: str) -> None:
    arguments = PARAMETER if content == "xml-inline" else {}
    opening = {"json": '{"a": "', "xml-inline": "<parameter=a>", "python-call-list": '[f(a="'}[content]
    text = opening + filler * (10_000 // len(filler))
    assert all_known(after(FORMATS[content].new_reader(arguments, ()), *text)) == all_known(
        after(FORMATS[content].new_reader(arguments, ()), text)
    )


def test_closing_tags_that_close_nothing_take_linear_time() -> None:
    reader = tags_reader(PARAMETER, ("</tool_call>",))
    with ended_in_time(20):
        reader.feed("<parameter=a>" + "</parameter>" * 500_000)
    assert reader.complete


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
@pytest.mark.parametrize("closing", ["]", "}", ")"])
def test_closing_brackets_that_close_nothing_take_linear_time(opening: str, closing: str) -> None:
    with ended_in_time(20):
        reader = after(json_reader({}), opening * 100_000, closing * 100_000, *[closing] * 100_000)
    assert reader.broken == (opening + closing != "[]")


@pytest.mark.parametrize(
    ("text", "broken_inside"),
    [
        ('{"a": [1, 2]}', False),
        ('{"a": [1, 2}', False),
        ('[{"a": 1]', False),
        ('{"a"}', False),
        ('{"a",}', True),
        ('{"a": {"b"}}', True),
        ('{"a": 1]}', True),
        ("[[1}]]", True),
    ],
)
def test_what_is_wrong_before_the_end_is_told_from_what_is_wrong_at_it(text: str, broken_inside: bool) -> None:
    for pieces in ([text], [*text]):
        reader = after(json_reader({}), *pieces)
        assert (reader.end, reader.broken_inside) == (len(text), broken_inside)
