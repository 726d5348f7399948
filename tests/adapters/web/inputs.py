"""Inputs that the tests make of texts."""

from __future__ import annotations

from typing import Any

from streamparse.adapters.web import Input
from streamparse.template import get_response_template


def text_input(text: str, template: str = "qwen3", *, size: int = 4, **more: Any) -> Input:
    """An input of a text, cut into pieces of so many characters."""
    pieces = tuple(text[start : start + size] for start in range(0, len(text), size))
    known = {"title": "a text", "template_name": template, **more}
    return Input(template=get_response_template(template), pieces=pieces, **known)
