"""What a scanner gives for the delimiters that depend on the cuts elsewhere, and what its caller can rely on."""

from __future__ import annotations

import json

import pytest

from streamparse.errors import LimitError, SnapshotError
from streamparse.matching.delimiter import Delimiter
from streamparse.matching.delimiter_set import DelimiterSet
from streamparse.matching.scanner import Scanner
from tests.matching.brute_force import Reader, read

literals, pattern = Delimiter.of_literals, Delimiter.of_pattern

TWO_LITERALS_ONE_PREFIX = literals(["<|im_end|>", "<|im_end|>\n<|endoftext|>"])

#: (delimiter, text, the delimiters that are in it)
CASES = [
    (literals(["</", "</x>"]), "a</x>b", ["</x>"]),
    (literals(["</", "</x>"]), "a</xb", ["</"]),
    (TWO_LITERALS_ONE_PREFIX, "a<|im_end|>\n<|endoftext|>", ["<|im_end|>\n<|endoftext|>"]),
    (TWO_LITERALS_ONE_PREFIX, "a<|im_end|>\n<|endof", ["<|im_end|>"]),
    (literals(["abcd", "bc"]), "1abcd2", ["abcd"]),
    (literals(["abcd", "bc"]), "1abce2", ["bc"]),
    (pattern(r"<t>(?:\s*json)?"), "<t>\njson{1}", ["<t>\njson"]),
    (pattern(r"<t>(?:\s*json)?"), "<t>\njs{1}", ["<t>"]),
    (pattern(r"\n+END|\n"), "a\nENDb\nEN", ["\nEND", "\n"]),
    (pattern(r"<abc>|<a"), "<abc> <ab", ["<abc>", "<a"]),
    (pattern(r"a.*b|c"), "1a2c3b4c", ["a2c3b", "c"]),
    (pattern(r"a.*b|c"), "1a2c34", ["c"]),
    (pattern(r"(?:ab)+"), "1ababa", ["abab"]),
    (pattern(r"<[^>]+b"), "<ab b>", ["<ab b"]),
    (pattern(r"<\w+(?=a)"), "<bab", ["<b"]),
    (pattern(r"<e>|$"), "a<e>", ["<e>", ""]),
    (pattern(r"(?:<e>|<f>)\s*|$"), "a<e>\n", ["<e>\n", ""]),
    (pattern(r"</x>(?!\Z)"), "a</x>b</x>", ["</x>"]),
    (pattern(r">\b"), "a>b> ", [">"]),
    (pattern(r"\n\b"), "a\n\nb\n", ["\n"]),
    (pattern(r"END(?!\n\n)"), "aEND\n\nbEND!", ["END"]),
    (pattern(r"</x>(?!foo)"), "a</x>fob</x>foo", ["</x>"]),
    (pattern(r"(?<!\\)\""), 'a\\"b"', ['"']),
    (pattern(r"<x\s*+>"), "<x  >", ["<x  >"]),
    (pattern(r"(\w)\1"), "abba", ["bb"]),
    (pattern(r"(?i)</X>"), "a</x>", ["</x>"]),
    (pattern(r"(?m)^#"), "#a#\n#", ["#", "#"]),
    (pattern(r"\(((?:[^()]|(?R))*)\)"), "a((b)c)d", ["((b)c)"]),
]


@pytest.mark.parametrize(("delimiter", "text", "wanted"), CASES)
def test_the_cuts_do_not_matter(delimiter: Delimiter, text: str, wanted: list[str]) -> None:
    for size in (1, 2, 3, len(text)):
        reader = read([delimiter], [text[at : at + size] for at in range(0, len(text), size)])
        assert [text[found.start : found.end] for found in reader.found] == wanted
        assert reader.given == text


def test_the_longest_of_those_that_start_together_wins_and_then_the_first() -> None:
    delimiters = [literals(["<a"]), pattern(r"<\w>"), literals(["<a>"]), literals(["<b"])]
    assert [(f.index, f.start) for f in read(delimiters, list("x<a>x<a;x<b")).found] == [(1, 1), (0, 5), (3, 9)]


