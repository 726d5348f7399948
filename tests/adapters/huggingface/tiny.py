"""A tokenizer trained here, and a model of one layer with random weights that is made to write given ids."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

HOW_TO_RUN = "torch is not installed; these tests run with: make test-models"

CHAT_TEMPLATE = """\
{%- if tools %}{{ '<|im_start|>system\\n' + (tools | tojson) + '<|im_end|>\\n' }}{% endif %}
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' }}
{%- if message.reasoning_content %}{{ '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' }}{% endif %}
{{- message.content or '' }}
{%- for call in message.tool_calls or [] %}
{{- '\\n<tool_call>\\n' + (call.function | tojson) + '\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

SPECIAL = ("<|im_start|>", "<|im_end|>")
ADDED = ("<think>", "</think>", "<tool_call>", "</tool_call>")
TEXT = 'Think first, then answer. {"name": "weather", "arguments": {"city": "Rome"}} '


@cache
def tiny_tokenizer() -> Any:
    """A byte-level tokenizer as chat models have: delimiters are tokens of their own, the end of turn is special."""
    transformers = pytest.importorskip("transformers")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator([TEXT], trainers.BpeTrainer(vocab_size=330, initial_alphabet=alphabet))
    tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in SPECIAL])
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in ADDED])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|im_end|>",
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )


@cache
def tiny_model() -> Any:
    """One layer of Llama, not trained; it takes a millisecond a token."""
    torch = pytest.importorskip("torch", reason=HOW_TO_RUN)
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.set_num_threads(1)
    torch.manual_seed(0)
    tokenizer = tiny_tokenizer()
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=8192,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=tokenizer.pad_token_id,
    )
    return LlamaForCausalLM(config).eval()


def spelled(text: str) -> list[int]:
    """The text in ordinary tokens of one character each, delimiters too."""
    return [token_id for character in text for token_id in tiny_tokenizer()(character)["input_ids"]]


class Writes:
    """A logits processor that makes a model write these ids, over and over; counts the tokens."""

    def __init__(self, text: str | list[int]) -> None:
        self.ids = tiny_tokenizer()(text)["input_ids"] if isinstance(text, str) else text
        self.written = 0

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        forced = scores.new_full(scores.shape, float("-inf"))
        forced[:, self.ids[self.written % len(self.ids)]] = 0.0
        self.written += 1
        return forced
