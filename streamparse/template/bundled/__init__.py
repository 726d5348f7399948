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
    return tuple(sorted(_texts()))


def bundled_source(name: str) -> dict[str, Any]:
    """A bundled template as plain data, by its name or an alias, a fresh copy a call."""
    text = _texts().get(_aliases().get(name, name))
    if text is None:
        known = ", ".join(response_template_names())
        raise TemplateError([Fault("", f"no bundled template {name!r}; there are {known}")])
    source: dict[str, Any] = json.loads(text)
    return source


def is_bundled(name: str) -> bool:
    """Whether a template is bundled under that name or alias."""
    return name in _texts() or name in _aliases()


@cache
def _texts() -> dict[str, str]:
    """The templates' files, by name."""
    files = [entry for entry in resources.files(__package__).iterdir() if entry.name.endswith(".json")]
    return {entry.name.removesuffix(".json"): entry.read_text(encoding="utf-8") for entry in files}


@cache
def _aliases() -> dict[str, str]:
    """The names that templates are also known by."""
    return {
        alias: name for name, text in _texts().items() for alias in json.loads(text)["streamparse"].get("aliases", ())
    }
