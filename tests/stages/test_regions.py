"""Which delimiter counts, and what becomes of the text between: the rules of the template format, one by one."""

from __future__ import annotations

from typing import Any

import pytest

from streamparse import LimitError, Limits, load_response_template
from streamparse.stages.region import RegionEnd, up_to_each_end
from streamparse.stages.regions import RegionTokenizer


def tokenizer(fields: dict[str, Any], **options: Any) -> RegionTokenizer:
    return RegionTokenizer(load_response_template({"start_anchor": "@@", "fields": fields}), **options)


def regions(fields: dict[str, Any], text: str) -> list[tuple[str, str]]:
    """The regions of a text: their fields and texts; the same for pieces of one character."""
    results = []
    for pieces in ([text], list(text)):
        stage, items = tokenizer(fields), []
        for piece in pieces:
            items += stage.feed(piece)
        found: list[tuple[str, str]] = []
        for item in items + stage.finish():
            if isinstance(item, dict) and item["type"] == "region_open":
                found.append((item["field"], ""))
            elif isinstance(item, dict):
                found[-1] = (found[-1][0], found[-1][1] + item["text"])
        results.append(found)
    assert results[0] == results[1]
    return results[0]


BOTH: dict[str, Any] = {"content": {}, "x": {"open": "<x>", "close": "</x>"}}

