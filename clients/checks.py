"""What clients are asked to do, and what must come of it.

In:  an outcome, as a client's program gives it.
Out: what is wrong with it, None if nothing is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from clients import model

Outcome = Mapping[str, Any]
Judge = Callable[[Outcome], str | None]


@dataclass(frozen=True)
class Check:
    """One thing to try: the task of the client's program, what is asked, and how the outcome is judged."""

    name: str
    title: str
    task: str
    question: str
    judge: Judge
    options: Mapping[str, Any] = field(default_factory=dict)
    key: bool = True
    """Whether the client has the right API key."""
    otherwise: str = ""
    """The task of programs that have no such task."""
    whole_calls: bool = False
    """Whether ``serve`` runs with ``--whole-calls``."""
    streams: bool = True
    """Whether there is a difference between a stream and a whole answer."""

    def task_of(self, tasks: Collection[str]) -> str | None:
        """The task for a program that has these, None if it can't do it."""
        return next((task for task in (self.task, self.otherwise) if task in tasks), None)


def _answers(text: str) -> Judge:
    def judge(outcome: Outcome) -> str | None:
        if outcome["error"]:
            return _shown(outcome)
        if (outcome["content"] or "").strip() != text:
            return f"the answer is {outcome['content']!r}"
        return f"calls come with it: {outcome['calls']}" if outcome["calls"] else None

    return judge


def _reasons(outcome: Outcome) -> str | None:
    if outcome["error"]:
        return _shown(outcome)
    return None if outcome["reasoning"] == model.THOUGHT else f"the reasoning is {outcome['reasoning']!r}"


def _counts(outcome: Outcome) -> str | None:
    if outcome["error"]:
        return _shown(outcome)
    return None if outcome["usage"] else "no usage"


def _calls(*arguments: Mapping[str, Any]) -> Judge:
    expected = [{"name": model.TOOL, "arguments": dict(each)} for each in arguments]

    def judge(outcome: Outcome) -> str | None:
        if outcome["error"]:
            return _shown(outcome)
        return (
            None if outcome["calls"] == expected else f"the calls are {outcome['calls']}, invalid {outcome['invalid']}"
        )

    return judge


def _finishes(*expected: Mapping[str, Any]) -> Judge:
    """The tool has run with these arguments, each time once, and the answer is the model's."""

    def judge(outcome: Outcome) -> str | None:
        if outcome["error"]:
            return _shown(outcome)
        executed = outcome["executed"]
        if len(executed) != len(expected) or not all(each in executed for each in expected):
            return f"the tool ran with {executed}"
        return None if (outcome["content"] or "").strip() == model.ANSWER else f"the answer is {outcome['content']!r}"

    return judge


def _runs_nothing(outcome: Outcome) -> str | None:
    """Errors are as good here as an answer: what matters is that nothing is run."""
    if outcome["executed"]:
        return f"the tool ran with {outcome['executed']}"
    return f"it could be run: {outcome['calls']}" if outcome["calls"] else None


def _records(outcome: Outcome) -> str | None:
    if outcome["error"]:
        return _shown(outcome)
    return None if outcome["data"] == model.RECORD else f"the record is {outcome['data']}"


def _fails_with(status: int, retry_after: str | None = None) -> Judge:
    def judge(outcome: Outcome) -> str | None:
        error = outcome["error"]
        if not error:
            return f"no error, but the answer {outcome['content']!r}"
        if error["status"] != status:
            return _shown(outcome)
        if retry_after is not None and error["retry_after"] not in (None, retry_after):
            return f"retry-after is {error['retry_after']}, not {retry_after}"
        return None

    return judge


def _fails(outcome: Outcome) -> str | None:
    return None if outcome["error"] else f"no error, but the answer {outcome['content']!r}"


def _lists(outcome: Outcome) -> str | None:
    if outcome["error"]:
        return _shown(outcome)
    return None if outcome["models"] == ["scripted"] else f"{outcome['models']}"


def _shown(outcome: Outcome) -> str:
    error = outcome["error"]
    return f"{error['type']} {error['status'] or ''}: {error['message']}"


def _says(part: str = "") -> Judge:
    def judge(outcome: Outcome) -> str | None:
        if outcome["error"]:
            return _shown(outcome)
        content = (outcome["content"] or "").strip()
        return None if content and part in content else f"the answer is {content!r}"

    return judge


