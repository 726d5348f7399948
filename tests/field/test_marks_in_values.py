"""Arguments that quote the marks of their own family keep them, and nothing opens or closes inside a value."""

from __future__ import annotations

import re

import pytest

from tests.field.forms import FORMS, Call, Form
from tests.field.reading import WHOLE, message_of

MARK = re.compile(r"<[^<>\s\"]+>|\[[A-Z_/]+\]|functools|>>>")
VALUE = "quoted"


def marks_of(form: Form) -> list[str]:
    """The marks that a form writes with; a dialect's quotes aside, which a value can't have inside."""
    text = form.calls([("ff", {"a": VALUE})]) + form.turn_end + "".join(form.reasoning or ())
    return [mark for mark in dict.fromkeys(MARK.findall(text)) if mark not in ('<|"|>', "<escape>")]


def ends_its_value(form: Form, mark: str) -> bool:
    """Whether a mark is what ends a value, so that at a value's end it can only be that."""
    text = form.calls([("ff", {"a": VALUE})])
    return text.partition(VALUE)[2].lstrip().startswith(mark)


def begins_its_value(form: Form, mark: str) -> bool:
    """Whether a mark is what an argument begins with, so that where nothing stands before it another one begins."""
    return mark in form.calls([("ff", {"a": VALUE})]).partition(VALUE)[0].split("ff", 1)[-1]


QUOTED = [
    pytest.param(form, mark, id=f"{form}: {mark}") for form in FORMS for mark in marks_of(form) if mark not in VALUE
]


@pytest.mark.parametrize(("form", "mark"), QUOTED)
def test_a_mark_within_a_value_is_text(form: Form, mark: str) -> None:
    values = [f"x{mark}y", f"x {mark} y"]
    if not begins_its_value(form, mark):
        values += [f"{mark}y", f"line\n  {mark}\nline"]
    if not ends_its_value(form, mark) and not begins_its_value(form, mark):
        values += [mark, f" {mark}", f"x{mark}"]
    for value in values:
        calls: list[Call] = [("ff", {"a": value, "b": "z"})]
        text = form.calls(calls) + form.turn_end
        expected = {"tool_calls": form.made(calls)}
        assert message_of(form.family, text, prefix=form.prompt, sizes=(WHOLE, 1)) == expected
        assert message_of(form.family, text, prefix=form.prompt, errors="report", sizes=(7,)) == expected


# Gemma's strings have no escapes, so a whole call in one can't be told from a call. Kimi K3 writes all tags in the
# middle of a line, where a quoted one and one of the call itself look the same: see the next test.
TELLING = [form for form in FORMS if form.family not in ("gemma4", "functiongemma", "kimi_k3")]


@pytest.mark.parametrize("form", TELLING, ids=str)
@pytest.mark.parametrize("around", ["{}", "Write\n{}\nor\n{}\nso."])
def test_a_call_within_a_value_is_text(form: Form, around: str) -> None:
    # Step 3 writes its first tag in the middle of a line, where a quoted one and one of the call itself look the same.
    inner = form.calls([("inner", {"a": "b"} if form.family == "step3" else {"a": "b", "c": "d"})])
    calls: list[Call] = [("outer", {"text": around.format(inner, inner), "z": "y"}), ("next", {})]
    text = form.calls(calls) + form.turn_end
    for errors in ("report", "repair"):
        assert message_of(form.family, text, prefix=form.prompt, errors=errors) == {"tool_calls": form.made(calls)}


@pytest.mark.parametrize("errors", ["report", "repair"])
def test_where_a_quoted_call_looks_like_the_calls_own_tags_no_call_runs(errors: str) -> None:
    form = next(form for form in FORMS if form.family == "kimi_k3")
    inner = form.calls([("inner", {"a": "b", "c": "d"})])
    text = form.calls([("outer", {"text": inner, "z": "y"})]) + form.turn_end
    assert "tool_calls" not in message_of(form.family, text, prefix=form.prompt, errors=errors, problems=None)


# The forms whose values stand in tags, which begin in the form's own way.
IN_TAGS = [form for form in FORMS if re.search(r"arg_key|parameter[ =]", form.calls([("f", {"a": "b"})]))]


@pytest.mark.parametrize("form", IN_TAGS, ids=str)
@pytest.mark.parametrize("errors", ["report", "repair"])
def test_a_value_that_never_ended_takes_nothing_of_the_next_call(form: Form, errors: str) -> None:
    cut, following = form.calls([("f", {"a": VALUE})]), form.calls([("g", {"b": "y"}), ("h", {"c": "z"})])
    text = cut[: cut.index(VALUE) + len(VALUE)] + "\n" + following + form.turn_end
    assert message_of(form.family, text, prefix=form.prompt, errors=errors, problems=1, deltas=True) == {
        "tool_calls": form.made([("g", {"b": "y"}), ("h", {"c": "z"})])
    }
