"""Parsers that others wrote, each as a function from a whole output and its tools to calls and text.

In: the folder that ``make differential`` fills: wheels of vLLM and SGLang, small packages in ``deps``, the vocabulary
that openai-harmony asks for in ``tiktoken``. Out: peers by family. Only their readers of tool calls are asked, since
what they do with reasoning is another parser's part there.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from stress.differential.wheels import import_from_wheels

REAL = {
    "sglang": ("sglang.srt.function_call.", "sglang.srt.parser.inkling_tokenizer"),
    "vllm": ("vllm.tool_parsers.", "vllm.parser.utils"),
}
ABSENT = ("xgrammar", "lxml", "prometheus_client", "mistral_common", "cohere_melody", "torch")
"""What the wheels' modules import and their readers don't need."""

SGLANG = {
    "apertus": ("apertus2509_detector", "Apertus2509Detector"),
    "cohere2": ("cohere_command4_detector", "CohereCommand4Detector"),
    "deepseek_dsml": ("deepseekv32_detector", "DeepSeekV32Detector"),
    "deepseek_v3": ("deepseekv3_detector", "DeepSeekV3Detector"),
    "deepseek_v31": ("deepseekv31_detector", "DeepSeekV31Detector"),
    "deepseek_v41": ("deepseekv41_detector", "DeepSeekV41Detector"),
    "gemma4": ("gemma4_detector", "Gemma4Detector"),
    "gigachat3": ("gigachat3_detector", "GigaChat3Detector"),
    "glm45": ("glm4_moe_detector", "Glm4MoeDetector"),
    "hy_v3": ("hunyuan_detector", "HunyuanDetector"),
    "inkling": ("inkling_detector", "InklingDetector"),
    "intern_s1": ("internlm_detector", "InternlmDetector"),
    "kimi_k2": ("kimik2_detector", "KimiK2Detector"),
    "kimi_k3": ("kimik3_detector", "KimiK3Detector"),
    "lfm2": ("lfm2_detector", "Lfm2Detector"),
    "llama3_json": ("llama32_detector", "Llama32Detector"),
    "llama4_pythonic": ("pythonic_detector", "PythonicDetector"),
    "mimo": ("mimo_detector", "MiMoDetector"),
    "minimax_m2": ("minimax_m2", "MinimaxM2Detector"),
    "mistral": ("mistral_detector", "MistralDetector"),
    "muse_glimmer": ("muse_glimmer_detector", "MuseGlimmerDetector"),
    "qwen3": ("qwen25_detector", "Qwen25Detector"),
    "qwen3_5": ("qwen3_coder_detector", "Qwen3CoderDetector"),
    "step3": ("step3_detector", "Step3Detector"),
}
VLLM = {
    "functiongemma": ("functiongemma_tool_parser", "FunctionGemmaToolParser"),
    "gigachat3": ("gigachat3_tool_parser", "GigaChat3ToolParser"),
    "hunyuan_a13b": ("hunyuan_a13b_tool_parser", "HunyuanA13BToolParser"),
    "hy_v3": ("hy_v3_tool_parser", "HYV3ToolParser"),
    "internlm2": ("internlm2_tool_parser", "Internlm2ToolParser"),
    "jamba": ("jamba_tool_parser", "JambaToolParser"),
    "kimi_k3": ("kimi_k3_tool_parser", "KimiK3ToolParser"),
    "longcat": ("longcat_tool_parser", "LongcatFlashToolParser"),
    "muse_glimmer": ("muse_glimmer_tool_parser", "MuseGlimmerToolParser"),
    "olmo3": ("olmo3_tool_parser", "Olmo3PythonicToolParser"),
    "phi4_mini": ("phi4mini_tool_parser", "Phi4MiniJsonToolParser"),
    "qwen3": ("hermes_tool_parser", "Hermes2ProToolParser"),
    "xlam": ("xlam_tool_parser", "xLAMToolParser"),
}


@dataclass(frozen=True)
class Reading:
    """What a parser makes of an output: calls as name and arguments, and the text beside them, without outer blanks."""

    calls: tuple[tuple[str, str], ...]
    text: str
    error: str = ""

    @classmethod
    def of(cls, calls: list[tuple[Any, Any]], text: str | None) -> Reading:
        """From names and arguments, which may be JSON text."""
        return cls(tuple((str(name), _canonical(arguments)) for name, arguments in calls), (text or "").strip())


Peer = Callable[[str, list[dict[str, Any]]], Reading]


def _canonical(arguments: Any) -> str:
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return f"not JSON: {arguments}"
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def peers(folder: Path) -> dict[tuple[str, str], Peer]:
    """The peers that load, by their project and family; what doesn't load is said on the standard error."""
    sys.path.insert(0, str(folder / "deps"))
    import_from_wheels(folder, REAL, ABSENT)
    found: dict[tuple[str, str], Peer] = {}
    for project, table, make in (("SGLang", SGLANG, _sglang), ("vLLM", VLLM, _vllm)):
        for family, (module, name) in table.items():
            try:
                found[project, family] = make(module, name)
            except Exception as error:
                print(f"{project} {family}: {type(error).__name__}: {error}", file=sys.stderr)
    os.environ["TIKTOKEN_ENCODINGS_BASE"] = str(folder / "tiktoken")
    try:
        found["openai-harmony", "gpt_oss"] = _harmony()
    except Exception as error:
        print(f"openai-harmony: {type(error).__name__}: {error}", file=sys.stderr)
    return found


