"""Every form of every family, in all the places and states that calls are written in."""

from __future__ import annotations

import pytest

from tests.field.forms import FORMS, Call, Form
from tests.field.reading import message_of

WEATHER: list[Call] = [("get_weather", {"city": "Paris", "days": 3})]
PING: list[Call] = [("ping", {})]
AWKWARD: list[Call] = [
    *WEATHER,
    (
        "add-note.v2",
        {"text": 'a "b" & <c> \\n Größe 東京 😀', "tags": ["x", 1, None, True], "options": {"k": [{}], "s": "}]"}},
    ),
]

forms = pytest.mark.parametrize("form", FORMS, ids=str)
thinking_forms = pytest.mark.parametrize("form", [form for form in FORMS if form.reasoning], ids=str)
HEADED = ("gpt_oss", "inkling", "muse_glimmer", "solar_open")
"""Families whose calls have a message's header, which ends the reasoning before it: there are no drafts."""
drafting_forms = pytest.mark.parametrize(
    "form", [form for form in FORMS if form.reasoning and form.family not in HEADED], ids=str
)
prompted_forms = pytest.mark.parametrize("form", [form for form in FORMS if form.thinking is not None], ids=str)


@forms
@pytest.mark.parametrize("calls", [WEATHER, AWKWARD, [*PING, *WEATHER, *PING]], ids=["one", "awkward", "empty"])
def test_calls_are_read(form: Form, calls: list[Call]) -> None:
    expected = {"tool_calls": form.made(calls)}
    assert message_of(form.family, form.calls(calls) + form.turn_end, prefix=form.prompt) == expected
    assert message_of(form.family, form.calls(calls), prefix=form.prompt, finish_reason="stop") == expected


@forms
@pytest.mark.parametrize("errors", ["report", "repair"])
def test_calls_are_read_without_the_prompt(form: Form, errors: str) -> None:
    text = form.calls(WEATHER) + form.turn_end
    assert message_of(form.family, text, errors=errors) == {"tool_calls": form.made(WEATHER)}


@forms
def test_text_before_between_and_after_calls_is_content(form: Form) -> None:
    text = form.says("Hi.") + form.calls(WEATHER) + form.says("\nAnd:\n") + form.calls(PING) + form.says("\nDone.")
    expected = {"content": "Hi.\n\nAnd:\n\nDone.", "tool_calls": form.made(WEATHER + PING)}
    assert message_of(form.family, text + form.turn_end, prefix=form.prompt) == expected


@thinking_forms
def test_reasoning_then_calls(form: Form) -> None:
    text = form.thinks("Plan: x.") + form.calls(WEATHER) + form.turn_end
    expected = {"reasoning_content": "Plan: x.", "tool_calls": form.made(WEATHER)}
    assert message_of(form.family, text, prefix=form.prompt) == expected


@thinking_forms
def test_reasoning_then_the_answer(form: Form) -> None:
    text = form.thinks("Plan:\n- x") + form.says("Hi,\n\n  you.") + form.turn_end
    expected = {"reasoning_content": "Plan:\n- x", "content": "Hi,\n\n  you."}
    assert message_of(form.family, text, prefix=form.prompt) == expected


@thinking_forms
@pytest.mark.parametrize("ended", [True, False], ids=["turn ended", "just ended"])
def test_calls_in_reasoning_that_never_closes_are_calls(form: Form, ended: bool) -> None:
    assert form.reasoning is not None
    text = form.reasoning[0] + "Plan: x." + form.calls(AWKWARD) + form.turn_end * ended
    expected = {"reasoning_content": "Plan: x.", "tool_calls": form.made(AWKWARD)}
    assert message_of(form.family, text, prefix=form.prompt) == expected


@drafting_forms
def test_drafts_in_reasoning_that_closes_are_reasoning(form: Form) -> None:
    draft = f"Plan: {form.calls(WEATHER)} or not."
    text = form.thinks(draft) + form.calls(AWKWARD) + form.turn_end
    expected = {"reasoning_content": draft, "tool_calls": form.made(AWKWARD)}
    assert message_of(form.family, text, prefix=form.prompt) == expected


@prompted_forms
def test_the_prompt_opened_the_reasoning(form: Form) -> None:
    assert form.reasoning is not None
    assert form.thinking is not None
    prefix = form.prompt + form.thinking
    expected = {"reasoning_content": "Plan: x.", "tool_calls": form.made(WEATHER)}
    rest = "Plan: x." + form.reasoning[1] + form.calls(WEATHER) + form.turn_end
    assert message_of(form.family, rest, prefix=prefix) == expected
    assert message_of(form.family, "Plan: x." + form.calls(WEATHER) + form.turn_end, prefix=prefix) == expected
    again = form.thinks("Plan: x.") + form.calls(WEATHER) + form.turn_end
    assert message_of(form.family, again, prefix=prefix) == expected, "the model opens it again"


@forms
@pytest.mark.parametrize("finish_reason", [None, "length"])
def test_a_call_that_is_cut_off_counts_whole_or_not_at_all(form: Form, finish_reason: str | None) -> None:
    text, whole = form.calls(WEATHER), form.made(WEATHER)
    for end in range(len(text)):
        cut_off = message_of(
            form.family, text[:end], prefix=form.prompt, problems=None, finish_reason=finish_reason, sizes=(end + 1, 1)
        )
        assert cut_off.get("tool_calls", whole) == whole, text[:end]


@forms
def test_a_cut_off_call_leaves_the_calls_before_it(form: Form) -> None:
    text = form.calls(PING) + "\n" + form.calls(WEATHER)
    end = text.rindex("Par") + 2
    cut_off = message_of(form.family, text[:end], prefix=form.prompt, problems=None, finish_reason="length")
    assert cut_off["tool_calls"] == form.made(PING)
    assert set(cut_off) == {"tool_calls"}
