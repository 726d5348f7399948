"""Calls that a text quotes, in a code span or between quotation marks, are text; what is not quoted still is a call."""

from __future__ import annotations

import pytest

from tests.field.forms import FORMS, Form
from tests.field.reading import message_of

NO_SPAN = {"gpt_oss", "functionary", "muse_glimmer", "inkling", "solar_open", "gigachat3", "kimi_k3"}
"""Families whose calls begin with what ends an answer, so that no sentence goes on behind them."""

QUOTING = [pytest.param(form, id=str(form)) for form in FORMS if form.family not in NO_SPAN]
CALL = ("get_weather", {"city": "Oslo", "days": 2})


def halves(form: Form) -> list[str]:
    """A call, cut off at some places behind its open."""
    whole = form.calls([CALL])
    name = whole.index("get_weather") + len("get_weather")
    places = {name, name + 3, whole.index("city") + 2, whole.index("Oslo") + 2}
    return [whole[:place] for place in sorted(places)]


def text_of(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("form", QUOTING)
@pytest.mark.parametrize("marks", ["``", '""', "“”"], ids=["span", "straight", "curly"])
def test_half_a_call_that_is_quoted_loses_nothing(form: Form, marks: str) -> None:
    for half in halves(form):
        text = f"The literal {marks[0]}{half}{marks[1]} header is part of the explanation."
        message = message_of(form.family, form.says(text) + form.turn_end, prefix=form.prompt, problems=None)
        assert "tool_calls" not in message
        assert text_of(message["content"]) == text_of(text), half


@pytest.mark.parametrize("form", QUOTING)
def test_a_whole_call_that_is_quoted_does_not_run(form: Form) -> None:
    text = f"Write `{form.calls([CALL]).strip()}` for it."
    message = message_of(form.family, form.says(text) + form.turn_end, prefix=form.prompt, problems=None)
    assert "tool_calls" not in message
    assert "get_weather" in message["content"]
    assert message["content"].endswith("for it.")


@pytest.mark.parametrize("form", QUOTING)
def test_a_real_call_behind_a_quoted_header_runs(form: Form) -> None:
    for half in halves(form)[:2]:
        text = f"Its header is `{half}` here.\n\n"
        written = form.says(text) + form.calls([CALL]) + form.turn_end
        message = message_of(form.family, written, prefix=form.prompt, problems=None)
        assert message["tool_calls"] == form.made([CALL]), half
        assert text_of(message["content"]) == text_of(text)


@pytest.mark.parametrize("form", QUOTING)
@pytest.mark.parametrize("before", ["Use a ` here: ", 'He said "', "It is `a` and ` "])
def test_an_unmatched_quotation_mark_hides_no_call(form: Form, before: str) -> None:
    written = form.says(before) + form.calls([CALL]) + form.turn_end
    message = message_of(form.family, written, prefix=form.prompt, problems=None)
    if form.calls([CALL]).lstrip()[0] in "[{`" and "`" in before:
        return  # a call without a mark of its own is text in a code span
    assert message["tool_calls"] == form.made([CALL])
    assert message["content"] == before.strip()


@pytest.mark.parametrize("form", [each for each in QUOTING if each.values[0].reasoning])  # type: ignore[union-attr]
def test_a_thought_may_quote_a_header(form: Form) -> None:
    for half in halves(form)[:2]:
        thought = f"I begin with `{half}` then."
        written = form.thinks(thought) + form.says("Done.") + form.turn_end
        message = message_of(form.family, written, prefix=form.prompt, problems=None)
        assert text_of(message["reasoning_content"]) == text_of(thought)
        assert message["content"] == "Done."


def test_a_call_that_is_cut_off_behind_a_quotation_mark_is_malformed() -> None:
    text = 'So "<tool_call>{"name": "f", "argu'
    assert message_of("qwen3", text, finish_reason="length", problems=1) == {"content": 'So "'}
