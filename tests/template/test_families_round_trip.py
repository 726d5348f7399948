"""What the public chat templates of a family render comes back through the family's bundled template.

The rendered turns lie beside the repository in ``shared/``, or where ``$STREAMPARSE_SHARED`` says; without them these
tests are skipped.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from streamparse import ResponseParser

SHARED = Path(os.environ.get("STREAMPARSE_SHARED", Path(__file__).parents[3] / "shared"))
ROWS_FILE = SHARED / "cases" / "chat" / "roundtrip.jsonl"

CHAT_TEMPLATES = {
    "apertus": ["llamacpp__Apertus-8B-Instruct", "vllm__tool_chat_template_apertus"],
    "cohere2": [
        "llamacpp__CohereForAI-c4ai-command-r7b-12-2024-tool_use",
        "axolotl__command_a_tool_use",
        "trl__cohere2_training",
        "axolotl__aya",
        "ollama__aya_35b",
    ],
    "deepseek_dsml": [
        "llamacpp__deepseek-ai-DeepSeek-V3.2",
        "llamacpp__deepseek-ai-DeepSeek-V4",
        "llamacpp__deepseek-ai-DeepSeek-V4-Flash-0731",
    ],
    "deepseek_r1": [
        "llamacpp__deepseek-ai-DeepSeek-R1-Distill-Llama-8B",
        "llamacpp__deepseek-ai-DeepSeek-R1-Distill-Qwen-32B",
        "llamacpp__llama-cpp-deepseek-r1",
        "xinference__deepseek-r1-0528",
        "vllm__tool_chat_template_deepseekr1",
    ],
    "deepseek_v3": ["trl__deepseekv3", "xinference__deepseek-v2-chat-0628", "ollama__deepseek-v2.5_236b"],
    "deepseek_v31": ["llamacpp__deepseek-ai-DeepSeek-V3.1"],
    "functiongemma": ["vllm__tool_chat_template_functiongemma"],
    "functionary": ["llamacpp__meetkai-functionary-medium-v3.1", "llamacpp__meetkai-functionary-medium-v3.2"],
    "gemma4": [
        "llamacpp__google-gemma-4-31B-it",
        "llamacpp__google-gemma-4-31B-it-interleaved",
        "vllm__tool_chat_template_gemma4",
        "trl__diffusion_gemma_training",
    ],
    "glm45": [
        "llamacpp__GLM-4.6",
        "llamacpp__GLM-4.7-Flash",
        "xinference__glm-4.5",
        "xinference__glm-5.1",
        "llamacpp__Spark2.5",
        "llamacpp__inclusionai-ling-3.0-flash",
        "llamacpp__poolside-Laguna-S-2.1",
        "llamacpp__poolside-Laguna-XS-2.1",
        "llamacpp__poolside-Laguna-XS.2",
    ],
    "gpt_oss": ["llamacpp__openai-gpt-oss-120b"],
    "granite3": ["llamacpp__ibm-granite-granite-3.3-2B-Instruct", "vllm__tool_chat_template_granite"],
    "granite4": ["llamacpp__ibm-granite-granite-4.0", "llamacpp__ibm-granite-granite-4.1"],
    "hunyuan_a13b": ["vllm__tool_chat_template_hunyuan_a13b"],
    "gigachat3": ["llamacpp__GigaChat3-10B-A1.8B", "llamacpp__GigaChat3.1-10B-A1.8B"],
    "hy_v3": ["llamacpp__tencent-Hy3"],
    "internlm2": ["vllm__tool_chat_template_internlm2_tool"],
    "kimi_k3": ["llamacpp__Kimi-K3"],
    "muse_glimmer": ["llamacpp__muse-glimmer", "vllm__tool_chat_template_muse_glimmer"],
    "solar_open": ["llamacpp__upstage-Solar-Open-100B"],
    "xlam": ["vllm__tool_chat_template_xlam_llama", "vllm__tool_chat_template_xlam_qwen"],
    "kimi_k2": ["llamacpp__Kimi-K2-Instruct", "llamacpp__Kimi-K2-Thinking", "llamacpp__moonshotai-Kimi-K2"],
    "lfm2": [
        "llamacpp__LFM2-8B-A1B",
        "llamacpp__LFM2.5-8B-A1B",
        "llamacpp__LFM2.5-Instruct",
        "trl__lfm2_2_5_v2",
        "trl__lfm2_training",
    ],
    "llama3_json": [
        "llamacpp__meta-llama-Llama-3.1-8B-Instruct",
        "llamacpp__meta-llama-Llama-3.2-3B-Instruct",
        "vllm__tool_chat_template_llama3.1_json",
        "vllm__tool_chat_template_llama3.2_json",
        "vllm__tool_chat_template_llama4_json",
        "xinference__llama-3-instruct",
        "ollama__dolphin-llama3_8b",
    ],
    "llama4_pythonic": [
        "vllm__tool_chat_template_llama4_pythonic",
        "vllm__tool_chat_template_llama3.2_pythonic",
        "vllm__tool_chat_template_toolace",
        "axolotl__llama4",
        "ollama__llama4_latest",
    ],
    "minimax_m2": ["llamacpp__MiniMax-M2", "xinference__MiniMax-M2.5"],
    "mistral": [
        "llamacpp__Mistral-Small-3.2-24B-Instruct-2506",
        "llamacpp__mistralai-Ministral-3-14B-Reasoning-2512",
        "llamacpp__mistralai-Mistral-Nemo-Instruct-2407",
        "llamacpp__unsloth-mistral-Devstral-Small-2507",
        "vllm__tool_chat_template_mistral3",
        "ollama__mistral-large_123b",
        "ollama__mistral-small_24b",
    ],
    "nemotron_v2": ["llamacpp__NVIDIA-Nemotron-Nano-v2"],
    "nemotron_v3": [
        "llamacpp__NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
        "trl__nemotron_3_5_lightning_training",
    ],
    "olmo3": ["ollama__olmo2_7b"],
    "phi4_mini": [
        "llamacpp__microsoft-Phi-3.5-mini-instruct",
        "axolotl__phi_35",
        "llamacpp__fireworks-ai-llama-3-firefunction-v2",
    ],
    "qwen3": [
        "llamacpp__Qwen-Qwen3-0.6B",
        "llamacpp__Qwen-Qwen2.5-7B-Instruct",
        "llamacpp__NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use",
        "llamacpp__MiMo-VL",
        "llamacpp__Bielik-11B-v3.0-Instruct",
        "ollama__qwen2_0.5b",
        "ollama__yi-coder_1.5b",
        "ollama__nous-hermes2-mixtral_8x7b",
        "vllm__rust-qwen3",
        "vllm__tool_chat_template_hermes",
        "vllm__template_chatml",
        "vllm__builtin-template_chatml",
        "vllm__builtin-template_minicpmv45",
        "trl__qwen3_vl",
        "trl__qwen3_instruct_2507_training",
        "xinference__Qwen3-Instruct",
        "xinference__qwen-chat",
        "xinference__Baichuan-M2",
        "axolotl__qwen2_vl",
    ],
    "qwen3_5": [
        "llamacpp__Qwen3.5-4B",
        "vllm__rust-qwen35",
        "trl__qwen3_6_training",
        "llamacpp__StepFun3.5-Flash",
        "axolotl__qwen3_5",
    ],
    "qwen3_coder": ["llamacpp__Qwen3-Coder", "vllm__tool_chat_template_qwen3coder"],
    "qwen3_thinking": ["llamacpp__Qwen-QwQ-32B", "ollama__qwq_32b"],
    "seed_oss": ["llamacpp__ByteDance-Seed-OSS", "xinference__seed-oss"],
    "smollm3": ["llamacpp__HuggingFaceTB-SmolLM3-3B"],
}

# Rows whose calls version 1 of the format has no words for, by family and chat template.
BEYOND_VERSION_1 = {
    ("apertus", "llamacpp__Apertus-8B-Instruct"): "a call's name is the only key of its object",
    ("apertus", "vllm__tool_chat_template_apertus"): "a call's name is the only key of its object",
    ("lfm2", "llamacpp__LFM2.5-8B-A1B"): "strings have raw line breaks",
    ("lfm2", "trl__lfm2_2_5_v2"): "strings have raw line breaks",
    ("llama3_json", "vllm__tool_chat_template_llama3.2_json"): "arguments are a string of JSON",
    ("llama3_json", "vllm__tool_chat_template_llama4_json"): "calls end where their objects do",
    ("llama4_pythonic", "axolotl__llama4"): "calls are JSON as well",
    ("llama4_pythonic", "ollama__llama4_latest"): "calls are JSON as well",
    ("mistral", "llamacpp__mistralai-Mistral-Nemo-Instruct-2407"): "calls are a list, or named before their arguments",
    ("mistral", "vllm__tool_chat_template_mistral3"): "calls are a list, or named before their arguments",
    ("qwen3_5", "axolotl__qwen3_5"): "calls are JSON as well",
}


def load() -> list[tuple[str, dict[str, Any]]]:
    if not ROWS_FILE.exists():
        return []
    family_of = {f"{name}.jinja": family for family, names in CHAT_TEMPLATES.items() for name in names}
    rows = [json.loads(line) for line in ROWS_FILE.read_text(encoding="utf-8").splitlines()]
    return [(family_of[row["chat_template"]], row) for row in rows if row["chat_template"] in family_of]


ROWS = load()
rows = pytest.mark.parametrize(("family", "row"), ROWS, ids=[f"{family}: {row['id']}" for family, row in ROWS])
needs_rows = pytest.mark.skipif(not ROWS, reason="the shared chat templates are not beside this checkout")


def compared(message: dict[str, Any]) -> dict[str, Any]:
    calls = [[call["function"]["name"], call["function"]["arguments"]] for call in message.get("tool_calls", [])]
    return {key: message.get(key, "").strip() for key in ("content", "reasoning_content")} | {"calls": calls}


def read(family: str, row: dict[str, Any], errors: Any) -> None:
    for pieces in ([row["output"]], list(row["output"])):
        parser = ResponseParser(family, row["prefix"], tools=row["tools"], errors=errors)
        for piece in pieces:
            parser.feed(piece)
        message, _ = parser.finalize()
        assert compared(message) == compared(row["expect"])
        assert parser.problems == []


@needs_rows
def test_every_chat_template_of_the_families_has_rows() -> None:
    named = {f"{name}.jinja" for names in CHAT_TEMPLATES.values() for name in names}
    assert named == {row["chat_template"] for _, row in ROWS}


@needs_rows
@rows
def test_a_rendered_turn_comes_back(family: str, row: dict[str, Any]) -> None:
    read(family, row, "repair")


@needs_rows
@rows
def test_a_rendered_turn_comes_back_in_strict_mode(family: str, row: dict[str, Any]) -> None:
    name = row["chat_template"].removesuffix(".jinja")
    if (family, name) in BEYOND_VERSION_1 and row["expect"].get("tool_calls"):
        pytest.skip(f"version 1 can't say that {BEYOND_VERSION_1[family, name]}")
    read(family, row, "strict")
