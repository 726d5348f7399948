"""What a template's policies change for its users."""

from __future__ import annotations

from typing import Any

import pytest

from streamparse import ResponseParser

EDGES = {"all": "a  b", "newline": "\n  a  b ", "none": "\n\n  a  b \n"}


@pytest.mark.parametrize("strip", EDGES)
@pytest.mark.parametrize("errors", ["report", "repair"])
def test_a_field_says_what_goes_of_the_white_space_at_the_edges_of_its_text(strip: str, errors: Any) -> None:
    template = {
        "start_anchor": "@@",
        "fields": {"thoughts": {"open": "<t>", "close": "</t>"}, "content": {"content": "text"}},
        "streamparse": {"fields": {"thoughts": {"strip": strip}, "content": {"strip": strip}}},
    }
    for pieces in (["<t>\n\n  a  b \n</t>\n\n  a  b \n"], list("<t>\n\n  a  b \n</t>\n\n  a  b \n")):
        parser = ResponseParser(template, prefix="", errors=errors)
        for piece in pieces:
            parser.feed(piece)
        message, _ = parser.finalize()
        assert (message["thoughts"], message["content"]) == (EDGES[strip], EDGES[strip])


def test_it_changes_nothing_in_the_strict_mode() -> None:
    template = {
        "start_anchor": "@@",
        "fields": {"content": {"content": "text"}},
        "streamparse": {"fields": {"content": {"strip": "none"}}},
    }
    parser = ResponseParser(template, prefix="")
    parser.feed(" a ")
    assert parser.finalize()[0] == {"content": "a"}
