"""A generation that is masked by a grammar can only be calls that parse; torch is not needed for that to be seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from streamparse import get_response_template, response_template_names
from streamparse.adapters.huggingface.constrained import LarkProcessor, grammar_processor
from streamparse.errors import ArgumentError, SourceError
from streamparse.grammar import to_grammar
from stress.checking import fault_in
from stress.drawing import tokenizer
from stress.tool_schemas import an_object, tool

LEVEL = {"type": "integer", "minimum": 1, "maximum": 99}
TOOLS = [tool("set_level", an_object({"level": LEVEL, "on": {"type": "boolean"}}))]
PROMPT = [*b"Hello"]


class RandomModel:
    """What ``generate()`` does, with scores at random: it takes the best token until that is the end."""

    def __init__(self, seed: int, end: int, tokens: int) -> None:
        self._chance, self._end, self._tokens = np.random.default_rng(seed), end, tokens

    def generate(self, processor: Any, most: int) -> list[int]:
        ids: list[int] = [*PROMPT]
        while len(ids) < most:
            scores = processor(np.array([ids]), self._chance.normal(size=(1, self._tokens)))
            ids.append(int(scores[0].argmax()))
            if ids[-1] == self._end:
                break
        return ids[len(PROMPT) :]


@pytest.mark.parametrize("name", response_template_names())
def test_a_model_that_knows_nothing_calls_the_tool(name: str) -> None:
    template = get_response_template(name)
    options = {"tool_choice": "required", "parallel": False, "reasoning": "none"}
    grammar = to_grammar(template, TOOLS, target="lark", **options)  # type: ignore[arg-type]
    tokens = tokenizer()
    model = RandomModel(len(name), tokens.eos_token, tokens.vocab_size + 10)
    written = model.generate(LarkProcessor(grammar, tokens), 2000)
    assert written[-1] == tokens.eos_token
    text = bytes(written[:-1]).decode()
    assert fault_in(template, TOOLS, grammar, text, calls=True) is None, text


def test_scores_beyond_the_vocabulary_are_forbidden() -> None:
    grammar = to_grammar("qwen3", TOOLS, target="lark", tool_choice="required", reasoning="none")
    forbidden = LarkProcessor(grammar, tokenizer()).forbidden(1000)
    assert forbidden[tokenizer().vocab_size :].all()
    assert not forbidden[ord("<")]


def test_a_token_that_was_not_allowed_is_an_error() -> None:
    grammar = to_grammar("qwen3", TOOLS, target="lark", tool_choice="required", reasoning="none")
    with pytest.raises(SourceError, match="not in the grammar"):
        LarkProcessor(grammar, tokenizer()).advance([*b"Hello"])


def test_a_batch_is_refused() -> None:
    processor = LarkProcessor(to_grammar("qwen3", TOOLS, target="lark"), tokenizer())
    with pytest.raises(SourceError, match="one sequence"):
        processor(np.zeros((2, 1), dtype=int), np.zeros((2, 300)))


def test_gbnf_is_for_llama_cpp() -> None:
    with pytest.raises(ArgumentError, match="lark"):
        grammar_processor(to_grammar("qwen3", TOOLS), None)
