"""xgrammar itself reads every structural tag, and decides as its own rows say but for white space.

It imports torch, so these tests run where both are installed (the extra ``xgrammar``).
"""

from __future__ import annotations

import json
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from streamparse import response_template_names
from streamparse.grammar import to_grammar
from stress.tool_schemas import TOOLS, an_object, tool

pytestmark = pytest.mark.skipif(
    find_spec("xgrammar") is None or find_spec("torch") is None, reason="needs xgrammar, which needs torch"
)

CALLS = {
    "qwen3": '<tool_call>\n{"name": "f", "arguments": {"n": 3}}\n</tool_call>',
    "qwen3_coder": "<tool_call>\n<function=f>\n<parameter=n>3</parameter>\n</function>\n</tool_call>",
    "lfm2": "<|tool_call_start|>[f(n=3)]<|tool_call_end|>",
    "gemma4": "<|tool_call>call:f{n:3}<tool_call|>",
}
FUNCTION = [tool("f", an_object({"n": {"type": "integer"}}))]


def accepts(value: Any, text: str) -> bool:
    grammar = import_module("xgrammar").Grammar.from_structural_tag(json.dumps(value))
    return bool(import_module("xgrammar.testing")._is_grammar_accept_string(grammar, text))


@pytest.mark.parametrize("choice", ["auto", "required", "none"])
@pytest.mark.parametrize("name", response_template_names())
def test_xgrammar_takes_every_structural_tag(name: str, choice: str) -> None:
    for tools in TOOLS.values():
        tag = to_grammar(name, tools, target="structural_tag", tool_choice=choice).value
        import_module("xgrammar").Grammar.from_structural_tag(json.dumps(tag))


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_allowed_and_others_are_not(name: str) -> None:
    for choice in ("auto", "required"):
        tag = to_grammar(name, FUNCTION, target="structural_tag", tool_choice=choice, reasoning="none").value
        assert accepts(tag, CALLS[name])
        assert not accepts(tag, CALLS[name].replace("3", "three"))
        assert accepts(tag, "Hello.") is (choice == "auto")
