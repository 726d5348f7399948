"""Fixtures for the tests of single stages: what transformers does with the same input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from streamparse.errors import ContentError, LimitError
from streamparse.stages.content import prepare_content

Outcome = tuple[str, Any]
"""``("value", …)``, or ``("error", None)``."""

Parse = Callable[[str, str, Mapping[str, Any]], Outcome]


@pytest.fixture(scope="session")
def reference() -> Parse:
    """Parse with the installed transformers, which is what strict results are measured by."""
    from transformers.utils.chat_parsing.content_parsers import parse_content

    def parse(text: str, name: str, arguments: Mapping[str, Any]) -> Outcome:
        try:
            return "value", repr(parse_content(text, name, dict(arguments)))
        except Exception:  # it lets errors of all sorts through
            return "error", None

    return parse


@pytest.fixture(scope="session")
def ours() -> Parse:
    """Parse with streamparse; only its two documented errors are caught."""

    def parse(text: str, name: str, arguments: Mapping[str, Any]) -> Outcome:
        try:
            return "value", repr(prepare_content(name, arguments)(text))
        except (ContentError, LimitError):
            return "error", None

    return parse
