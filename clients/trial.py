"""Clients, one after the other, in front of a server.

In:  clients, and what to try them with.
Out: results, one at a time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from clients import model
from clients.checks import Check
from clients.client import Client, Program
from clients.family import ONE_CALL, Family
from clients.llama_cpp import CHAT_TEMPLATE, llama_cpp
from clients.messages_server import messages_server
from clients.serving import KEY, serving
from clients.upstream import upstream

REAL = "llama.cpp"
"""The name of the server that has a real model."""

REAL_MODEL_FORMAT = "smollm3"
REAL_MODEL_TOKENS = "300"


@dataclass(frozen=True)
class Result:
    """What came of a check: ``problem`` is None if all is well."""

    client: str
    server: str
    check: str
    stream: bool
    problem: str | None
    seconds: float

    def __str__(self) -> str:
        how = "stream" if self.stream else "whole"
        sign = "ok  " if self.problem is None else "FAIL"
        line = f"{sign} {self.client:13} {self.server:24} {self.check:18} {how:6} {self.seconds:5.2f} s"
        return line if self.problem is None else f"{line}  {' '.join(self.problem.split())}"


class Trials:
    """The running programs of some clients, as a context manager; ``logs`` is a folder for what they say."""

    def __init__(self, clients: Sequence[Client], logs: Path) -> None:
        self._clients = clients
        self._logs = logs
        self._open = ExitStack()

    def __enter__(self) -> Self:
        self._programs = [
            self._open.enter_context(Program(client, self._logs / f"{client.name}.log")) for client in self._clients
        ]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._open.close()

    @property
    def versions(self) -> dict[str, str]:
        """The clients' versions, by their names."""
        return {program.client.name: program.version for program in self._programs}

    def scripted(self, family: Family, chat_template: str, label: str, checks: Sequence[Check]) -> Iterator[Result]:
        """Try a family's scripted model, with a chat template; ``label`` says which, in the results."""
        path = self._logs / f"{label}.jinja"
        path.write_text(chat_template, encoding="utf-8")
        log = self._logs / f"serve {label}.log"
        if family.name in ONE_CALL and chat_template != family.own_template():
            checks = [check for check in checks if check.question != model.TWO or check.task != "agent"]
        log_of_whole = self._logs / f"serve --whole-calls {label}.log"
        with (
            upstream(model.ScriptedModel(family.form, family.in_history)) as up,
            serving(up, path, family.name, log=log) as url,
            serving(up, path, family.name, arguments=("--whole-calls",), log=log_of_whole)
            if any(check.whole_calls for check in checks)
            else nullcontext() as whole_url,
            messages_server(up, chat_template, family.name) as messages_url,
        ):
            yield from self._all(checks, label, url, whole_url, messages_url)

    def real(self, checks: Sequence[Check]) -> Iterator[Result]:
        """Try a real model behind llama.cpp."""
        arguments = ("--server", "llama.cpp", "--max-tokens", REAL_MODEL_TOKENS)
        log = self._logs / "serve llama.cpp.log"
        with (
            llama_cpp(self._logs / "llama.cpp.log") as up,
            serving(up, CHAT_TEMPLATE, REAL_MODEL_FORMAT, arguments=arguments, log=log) as url,
        ):
            yield from self._all(checks, REAL, url)

    def _all(
        self,
        checks: Sequence[Check],
        label: str,
        url: str,
        whole_url: str | None = None,
        messages_url: str | None = None,
    ) -> Iterator[Result]:
        for program in self._programs:
            for check in checks:
                where = messages_url if program.client.messages else whole_url if check.whole_calls else url
                task = check.task_of(program.tasks)
                if where is None or task is None or check.name in program.client.lacks:
                    continue
                for stream in (True,) if program.client.messages else (False, True) if check.streams else (False,):
                    yield _tried(program, check, task, where, label, stream)


def _tried(program: Program, check: Check, task: str, url: str, server: str, stream: bool) -> Result:
    job: dict[str, Any] = {
        "task": task,
        "url": url,
        "key": KEY if check.key else "wrong",
        "model": "scripted",
        "question": check.question,
        "stream": stream,
        "result": model.RESULT,
        "options": dict(check.options),
    }
    began = time.monotonic()
    problem = check.judge(program.does(job))
    return Result(program.client.name, server, check.name, stream, problem, time.monotonic() - began)
