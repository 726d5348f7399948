"""Renders conversations with one chat template, each only once.

In: messages and the switches of ``apply_chat_template``. Out: the text, or ``Refusal`` where the template raises.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from streamparse.infer.findings import Findings
from streamparse.infer.sandbox import CompiledTemplate, Refusal

Message = dict[str, Any]


class Renderer:
    """A chat template with its special tokens, its fixed switches, a cache, and a budget for all renderings together.

    The budget is ``seconds`` of the thread's processor time; a renderer is used in the thread that made it.
    """

    def __init__(
        self,
        source: str,
        *,
        bos_token: str | None = None,
        eos_token: str | None = None,
        switches: Mapping[str, Any] | None = None,
        seconds: float = 3.0,
    ) -> None:
        self._template = CompiledTemplate(source)
        self.variables = self._template.findings.variables
        self.constants = self._template.findings.texts
        self.switches = _switches(self._template.findings)
        self._base = {"bos_token": bos_token or "", "eos_token": eos_token or "", "documents": None, **(switches or {})}
        self._known: dict[str, str | Refusal] = {}
        self._deadline = time.thread_time() + seconds

    @property
    def renderings(self) -> int:
        """How many different conversations were rendered."""
        return len(self._known)

    def render(
        self,
        messages: Sequence[Message],
        *,
        tools: list[dict[str, Any]] | None = None,
        generation_prompt: bool = False,
        switches: Mapping[str, Any] | None = None,
    ) -> str:
        """The text of a conversation; raises ``Refusal`` if the template does, or if the time for all is used up."""
        variables = {
            **self._base,
            **(switches or {}),
            "messages": list(messages),
            "tools": tools,
            "add_generation_prompt": generation_prompt,
        }
        key = json.dumps(variables, ensure_ascii=False)
        if key not in self._known:
            self._known[key] = self._render_now(json.loads(key))
        outcome = self._known[key]
        if isinstance(outcome, Refusal):
            raise outcome
        return outcome

    def _render_now(self, variables: Mapping[str, Any]) -> str | Refusal:
        left = self._deadline - time.thread_time()
        if left <= 0:
            return Refusal("the time for all renderings is used up")
        try:
            return self._template.render(variables, left)
        except Refusal as refusal:
            return refusal


_GIVEN = frozenset(
    {"messages", "tools", "documents", "add_generation_prompt", "bos_token", "eos_token", "pad_token", "unk_token"}
    | {"raise_exception", "strftime_now", "namespace", "dict", "range", "cycler", "joiner"}
    | {"loop", "caller", "varargs", "kwargs", "self", "super"}
)
"""Names that a chat template reads and that are no switches."""


def _switches(findings: Findings) -> dict[str, tuple[Any, ...]]:
    """The variables that a caller may set, those about thinking first, each with values worth trying.

    Those are both truth values, and what the template compares the variable with.
    """
    names = sorted(findings.variables - _GIVEN, key=lambda name: ("think" not in name and "reason" not in name, name))
    return {name: (True, False, *dict.fromkeys(findings.compared.get(name, ()))) for name in names}
