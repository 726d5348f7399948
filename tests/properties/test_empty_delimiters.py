"""Delimiters that match the empty text: parsing ends, whatever the cuts, and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.properties.outcomes import assert_same, by_character, outcome
from tests.properties.templates import Sample
from tests.properties.test_nothing_lost import all_events, assert_gives_back, assert_well_formed
from tests.properties.texts import cut_up, cuts

EMPTY = [
    "(?P<key>.*?)",
    "(?=a)",
    "a?",
    "a??",
    "(?P<name>)",
    r"\s*",
    "(?:<|)",
    "(?=<)|b",
    "(?=[{ ])",
    "^|a",
    "$|<",
    "b*?",
]
OTHERS = ["<", "a", "(?P<name>[ab])", "<a>"]
CONTENTS: list[dict[str, Any]] = [
    {},
    {"content": "json"},
    {"content": "kv-lines"},
    {"content": "python-call-list"},
    {"content": "xml-inline", "content_args": {"tag_pattern": r"<(?P<key>\w+)>(?P<value>.*?)</(?P=key)>"}},
    {"content": "kv-lines", "transform": {"type": "function", "function": {"name": "f", "arguments": "{content}"}}},
]


def fields(opens: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    patterns = st.sampled_from([*EMPTY, *OTHERS])
    close = st.one_of(st.just({}), patterns.map(lambda pattern: {"close_pattern": pattern}))
    opened = st.sampled_from(opens).map(lambda pattern: {"open_pattern": pattern, "repeats": True})
    return st.builds(
        lambda *parts: {k: v for part in parts for k, v in part.items()}, opened, close, st.sampled_from(CONTENTS)
    )


templates = st.builds(
    lambda calls, other, implicit: {
        "start_anchor": "@@",
        "fields": {"y": calls} | ({"z": other} if other else {}) | ({"content": {}} if implicit else {}),
    },
    fields(EMPTY),
    st.one_of(st.none(), fields([*EMPTY, *OTHERS])),
    st.booleans(),
)
texts = st.text(alphabet=' a<b>{}":\n[', max_size=12)

CALL = {"type": "function", "function": {"name": "{key}", "arguments": "{content}"}}
ENDLESS = {
    "start_anchor": "@@",
    "fields": {"y": {"open_pattern": "(?P<key>.*?)", "content": "kv-lines", "transform": CALL}},
}


@pytest.mark.parametrize("errors", ["strict", "report", "repair"])
@given(template=templates, text=texts, places=cuts())
@example(template=ENDLESS, text=" ", places=[])
def test_parsing_ends_and_the_cuts_do_not_matter(
    errors: str, template: dict[str, Any], text: str, places: list[int]
) -> None:
    whole = outcome(template, [text], errors=errors, spans=True)
    assert_same(outcome(template, by_character(text), errors=errors, spans=True), whole, "by character")
    assert_same(outcome(template, cut_up(text, places), errors=errors, spans=True), whole, "cut")
    if errors != "strict":
        events = all_events(Sample(template, ()), [text], "", errors)
        assert_gives_back(events, text)
        assert_well_formed(events)
