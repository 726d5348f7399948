"""The response templates that ship with the package: one JSON file a family, named as users know it."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from streamparse.errors import Fault, TemplateError


@cache
def response_template_names() -> tuple[str, ...]:
    """The names of the bundled templates, sorted.

    >>> "qwen3" in response_template_names()
    True
    """
    names = (entry.name for entry in resources.files(__package__).iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in names if name.endswith(".json")))


def bundled_source(name: str) -> dict[str, Any]:
    """A bundled template as plain data, a fresh copy a call."""
    if name not in response_template_names():
        raise TemplateError(
            [Fault("", f"no bundled template {name!r}; there are {', '.join(response_template_names())}")]
        )
    text = resources.files(__package__).joinpath(f"{name}.json").read_text(encoding="utf-8")
    source: dict[str, Any] = json.loads(text)
    return source
