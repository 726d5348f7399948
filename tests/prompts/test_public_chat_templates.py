"""Nothing of a prompt comes into the message: public chat templates, with bundled and with inferred response templates.

The chat templates lie beside the repository in ``shared/``, or where ``$STREAMPARSE_SHARED`` says; without them these
tests are skipped. Each run takes one prompt in six of each chat template, others for each; ``STREAMPARSE_SWEEP=whole``
takes all, which needs some minutes.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from streamparse import ResponseParser, get_response_template
from streamparse.infer import InferenceError, infer_response_template
from tests.prompts.conversations import AN_ANSWER, TOOLS, Message, Prompt, of_the_prompt, prompts, shown
from tests.template.test_families_round_trip import BEYOND_VERSION_1, CHAT_TEMPLATES

SHARED = Path(os.environ.get("STREAMPARSE_SHARED", Path(__file__).parents[3] / "shared"))
FOLDER = SHARED / "cases" / "chat" / "chat_templates"
NAMES = sorted(path.stem for path in FOLDER.glob("*.jinja")) if FOLDER.is_dir() else []
EVERY = 1 if os.environ.get("STREAMPARSE_SWEEP") == "whole" else 6

pytestmark = [
    pytest.mark.skipif(not NAMES, reason=f"the public chat templates are not in {FOLDER}"),
    pytest.mark.parametrize("name", NAMES),
]

FAMILIES = {name: family for family, names in CHAT_TEMPLATES.items() for name in names} | {
    "vllm__tool_chat_template_deepseekv3": "deepseek_v3",
    "xinference__deepseek-v3": "deepseek_v3",
    "vllm__tool_chat_template_deepseekv31": "deepseek_v31",
    "xinference__Deepseek-V3.1": "deepseek_v31",
    "xinference__DeepSeek-V3.2-Exp": "deepseek_v31",
}
EOS_TOKENS = {
    "olmo3": "<|endoftext|>",
    "phi4_mini": "<|endoftext|>",
    **dict.fromkeys(("deepseek_v3", "deepseek_v31", "deepseek_r1"), "<｜end▁of▁sentence｜>"),
}

UNREADABLE_CALLS = {
    "vllm__tool_chat_template_llama3.2_pythonic": "strings have no quotes",
    "vllm__tool_chat_template_toolace": "strings have no quotes",
    "vllm__tool_chat_template_phi4_mini": "arguments are a dict as Python prints it",
}
"""Chat templates that write calls so that they can't be read back."""

GOES_ON = {
    "llamacpp__GigaChat3-10B-A1.8B": "what ends a turn also stands between its content and its calls",
    "llamacpp__NVIDIA-Nemotron-Nano-v2": "the last turn is written within the reasoning that the prompt opens",
    "llamacpp__deepseek-ai-DeepSeek-R1-Distill-Qwen-32B": "what ends a turn also stands between its calls",
    "llamacpp__upstage-Solar-Open-100B": "what ends a turn also ends the reasoning that a prompt may write",
}
"""Chat templates of which no inference can tell that a turn at the end of a prompt is closed."""

HUNYUAN_ROLE = "助手："
"""Hunyuan's chat template begins an answer with this where tools are declared, and asks the model to."""


class Way(NamedTuple):
    """An error mode, and how the generation is cut."""

    errors: Any
    by_character: bool


WAYS = (Way("strict", by_character=False), Way("report", by_character=True), Way("repair", by_character=False))


@functools.cache
def of_template(name: str, eos_token: str) -> tuple[Prompt, ...]:
    """Some of the prompts of a chat template, or all."""
    source = (FOLDER / f"{name}.jinja").read_text(encoding="utf-8")
    return tuple(prompts(source, eos_token, EVERY, NAMES.index(name) % EVERY))


def parsed(template: Any, prompt: Prompt, text: str, way: Way) -> Message:
    parser = ResponseParser(template, prompt.text, tools=TOOLS, errors=way.errors)
    for piece in text if way.by_character else [text]:
        parser.feed(piece)
    return parser.finalize()[0]


def check(template: Any, prompt: Prompt, *, turns: bool, no_calls_in: tuple[str, ...], role: str = "") -> None:
    """What was generated is the message. ``turns`` says whether the chat template's own turns are read back too,
    ``no_calls_in`` in which modes calls are not."""
    problems = ResponseParser(template, prompt.text, errors="report").problems
    for text, expected in prompt.generations:
        for way in WAYS:
            if problems and way.errors == "strict":
                continue  # there is no anchor in the prompt: strict mode keeps all of it, as transformers does
            calls = "tool_calls" in expected
            if (calls and way.errors in no_calls_in) or (text != "Hello" and not turns):
                continue
            message = parsed(template, prompt, text, way)
            where = (prompt.label, prompt.text[-200:], text, way, message)
            assert of_the_prompt(message) == [], where
            got = shown(message)
            if text == "Hello":  # a format may take a text without a head for reasoning, or for nothing
                assert got in ({"content": "Hello"}, {"reasoning_content": "Hello"}, {}), where
            else:
                assert {
                    **got,
                    **({"content": content.removeprefix(role)} if (content := got.get("content")) else {}),
                } == (expected), where


def test_a_bundled_template_keeps_nothing_of_the_prompt(name: str) -> None:
    family = FAMILIES.get(name)
    if family is None:
        pytest.skip("of no bundled family")
    modes = ("strict", "report", "repair") if name in UNREADABLE_CALLS else ()
    modes = ("strict",) if (family, name) in BEYOND_VERSION_1 else modes
    role = HUNYUAN_ROLE if family == "hunyuan_a13b" else ""
    template = get_response_template(family)
    for prompt in of_template(name, EOS_TOKENS.get(family, "</s>")):
        check(template, prompt, turns=True, no_calls_in=modes, role=role)


def test_an_inferred_template_keeps_nothing_of_the_prompt(name: str) -> None:
    eos_token = EOS_TOKENS.get(FAMILIES.get(name, ""), "</s>")
    source = (FOLDER / f"{name}.jinja").read_text(encoding="utf-8")
    try:
        inference = infer_response_template(source, bos_token="<s>", eos_token=eos_token)
    except InferenceError:
        pytest.skip("renders no conversation")
    beyond = inference.analysis["extended"] or bool(inference.analysis["tool_calls"].get("beyond"))
    modes = ("strict", "report", "repair") if name in UNREADABLE_CALLS else ("strict",) if beyond else ()
    for prompt in of_template(name, eos_token):
        if not (prompt.label.startswith(f"{AN_ANSWER},") and name in GOES_ON):
            check(inference.template, prompt, turns=inference.verified, no_calls_in=modes)
