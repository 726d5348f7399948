"""The response templates that ship with the package: one JSON file a family, named as users know it."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from streamparse.errors import Fault, TemplateError
from streamparse.template.bundled.naming import candidates, meant


@cache
def response_template_names() -> tuple[str, ...]:
    """The names of the bundled templates, sorted.

    >>> "qwen3" in response_template_names()
    True
    """
    return tuple(sorted(_texts()))


def bundled_source(name: str) -> dict[str, Any]:
    """A bundled template as plain data, by its name or an alias, a fresh copy a call."""
    known = understood(name) if isinstance(name, str) else None
    if known is None:
        names = ", ".join(response_template_names())
        raise TemplateError([Fault("", f"no bundled template {name!r}{did_you_mean(str(name))}; there are {names}")])
    source: dict[str, Any] = json.loads(_texts()[known])
    return source


def is_bundled(name: str) -> bool:
    """Whether a name, an alias or the name of a model on a hub says which bundled template is meant."""
    return understood(name) is not None


def understood(name: str) -> str | None:
    """The template that a name says, however it is written; None where that is none, or might be several.

    >>> understood("Qwen3"), understood("deepseek-v3.1"), understood("Qwen/Qwen3-8B"), understood("no/such-model")
    ('qwen3', 'deepseek_v31', 'qwen3', None)
    """
    if name in _texts():
        return name
    if name in _aliases():
        return _aliases()[name]
    return meant(name, _names())


def did_you_mean(name: str) -> str:
    """What to say behind a name that is not understood: which ones come close, if any do.

    >>> did_you_mean("qwne3"), did_you_mean("nothing like it")
    ("; did you mean 'qwen3'?", '')
    """
    near = candidates(name, _names())
    if not near:
        return ""
    return f"; did you mean {' or '.join(repr(candidate) for candidate in near)}?"


def name_of(source: dict[str, Any]) -> str | None:
    """The name of a bundled template that says exactly this."""
    return next((name for name, text in _texts().items() if json.loads(text) == source), None)


def exact_names() -> frozenset[str]:
    """All names and aliases, as they are written."""
    return frozenset(_names())


def _names() -> dict[str, str]:
    """All names, and the template that each is for."""
    return {**{known: known for known in _texts()}, **_aliases()}


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
