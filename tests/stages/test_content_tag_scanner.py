"""The scanner for tags of the usual shapes: it finds what ``regex`` finds, on every text, in one pass."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
import regex
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from streamparse.stages.content.tag_pattern import compile_tag_pattern
from streamparse.stages.content.tag_scanner import Tag, pattern_finder, tag_finder
from streamparse.stages.content.tag_shape import recognise

USUAL = [
    r"<parameter=(?P<key>\w+)>\s*(?P<value>.*?)\s*</parameter>",
    r"<parameter=(?P<key>[^>\n]+)>\s*(?P<value>.*?)\s*</parameter>",
    r'<parameter name="(?P<key>[^"]+)">(?P<value>.*?)</parameter>',
    r"<arg_key>(?P<key>[^<]+)</arg_key>\s*\n<arg_value>(?P<value>.*?)</arg_value>",
    r"<arg_key>(?P<key>.*?)</arg_key>\s*<arg_value>(?P<value>[\s\S]*?)</arg_value>",
    r"<(?P<key>\w+)>\s*(?P<value>.*?)\s*</\1>",
    r"<(?P<key>\w+)>(?P<value>.*?)</(?P=key)>",
    r'<p name="(?P<key>[^"]+)"(?: string="(?:true|false)")?>\n?(?P<value>.*?)\n?</p>\s*',
    r"\s*<parameter\s+name=(?P<key>\w+)\s*>(?P<value>.*?)</parameter>",
]
OTHERS = [
    r"(?P<key>\w+)=(?P<value>\S+)",
    r"<(?P<key>\w+)>(?P<value>.+?)</\1>",
    r"<p=(?P<key>.*)>(?P<value>.*?)</p>",
    r"<p=(?P<key>\w+)x>(?P<value>.*?)</p>",
    r"(?i)<p=(?P<key>\w+)>(?P<value>.*?)</p>",
    r"<p=(?P<key>\w+)>(?P<value>.*?)(?=</p>)",
    r"<p=(?P<key>\w+)>\s+?(?P<value>.*?)</p>",
    r"<p=(?P<key>\w+)>\s*(?P<value>.*?)\s*\n</p>",
    r"<p=(?P<key>\w+)>(?-s:(?P<value>.*?))</p>",
]


def either(*texts: str) -> st.SearchStrategy[str]:
    return st.sampled_from(texts)


runs = either("", "", r"\s*", r"\s*?", r"\n?", r"[ \n]*", r"\s+", r" *+", r"\n{0,2}")
patterns = st.tuples(
    either("", r"\s*", r"\n?"),
    either("<p", "<", "<p=", "a", r"\(", '<p n="'),
    either("", "", r"\s+", r"\s*=\s*", "(?: x)?", "(?:y|z)=", "b?="),
    either(r"\w+", r"\w*", r"[^>\n]+", r"[^<]+", ".*?", ".+?", r"[a-c]+", r'[^"]+', r"\w+?", r"\S+", "[ab]*+").map(
        "(?P<key>{})".format
    ),
    either(
        ">", r">\s*\n<v>", "</k><v>", '">', r"\s*>", "=", '"(?: s="(?:t|f)")?>', " [^>]*>", "(?:>|=)", "x>", r">\n?"
    ),
    runs,
    either(".*?", ".*?", r"[\s\S]*?", "[^<]*", ".+?").map("(?P<value>{})".format),
    runs,
    either("</p>", "</", "<", "]", r"</\1>", "</(?P=key)>", "a", r"/(?P=key)", "\n<"),
    either("", r"\s*", ";?"),
).map("".join)
texts = st.lists(
    either(
        "<p", "<", "<p=", "a", "(", '<p n="', " ", "\n", ">", "=", "</k>", "<v>", '"', "</p>", "</", "]", "b", "x",
        " x", "y=", ' s="t"', "</a>", "</ab>", ";", "\n<v>", "é", "　", "\x85", "<p=a> b </p>", "<a>x</a>",
        '<p n="a">b</p>',
    ),
    max_size=14,
).map("".join)  # fmt: skip


def found(pattern: str, text: str) -> list[tuple[object, ...]]:
    return read(pattern_finder(compile_tag_pattern(pattern), 10)(text))


def read(tags: Iterable[Tag]) -> list[tuple[object, ...]]:
    return [(tag.key, tag.value, tag.position) for tag in tags]


@pytest.mark.parametrize("pattern", USUAL)
def test_the_usual_patterns_are_scanned_for(pattern):
    assert recognise(pattern) is not None


@pytest.mark.parametrize("pattern", OTHERS)
def test_a_pattern_whose_matches_take_more_than_a_look_ahead_is_left_to_regex(pattern):
    assert recognise(pattern) is None


@settings(max_examples=400)
@given(patterns, st.lists(texts, min_size=1, max_size=4))
def test_the_scanner_finds_what_regex_finds(pattern, several):
    assume(recognise(pattern) is not None)
    for text in several:
        assert read(tag_finder(pattern, 10)(text)) == found(pattern, text)


@pytest.mark.parametrize("pattern", USUAL)
@given(data=st.data())
def test_the_usual_tags_are_found_in_any_mixture(pattern, data):
    words = regex.findall(r'</?\w+>?|["=>]', regex.sub(r"\(\?.*?\)|\\.\W?", "", pattern))
    tag = regex.sub(r"\\s[*+]|\(\?:.*?\)\)?\??", " ", regex.sub(r"\\n\??", "\n", pattern))
    tag = regex.sub(r"\(\?P<key>.*?\)|\(\?P=key\)|\\1", "k", regex.sub(r"\(\?P<value>.*?\)", "v", tag))
    text = "".join(data.draw(st.lists(st.sampled_from([tag, *words, "k", " ", "\n", "v"]), max_size=12)))
    assert read(tag_finder(pattern, 10)(text)) == found(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (USUAL[0], "<parameter=a>" + " " * 200_000),
        (USUAL[0], "<parameter=a>" * 50_000),
        (USUAL[1], "<parameter=" * 50_000),
        (USUAL[2], '<parameter name="' * 50_000),
        (USUAL[3], "<arg_key>a</arg_key>" + "\n" * 200_000),
        (USUAL[4], "<arg_key>" * 50_000 + "</arg_key>" * 50_000),
        (USUAL[5], "".join(f"<t{number}>" for number in range(50_000))),
        (USUAL[5], "</" * 100_000),
        (USUAL[7], '<p name="a"' * 50_000),
        (USUAL[8], "<parameter" + " " * 200_000),
    ],
)
def test_long_texts_full_of_false_starts_are_no_trouble(pattern, text):
    # A search by `regex` takes minutes on most of these; the time bound of the test run would end it.
    assert [*tag_finder(pattern, 1)(text)] == []


def test_texts_are_scanned_independently_of_one_another():
    find = tag_finder(USUAL[0], 1)
    one, other = find("<parameter=a>1</parameter>" * 2), find("<parameter=bb>22</parameter>" * 2)
    assert [next(one).key, next(other).key, next(one).key, next(other).key] == ["a", "bb", "a", "bb"]


DECLARING = (
    '<｜DSML｜parameter name="(?P<key>[^"]+)"(?: string="(?P<string>true|false)")?>(?P<value>.*?)</｜DSML｜parameter>'
)


@given(st.lists(either("<｜DSML｜parameter", ' name="', 'a"', ' string="', 'true"', ">", "v", "</｜DSML｜parameter>",
    '<｜DSML｜parameter name="b" string="false">'), max_size=14).map("".join))  # fmt: skip
def test_what_tags_say_of_their_values_is_read_as_regex_reads_it(text):
    by_regex = pattern_finder(compile_tag_pattern(DECLARING), 10, "string")(text)
    assert [*tag_finder(DECLARING, 10, kinds=True)(text)] == [*by_regex]


def test_tags_that_say_what_their_values_are_take_linear_time():
    tag = '<｜DSML｜parameter name="b" string="false">1</｜DSML｜parameter>'
    assert {found.kind for found in tag_finder(DECLARING, 1, kinds=True)(tag * 20_000)} == {"false"}
