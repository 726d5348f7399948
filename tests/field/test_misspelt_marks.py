"""Marks that a model misspells: the call is read where only one reading is possible, and never is the answer."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.field.forms import FORMS, Form
from tests.field.reading import message_of

CALL = ("get_pages", {"pages": "3-5"})

MISSPELLINGS: dict[str, Callable[[str], str]] = {
    "doubled bars": lambda text: text.replace("｜", "｜｜"),
    "plain bars": lambda text: text.replace("｜", "|"),
    "doubled plain bars": lambda text: text.replace("｜", "||"),
    "one bar doubled": lambda text: text.replace("｜", "｜｜", 1),
    "plain blanks": lambda text: text.replace("▁", "_"),
    "typographic quotes": lambda text: re.sub(r' name="([^"]*)"', " name=“\\1”", text),
    "a blank behind a mark": lambda text: text.replace("DSML｜", "DSML｜ "),
    "an odd attribute": lambda text: re.sub(r' string="[^"]*"', ' string="maybe"', text),
}

DAMAGED = [
    pytest.param(form, misspell, id=f"{form}: {name}")
    for form in FORMS
    if form.family not in ("muse_glimmer", "deepseek_v41")  # a header is read there, and a blank is written anyway
    for name, misspell in MISSPELLINGS.items()
    if misspell(form.calls([CALL])) != form.calls([CALL])
]


@pytest.mark.parametrize(("form", "misspell"), DAMAGED)
def test_a_call_with_misspelt_marks_is_read(form: Form, misspell: Callable[[str], str]) -> None:
    text = form.says("Looking.") + "\n\n" + misspell(form.calls([CALL]))
    message = message_of(form.family, text, prefix=form.prompt, problems=None)
    assert message == {"content": "Looking.", "tool_calls": form.made([CALL])}


@pytest.mark.parametrize(("form", "misspell"), DAMAGED)
def test_in_report_mode_it_is_a_call_or_malformed(form: Form, misspell: Callable[[str], str]) -> None:
    text = form.says("Looking.") + "\n\n" + misspell(form.calls([CALL]))
    message = message_of(form.family, text, prefix=form.prompt, problems=None, errors="report")
    assert message["content"] == "Looking."
    assert message.get("tool_calls", form.made([CALL])) == form.made([CALL])


@pytest.mark.parametrize("spelled", ["<|DSML|parameter", "<｜｜DSML｜｜parameter", "</|DSML|invoke"])
def test_a_value_keeps_what_only_looks_like_a_mark(spelled: str) -> None:
    form = next(form for form in FORMS if form.family == "deepseek_dsml")
    call = ("write", {"text": f"It is {spelled} there."})
    assert message_of("deepseek_dsml", form.calls([call]), prefix=form.prompt) == {"tool_calls": form.made([call])}
