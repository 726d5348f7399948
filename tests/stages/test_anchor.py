"""The prompt is cut after its last start anchor; what follows is the message that the model goes on with."""

from __future__ import annotations

import logging

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from streamparse.matching.delimiter import Delimiter
from streamparse.stages.anchor import AnchorTrim


def trimmed(anchor: Delimiter, prefix: str, *, keep_unanchored: bool = True) -> str:
    return "".join(AnchorTrim(anchor, keep_unanchored=keep_unanchored).feed(prefix))


@pytest.mark.parametrize(
    ("prefix", "kept"),
    [("", ""), ("@@", ""), ("a@@b", "b"), ("@@a@@<think>", "<think>"), ("a@@@b", "@b"), ("@@@", "@"), ("a@", "a@")],
)
def test_the_last_literal_counts(prefix: str, kept: str) -> None:
    assert trimmed(Delimiter.of_literals(["@@"]), prefix) == kept


def test_of_several_literals_the_last_that_occurs_counts() -> None:
    anchor = Delimiter.of_literals(["<|a|>", "<|a|>\n", "<b>"])
    assert trimmed(anchor, "<b>x<|a|>\ny") == "y"
    assert trimmed(anchor, "<|a|>x<b>y") == "y"


def test_a_pattern_may_be_an_anchor() -> None:
    anchor = Delimiter.of_pattern(r"<\|assistant\|>\s*")
    assert trimmed(anchor, "<|assistant|> a <|assistant|>\n\nb") == "b"


def test_an_empty_pattern_matches_at_the_end() -> None:
    assert trimmed(Delimiter.of_pattern(""), "all of it") == ""


def test_a_prompt_without_the_anchor_is_kept_or_left_out_and_that_is_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "streamparse")
    for keep, text in ((True, "prompt"), (False, "")):
        anchor = AnchorTrim(Delimiter.of_literals(["@@"]), keep_unanchored=keep)
        assert anchor.found is None
        assert "".join(anchor.feed("prompt")) == text
        assert anchor.found is False
    assert "start anchor does not occur" in caplog.text


@settings(deadline=None)
@given(
    literals=st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=3), prefix=st.text("ab", max_size=20)
)
def test_it_is_the_last_of_the_matches_that_regex_finds_one_after_the_other(literals: list[str], prefix: str) -> None:
    longest_first = sorted(literals, key=len, reverse=True)
    ends = [match.end() for match in regex.finditer("|".join(longest_first), prefix)]
    assert trimmed(Delimiter.of_literals(literals), prefix) == prefix[ends[-1] if ends else 0 :]
