"""Plain text goes past the stages: that may cost less, and must change nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamparse import ParseError, ResponseParser, ResponseTemplate, load_response_template
from streamparse.matching.heads import RunCharacters
from streamparse.stages.plain import PIECES_AT_MOST, PlainText
from tests.properties.outcomes import as_text, joined, loaded
from tests.properties.policies import familiar_samples
from tests.properties.templates import Sample, samples
from tests.properties.texts import cut_up, cuts, texts
from tests.properties.time_limit import ended_in_time

CHAT: dict[str, Any] = {
    "start_anchor": "@@",
    "fields": {
        "content": {"close": "<|end|>"},
        "calls": {"open_pattern": r"\s*<call>", "close": "</call>", "content": "json"},
    },
}


def given_out(template: ResponseTemplate, pieces: list[str], errors: Any, *, plain: bool) -> list[Any]:
    """The events after each piece, joined, and what is held; with or without the way past the stages."""
    parser = ResponseParser(template, "", errors=errors)
    seen: list[Any] = []
    events: list[Any] = []
    try:
        with ended_in_time():
            for piece in pieces:
                events = joined(events + parser.feed(piece))
                seen.append((list(events), parser.held))
                if not plain:
                    parser.snapshot()  # takes back what plain text has, so that all goes through the stages
            seen.append(parser.finalize())
    except ParseError as error:
        seen.append(str(error))
    return seen


@pytest.mark.parametrize("errors", ["strict", "report"])
@settings(deadline=None)
@given(data=st.data(), sample=st.one_of(samples(), familiar_samples()), places=cuts())
def test_the_same_is_given_out_after_each_piece_with_and_without(
    errors: str, data: st.DataObject, sample: Sample, places: list[int]
) -> None:
    text = data.draw(texts(sample), "text")
    template = loaded(sample.template)
    for pieces in (list(text), cut_up(text, places)):
        with_plain, without = (given_out(template, pieces, errors, plain=plain) for plain in (True, False))
        assert as_text(with_plain) == as_text(without)


def plain_text() -> PlainText:
    template = load_response_template(CHAT)
    heads = template.idle.heads
    assert heads is not None
    return PlainText(template.fields["content"], heads)


def chunk(text: str) -> list[dict[str, Any]]:
    return [{"type": "region_chunk", "field": "content", "text": text, "dirty": False}]


def test_text_without_a_beginning_of_a_delimiter_is_a_chunk() -> None:
    plain = plain_text()
    assert plain.take("Hello") == chunk("Hello")
    assert plain.take(", a < b") == chunk(", a < b")
    assert plain.settle() == "Hello, a < b"
    assert plain.settle() == ""


def test_what_may_become_a_delimiter_waits_and_so_does_the_white_space_before_it() -> None:
    plain = plain_text()
    assert plain.take("Hello \n<ca") == chunk("Hello")
    assert plain.tail == " \n<ca"
    assert plain.take("t") == chunk(" \n<cat")
    assert plain.tail == ""


def test_a_delimiter_is_left_to_the_stages() -> None:
    plain = plain_text()
    plain.take("Hello <")
    assert plain.take("call>") is None
    assert (plain.settle(), plain.tail) == ("Hello", " <")


def test_no_more_than_so_many_pieces_are_kept() -> None:
    plain = plain_text()
    taken = [plain.take("a") for _ in range(PIECES_AT_MOST + 1)]
    assert taken[-1] is None
    assert plain.settle() == "a" * PIECES_AT_MOST


def test_a_long_run_of_white_space_is_left_to_the_stages() -> None:
    assert plain_text().take(" " * 1_000) is None


def test_whether_a_character_is_of_the_run_is_asked_once() -> None:
    class Asked:
        times = 0

        def contains(self, character: str) -> bool:
            self.times += 1
            return character.isspace()

    asked = Asked()
    run = RunCharacters(asked)  # type: ignore[arg-type]
    assert [run[character] for character in " a a "] == [True, False, True, False, True]
    assert asked.times == 2


def test_chunks_are_not_one_object() -> None:
    parser = ResponseParser(CHAT, "")
    parser.feed("a")
    first, second = parser.feed("b")[0], parser.feed("c")[0]
    first["text"] = "changed"
    assert second["text"] == "c"


@pytest.mark.parametrize("errors", ["strict", "report"])
def test_an_atomic_group_that_gives_nothing_back_holds_nothing_back(errors: Any) -> None:
    template = load_response_template({"start_anchor": "@@", "fields": {"calls": {"close_pattern": "<(?>a|ab)>"}}})
    pieces = list(" some text <a> some text <ab><a>")
    assert given_out(template, pieces, errors, plain=True) == given_out(template, pieces, errors, plain=False)
