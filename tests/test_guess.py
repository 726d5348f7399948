"""A family's own template comes first for what the family writes, whole or cut off."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamparse import response_template_names
from streamparse.guess import READ_AT_MOST, Guess, guess_response_template
from tests.field.forms import FORMS, Form
from tests.template.test_bundled import SAMPLES, Sample

CALLS = [("get_weather", {"city": "Paris", "days": 2}), ("now", {"zone": "CET"})]

forms = pytest.mark.parametrize("form", FORMS, ids=str)


def written(form: Form) -> str:
    """What a model of the family writes: reasoning if it has any, an answer, and two calls."""
    thought = form.thinks("Two things.") if form.reasoning else ""
    return thought + form.says("I will look.") + form.calls(CALLS)


def own(family: str, guesses: list[Guess]) -> Guess:
    """The family's guess, which has to be the best, or to give the message that the best one gives."""
    (guess,) = [guess for guess in guesses if guess.template == family]
    assert guess.rank == 1 or guess.message == guesses[0].message, (guess.reasons(), guesses[0].reasons())
    return guess


@forms
@pytest.mark.parametrize("errors", ["report", "repair"])
def test_a_family_is_recognized(form: Form, errors: Any) -> None:
    guess = own(form.family, guess_response_template(written(form) + form.turn_end, errors=errors))
    assert guess.complete
    assert guess.calls == 2


@forms
def test_strict_mode_recognizes_what_it_reads(form: Form) -> None:
    guesses = guess_response_template(written(form) + form.turn_end, errors="strict")
    if next(guess for guess in guesses if guess.template == form.family).malformed:
        pytest.skip("version 1 of the format, which strict mode keeps to, can't read this form")
    own(form.family, guesses)


@forms
@pytest.mark.parametrize("part", [0.5, 0.7, 0.9])
def test_a_family_is_recognized_by_an_output_that_is_cut_off(form: Form, part: float) -> None:
    text = written(form)
    own(form.family, guess_response_template(text[: int(len(text) * part)]))


@pytest.mark.parametrize("form", [form for form in FORMS if form.thinking], ids=str)
def test_a_family_is_recognized_where_the_prompt_opened_the_reasoning(form: Form) -> None:
    assert form.reasoning is not None
    text = "Two things." + form.reasoning[1] + form.says("I will look.") + form.calls(CALLS) + form.turn_end
    guess = own(form.family, guess_response_template(text))
    assert guess.message["reasoning_content"].strip() == "Two things."


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.template}: {sample.what}")
def test_a_family_is_recognized_by_its_samples(sample: Sample) -> None:
    own(sample.template, guess_response_template(sample.text))


@pytest.mark.parametrize("text", ["", "Sunny.", "if a < b and b > c: a[0] = 1", "A list:\n\n- [x] one\n- two"])
def test_a_text_without_markup_tells_nothing(text: str) -> None:
    guesses = guess_response_template(text)
    assert not any(guess.tells for guess in guesses)
    assert guesses[0].rank == guesses[-1].rank == 1
    assert "the text has no markup" in guesses[0].reasons()


def test_the_reasons_name_what_is_wrong() -> None:
    guesses = guess_response_template('<tool_call>\n{"name": </tool_call> <|channel|>')
    by_name = {guess.template: guess for guess in guesses}
    assert not guesses[0].complete
    assert "1 region malformed" in by_name["qwen3"].reasons()
    assert any("<|channel|>" in reason for reason in by_name["qwen3"].reasons())


def test_a_long_text_is_read_at_its_beginning() -> None:
    text = "<think>" + "Hm. " * (READ_AT_MOST // 4) + "</think>[TOOL_CALLS]"
    assert guess_response_template(text)[0].markup == 1


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<tool_call>", "[TOOL_CALLS]", '{"name": "f"', "<|call|>", "a "]))
)
def test_every_template_has_its_place_whatever_the_text(parts: list[str]) -> None:
    guesses = guess_response_template("".join(parts))
    assert sorted(guess.template for guess in guesses) == list(response_template_names())
    assert all(one.rank <= other.rank for one, other in pairwise(guesses))
    assert guesses[0].rank == 1