def _tools(tools: list[dict[str, Any]]) -> list[Any]:
    return [
        SimpleNamespace(
            type="function",
            function=SimpleNamespace(name=tool["name"], parameters=tool["parameters"], description="", strict=False),
        )
        for tool in tools
    ]


def _sglang(module: str, name: str) -> Peer:
    detector = getattr(importlib.import_module(f"sglang.srt.function_call.{module}"), name)

    def read(text: str, tools: list[dict[str, Any]]) -> Reading:
        result = detector().detect_and_parse(text, _tools(tools))
        return Reading.of([(call.name, call.parameters) for call in result.calls or ()], result.normal_text)

    detector()
    return read


class Vocabulary(dict[str, int]):
    """A vocabulary that has every mark as a token."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: str) -> int:
        self[key] = len(self)
        return self[key]

    def get(self, key: str, _: Any = None) -> Any:
        """A number for every text."""
        return self[key]


class Tokenizer:
    """As much of a tokenizer as parsers of text ask for."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary({"<think:opensource>": 0})
        self.init_kwargs: dict[str, Any] = {}

    def get_vocab(self) -> Vocabulary:
        """All tokens."""
        return self.vocabulary

    def encode(self, text: str, **_: Any) -> list[int]:
        """One token for any text."""
        return [self.vocabulary[text]]

    def decode(self, tokens: list[int], **_: Any) -> str:
        """The text of a token."""
        names = {number: name for name, number in self.vocabulary.items()}
        return "".join(names.get(token, "") for token in tokens)

    def convert_tokens_to_ids(self, token: str) -> int:
        """The number of a token."""
        return self.vocabulary[token]


def _vllm(module: str, name: str) -> Peer:
    parser = getattr(importlib.import_module(f"vllm.tool_parsers.{module}"), name)

    def read(text: str, tools: list[dict[str, Any]]) -> Reading:
        request = SimpleNamespace(tools=_tools(tools), tool_choice="auto", skip_special_tokens=False)
        result = parser(Tokenizer(), request.tools).extract_tool_calls(text, request)
        calls = [(call.function.name, call.function.arguments) for call in result.tool_calls or ()]
        return Reading.of(calls, result.content)

    parser(Tokenizer(), [])
    return read


def _harmony() -> Peer:
    harmony = importlib.import_module("openai_harmony")
    encoding = harmony.load_harmony_encoding("HarmonyGptOss")

    def read(text: str, _: list[dict[str, Any]]) -> Reading:
        tokens = encoding.encode(text.removeprefix("<|start|>assistant"), allowed_special="all")
        calls, said = [], []
        for message in encoding.parse_messages_from_completion_tokens(tokens, harmony.Role.ASSISTANT):
            words = "".join(getattr(part, "text", "") for part in message.content)
            if message.recipient and message.recipient != "all":
                calls.append((message.recipient.removeprefix("functions."), words))
            elif message.channel != "analysis":
                said.append(words)
        return Reading.of(calls, "\n".join(said))

    return read
