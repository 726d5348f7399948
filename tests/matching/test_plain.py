"""Plain text goes past the stages: that may cost less, and must change nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamparse import LimitError, Limits, ParseError, ResponseParser, ResponseTemplate, load_response_template
from streamparse.matching.plain import PIECES_AT_MOST, TOGETHER, PlainText
from streamparse.matching.prefilter import RunCharacters
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
    plain = template.idle.plain_text(template.fields["content"])
    assert plain is not None
    return plain


def chunk(text: str) -> list[dict[str, Any]]:
    return [{"type": "region_chunk", "field": "content", "text": text, "dirty": False}]


def in_plain_text() -> ResponseParser:
    parser = ResponseParser(CHAT, "")
    parser.feed("Hello")
    return parser


@pytest.mark.parametrize(
    ("text", "given_out"),
    [
        ("Hello", "Hello"),
        (", a < b", ", a < b"),
        ("Hello \n<ca", "Hello"),
        ("Hello <", "Hello"),
        ("<|end", ""),
        ("Hello <call>", None),
        ("a" + " " * 1_000, None),
    ],
)
def test_what_may_become_a_delimiter_waits_and_a_delimiter_is_left_to_the_stages(
    text: str, given_out: str | None
) -> None:
    assert plain_text().cut(text) == (None if given_out is None else len(given_out))


def test_white_space_waits_only_for_what_may_come_behind_white_space() -> None:
    delimiters = [{"open": "><"}, {"open_pattern": r"\s*<x>"}]
    fields = {"content": {}, **{f"calls{number}": delimiter for number, delimiter in enumerate(delimiters)}}
    parser = ResponseParser({"start_anchor": "@@", "fields": fields}, "")
    parser.feed("some")
    assert (parser.feed(" text "), parser.held) == (chunk(" text"), 1)
    assert (parser.feed(">"), parser.held) == (chunk(" "), 1)
    assert (parser.feed(" "), parser.held) == (chunk(">"), 1)
    assert (parser.feed("<"), parser.held) == ([], 2)


def test_what_is_a_delimiter_already_is_not_held_for_what_the_end_might_make_of_it() -> None:
    fields = {"calls": {"open": "\n"}, "content": {"close_pattern": "<|$"}}
    parser = ResponseParser({"start_anchor": "@@", "fields": fields}, "", errors="report")
    parser.feed("\nsome")
    parser.feed(" text")
    assert (parser.feed("\n")[-1]["text"], parser.held) == ("\n", 0)


def test_plain_text_is_one_for_all_generations_of_a_template() -> None:
    template = load_response_template(CHAT)
    assert template.idle.plain_text(template.fields["content"]) is template.idle.plain_text(template.fields["content"])


def test_what_is_held_back_comes_with_the_next_piece() -> None:
    parser = in_plain_text()
    assert parser.feed("Hello \n<ca") == chunk("Hello")
    assert parser.held == len(" \n<ca")
    assert parser.feed("t") == chunk(" \n<cat")
    assert parser.held == 0


@pytest.mark.parametrize("count", [1, TOGETHER, TOGETHER + 1, PIECES_AT_MOST, PIECES_AT_MOST + 1, 3 * PIECES_AT_MOST])
def test_however_many_pieces_pass_all_of_them_are_in_the_message_and_counted(count: int) -> None:
    parser = in_plain_text()
    for _ in range(count):
        assert parser.feed("ab") == chunk("ab")
    assert parser.statistics().characters == len("Hello") + 2 * count
    assert parser.finalize()[0]["content"] == "Hello" + "ab" * count


def test_pieces_that_pass_count_as_events() -> None:
    parser = ResponseParser(CHAT, "", limits=Limits(events=PIECES_AT_MOST))
    with pytest.raises(LimitError) as caught:
        _ = [parser.feed("a") for _ in range(3 * PIECES_AT_MOST)]
    assert caught.value.limit == "events"


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
