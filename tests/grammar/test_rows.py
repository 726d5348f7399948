"""Texts whose place is known: rendered turns of the public chat templates, and xgrammar's own accept and reject rows.

Both lie beside the repository in ``shared/``, or where ``$STREAMPARSE_SHARED`` says; without them these tests are
skipped.
"""

from __future__ import annotations

import functools
import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from streamparse import ResponseTemplate, load_response_template
from streamparse.grammar import to_grammar
from streamparse.infer import InferenceError, infer_response_template
from stress.drawing import Drawer
from tests.template.test_families_round_trip import CHAT_TEMPLATES

SHARED = Path(os.environ.get("STREAMPARSE_SHARED", Path(__file__).parents[3] / "shared")) / "cases"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=f"the shared cases are not in {SHARED}")

Row = dict[str, Any]

NOT_WRITTEN = {
    "llamacpp__LFM2.5-8B-A1B": "raw line breaks in a string as in Python",
    "trl__lfm2_2_5_v2": "raw line breaks in a string as in Python",
    "vllm__tool_chat_template_llama3.2_json": "arguments as a string of JSON",
    "vllm__tool_chat_template_functiongemma": "numbers as strings",
}
"""What no grammar writes, though a chat template renders it: report mode doesn't read it, or tools don't declare it."""
OTHER_IDS = {"llamacpp__upstage-Solar-Open-100B": "ids of nine characters, of which the family writes ten"}
NOT_INFERRED = NOT_WRITTEN | OTHER_IDS
"""The same of what inference gives for these chat templates, a bundled template or its own."""


def lines_of(*path: str) -> list[Row]:
    file = SHARED.joinpath(*path)
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.is_file() else []


CALLING = [row for row in lines_of("chat", "roundtrip.jsonl") if row["expect"].get("tool_calls")]
FAMILY_OF = {name: family for family, names in CHAT_TEMPLATES.items() for name in names}


def name_of(row: Row) -> str:
    return str(row["chat_template"]).removesuffix(".jinja")


def accepted(template: Any, row: Row) -> bool:
    grammar = to_grammar(template, row["tools"], target="lark", prefix=row["prefix"])
    return Drawer(grammar.text).accepts(row["output"])


@needs_shared
@pytest.mark.parametrize("family", CHAT_TEMPLATES)
def test_the_grammar_of_a_family_has_what_its_chat_templates_render(family: str) -> None:
    for row in CALLING:
        if FAMILY_OF.get(name_of(row)) == family:
            known = name_of(row) in NOT_WRITTEN | OTHER_IDS and (
                "lfm2" not in row["id"].lower() or row["scenario"] == "tool2"
            )
            assert accepted(family, row) != known, row["id"]


@functools.cache
def inferred(name: str) -> ResponseTemplate | None:
    logging.disable(logging.WARNING)
    try:
        source = infer_response_template(SHARED / "chat" / "chat_templates" / f"{name}.jinja").template
        return load_response_template(source) if "tool_calls" in source["fields"] else None
    except InferenceError:
        return None
    finally:
        logging.disable(logging.NOTSET)


@needs_shared
@pytest.mark.parametrize("name", sorted({name_of(row) for row in CALLING}))
def test_the_grammar_of_an_inferred_template_has_what_the_chat_template_renders(name: str) -> None:
    template = inferred(name)
    refused = [
        row["scenario"]
        for row in CALLING
        if template is not None and name_of(row) == name and not accepted(template, row)
    ]
    assert bool(refused) == (name in NOT_INFERRED), (name, refused)


MODELS = {
    "harmony": "gpt_oss", "kimi": "kimi_k2", "qwen_3": "qwen3", "exaone": "exaone4", "glm_4_7": "glm45",
    "llama": "llama3_json", "deepseek_v3_2": "deepseek_dsml", "deepseek_v4": "deepseek_dsml",
    "minimax": "minimax_m2", "deepseek_r1": "deepseek_r1", "qwen_3_coder": "qwen3_coder", "qwen_3_5": "qwen3_5",
}  # fmt: skip
"""xgrammar's models that are among the bundled families; Kimi K3 and Cohere's newest format are not."""

ANALYSIS_IS_TEXT = {1}
WHITE_SPACE_IS_FREE = {145, 146, 176, 177, 178, 179}
NOTHING_FOLLOWS_REQUIRED_CALLS = {183, 187, 190, 194, 198, 202}
DIFFERENT = ANALYSIS_IS_TEXT | WHITE_SPACE_IS_FREE | NOTHING_FOLLOWS_REQUIRED_CALLS
"""Rows on which docs/grammar.md says why this library decides otherwise."""


@needs_shared
@pytest.mark.parametrize("model", MODELS)
def test_xgrammars_rows_agree(model: str) -> None:
    rows = [row for row in lines_of("grammar", "xgrammar.jsonl") if row["model"] == model]
    assert rows
    for row in rows:
        options = row["options"]
        grammar = to_grammar(
            MODELS[model],
            row["tools"],
            target="lark",
            tool_choice=options.get("tool_choice", "auto"),
            reasoning="opened" if options["reasoning"] else "none",
            any_order=options.get("any_order", False),
        )
        agrees = Drawer(grammar.text).accepts(row["instance"]) == row["accepted"]
        assert agrees != (row["n"] in DIFFERENT), row