@pytest.mark.parametrize(
    ("delimiter", "fed", "given"),
    [
        (literals(["</x>"]), "a</x", "a"),
        (literals(["</x>"]), "a</xa", "a</xa"),
        (literals(["abab", "c"]), "xababa", "xabab"),
        (pattern(r"\s*<x>"), "ab \n ", "ab"),
        (pattern(r"\s*<x>"), "ab \n <y", "ab \n <y"),
        (pattern(r"\s+<x>"), "a  <", "a"),
        (pattern(r"<e>|$"), "a\n", "a"),
        (pattern(r"<a[^>]*>"), "b<a href", "b"),
        (pattern(r"END(?!\n\n)"), "aEND\n", "a"),
        (pattern(r"<a|<a[bc]*d"), "x<abcb", "x<a" + "bcb"),
    ],
)
def test_only_what_may_become_a_delimiter_is_held(delimiter: Delimiter, fed: str, given: str) -> None:
    for pieces in ([fed], list(fed)):
        reader = Reader([delimiter])
        for piece in pieces:
            reader.feed(piece)
        assert reader.given == given
        assert reader.scanner.held == len(fed) - len(given)
        assert reader.scanner.idle == (given == fed)
        assert reader.scanner.position == len(given)


@pytest.mark.parametrize(
    ("delimiters", "text"),
    [
        ([literals(["<x>"])], "a<x>"),
        ([literals(["<x>", "<x>y"])], "a<x>z"),
        ([pattern(r"<x>")], "a<x>"),
        ([pattern(r"<x>\s*")], "a<x> b"),
        ([pattern(r"<(?P<name>\w+)>")], "<ab>"),
        ([pattern(r"<x>(?=.*Z)")], "<x>abZ"),
        ([pattern(r"<x>(?:(?=ab)|c)?")], "<x>d"),
        ([literals(["<x>"]), pattern(r"<x>(?=.*Z)")], "<x>"),
        ([pattern(r"</x>(?!y)")], "</x>z"),
    ],
)
def test_a_delimiter_is_acted_on_with_its_last_necessary_character(delimiters: list[Delimiter], text: str) -> None:
    reader = Reader(delimiters)
    for character in text[:-1]:
        reader.feed(character)
        assert not reader.found
    reader.feed(text[-1])
    assert len(reader.found) == 1


def test_groups_do_not_depend_on_the_cuts_where_the_match_does_not_either() -> None:
    delimiter = pattern(r"(?P<one>a)(?=bc)|(?P<two>a)")
    for pieces in (["abc"], ["a", "bc"], ["a", "b", "c"]):
        assert read([delimiter], pieces).found[0].captures == (("one", "a"),)


def test_two_empty_matches_at_one_place_can_be_forbidden() -> None:
    scanner = Scanner(DelimiterSet([pattern(r"(?=a)|b")]))
    _, match, text, resume = scanner.scan("xab")
    assert match is not None
    assert (match.start, match.end) == (1, 1)
    scanner.forbid_zero_width_here()
    released, match, text, resume = scanner.scan(text, resume)
    assert match is not None
    assert (released, match.text, match.start) == ("a", "b", 2)


def test_the_beginning_of_the_text_is_at_position_0_only() -> None:
    watch = DelimiterSet([pattern(r"^a")])
    assert Scanner(watch).scan("ab")[1] is not None
    assert Scanner(watch, position=5).scan("ab")[1] is None
    scanner = Scanner(DelimiterSet([pattern(r"^a|c(?R)?b")]), position=5)
    scanner.scan("ab")
    assert scanner.finish()[1] is None
    scanner = Scanner(watch)
    scanner.scan("b")
    assert scanner.scan("a")[1] is None


def test_what_was_given_out_still_counts_for_a_look_back() -> None:
    first, second = DelimiterSet([literals([";"])]), DelimiterSet([pattern(r"(?<=;)x"), pattern(r"(?<=ab;y)x")])
    scanner = Scanner(first, context=second.context)
    _, match, text, resume = scanner.scan("ab;yx", 0)
    assert match is not None
    scanner.switch(second)
    _, match, _, _ = scanner.scan(text, resume)
    assert match is not None
    assert (match.index, match.start) == (1, 4)


def test_a_watch_that_looks_further_back_than_the_scanner_keeps_is_refused() -> None:
    scanner = Scanner(DelimiterSet([literals([";"])]))
    with pytest.raises(ValueError, match="context"):
        scanner.switch(DelimiterSet([pattern(r"(?<=ab)x")]))


def test_the_watch_is_not_changed_while_text_is_held() -> None:
    watch = DelimiterSet([literals(["<x>"])])
    scanner = Scanner(watch)
    scanner.scan("<")
    with pytest.raises(ValueError, match="held"):
        scanner.switch(watch)