def _runs_and_says(arguments: Mapping[str, Any], part: str) -> Judge:
    says = _says(part)

    def judge(outcome: Outcome) -> str | None:
        if outcome["executed"] != [arguments]:
            return f"the tool ran with {outcome['executed']}; error: {outcome['error']}"
        return says(outcome)

    return judge


def _fits(outcome: Outcome) -> str | None:
    """The record has the schema's keys and types; what they say is the model's affair."""
    if outcome["error"]:
        return _shown(outcome)
    types = {key: type(value) for key, value in (outcome["data"] or {}).items()}
    return None if types == {"city": str, "days": int} else f"the record is {outcome['data']}"


NAMED = {"type": "function", "function": {"name": model.TOOL}}
CUTS = {"by length": model.CUT_BY_LENGTH, "by the model": model.CUT_SHORT, "malformed": model.BROKEN}

CHECKS: tuple[Check, ...] = (
    Check("answer", "an answer", "chat", model.GREETING, _answers(model.GREETED), otherwise="agent"),
    Check("reasoning", "its reasoning", "chat", model.GREETING, _reasons, otherwise="agent"),
    Check("usage", "the usage", "chat", model.GREETING, _counts, otherwise="agent"),
    Check("call", "a call", "chat", model.QUESTION, _calls(model.ARGUMENTS)),
    Check("calls", "two calls", "chat", model.TWO, _calls(*model.IN_BOTH)),
    Check("agent", "an agent's two steps", "agent", model.QUESTION, _finishes(model.ARGUMENTS)),
    Check("agent wordy", "words before the call", "agent", model.WORDY, _finishes(model.ARGUMENTS)),
    Check("agent calls", "two calls at once", "agent", model.TWO, _finishes(*model.IN_BOTH)),
    *(
        Check(f"{task} {name}", f"{name} ({task})", task, question, _runs_nothing)
        for task in ("chat", "agent")
        for name, question in CUTS.items()
    ),
    *(
        Check(f"whole {name}", f"{name}, `--whole-calls` (chat)", "chat", question, _runs_nothing, whole_calls=True)
        for name, question in CUTS.items()
    ),
    Check(
        "one call",
        "parallel_tool_calls: false",
        "chat",
        model.TWO,
        _calls(model.ARGUMENTS),
        {"parallel_tool_calls": False},
    ),
    Check("named", "a named tool", "chat", model.RECORDED, _calls(model.RECORD), {"tool_choice": NAMED}),
    Check("required", "a required call", "chat", model.RECORDED, _calls(model.RECORD), {"tool_choice": "required"}),
    Check("record by call", "a record by call", "by_call", model.RECORDED, _records),
    Check("record by schema", "a record by schema", "by_schema", model.AS_JSON, _records),
    Check("odd history", "a history with oddities", "odd", model.GREETING, _answers(model.GREETED)),
    Check("401", "a wrong key", "chat", model.GREETING, _fails_with(401), key=False, otherwise="agent"),
    Check("400", "what the engine refuses", "chat", model.FAULTY, _fails_with(400), otherwise="agent"),
    Check("429", "an engine that is full", "chat", model.REFUSED, _fails_with(429, "7"), otherwise="agent"),
    Check("broken off", "an engine that breaks off", "chat", model.FAILING, _fails, otherwise="agent"),
    Check("models", "the models", "models", "", _lists, streams=False),
    Check("model", "one model", "retrieve", "", _lists, streams=False),
)

AGENT_CHECKS = tuple(check for check in CHECKS if check.name in ("agent", "agent wordy", "agent calls"))
"""What agents are tried with in every family."""

REAL_CHECKS: tuple[Check, ...] = (
    Check("answer", "an answer", "chat", model.GREETING, _says(), otherwise="agent"),
    Check("usage", "the usage", "chat", model.GREETING, _counts, otherwise="agent"),
    Check("call", "a call", "chat", model.QUESTION, _calls(model.ARGUMENTS)),
    Check("agent", "an agent's two steps", "agent", model.QUESTION, _runs_and_says(model.ARGUMENTS, "21")),
    Check("record by call", "a record by call", "by_call", model.RECORDED, _fits),
    Check("record by schema", "a record by schema", "by_schema", model.AS_JSON, _fits),
)
"""What a real model is tried with: what it says is its own, but it is small enough to be held to the format."""
