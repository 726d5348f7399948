"""How text is skipped in which no delimiter starts."""

from __future__ import annotations

import regex
from hypothesis import example, given
from hypothesis import strategies as st

from streamparse import ResponseParser, parse_response
from streamparse.matching.automaton_prefilter import pattern_of
from streamparse.matching.syntax import Chars, parse
from tests.matching.brute_force import pieces_of, read, search_whole
from tests.matching.pattern_strategies import bodies, delimiters_of, texts

CLASSES = [
    "[^>]",
    "[^<]",
    r"[^\n]",
    "[^ab]",
    "[^^]",
    r"[^\]]",
    r"\S",
    r"\s",
    r"[^\W]",
    ".",
    "<",
    "(?i:[^A])",
    "(?-s:.)",
]


@given(st.lists(st.sampled_from(CLASSES), min_size=1, max_size=4), st.sampled_from("<>abA^] \n"))
@example(["[^>]", "[^<]"], "<")
@example(["[^>]", "<", "[^<]"], ">")
def test_one_pattern_for_several_classes_finds_the_characters_of_each(sources: list[str], character: str) -> None:
    sets = [chars for chars in map(parse, sources) if isinstance(chars, Chars)]
    joined = pattern_of(sets)
    assert joined is not None
    found = regex.search(joined, character, regex.DOTALL) is not None
    assert found == any(chars.contains(character) for chars in sets)


@given(
    st.lists(st.builds("{}{}".format, st.sampled_from(CLASSES), bodies), min_size=2, max_size=3),
    texts,
    st.lists(st.integers(0, 24), max_size=4),
)
def test_delimiters_that_start_with_negated_classes_are_found_together(
    sources: list[str], text: str, some_cuts: list[int]
) -> None:
    delimiters = delimiters_of(list(sources))
    wanted = search_whole(delimiters, text)
    for pieces in ([text], list(text), pieces_of(text, some_cuts)):
        assert read(delimiters, pieces).found == wanted


def test_two_fields_that_open_with_negated_classes_are_both_watched() -> None:
    template = {
        "start_anchor": "@@",
        "fields": {
            "content": {"open_pattern": r"[^\n](?!a)", "close": "a", "repeats": True},
            "y": {"open_pattern": "[^>]", "close": "b"},
        },
    }
    assert parse_response("\nxx", template, prefix="") == {"y": "xx"}


def test_a_snapshot_of_negated_classes_is_taken_up_by_its_own_template() -> None:
    template = {
        "start_anchor": "@@",
        "fields": {"y": {"open_pattern": "[^>]b", "close": "q"}, "content": {"close_pattern": "[^n].(<)"}},
    }
    parser = ResponseParser(template, prefix="")
    first = parser.feed("<>[")
    again = ResponseParser.restore(parser.snapshot(), template)
    assert [event.get("text") for event in first] == [None, "<"]
    assert again.feed("<rest") == parser.feed("<rest")
    assert again.finalize() == parser.finalize()
