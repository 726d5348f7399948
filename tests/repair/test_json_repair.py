"""JSON as models write it: what can only mean one thing is mended, and what is a guess stays malformed."""

from __future__ import annotations

import contextlib
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.errors import ContentError, LimitError
from streamparse.repair import Damaged
from streamparse.repair.json_repair import mend_json

GEMMA = {"unquoted_keys": True, "string_delims": [['<|"|>', '<|"|>']]}
ANGLE = {"string_delims": [["<q>", "</q>"]]}

MENDED: list[tuple[str, Any, str]] = [
    ('{"a": "x\ny"}', {"a": "x\ny"}, "a raw line break in a string"),
    ('{"a": "x\r\ny"}', {"a": "x\r\ny"}, "a raw line break in a string"),
    ('{"a": ["\tx", "y"]}', {"a": ["\tx", "y"]}, "a raw tab in a string"),
    ('{"a": "\x1b[0m"}', {"a": "\x1b[0m"}, "a raw control character in a string"),
    (r'{"a": "\d+\s*x"}', {"a": r"\d+\s*x"}, "a backslash that starts no escape"),
    (r'["C:\proj\new", "\\\w"]', [r"C:\proj\new", r"\\\w"], "a backslash that starts no escape"),
    (r'["C:\Users\bob\new", "\d+\b"]', [r"C:\Users\bob\new", r"\d+\b"], "a backslash that starts no escape"),
    (r'["\\srv\share", "a\nb"]', [r"\\srv\share", "a\nb"], "a backslash that starts no escape"),
    (r'{"a": "grep \"\d\" \n"}', {"a": r'grep "\d" \n'}, "a backslash that starts no escape"),
    (r"{'a': 'it\'s \d'}", {"a": r"it's \d"}, "a backslash that starts no escape"),
    ('{"a": "ls \\\n -l\\n"}', {"a": "ls \\\n -l\n"}, "a backslash that starts no escape"),
    (r"{'a': 'x\x1by'}", {"a": "x\x1by"}, "an escape that only Python has"),
    (r'{"a": "C:\users\x41"}', {"a": r"C:\users\x41"}, "a backslash that starts no escape"),
    ('{"a": "ls \\\n -l"}', {"a": "ls \\\n -l"}, "a backslash that starts no escape"),
    (r'{"a": "it\'s"}', {"a": "it's"}, "an escaped apostrophe"),
    ('{"a": 12, "b": 3,}', {"a": 12, "b": 3}, "a trailing comma"),
    ('{"a": [1, 2,], "b": {},\n}', {"a": [1, 2], "b": {}}, "a trailing comma"),
    ('{"a": 1,, "b": 2}', {"a": 1, "b": 2}, "a doubled comma"),
    ('{"a": 12 "b": 3}', {"a": 12, "b": 3}, "a missing comma"),
    ('{"a": "x"\n"b": "y"}', {"a": "x", "b": "y"}, "a missing comma"),
    ('{"a": {} "b": [] "c": null}', {"a": {}, "b": [], "c": None}, "a missing comma"),
    ('[{"a": 1} {"b": 2}]', [{"a": 1}, {"b": 2}], "a missing comma"),
    ('["a" "b"]', ["a", "b"], "a missing comma"),
    ("{'a': 'b', 'c': ['d']}", {"a": "b", "c": ["d"]}, "single quotes"),
    ("{'a': 'say \"x\"'}", {"a": 'say "x"'}, "single quotes"),
    ("{'a': 'it's the dog's'}", {"a": "it's the dog's"}, "a quote in a string that is not escaped"),
    (r"{'a': 'it\'s'}", {"a": "it's"}, "single quotes"),
    ('{"a": True, "b": [None, False]}', {"a": True, "b": [None, False]}, "a Python literal"),
    ('{"a": TRUE, "b": Null}', {"a": True, "b": None}, "a literal in other letters"),
    ("{a: 1, b-c: {$d: 2}}", {"a": 1, "b-c": {"$d": 2}}, "a key without quotes"),
    ("{1: 2}", {"1": 2}, "a key without quotes"),
    ('{a: "x" b: 1}', {"a": "x", "b": 1}, "a missing comma"),
    ('{"a"= 1, "b" => 2}', {"a": 1, "b": 2}, "an equals sign in place of a colon"),
    ('{{"a": {{"b": 1}}}}', {"a": {"b": 1}}, "doubled braces"),
    ('{"a": 1, // one\n /* and */ "b": 2 # two\n}', {"a": 1, "b": 2}, "a comment"),
    ('{"a": "http://x" /* see "y" */}', {"a": "http://x"}, "a comment"),
    ('{"a": 1}}', {"a": 1}, "a closing bracket too many"),
    ('{"a": [1]]}', {"a": [1]}, "a closing bracket too many"),
    ('[{"a": 1}]}\n', [{"a": 1}], "a closing bracket too many"),
    ('{"a": {"b": [1, 2}}', {"a": {"b": [1, 2]}}, "a missing closing bracket"),
    ('{"a": 1},', {"a": 1}, "a comma after the value"),
    ('```json\n{"a": 1}\n```', {"a": 1}, "a code fence around the value"),
    ('`{"a": 1}`', {"a": 1}, "a code fence around the value"),
    ('```\n["```"]\n```', ["```"], "a code fence around the value"),
    ('json\n{"a": 1}', {"a": 1}, "the word json before the value"),
    ('{"a": 1}\nThat is all.', {"a": 1}, "text after the value"),
    ('[1]\n```\nDone: see "x"', [1], "text after the value"),
    ('{"a": 1}{"b": 2}', [{"a": 1}, {"b": 2}], "several values"),
    ('{"a": 1}; {"b": 2}', [{"a": 1}, {"b": 2}], "several values"),
    ('{"a": 1},\n{"b": 2}\n{"c": 3}', [{"a": 1}, {"b": 2}, {"c": 3}], "several values"),
    ('```json\n{"a": 1}\n```\n```json\n{"b": 2}\n```', [{"a": 1}, {"b": 2}], "several values"),
    ('{"a": "print("hi")"}', {"a": 'print("hi")'}, "a quote in a string that is not escaped"),
    ('{"a": "<p class="x">", "b": 1}', {"a": '<p class="x">', "b": 1}, "a quote in a string that is not escaped"),
    ('{"a": ""x" AND "y""}', {"a": '"x" AND "y"'}, "a quote in a string that is not escaped"),
    ('{"a": +1, "b": .5, "c": 2., "d": 1_000}', {"a": 1, "b": 0.5, "c": 2.0, "d": 1000},
     "a number that JSON writes otherwise"),
    ('{"a": 007, "b": -00.5}', {"a": 7, "b": -0.5}, "a number with leading zeros"),
    ('{"a": 1\u00a0}', {"a": 1}, "blanks that JSON does not know"),
    ("'x'", "x", "single quotes"),
    ("True", True, "a Python literal"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value", "what"), MENDED)
def test_what_can_mean_one_thing_only_is_mended_and_told(mended, text, value, what):
    got, repaired = mended("json", text)
    assert got == value
    assert what in repaired
    assert len(repaired) == len(set(repaired))
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)


REFUSED = [
    "",
    "   ",
    "I will call it",
    "Here it is: {}",
    '{"a": hello}',
    '{"a": 12abc}',
    '{"a": 1+2}',
    '{"a": }',
    '{"a": , "b": 1}',
    "[1,, 2]",
    "[, 1]",
    "[1 2]",
    '{"a" "b"}',
    '{"a" 1}',
    '{"a"}',
    '{"a: 1}',
    '{"a": "x, "b": "y"}',
    '{"a": "x", b", "c": 1}',
    '["x"; "y"]',
    '["x" + "y"]',
    '["a""b"]',
    '{"a": "alpha" AND "beta"}',
    '{"a": "5" tall"}',
    '{"a": "f("x", "y")"}',
    '{"cmd": "echo "x", "n": 1}',
    "{'a': 'echo 'x'}",
    '{"a": "C:\\"}',
    '{"a": [1}, "b": 2]}',
    '{"a": 1 /* }',
    '{"a": 1, // }',
    '{{"a": 1}, {"b": 2}}',
    # what follows may belong to the value
    '{"name": "f"}, "arguments": {"a": 1}}',
    '{"name": "f"} "arguments": {}',
    '{"name": "f"}}, "arguments": {}',
    '{"name": "f"} and then {"name": "g"}',
    '{"a": 1} = 2',
    "5 apples",
    '"a" b',
    # one bracket is too many, and which one it is decides where a member belongs
    '{"name": "f", "arguments": {"a": 1}, "b": 2}}',
    '{"name": "f", "arguments": {"a": {"c": 1}, "b": 2}}}',
    "[[1], 2]]",
    '[{"a": 1}], {"b": 2}]',
    '{"a": 1}, {"b": 2}}',
    '{"a": [}',
    '{"a": {]}',
    '[{"a": 1}{]',
    # a number that stands alone may be cut off
    "-Inf",
    "1.",
    "007",
]


@pytest.mark.parametrize("text", REFUSED)
def test_a_guess_is_worse_than_no_value(mended, text):
    assert mended("json", text)[0] is None


@pytest.mark.parametrize("text", ['{"a": 1', '[{"a": [1, 2]', '{"a": {}', '[{"a": "x"}', '[1, 2, {"b": [[]]', "[{},"])
def test_missing_brackets_at_the_end_are_supplied_only_where_the_region_was_closed(mended, text):
    assert mended("json", text)[0] is None
    value, repaired = mended("json", text, allow_truncated=True)
    assert value is not None
    assert "a missing closing bracket" in repaired


@pytest.mark.parametrize("text", ['{"a": "x', '{"a": tru', '{"a":', '{"a', "[1, -", '{"a"', '{"a": "x"}{"b": "y'])
def test_what_was_cut_off_within_a_value_is_never_completed(mended, text):
    assert mended("json", text, allow_truncated=True)[0] is None


@pytest.mark.parametrize(
    ("text", "arguments", "value"),
    [
        ('{command:<|"|>look<|"|>angle:90}', GEMMA, {"command": "look", "angle": 90}),
        ('{a:<|"|>x<|"|> b:<|"|>y<|"|>}', GEMMA, {"a": "x", "b": "y"}),
        ('{a:<|"|>f(<|"|>x<|"|>)<|"|>,n:[<|"|>y<|"|>]}', GEMMA, {"a": 'f("x")', "n": ["y"]}),
        ('{a:<|"|><|"|><|"|>doc<|"|><|"|><|"|>}', GEMMA, {"a": '""doc""'}),
        ('{a:<|"|>x\n\\d<|"|>,}', GEMMA, {"a": "x\n\\d"}),
        ('{a:"x",b:<|"|>y<|"|>,c:True}', GEMMA, {"a": "x", "b": "y", "c": True}),
        ('{"a": <q>x "y" <z></q>,}', ANGLE, {"a": 'x "y" <z>'}),
        ('{<|"|>a<|"|>:1,}', GEMMA, {"a": 1}),
        ("{city:Paris}", GEMMA, {"city": "Paris"}),
        ('{a:<|"|>x}', GEMMA, {"a": "x"}),
        ('{a:<|"|>x<|"|><|"|>}', GEMMA, {"a": "x"}),
    ],
)
def test_dialects_are_mended_as_well(mended, text, arguments, value):
    got, repaired = mended("json", text, arguments)
    assert got == value
    assert repaired


@pytest.mark.parametrize(
    "text", ['{a:<|"|>x<|"|>, y<|"|>}', '{a:<|"|>x<|"|>; b:1}', '{a:<|"|>x,b:1}', '{a:<|"|>x<|"|>']
)
def test_a_dialect_is_no_reason_to_guess(mended, text):
    assert mended("json", text, GEMMA)[0] is None


def test_several_lists_of_calls_are_one_list(mended):
    text = '[{"name": "f"}]\n[{"name": "g"}] {"name": "h"}'
    assert [call["name"] for call in mended("json", text, lists_calls=True)[0]] == ["f", "g", "h"]
    assert mended("json", "[1][2]")[0] == [[1], [2]]


@pytest.mark.parametrize("text", ['[{"a": {}}, {"b": 1}]]', '{"a": [{}, {"b": [1]}]}}', '{"a": {"b": 1}}}'])
def test_a_bracket_too_many_is_dropped_where_no_earlier_one_can_be_it(mended, text):
    assert mended("json", text) == (json.loads(text[:-1]), ["a closing bracket too many"])


def test_several_lists_of_calls_may_have_a_bracket_too_many(mended):
    text = '[{"name": "f"}], {"name": "g"}]'
    assert [call["name"] for call in mended("json", text, lists_calls=True)[0]] == ["f", "g"]


def test_numbers_keep_their_digits_and_their_text(mended):
    value, _ = mended("json", '{"id": 123456789012345678901234567890, "zip": 02134,}')
    assert value == {"id": 123456789012345678901234567890, "zip": 2134}
    assert value.sources == {"zip": "02134"}


def test_numbers_that_are_none_are_read_as_python_reads_them(mended):
    value, _ = mended("json", "[NaN, nan, -inf, Infinity,]")
    assert math.isnan(value[0])
    assert math.isnan(value[1])
    assert value[2:] == [-math.inf, math.inf]


@pytest.mark.parametrize("number", ["9" * 5000, "[" + "9" * 5000 + ",]"])
def test_a_number_that_is_too_long_is_an_error_of_this_family(number):
    with pytest.raises(ContentError):
        mend_json(Damaged(number))


def test_nesting_is_limited():
    assert mend_json(Damaged("[" * 512 + "]" * 512 + ",")).value is not None
    with pytest.raises(LimitError) as caught:
        mend_json(Damaged("[" * 513 + "]" * 513 + ","))
    assert caught.value.limit == "json_depth"


# Properties

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
containers = st.lists(values, max_size=4) | st.dictionaries(st.text(max_size=5), values, max_size=4)
ascii_only = st.booleans()
indents = st.sampled_from([None, 0, 2])
pieces = st.sampled_from(
    [*'{}[],:="\'\\/#`; \n\t_-.', '"a"', '"b":', "'c'", "a", "1", "007", "True", "null", "nan", "json", "```", "//",
     "/*", "*/", '<|"|>', "é", "\x01", "\ufeff", "\ud800", "\\u00e9", "\\u", "\\ud83d\\ude00", "it's", "{{", "x y"]
)  # fmt: skip
texts = st.lists(pieces, max_size=25).map("".join)


@given(values, ascii_only, indents)
def test_what_is_json_is_left_alone(value, ascii_only, indent):
    outcome = mend_json(Damaged(json.dumps(value, ensure_ascii=ascii_only, indent=indent)))
    assert repr(outcome.value) == repr(value)
    assert outcome.repaired == []


@given(values, ascii_only, indents, pieces, st.floats(0, 1), st.integers(0, 1))
def test_whatever_json_reads_is_read_the_same(value, ascii_only, indent, piece, where, replaced):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    place = int(where * len(text))
    text = text[:place] + piece + text[place + replaced :]
    try:
        value = json.loads(text)
    except ValueError:
        return
    outcome = mend_json(Damaged(text))
    assert repr(outcome.value) == repr(value)
    assert outcome.repaired == []


@given(containers, ascii_only, st.data())
def test_json_that_was_cut_off_is_no_value(value, ascii_only, data):
    text = json.dumps(value, ensure_ascii=ascii_only)
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(ContentError):
        mend_json(Damaged(text[:cut]))


@given(texts, st.sampled_from([{}, GEMMA, ANGLE]), st.booleans())
def test_any_text_is_mended_or_refused(text, arguments, allow_truncated):
    try:
        outcome = mend_json(Damaged(text, arguments, allow_truncated, True))
    except (ContentError, LimitError):
        return
    assert all(isinstance(what, str) for what in outcome.repaired)


def spelled(value: Any, style: dict[str, Any]) -> str:
    """Write a value in a style of its own: quotes, literals, commas and comments as models use them."""
    quote = style.get("quote", '"')
    comma, last, colon = style.get("comma", ", "), style.get("last", ""), style.get("colon", ": ")

    def string(text: str) -> str:
        body = json.dumps(text, ensure_ascii=False)[1:-1]
        return '"' + body + '"' if quote == '"' else "'" + body.replace('\\"', '"').replace("'", "\\'") + "'"

    def write(it: Any) -> str:
        if isinstance(it, str):
            body = string(it)
            return body.replace("\\n", "\n").replace("\\t", "\t") if style.get("raw") and "\\\\" not in body else body
        if isinstance(it, dict):
            items = style.get("members", comma).join(key(name) + colon + write(member) for name, member in it.items())
            return "{" + items + (last if items else "") + "}"
        if isinstance(it, list):
            return "[" + comma.join(map(write, it)) + (last if it else "") + "]"
        return repr(it) if style.get("python") else json.dumps(it)

    def key(name: str) -> str:
        return name if style.get("bare") and name.isascii() and name.isidentifier() else string(name)

    return style.get("before", "") + write(value) + style.get("after", "")


styles = st.sampled_from(
    [
        {"quote": "'"}, {"python": True}, {"raw": True}, {"last": ","}, {"bare": True}, {"colon": " = "},
        {"comma": ", // one\n"}, {"comma": " /* two */ , "}, {"quote": "'", "python": True, "last": ",\n"},
        {"before": "```json\n", "after": "\n```"}, {"after": " That is all."}, {"before": "json\n"},
        {"last": "\n# the end\n"}, {"quote": "'", "bare": True}, {"raw": True, "quote": "'"},
    ]
)  # fmt: skip


@given(containers, styles)
def test_a_value_in_another_spelling_is_the_same_value(value, style):
    assert repr(mend_json(Damaged(spelled(value, style))).value) == repr(value)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,4}", fullmatch=True), values, max_size=5))