RULES: dict[str, tuple[dict[str, Any], str, list[tuple[str, str]]]] = {
    "text outside of explicit regions is the implicit field's": (
        BOTH,
        "a<x>b</x>c",
        [("content", "a"), ("x", "b"), ("content", "c")],
    ),
    "an explicit region opens at its delimiter, without text too": (BOTH, "<x></x>", [("x", "")]),
    "the implicit region opens with its first character": (BOTH, "<x>a</x><x>b</x>", [("x", "a"), ("x", "b")]),
    "in an explicit region only its own close counts": (
        {**BOTH, "y": {"open": "<y>", "close": "</y>"}},
        "<x>a<y>b</y><x></x>c",
        [("x", "a<y>b</y><x>"), ("content", "c")],
    ),
    "at the end every region ends": (BOTH, "<x>ab", [("x", "ab")]),
    "a delimiter that is not finished is text": (BOTH, "<x>a</", [("x", "a</")]),
    "without an implicit field unclaimed text is dropped": (
        {"x": {"open": "<x>", "close": "</x>"}},
        "a<x>b</x>c",
        [("x", "b")],
    ),
    "the implicit field's close ends it, and a new region follows": (
        {"content": {"close": "|"}},
        "a|b|",
        [("content", "a"), ("content", "b")],
    ),
    "of matches that start together the longest counts": (
        {"content": {}, "x": {"open": "<a", "close": "|"}, "y": {"open": "<ab", "close": "|"}},
        "<ab1|<ac2|",
        [("y", "1"), ("x", "c2")],
    ),
    "the leftmost match counts, however long others are": (
        {"content": {}, "x": {"open": "ab", "close": "|"}, "y": {"open": "bcdef", "close": "|"}},
        "abcdef|",
        [("x", "cdef")],
    ),
    "of equal matches an open goes before a close": (
        {"content": {"close": "#"}, "x": {"open": "#", "close": "|"}},
        "a#b|",
        [("content", "a"), ("x", "b")],
    ),
    "of equal opens the lower name counts": (
        {"b": {"open": "#", "close": "|"}, "a": {"open": "#", "close": "|"}},
        "#1|",
        [("a", "1")],
    ),
    "a close that begins like a longer one waits for it": (
        {"content": {}, "x": {"open": "<x>", "close": ["</", "</x>"]}},
        "<x>a</x>b<x>c</d",
        [("x", "a"), ("content", "b"), ("x", "c"), ("content", "d")],
    ),
    "an optional tail belongs to the match": (
        {"content": {}, "x": {"open_pattern": r"<t>(?:\s*json)?", "close": "</t>"}},
        "<t>\njson{1}</t>",
        [("x", "{1}")],
    ),
    "the end of the text may close": (
        {"content": {"close_pattern": "<e>|$"}},
        "a<e>",
        [("content", "a")],
    ),
    "a lookahead that has to see more waits": (
        {"content": {}, "x": {"open": "<x>", "close_pattern": r"END(?!\n\n)"}},
        "<x>aEND\n\nbEND!",
        [("x", "aEND\n\nb"), ("content", "!")],
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_rule(rule: str) -> None:
    fields, text, expected = RULES[rule]
    assert regions(fields, text) == expected


@pytest.mark.parametrize(
    ("open_pattern", "close_pattern"), [("(?=a)", "(?=a)"), ("", ""), ("^", "^"), ("a?", "b?"), ("$", "$"), ("", "$")]
)
@pytest.mark.parametrize("text", ["", "z", "ba", "aab", "z" * 500])
def test_delimiters_that_match_nothing_come_to_an_end(open_pattern: str, close_pattern: str, text: str) -> None:
    assert regions({"x": {"open_pattern": open_pattern, "close_pattern": close_pattern}}, text) is not None


def test_after_an_empty_close_of_an_empty_implicit_region_nothing_counts_as_in_transformers() -> None:
    fields = {"content": {"close_pattern": "(?=X)"}, "t": {"open": "<t>", "close": "</t>"}}
    assert regions(fields, "aXb<t>q</t>c") == [("content", "a")]


def test_captures_of_the_close_go_before_those_of_the_open() -> None:
    fields = {
        "x": {
            "open_pattern": r"<(?P<a>\w)(?P<b>\w)?>",
            "close_pattern": r"</(?P<b>\w)>",
            "transform": ["{a}", "{b}"],
        }
    }
    stage = tokenizer(fields, captures=True)
    opened, _, end = stage.feed("<pq>text</r>")
    assert isinstance(opened, dict)
    assert isinstance(end, RegionEnd)
    assert opened["captures"] == {"a": "p", "b": "q"}
    assert end.captures == {"a": "p", "b": "r"}


def test_the_end_of_a_region_says_where_it_was() -> None:
    stage = tokenizer(BOTH)
    end = stage.feed("a<x>bc</x>")[-1]
    assert isinstance(end, RegionEnd)
    assert (end.field.name, end.body_start, end.start, end.end, end.closed) == ("x", 4, 6, 10, True)
    stage.feed("<x>")
    (unclosed,) = stage.finish()
    assert isinstance(unclosed, RegionEnd)
    assert (unclosed.start, unclosed.end, unclosed.closed) == (13, 13, False)


def test_text_of_the_prefix_is_before_character_0() -> None:
    stage = tokenizer(BOTH, spans=True)
    items = stage.feed_prefix("<x>ab") + stage.feed("c</x>")
    spans = [(item["start"], item["end"]) for item in items if isinstance(item, dict)]
    assert spans == [(-5, -2), (-2, 0), (0, 1)]


def test_the_number_of_regions_is_limited() -> None:
    stage = tokenizer(BOTH, limits=Limits(regions=3))
    with pytest.raises(LimitError, match=r"Limits\.regions"):
        stage.feed("<x></x>" * 4)


def test_what_is_held_is_limited() -> None:
    stage = tokenizer({"x": {"open_pattern": "<x[^>]*>"}}, limits=Limits(held_text=100))
    with pytest.raises(LimitError, match="held back"):
        stage.feed("<x" + "a" * 200)


def test_a_tokenizer_is_restored_within_a_delimiter() -> None:
    stage = tokenizer(BOTH)
    stage.feed("a<x>b</")
    again = tokenizer(BOTH)
    again.restore(stage.snapshot())
    assert again.held == stage.held == 2
    end = again.feed("x>")[0]
    assert isinstance(end, RegionEnd)
    assert end.closed


def test_a_batch_is_parted_after_each_end_of_a_region() -> None:
    items = tokenizer(BOTH).feed("<x>a</x>b<x>")
    parts = list(up_to_each_end(items))
    assert [item for part in parts for item in part] == items
    assert [[isinstance(item, RegionEnd) for item in part] for part in parts] == [
        [False, False, True],
        [False, False, True],
        [False],
    ]
    assert list(up_to_each_end([])) == []