def test_held_text_can_be_taken_back_for_another_watch() -> None:
    scanner = Scanner(DelimiterSet([literals(["<x>"])]))
    scanner.scan("a<x")
    assert scanner.take_held() == "<x"
    assert (scanner.held, scanner.position) == (0, 1)
    scanner.switch(DelimiterSet([literals(["x"])]))
    _, match, _, _ = scanner.scan("<x")
    assert match is not None
    assert match.start == 2


def test_text_that_the_caller_looked_through_is_skipped() -> None:
    for delimiter in (literals(["<x>"]), pattern(r"(?<=a)<x>")):
        scanner = Scanner(DelimiterSet([delimiter]))
        scanner.skip("xya")
        _, match, _, _ = scanner.scan("<x>")
        assert match is not None
        assert (match.start, scanner.position) == (3, 6)


def outcome_within(limit: int, source: str, text: str, size: int) -> str:
    """What is found in the text in pieces of a size, or which limit is in the way."""
    reader = Reader([pattern(source)], limit=limit)
    try:
        for at in range(0, len(text), size):
            reader.feed(text[at : at + size])
        reader.finish()
    except LimitError as error:
        return error.limit
    return str(reader.found)


@pytest.mark.parametrize(
    "source", [r"<x[^>]*>", r"\s*<x>", r"<x[^>]*>(?!aa)", r"\((?:[^()]|(?R))*\)|<x>", r"<x>(?=.*Z)", r"<x(?:b*>)?"]
)
def test_more_held_text_than_the_limit_is_an_error_whatever_the_cuts(source: str) -> None:
    outcomes = set()
    for text in ("a<x" + "b" * 30 + ">", "a" + " " * 33 + "<x>", "<x>" + "c" * 30 + "Z", "<x" + "b" * 30 + "c"):
        in_all_cuts = {outcome_within(20, source, text, size) for size in (1, 7, len(text))}
        assert len(in_all_cuts) == 1
        outcomes |= in_all_cuts
    assert "held_text" in outcomes


def test_matching_that_explodes_is_an_error_and_never_another_match() -> None:
    reader = Reader([pattern(r"<(?:(?:a|aa)+)+>(?!aa)")], pattern_steps=10_000)
    with pytest.raises(LimitError) as raised:
        reader.feed("<" + "a" * 40 + "!")
    assert raised.value.limit == "pattern_steps"


def test_a_recursion_without_end_is_an_error() -> None:
    reader = Reader([pattern("a|(?R)b")])
    reader.feed("b")
    with pytest.raises(LimitError):
        reader.finish()


def test_the_same_explosion_is_no_matter_where_the_pattern_is_linear() -> None:
    reader = read([pattern(r"<(?P<name>(?:(?:a|aa)+)+)>")], ["<" + "a" * 40 + "!", "<" + "a" * 40 + ">"])
    assert [(found.start, found.captures) for found in reader.found] == [(42, (("name", "a" * 40),))]


def test_a_snapshot_is_plain_data() -> None:
    watch = DelimiterSet([pattern(r"\s*<(?P<name>\w+)>")])
    scanner = Scanner(watch)
    scanner.scan("ab  <to")
    saved = json.loads(json.dumps(scanner.snapshot()))
    other = Scanner(watch)
    other.restore(saved)
    assert (other.position, other.held) == (2, 5)
    _, match, _, _ = other.scan("ol>")
    assert match is not None
    assert (match.start, match.captures) == (2, {"name": "tool"})


@pytest.mark.parametrize("saved", [{}, {"position": "x"}, {"position": 0, "held": "b", "before": "", "guarded": False}])
def test_a_damaged_snapshot_is_refused(saved: dict[str, object]) -> None:
    with pytest.raises(SnapshotError):
        Scanner(DelimiterSet([literals(["<x>"])])).restore(saved)


def test_the_end_hands_back_what_follows_a_match() -> None:
    scanner = Scanner(DelimiterSet([pattern(r"<x>(?:.*y)?")]))
    scanner.scan("a<x>b<x>c")
    released, match, text, resume = scanner.finish()
    assert match is not None
    assert (released, match.text, text[resume:]) == ("", "<x>", "b<x>c")
    assert scanner.scan(text, resume)[:2] == ("b", None)
    released, match, text, resume = scanner.finish()
    assert match is not None
    assert (released, match.start, text[resume:]) == ("", 5, "c")
    assert scanner.scan(text, resume)[0] == "c"
    assert scanner.finish()[:2] == ("", None)


def test_no_piece_is_too_short() -> None:
    scanner = Scanner(DelimiterSet([literals(["<x>"])]))
    assert scanner.scan("") == ("", None, "", 0)
    assert scanner.scan("a<", 2) == ("", None, "a<", 2)