def test_members_without_commas_are_the_same_members(value):
    assert repr(mend_json(Damaged(spelled(value, {"members": "\n"}))).value) == repr(value)


@given(st.lists(containers, min_size=2, max_size=4), st.sampled_from(["", " ", "\n", ",", ", ", ";", " ;\n"]))
def test_values_one_after_another_are_a_list(several, between):
    outcome = mend_json(Damaged(between.join(map(json.dumps, several))))
    assert repr(outcome.value) == repr(several)
    assert outcome.repaired == ["several values"]


@given(containers, st.text(alphabet="}] \n", max_size=5))
def test_brackets_too_many_change_nothing(value, after):
    # Where an earlier bracket may be the one too many, there is no value.
    with contextlib.suppress(ContentError):
        assert repr(mend_json(Damaged(json.dumps(value) + after)).value) == repr(value)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 1_000_000,
        '{"a": "' + '" ' * 100_000,
        '["' + '"a","b" ' * 50_000,
        '{"a": "' + "\" 'x' " * 100_000,
        "[" + "/* " * 300_000,
        '["x" ' + '/* " ' * 200_000,
        '["' + '" // "\n' * 50_000,
        '["' + '" //\n' * 100_000 + '"x"',
        "{" + "a " * 300_000,
        '{"a":"' + "\\" * 500_001,
        '{"a":"' + "\\u" * 300_000 + '",}',
        "`" * 500_000,
        " " * 1_000_000,
        "[1" + "]" * 500_000 + "x",
        '{"a": 1' + ", " * 300_000,
        "[" + "1 " * 300_000,
        '["' + "x" * 1_000_000,
        '[""' + ' ""' * 50_000,
        "{}" * 100_000 + "x {",
    ],
)
def test_long_texts_take_no_longer_than_they_should(text):
    # Anything that isn't linear takes minutes on these; the time bound of the test run would end it.
    for arguments in ({}, GEMMA):
        try:
            mend_json(Damaged(text, arguments))
        except (ContentError, LimitError):
            continue
