"""Marks and the parser together: ids in, the message that their tokens mean out."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer

from streamparse.parser import ResponseParser
from streamparse.stages.detokenize import Detokenizer
from streamparse.stream import parse_stream
from streamparse.template import load_response_template
from streamparse.tokens.marks import TokenMarks
from tests.field.reading import call, shape

from .conftest import byte_level_tokenizer

FAMILY_TOKENS = {
    "qwen3": ["<think>", "</think>", "<tool_call>", "</tool_call>", "<|im_end|>"],
    "gpt_oss": ["<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|call|>", "<|return|>"],
    "cohere2": ["<|START_THINKING|>", "<|END_THINKING|>", "<|START_ACTION|>", "<|END_ACTION|>", "<|END_TEXT|>"],
}


def family_tokenizer(family: str) -> Tokenizer:
    tokenizer = Tokenizer.from_str(byte_level_tokenizer().to_str())
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in FAMILY_TOKENS[family]])
    return tokenizer


def spelled(text: str, tokenizer: Tokenizer) -> list[int]:
    """The text in ordinary tokens of one character each."""
    return [token_id for character in text for token_id in tokenizer.encode(character).ids]


def message_of(family: str, parts: list[tuple[str, bool]], prefix: str, one_by_one: bool) -> dict[str, Any]:
    """The message of a generation given as texts, each with whether it is one token or written in ordinary ones."""
    tokenizer = family_tokenizer(family)
    ids: list[int] = []
    for text, is_token in parts:
        ids += [tokenizer.token_to_id(text)] if is_token else spelled(text, tokenizer)
    marks = TokenMarks.for_template(load_response_template(family).source, tokenizer)
    assert marks is not None
    detokenizer = Detokenizer(tokenizer, marks=marks)
    parser = ResponseParser(family, prefix)
    for item in ids if one_by_one else [ids]:
        for text in detokenizer.feed(item):
            parser.feed(text)
    for text in detokenizer.finish():
        parser.feed(text)
    message, _ = parser.finalize("stop")
    return dict(marks.unmark_value(message))


CASES: dict[str, tuple[str, str, list[tuple[str, bool]], dict[str, Any]]] = {
    "a quoted close tag in reasoning": (
        "qwen3",
        "<|im_start|>assistant\n<think>\n",
        [("It looks for `</think>` in content.\n", False), ("</think>", True), ("\n\nDone.", False)],
        {"reasoning_content": "It looks for `</think>` in content.", "content": "Done."},
    ),
    "a quoted call in content": (
        "qwen3",
        "<|im_start|>assistant\n",
        [("Write <tool_call>{}</tool_call> 🦜.", False), ("<|im_end|>", True)],
        {"content": "Write <tool_call>{}</tool_call> 🦜."},
    ),
    "a quoted close tag in an argument": (
        "qwen3",
        "<|im_start|>assistant\n",
        [
            ("<tool_call>", True),
            ('\n{"name": "f", "arguments": {"a": "x</tool_call>y"}}\n', False),
            ("</tool_call>", True),
        ],
        {"tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"a": "x</tool_call>y"}}}]},
    ),
    "quoted channels": (
        "gpt_oss",
        "<|start|>assistant",
        [
            ("<|channel|>", True),
            ("analysis", False),
            ("<|message|>", True),
            ("It ends with <|end|><|start|>assistant<|channel|>final<|message|>.", False),
            ("<|end|>", True),
            ("<|start|>", True),
            ("assistant", False),
            ("<|channel|>", True),
            ("final", False),
            ("<|message|>", True),
            ("Done.", False),
            ("<|return|>", True),
        ],
        {"reasoning_content": "It ends with <|end|><|start|>assistant<|channel|>final<|message|>.", "content": "Done."},
    ),
    "a quoted action": (
        "cohere2",
        "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        [
            ("<|START_THINKING|>", True),
            ("Not <|END_THINKING|> and no <|START_ACTION|>.", False),
            ("<|END_THINKING|>", True),
            ("Hi.", False),
            ("<|END_TEXT|>", True),
        ],
        {"reasoning_content": "Not <|END_THINKING|> and no <|START_ACTION|>.", "content": "Hi."},
    ),
}


@pytest.mark.parametrize("one_by_one", [True, False], ids=["id by id", "in one list"])
@pytest.mark.parametrize("case", CASES)
def test_only_tokens_open_and_close_regions(case: str, one_by_one: bool) -> None:
    family, prefix, parts, expected = CASES[case]
    message = message_of(family, parts, prefix, one_by_one)
    assert {key: strip(value) for key, value in message.items()} == {"role": "assistant", **expected}


def strip(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


CALL = "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</tool_call>"
CUT_OFF = "<function=f>\n<parameter=a>\nx\n"
BEGIN, END = ("<tool_call>", True), ("</tool_call>", True)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([(f"Write {CALL} so.", False)], {"content": f"Write {CALL} so."}),
        ([(f"Write\n{CALL}\n{CALL}", False)], {"content": f"Write\n{CALL}\n{CALL}"}),
        (
            [BEGIN, (f"\n<function=f>\n<parameter=a>\nWrite {CALL} so.\n</parameter>\n</function>\n", False), END],
            {"tool_calls": [call("f", a=f"Write {CALL} so.")]},
        ),
        (
            [BEGIN, ("\n" + CUT_OFF, False), BEGIN, ("\n<function=g>\n</function>\n", False), END],
            {"tool_calls": [call("g")]},
        ),
        ([("<function=g>\n</function>\n", False), END], {"tool_calls": [call("g")]}),
    ],
)
async def test_a_call_that_is_spelled_in_ordinary_tokens_is_text(
    parts: list[tuple[str, bool]], message: dict[str, Any]
) -> None:
    tokenizer = family_tokenizer("qwen3")
    ids: list[int] = []
    for text, is_token in parts:
        ids += [tokenizer.token_to_id(text)] if is_token else spelled(text, tokenizer)
    prefix = "<|im_start|>assistant\n"
    async with parse_stream(ids, "qwen3_5", prefix=prefix, tokenizer=tokenizer, errors="repair") as events:
        last = [event async for event in events][-1]
    assert shape(last["message"]) == message
