"""Which bundled template a name means that is none of theirs: written otherwise, of a model on a hub, or misspelt.

In:  a name, and the names that there are with the template that each is for. Out: the template, or names that come
close.

Templates are for families, while models have versions, sizes and makers: ``Qwen/Qwen3-8B``. Of a hub's name the part
behind the last slash counts, and its words are read from the left. The table says of words that mark another format
than the rest of the name would say, and of names of series whose number has to be read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

SERIES: tuple[tuple[str, str], ...] = (
    (r"qwen-?3[-.].*coder|qwen-?3-?coder", "qwen3_coder"),
    (r"qwen-?3(?![.\d]).*thinking|qwq", "qwen3_thinking"),
    (r"qwen-?3\.[56]", "qwen3_5"),
    (r"qwen-?(3|2\.5)(?![.\d])", "qwen3"),
    (r"(nous-)?hermes-?[234](?!\d)", "qwen3"),
    (r"deepseek-?r1(?!.*distill)", "deepseek_r1"),
    (r"deepseek-?v3\.1", "deepseek_v31"),
    (r"deepseek-?v4\.1", "deepseek_v41"),
    (r"deepseek-?v(3\.2|4)(?![.\d])", "deepseek_dsml"),
    (r"deepseek-?v(3|2\.5)(?![.\d])", "deepseek_v3"),
    (r"gpt-?oss", "gpt_oss"),
    (r"(meta-)?llama-?3\.[1-3]", "llama3_json"),
    (r"(meta-)?llama-?4(?!\d)", "llama4_pythonic"),
    (r"glm-?(4\.[5-7]|5)(?!\d)", "glm45"),
    (r"kimi-?k2", "kimi_k2"),
    (r"kimi-?k3", "kimi_k3"),
    (r"minimax-?m2", "minimax_m2"),
    (r"granite-?3(?!\d)", "granite3"),
    (r"granite-?4(?!\d)", "granite4"),
    (r"gemma-?4(?!\d)", "gemma4"),
    (r"functiongemma", "functiongemma"),
    (r"smollm-?3(?!\d)", "smollm3"),
    (r"seed-?oss", "seed_oss"),
    (r"olmo-?3(?!\d)", "olmo3"),
    (r"lfm-?2(?!\d)", "lfm2"),
    (r"phi-?4-?mini", "phi4_mini"),
    (r"hunyuan-?a13b", "hunyuan_a13b"),
    (r"hy-?v?3(?!\d)", "hy_v3"),
    (r"hy-?v?4(?!\d)", "hy_v4"),
    (r"ernie-?4\.5", "ernie"),
    (r"exaone-?4(?!\d)", "exaone4"),
    (r"apertus", "apertus"),
    (r"(mistral|magistral|ministral|devstral)-(nemo|small|medium|large|\d)", "mistral"),
    (r"(c4ai-)?command-(r7b|a)(?![a-z])", "cohere2"),
    (r"(nvidia-)?nemotron-nano-\d+b-v2", "nemotron_v2"),
    (r"(nvidia-)?nemotron-3(?!\d)", "nemotron_v3"),
    (r"step-?3(?![.\d])", "step3"),
    (r"mimo-?v2", "mimo"),
    (r"mimo-?vl", "qwen3"),
    (r"trinity-large-thinking", "qwen3_5"),
    (r"longcat-flash", "longcat"),
    (r"internlm-?[23]", "internlm2"),
    (r"intern-?s1", "intern_s1"),
    (r"gigachat-?3(\.1)?(?![.\d])", "gigachat3"),
    (r"solar-open", "solar_open"),
    (r"(ai21-)?jamba-(mini|large|1)", "jamba"),
    (r"(llama-)?xlam-2", "xlam"),
    (r"plamo-3", "plamo3"),
    (r"muse-glimmer", "muse_glimmer"),
)
"""Patterns of how a model's name begins, in small letters and with hyphens; the more particular ones come first."""

_CLOSE = 0.75
_ENDING = re.compile(r"[-_. ](gguf|awq|gptq|fp8|bf16|int4|int8|4bit|8bit|mlx|q\d\w*)$", re.IGNORECASE)


def plain(name: str) -> str:
    """A name without case and separators.

    >>> plain("DeepSeek-V3.1"), plain("deepseek_v31")
    ('deepseekv31', 'deepseekv31')
    """
    return re.sub(r"[-_.\s]", "", name.lower())


def meant(name: str, known: Mapping[str, str]) -> str | None:
    """The template that a name means without doubt, None otherwise.

    A name with a folder of its own (``./x``, ``/x``, ``x/y/z``) or the ending of a file is a path and nothing else.

    >>> meant("meta-llama/Llama-3.1-8B-Instruct", {}), meant("openai/gpt-oss-20b", {}), meant("./qwen3", {})
    ('llama3_json', 'gpt_oss', None)
    >>> meant("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", {})
    """
    parts = name.split("/")
    if len(parts) > 2 or len(name) > 200 or not parts[0].strip(". ") or re.search(r"\.(json|jinja|txt)$", name):
        return None
    model = parts[-1]
    while ending := _ENDING.search(model):
        model = model[: ending.start()]
    words, hyphened = plain(model), re.sub(r"[-_\s]+", "-", model.lower())
    by_name = {target for other, target in known.items() if plain(other) == words}
    if len(by_name) == 1:
        return by_name.pop()
    return next((target for pattern, target in SERIES if re.match(pattern, hyphened)), None)


def candidates(name: str, known: Mapping[str, str]) -> list[str]:
    """Templates that a name comes close to: misspelt, or the family of a model whose version is none of theirs."""
    words = plain(name.rsplit("/", 1)[-1][:100])
    targets = {plain(other): target for other, target in known.items()}
    near = [targets[other] for other in get_close_matches(words, targets, n=3, cutoff=_CLOSE)]
    family = re.match(r"[a-z]+", words)
    if not near and family is not None and len(family[0]) > 2:
        near = sorted({target for other, target in targets.items() if other.startswith(family[0])})
    return list(dict.fromkeys(near))[:5]
