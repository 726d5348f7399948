"""Every case recorded from transformers' parser, in one piece, by character and in random cuts.

The cases and the script that checks them lie beside the repository in ``shared/``, or where ``$STREAMPARSE_SHARED``
says; without them these tests are skipped.
"""

from __future__ import annotations

import functools
import json
import os
import runpy
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(os.environ.get("STREAMPARSE_SHARED", Path(__file__).parents[3] / "shared"))
SCRIPT = SHARED / "tools" / "check_reference_cases.py"
CASES = SHARED / "cases" / "reference"
ABSENT = not (SCRIPT.is_file() and (CASES / "cases.jsonl").is_file())


@functools.cache
def read_rows() -> dict[str, dict[str, Any]]:
    """The recorded cases by their ids; none where they are absent."""
    if ABSENT:
        return {}
    lines = (CASES / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


@functools.cache
def read_templates() -> dict[str, Any]:
    """The templates that rows name."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (CASES / "templates").glob("*.json")}


@functools.cache
def load_script() -> dict[str, Any]:
    """The functions of the script, which holds what a case has to fulfil."""
    return runpy.run_path(str(SCRIPT), run_name="check_reference_cases")


@pytest.mark.skipif(
    ABSENT, reason=f"the recorded cases are not in {SHARED}; $STREAMPARSE_SHARED may say where they are"
)
def test_there_are_cases() -> None:
    assert len(read_rows()) > 500
    assert len(read_templates()) > 30


@pytest.mark.parametrize("name", read_rows())
def test_case_gives_what_transformers_gave(name: str) -> None:
    row, templates = read_rows()[name], read_templates()
    template = row["template"]
    if isinstance(template, str):
        template = templates.get(template, template)
    assert load_script()["check"](row, template) is None
