"""What every client's program shares: jobs as lines of JSON on standard input, outcomes on standard output.

In:  for each job, an object with the fields of ``Job``.
Out: first ``{"version": …, "tasks": […]}``; then, for each job, an object with the fields of ``Outcome``.

A program gives a function for each task that its client can do:

- ``chat``: one request with the tool; what the client makes of the answer, calls that it could run apart from others.
- ``agent``: the client's own loop, which runs the tool; at most ``STEPS`` requests.
- ``odd``: one request whose history has oddities.
- ``by_call``: an answer as an object, by a forced call.
- ``by_schema``: the same, by a schema of the answer.
- ``models``: the list of models. ``retrieve``: one of them.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any

STEPS = 5
SECONDS = 60


@dataclass
class Job:
    """What to do: which task, where, and what to ask; ``options`` are parameters of the request beside the usual."""

    task: str
    url: str
    key: str
    model: str
    question: str
    stream: bool
    result: str
    options: dict[str, Any] = field(default_factory=dict)


@dataclass
class Outcome:
    """What came of it. ``calls`` can be run, ``invalid`` ones can't; ``executed`` says what the tool was run with."""

    content: str | None = None
    reasoning: str | None = None
    calls: list[dict[str, Any]] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    executed: list[dict[str, Any]] = field(default_factory=list)
    data: Any = None
    usage: int | None = None
    finish: str | None = None
    models: list[str] | None = None
    error: dict[str, Any] | None = None

    def called(self, name: str, arguments: str | dict[str, Any]) -> None:
        """Note a call of a client that leaves the reading of arguments to its user."""
        try:
            read = json.loads(arguments) if isinstance(arguments, str) else arguments
        except ValueError:
            self.invalid.append(str(arguments))
        else:
            self.calls.append({"name": name, "arguments": read})


Task = Callable[[Job, Outcome], Any]

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "The city"},
        "days": {"type": "integer", "description": "How many days"},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
TOOL = {
    "type": "function",
    "function": {"name": "get_weather", "description": "The weather in a city", "parameters": SCHEMA},
}


def run(package: str, **tasks: Task) -> None:
    """Do the jobs that come in, one after the other, until there are no more."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not come among the outcomes
    print(json.dumps({"version": version(package), "tasks": sorted(tasks)}), file=out, flush=True)
    for line in sys.stdin:
        job, outcome = Job(**json.loads(line)), Outcome()
        try:
            _do(tasks[job.task], job, outcome)
        except Exception as error:
            outcome.error = told(error)
            traceback.print_exc()
        print(json.dumps(asdict(outcome), default=str), file=out, flush=True)


def _do(task: Task, job: Job, outcome: Outcome) -> None:
    if inspect.iscoroutinefunction(task):
        asyncio.run(asyncio.wait_for(task(job, outcome), SECONDS))
    else:
        task(job, outcome)


def told(error: BaseException | None) -> dict[str, Any]:
    """What a client says of an error, or of the error behind it."""
    kind, text = type(error).__name__, str(error)
    status = wait = None
    while error is not None and status is None:
        status = getattr(error, "status_code", None)
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        wait = headers.get("retry-after", wait)
        error = error.__cause__ or error.__context__
    return {"type": kind, "message": text[:300], "status": status, "retry_after": wait}
