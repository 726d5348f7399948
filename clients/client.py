"""A client's program, run beside the harness: jobs to it, outcomes from it."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).parents[1]
SECONDS = 240

QUIET = {
    "ANONYMIZED_TELEMETRY": "false",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_TELEMETRY": "False",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "NO_PROXY": "127.0.0.1",
}
"""No client tells anybody of what it does, or looks anything up."""

OLDER = ROOT / ".venv-clients-openai2" / "bin" / "python"


@dataclass(frozen=True)
class Client:
    """A client: its title in the table, the command of its program, and why it can't do some of the checks."""

    name: str
    title: str
    command: tuple[str, ...]
    lacks: Mapping[str, str] = field(default_factory=dict)
    messages: bool = False
    """Whether it speaks Anthropic's Messages API, of which only streams are there, and no endpoint of ``serve``."""


def _python(name: str, title: str, module: str, python: str = sys.executable, **lacks: str) -> Client:
    return Client(name, title, (python, "-m", f"clients.python.{module}"), lacks)


def _node(name: str, title: str) -> Client:
    return Client(name, title, ("node", str(ROOT / "clients" / "node" / f"{name}.js")))


_WHOLE = ("whole by length", "whole by the model", "whole malformed")
_OF_SERVE = (*_WHOLE, "one call", "named", "required", "401", "400", "429")
"""Checks of what ``serve`` does with requests and by its flags, rather than of what it answers."""

CLIENTS = (
    _python("openai", "OpenAI, Python", "openai_chat"),
    _python("openai2", "OpenAI 2, Python", "openai_chat", str(OLDER)),
    _node("openai-node", "OpenAI, Node"),
    _python(
        "langchain", "LangChain, Python", "langchain_agent", reasoning="`ChatOpenAI` drops what isn't OpenAI's own"
    ),
    _node("langchain-js", "LangChain, JS"),
    _python("llama-index", "LlamaIndex", "llama_index_agent", str(OLDER)),
    _python("litellm", "litellm", "litellm_chat", str(OLDER)),
    _python("pydantic-ai", "pydantic-ai", "pydantic_agent"),
    _python("instructor", "instructor", "instructor_record", str(OLDER)),
    _node("ai-sdk", "AI SDK"),
    _python("openai-agents", "OpenAI Agents", "openai_agents"),
    _python("smolagents", "smolagents", "smolagents_agent", reasoning="its agents show no reasoning"),
    Client(
        "anthropic",
        "Anthropic, Python",
        (sys.executable, "-m", "clients.python.anthropic_messages"),
        lacks=dict.fromkeys(_OF_SERVE, "`serve` has no endpoint of the Messages API"),
        messages=True,
    ),
)


class Program:
    """The running program of a client, as a context manager."""

    def __init__(self, client: Client, log: Path) -> None:
        self.client = client
        self._log = log

    def __enter__(self) -> Self:
        self._said = self._log.open("w")
        self._process = subprocess.Popen(
            self.client.command,
            cwd=ROOT,
            env={**os.environ, **QUIET},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
        )
        hello = self._read()
        self.version: str = hello["version"]
        self.tasks: frozenset[str] = frozenset(hello["tasks"])
        return self

    def does(self, job: dict[str, Any]) -> dict[str, Any]:
        """Have a job done; gives the outcome."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        out = self._process.stdout
        assert out is not None
        with selectors.DefaultSelector() as ready:
            ready.register(out, selectors.EVENT_READ)
            line = out.readline() if ready.select(SECONDS) else ""
        if not line:
            raise RuntimeError(f"the program of {self.client.name} says nothing; see {self._log}")
        outcome: dict[str, Any] = json.loads(line)
        return outcome

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()
        self._said.close()
