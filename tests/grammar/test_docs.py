"""The table of docs/grammar.md is what the grammars say of themselves."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from streamparse import response_template_names
from streamparse.grammar import TARGETS, to_grammar
from stress.tool_schemas import an_object, tool

PAGE = Path(__file__).parents[2] / "docs" / "grammar.md"
HEADING = "| family | `gbnf` | `structural_tag` | `lark` |\n|---|---|---|---|\n"
PROBES: dict[str, dict[str, Any]] = {
    "`pattern`, where it is wide": {"type": "string", "pattern": "^[^x]*$"},
    "`minLength`, `maxLength`": {"type": "string", "minLength": 1, "maxLength": 9},
    "`minLength`, `maxLength` beside a `pattern`": {"type": "string", "pattern": "^[a-z]*$", "maxLength": 9},
    "`format: date`": {"type": "string", "format": "date"},
    "bounds": {"type": "number", "minimum": 0.5, "maximum": 2},
}


def cell(name: str, target: Any) -> str:
    found = [
        words
        for words, schema in PROBES.items()
        if to_grammar(name, [tool("f", an_object({"a": schema}))], target=target, tool_choice="required").relaxed
    ]
    return "; ".join(found) or "nothing"


def test_the_table_is_what_the_grammars_say() -> None:
    rows = [
        f"| {name} | {' | '.join(cell(name, target) for target in TARGETS)} |\n" for name in response_template_names()
    ]
    page = PAGE.read_text(encoding="utf-8")
    table = re.compile(re.escape(HEADING) + r"(?:\|.*\n)*")
    if os.environ.get("STREAMPARSE_WRITE_DOCS"):
        PAGE.write_text(table.sub(lambda _: HEADING + "".join(rows), page), encoding="utf-8")
    found = table.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    assert found[0] == HEADING + "".join(rows)
