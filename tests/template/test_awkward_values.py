"""Calls with awkward values come back as they were meant, in every form of every family, and so does the text."""

from __future__ import annotations

from typing import Any

import pytest

from streamparse import parse_response
from stress.differential.texts import TEXT, Output, outputs

WHOLE = [output for output in outputs() if output.expected is not None]


@pytest.mark.parametrize("output", WHOLE, ids=lambda output: f"{output.form}: {output.what}")
@pytest.mark.parametrize("errors", ["report", "repair"])
def test_what_was_meant_comes_back(output: Output, errors: Any) -> None:
    form = output.form
    message = parse_response(output.text, form.family, prefix=form.prompt, tools=output.tools, errors=errors)
    calls = [(call["function"]["name"], call["function"]["arguments"]) for call in message["tool_calls"]]
    assert calls == output.expected
    assert message["content"] == TEXT
