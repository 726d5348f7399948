"""Finds the plainest way of putting a conversation that a chat template renders.

Tried in order: content as text or as parts, tools declared or not, a system message or none. A template that stops at
an undefined variable of its own gets an empty text for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from streamparse.infer.conversation import CONTENT, Phrasing, Prober, Said
from streamparse.infer.errors import InferenceError
from streamparse.infer.render import Renderer
from streamparse.infer.sandbox import Refusal

_UNDEFINED = re.compile(r"'(\w+)' is undefined")
MAX_FILLED = 8
"""Most variables that get an empty text."""


def find_phrasing(renderer: Renderer) -> Prober:
    """A prober whose turns show what the assistant says; raises InferenceError with the template's reason if none
    does.
    """
    reasons: list[str] = []
    for phrasing in _phrasings():
        prober = _filled(renderer, phrasing, reasons)
        if prober is not None:
            return prober
    raise InferenceError(f"the chat template renders no conversation of a user and an assistant: {reasons[0]}")


def _phrasings() -> Iterator[Phrasing]:
    for parts, tools, system in product((False, True), repeat=3):
        yield Phrasing(parts=parts, tools=tools, system=system)


def _filled(renderer: Renderer, phrasing: Phrasing, reasons: list[str]) -> Prober | None:
    """A prober with this phrasing, if the template renders it once its own variables are filled."""
    filled: dict[str, Any] = {}
    for _ in range(MAX_FILLED):
        prober = Prober(renderer, replace(phrasing, switches=filled))
        try:
            prober.prompt()
            if CONTENT in prober.turn(Said(CONTENT)):
                return prober
            reasons.append("it does not show what the assistant says")
            return None
        except Refusal as refusal:
            reasons.append(str(refusal))
            missing = _UNDEFINED.search(str(refusal))
            if missing is None or missing[1] not in renderer.variables or missing[1] in filled:
                return None
            filled = {**filled, missing[1]: ""}
    return None
