"""Names of templates: as users write them, as hubs have them, and misspelt."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from streamparse import (
    KeyedParser,
    ResponseParser,
    TemplateError,
    get_response_template,
    load_response_template,
    parse_many,
    parse_response,
    parse_stream,
    response_template_names,
)

UNDERSTOOD = {
    "QWEN3": "qwen3",
    "qwen-3": "qwen3",
    "Qwen/Qwen3-8B": "qwen3",
    "Qwen/Qwen3-0.6B-FP8": "qwen3",
    "Qwen/Qwen2.5-7B-Instruct": "qwen3",
    "Qwen/Qwen3-Coder-30B-A3B-Instruct": "qwen3_coder",
    "Qwen/Qwen3-30B-A3B-Thinking-2507": "qwen3_thinking",
    "Qwen/QwQ-32B": "qwen3_thinking",
    "Qwen/Qwen3.5-35B-A3B": "qwen3_5",
    "deepseek-ai/DeepSeek-V3.1": "deepseek_v31",
    "deepseek-ai/DeepSeek-V3-0324": "deepseek_v3",
    "deepseek-ai/DeepSeek-V3.2": "deepseek_dsml",
    "deepseek-ai/DeepSeek-R1": "deepseek_r1",
    "meta-llama/Llama-3.1-8B-Instruct": "llama3_json",
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": "llama4_pythonic",
    "openai/gpt-oss-20b": "gpt_oss",
    "unsloth/gpt-oss-20b-GGUF": "gpt_oss",
    "zai-org/GLM-4.6": "glm45",
    "moonshotai/Kimi-K2-Instruct": "kimi_k2",
    "MiniMaxAI/MiniMax-M2": "minimax_m2",
    "moonshotai/Kimi-K3": "kimi_k3",
    "deepseek-ai/DeepSeek-V4.1": "deepseek_v41",
    "deepseek-ai/DeepSeek-V4-Flash": "deepseek_dsml",
    "google/functiongemma-270m-it": "functiongemma",
    "XiaomiMiMo/MiMo-V2-Flash": "mimo",
    "XiaomiMiMo/MiMo-VL-7B-RL": "qwen3",
    "arcee-ai/Trinity-Large-Thinking": "qwen3_5",
    "meituan-longcat/LongCat-Flash-Chat": "longcat",
    "internlm/internlm3-8b-instruct": "internlm2",
    "internlm/Intern-S1": "intern_s1",
    "ai-sage/GigaChat3-10B-A1.8B": "gigachat3",
    "upstage/Solar-Open-100B": "solar_open",
    "ai21labs/AI21-Jamba-1.5-Mini": "jamba",
    "Salesforce/Llama-xLAM-2-8b-fc-r": "xlam",
    "pfnet/plamo-3-nict-31b": "plamo3",
    "tencent/Hy3": "hy_v3",
    "mistralai/Mistral-Small-3.1-24B-Instruct-2503": "mistral",
    "ibm-granite/granite-4.0-h-small": "granite4",
    "HuggingFaceTB/SmolLM3-3B": "smollm3",
    "ByteDance-Seed/Seed-OSS-36B-Instruct": "seed_oss",
    "microsoft/Phi-4-mini-instruct": "phi4_mini",
    "Harmony": "gpt_oss",
}
NEAR = {
    "qwne3": "qwen3",
    "gpt_os": "gpt_oss",
    "google/gemma-3-4b-it": "gemma4",
    "Qwen/Qwen2-7B": "qwen3",
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B": "deepseek_r1",
}
"""Misspelt, or of a family of which another version is bundled: named, never taken."""


@pytest.mark.parametrize(("name", "meant"), UNDERSTOOD.items())
def test_a_name_is_understood_where_one_family_can_be_meant(name: str, meant: str) -> None:
    assert get_response_template(name) is get_response_template(meant)
    assert load_response_template(name) is get_response_template(meant)


@pytest.mark.parametrize("name", response_template_names())
def test_every_name_is_its_own(name: str) -> None:
    for written in (name, name.upper(), name.replace("_", "-")):
        assert get_response_template(written) is get_response_template(name)


@pytest.mark.parametrize(("name", "meant"), NEAR.items())
def test_others_are_named_and_never_taken(name: str, meant: str) -> None:
    for load in (get_response_template, load_response_template):
        with pytest.raises(TemplateError, match=rf"did you mean .*\b{meant}\b.*\?"):
            load(name)


@pytest.mark.parametrize("name", ["", "x", "no/such-model", "a/b/Qwen3-8B", "./qwen3", "qwen3.json", "/qwen3-8b"])
def test_what_is_no_name_of_a_model_is_none(name: str) -> None:
    with pytest.raises(TemplateError):
        load_response_template(name)


def test_a_folder_goes_before_a_name_that_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "Qwen" / "Qwen3-8B"
    folder.mkdir(parents=True)
    (folder / "response_template.json").write_text('{"start_anchor": "<|a|>", "fields": {"mine": {}}}')
    monkeypatch.chdir(tmp_path)
    assert list(load_response_template(os.path.join("Qwen", "Qwen3-8B")).fields) == ["mine"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: get_response_template(None),  # type: ignore[arg-type]
        lambda: load_response_template(None),  # type: ignore[arg-type]
        lambda: ResponseParser(prefix=""),
        lambda: parse_response("x", prefix=""),
        lambda: parse_stream("x", prefix=""),
    ],
)
def test_without_a_template_the_message_names_the_ways_to_give_one(call: Any) -> None:
    with pytest.raises(TemplateError, match=r"bundled template.*path.*tokenizer=.*chat_template="):
        call()


def test_the_operators_say_so_too() -> None:
    events = KeyedParser(prefix="").feed([("a", "x")])
    assert "bundled template" in events[0][1][0]["error"]
    with pytest.raises(TemplateError, match="did you mean"):
        parse_many({}, "qwne3", prefix="")
