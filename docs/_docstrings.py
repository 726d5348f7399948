"""Docstrings as Markdown, for the API reference: doctests become code blocks, and roles become code.

In: docstrings as they stand in the code. Out: the same for mkdocstrings (the setting `extensions` in mkdocs.yml).
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":\w+:`~?([^`]+)`")
_DOCTEST = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)
_OPTION = re.compile(r"\s*# doctest: .*")


class Docstrings(griffe.Extension):
    """Rewrites each docstring as it is collected."""

    def on_instance(self, *, obj: griffe.Object, **_kwargs: Any) -> None:
        """Called for each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = _markdown(obj.docstring.value)


def _markdown(text: str) -> str:
    fenced = _DOCTEST.sub(lambda found: f"```pycon\n{_OPTION.sub('', found[0])}\n```", text)
    return _ROLE.sub(r"`\1`", fenced)
