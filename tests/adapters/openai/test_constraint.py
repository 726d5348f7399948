"""What goes upstream so that a model is held to what a request asks for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streamparse.adapters.openai.constraint import CONSTRAINING, constraint
from streamparse.adapters.openai.servers import SERVERS
from streamparse.errors import ArgumentError
from streamparse.grammar import to_grammar

FUNCTION = {"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}
TOOLS: list[dict[str, Any]] = [{"type": "function", "function": FUNCTION}]
STRICT = [{"type": "function", "function": FUNCTION | {"strict": True}}]
NAMED = {"type": "function", "function": {"name": "f"}}


@pytest.mark.parametrize("server", CONSTRAINING)
@pytest.mark.parametrize(
    "options", [{}, {"tool_choice": "auto"}, {"tool_choice": "none", "parallel_tool_calls": False}], ids=str
)
def test_nothing_is_sent_where_nothing_is_forced(server: str, options: dict[str, Any]) -> None:
    assert constraint(server, "qwen3", TOOLS, **options) == {}


def test_every_kind_of_server_that_is_known_is_one_of_the_servers() -> None:
    assert set(CONSTRAINING) == set(SERVERS) - {"openai"}


def test_llama_cpp_gets_a_grammar_from_the_start_on_for_a_forced_call() -> None:
    fields = constraint("llama.cpp", "qwen3", TOOLS, tool_choice=NAMED)
    assert fields["grammar"] == to_grammar("qwen3", TOOLS, tool_choice="f").text
    assert "grammar_lazy" not in fields
    assert "<tool_call>" in fields["preserved_tokens"]


@pytest.mark.parametrize(("tools", "options"), [(STRICT, {}), (TOOLS, {"parallel_tool_calls": False})])
def test_llama_cpp_gets_a_lazy_grammar_where_a_call_is_the_models_choice(
    tools: list[dict[str, Any]], options: dict[str, Any]
) -> None:
    fields = constraint("llama.cpp", "qwen3", tools, **options)
    assert fields["grammar_lazy"] is True
    assert fields["grammar_triggers"] == [{"type": 1, "value": "<tool_call>"}]


def test_vllm_gets_a_structural_tag_as_text() -> None:
    fields = constraint("vllm", "glm45", TOOLS, tool_choice="required", prefix="<|assistant|>\n<think>")
    tag = json.loads(fields["structured_outputs"]["structural_tag"])
    assert tag["type"] == "structural_tag"
    assert tag["format"]["elements"][0]["end"] == ["</think>"]


def test_sglang_gets_a_structural_tag_as_its_response_format() -> None:
    fields = constraint("sglang", "qwen3", TOOLS, tool_choice="required")
    assert fields["response_format"]["type"] == "structural_tag"


def test_another_server_has_no_field_for_it() -> None:
    with pytest.raises(ArgumentError, match="vllm"):
        constraint("openai", "qwen3", TOOLS, tool_choice="required")
    assert constraint("openai", "qwen3", TOOLS) == {}
