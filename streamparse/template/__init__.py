"""The response template: its format, loading and checking it, and the templates that ship with the package."""

from __future__ import annotations

from streamparse.template.bundled import response_template_names
from streamparse.template.load import (
    TemplateSource,
    get_response_template,
    load_response_template,
    within_limits,
    without_fields,
)
from streamparse.template.model import Field, ResponseTemplate

__all__ = [
    "Field",
    "ResponseTemplate",
    "TemplateSource",
    "get_response_template",
    "load_response_template",
    "response_template_names",
    "within_limits",
    "without_fields",
]
