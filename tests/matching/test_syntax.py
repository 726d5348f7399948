"""A pattern is read as ``regex`` reads it, or not at all."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from streamparse.matching.backtrack import MATCHED, Attempt, Budget, Known
from streamparse.matching.program import backtracking_program
from streamparse.matching.syntax import (
    Alternatives,
    Assertion,
    BackReference,
    Chars,
    Group,
    Look,
    Node,
    Repeat,
    Sequence,
    UnsupportedSyntax,
    literal_text,
    parse,
    walk,
    width,
)


def match_at_0(source: str, text: str) -> tuple[int, int] | None:
    """Where the tree of the pattern matches at the beginning of the text."""
    program = backtracking_program(parse(source))
    attempt = Attempt(program, 0)
    outcome = attempt.run(Known(text, 0, final=True), Budget(1_000_000))
    return (0, attempt.place) if outcome == MATCHED else None


@pytest.mark.parametrize(
    "source",
    [
        "a{2}",
        "a{,2}",
        "a{1,}",
        "a{0,1}?",
        "a{2}+",
        "a{01}",
        "{",
        "a{b",
        "x{1",
        r"\{1}",
        r"\x41",
        r"\u0041",
        r"\U00000041",
        r"\101",
        r"\0",
        r"\07",
        r"\t\n\r\f\v\a",
        r"\N{LATIN SMALL LETTER A}",
        r"\p{L}",
        r"\pL",
        r"\P{Lu}+",
        r"\d\D?\w\W?\s?\S?",
        "[]a]+",
        "[^]a]",
        r"[\]a-c\\]+",
        "[[:alpha:]]+",
        "[[a]+",
        r"[\w-]+",
        r"[^\n<]+",
        "(?i)aB",
        "(?i:a)b",
        "(?-s:.)",
        "(?s-i:a.)",
        "(?x) a b # c",
        "(?x: a )b",
        "(?#c)a",
        "a(?#c)*",
        "(?x)a {2}",
        "(?m)^a$",
        "^a",
        r"\Aa",
        r"a\Z",
        "a$",
        r"\ba\b",
        r"\Ba",
        "(a)(?:b)(?P<n>c)(?<m>d)",
        r"(a)\1",
        "(?P<n>a)(?P=n)",
        "(?>a|ab)c",
        "a++b",
        "a*+",
        "a?+a",
        "(?=a)a",
        "(?!a)b",
        r"(?=\A)a",
        r"a(?=^)",
        "(?<=a)b|a",
        "(?<!a)a",
        "a||b",
        "|a",
        "()",
        "(?a)é|a",
        r"(?a)\w+",
        "a.b",
        "a|b|ab",
        "é+",
        r"\-\#\ ",
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "aa",
        "aab",
        "ab",
        "aB",
        "AB",
        "abcd",
        "abc",
        "a\nb",
        "b",
        "\t\n\r\f\v\a",
        "é",
        "{",
        "a{b",
        "x{1",
        "]a[",
        "A1 ",
        "-# ",
    ],
)
def test_the_tree_matches_as_regex_does(source: str, text: str) -> None:
    try:
        found = match_at_0(source, text)
    except UnsupportedSyntax:
        # Left to `regex`: these few only it can tell apart.
        assert source in {"{", "a{b", "x{1"}
        return
    expected = regex.compile(source, regex.DOTALL).match(text)
    assert found == (expected.span() if expected else None)


@pytest.mark.parametrize(
    "source",
    [
        r"\((?:[^()]|(?R))*\)",
        r"(a)(?1)",
        r"(?P<n>a)(?P>n)",
        r"(?P<n>a)(?&n)",
        "(?:a){e<=1}",
        "(?(1)a|b)",
        r"a\Kb",
        r"\Ga",
        r"\Xa",
        r"\R",
        "(?|(a)|(b))",
        r"\ma\M",
        "(?f)a",
        "(?V1)a",
        "a(?i)b",
        r"(*PRUNE)a",
        r"\L<names>",
        r"\g<1>(a)",
    ],
)
def test_what_only_regex_understands_is_left_to_it(source: str) -> None:
    with pytest.raises(UnsupportedSyntax):
        parse(source)


def test_the_shape_of_a_tag_pattern_can_be_told() -> None:
    tree = parse(r"<p=(?P<key>\w+)>\s*(?P<value>.*?)</p>")
    assert isinstance(tree, Sequence)
    groups = [item for item in tree.items if isinstance(item, Group)]
    assert [group.name for group in groups] == ["key", "value"]
    lazy = groups[1].body
    assert isinstance(lazy, Repeat)
    assert (lazy.mode, lazy.minimum, lazy.maximum) == ("lazy", 0, None)
    assert literal_text(Sequence(tree.items[:3])) == "<p="
    assert literal_text(tree) is None


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ("a|b", [Alternatives, Chars, Chars]),
        (r"(a)\1", [Sequence, Group, Chars, BackReference]),
        ("(?=a)$", [Sequence, Look, Chars, Assertion]),
    ],
)
def test_walking_goes_from_the_top_down(source: str, kinds: list[type[Node]]) -> None:
    assert [type(node) for node in walk(parse(source))] == kinds


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("abc", (3, 3)),
        ("a|bc", (1, 2)),
        ("a*", (0, None)),
        ("(a{2,3})?", (0, 3)),
        (r"(?=abc)\b", (0, 0)),
        (r"(a)\1", (1, None)),
    ],
)
def test_the_width_of_what_can_be_matched_is_known(source: str, expected: tuple[int, int | None]) -> None:
    assert width(parse(source)) == expected


@given(st.text(alphabet=r"ab|()[]{}*+?.^$\<>=!-:PiwsSbBZA1,#", max_size=10))
def test_whatever_regex_compiles_is_read_the_same_or_left_to_it(source: str) -> None:
    try:
        compiled = regex.compile(source, regex.DOTALL)
        program = backtracking_program(parse(source))
    except (regex.error, UnsupportedSyntax, ValueError, IndexError, OverflowError):
        return
    for text in ("", "a", "b", "ab", "aab", "a1,", "<a>", "()", "PiwsS"):
        attempt = Attempt(program, 0)
        outcome = attempt.run(Known(text, 0, final=True), Budget(1_000_000))
        expected = compiled.match(text)
        assert (attempt.place if outcome == MATCHED else None) == (expected.end() if expected else None)
