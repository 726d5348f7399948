"""The checks of clients tell right outcomes from wrong ones."""

from __future__ import annotations

from typing import Any

import pytest

from clients import model
from clients.checks import CHECKS, REAL_CHECKS, Check
from clients.python.program import Outcome, told
from clients.table import page_with

BY_NAME = {check.name: check for check in CHECKS}
WEATHER = {"name": model.TOOL, "arguments": model.ARGUMENTS}
REFUSAL = {"type": "APIStatusError", "message": "no", "status": 400, "retry_after": None}
FULL = {**REFUSAL, "status": 429, "retry_after": "7"}

RIGHT: dict[str, dict[str, Any]] = {
    "answer": {"content": model.GREETED},
    "reasoning": {"reasoning": model.THOUGHT},
    "usage": {"usage": 5},
    "call": {"calls": [WEATHER]},
    "calls": {"calls": [{"name": model.TOOL, "arguments": each} for each in model.IN_BOTH]},
    "agent": {"executed": [model.ARGUMENTS], "content": model.ANSWER},
    "agent wordy": {"executed": [model.ARGUMENTS], "content": model.ANSWER},
    "agent calls": {"executed": list(reversed(model.IN_BOTH)), "content": model.ANSWER},
    "one call": {"calls": [WEATHER]},
    "named": {"calls": [WEATHER]},
    "required": {"calls": [WEATHER]},
    "record by call": {"data": model.RECORD},
    "record by schema": {"data": model.RECORD},
    "odd history": {"content": model.GREETED},
    "401": {"error": {**REFUSAL, "status": 401}},
    "400": {"error": REFUSAL},
    "429": {"error": FULL},
    "broken off": {"error": REFUSAL},
    "models": {"models": ["scripted"]},
    "model": {"models": ["scripted"]},
}


def outcome(**fields: Any) -> dict[str, Any]:
    return vars(Outcome(**fields))


@pytest.mark.parametrize(("name", "fields"), RIGHT.items())
def test_a_right_outcome_passes_and_an_empty_one_does_not(name: str, fields: dict[str, Any]) -> None:
    assert BY_NAME[name].judge(outcome(**fields)) is None
    assert BY_NAME[name].judge(outcome()) is not None


@pytest.mark.parametrize("check", [check for check in CHECKS if check.name not in RIGHT], ids=lambda check: check.name)
def test_what_broke_off_must_not_run(check: Check) -> None:
    assert check.judge(outcome(content="?", invalid=["{"])) is None
    assert check.judge(outcome(executed=[{"city": "Ro"}])) is not None
    assert check.judge(outcome(calls=[{"name": model.TOOL, "arguments": {}}])) is not None


def test_a_loop_is_no_finished_task() -> None:
    looped = outcome(executed=[model.ARGUMENTS] * 2, content=model.ANSWER)
    assert BY_NAME["agent"].judge(looped) is not None


def test_a_retry_after_must_be_the_engines() -> None:
    assert BY_NAME["429"].judge(outcome(error={**FULL, "retry_after": "1"})) is not None


@pytest.mark.parametrize("check", REAL_CHECKS, ids=lambda check: check.name)
def test_a_real_model_has_to_give_something(check: Check) -> None:
    assert check.judge(outcome()) is not None


def test_the_status_of_an_error_may_be_that_of_its_cause() -> None:
    class StatusError(Exception):
        status_code = 429

    error = RuntimeError("wrapped")
    error.__cause__ = StatusError()
    assert (told(error)["type"], told(error)["status"]) == ("RuntimeError", 429)


def test_only_what_is_between_the_marks_of_the_page_changes() -> None:
    page = page_with("head\n<!-- made by `make clients` from here -->\nold\n<!-- to here -->\ntail", "new\n")
    assert page == "head\n<!-- made by `make clients` from here -->\n\nnew\n\n<!-- to here -->\ntail"
