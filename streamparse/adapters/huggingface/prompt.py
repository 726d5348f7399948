"""A conversation as the model's prompt: what ``generate()`` takes, and the ids that the parser takes for its prefix.

In:  a tokenizer (or a processor) of transformers, and the messages of one conversation.
Out: ``Prompt``, made by the tokenizer's ``apply_chat_template``, once, so that both are the same to the letter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamparse.errors import PrefixError


@dataclass(frozen=True)
class Prompt:
    """``inputs`` for ``generate()``, tensors on the model's device, and the prompt's token ids."""

    inputs: Mapping[str, Any]
    ids: list[int]


def chat_prompt(
    tokenizer: Any,
    messages: Sequence[Mapping[str, Any]],
    *,
    tools: Sequence[Any] | None,
    chat_template: str | None,
    options: Mapping[str, Any],
    device: Any,
) -> Prompt:
    """Apply the chat template, with a generation prompt, or continuing the last message where it is an assistant's.

    ``options`` are passed on to ``apply_chat_template``. Raises PrefixError for a batch of conversations, and what
    the chat template raises.
    """
    continued = bool(messages) and isinstance(messages[-1], Mapping) and messages[-1].get("role") == "assistant"
    inputs = tokenizer.apply_chat_template(
        messages,
        **{
            "tools": tools,
            "chat_template": chat_template,
            "add_generation_prompt": not continued,
            "continue_final_message": continued,
            **options,
            "tokenize": True,
            "return_dict": True,
            "return_tensors": "pt",
        },
    )
    rows = inputs["input_ids"].tolist()
    if len(rows) != 1:
        raise PrefixError(f"messages has to be one conversation, not {len(rows)}: call parse_generate for each of them")
    return Prompt(inputs.to(device) if device is not None else inputs, rows[0])
