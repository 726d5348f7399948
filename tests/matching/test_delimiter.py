"""How a delimiter can be found, and what its author is told about it."""

from __future__ import annotations

import pytest

from streamparse.matching.compiling import FaultyPattern
from streamparse.matching.delimiter import Delimiter


def test_the_longest_literal_comes_first() -> None:
    delimiter = Delimiter.of_literals(["<a", "<ab>", "<a"])
    assert delimiter.literals == ("<ab>", "<a")
    assert delimiter.kind == "literal"
    assert delimiter.lint() == []


@pytest.mark.parametrize("literals", [[], [""], ["<a>", ""]])
def test_a_literal_is_never_empty(literals: list[str]) -> None:
    with pytest.raises(ValueError, match="literal"):
        Delimiter.of_literals(literals)


def test_a_faulty_pattern_is_an_error_that_says_why() -> None:
    with pytest.raises(FaultyPattern):
        Delimiter.of_pattern("(")


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (r"\s*<tool_call>\s*<function=(?P<name>[^>\n]+)>", "linear"),
        (r"(?:<\|message_model\|>)?[^<]*<\|content_text\|>", "linear"),
        (r"(?=[\s\S]*?</think>)", "linear"),
        (r"(?:<turn\|>|<eos>)\s*|$", "linear"),
        (r"(?:^|<think>\s*)", "linear"),
        (r"</x>(?!y)", "linear"),
        (r"(?<!\\)\"\b", "linear"),
        (r"<x\s*+>", "linear"),
        (r"</x>(?!foo)", "bounded"),
        (r"(?<=ab)c", "bounded"),
        (r"(a)\1", "bounded"),
        (r"(?>ab|a)c", "bounded"),
        (r"(?:a?)*b", "bounded"),
        (r"a{2000}", "bounded"),
        (r"\((?:[^()]|(?R))*\)", "end"),
        (r"(?:abc){e<=1}", "end"),
        (r"(?<=a*)b", "end"),
    ],
)
def test_the_pattern_tells_how_it_can_be_found(source: str, kind: str) -> None:
    assert Delimiter.of_pattern(source).kind == kind


@pytest.mark.parametrize(
    ("source", "part"),
    [
        (r"\((?:[^()]|(?R))*\)", "only the regex module"),
        (r"(?<=a*)b", "only the regex module"),
        (r"</x>(?!foo)", "can't be matched in linear time (a lookaround of more than one character)"),
        (r"(a)\1", "a reference to group 1"),
        (r"<x>(?=[\s\S]*?</x>)", "far behind the match"),
        (r"<(?:a+)+>", "a repeat within a repeat"),
        (r"<(?:(?:a+)|b)*>", "a repeat within a repeat"),
        (r"<p>\s*(?P<value>.*?)\s*</p>", "a lazy group between two runs"),
        (r"a?", "can match the empty text"),
        (r"<x>(?:\s*json)?", "the beginning of a longer one"),
        (r"<x>|$", "the beginning of a longer one"),
        (r"<[^>]{0,500}>", "a repeat with a high count"),
    ],
)
def test_the_author_is_told_what_a_pattern_costs(source: str, part: str) -> None:
    assert any(part in warning for warning in Delimiter.of_pattern(source).lint())


@pytest.mark.parametrize(
    "source",
    [
        r"<tool_call>\s*<function=(?P<name>\w+)>",
        r"\s*(?:<\|im_end\|>|<\|endoftext\|>)",
        r"</tool_call>\s*",
        r"(?:\s*<a>)*<b>",
        r"<\|channel\|>commentary to=functions\.(?P<name>\w+).*?<\|message\|>",
    ],
)
def test_nothing_is_said_about_patterns_that_do_no_harm(source: str) -> None:
    assert Delimiter.of_pattern(source).lint() == []


def test_groups_are_found_where_regex_would_take_for_ever() -> None:
    delimiter = Delimiter.of_pattern(r"<(?P<name>(?:a|aa)+)(?:a|aa)+>|<(?P<rest>a+)")
    text = "<" + "a" * 60
    assert delimiter.captures(text, 0, 0, len(text)) == {"rest": "a" * 60}
