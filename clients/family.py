"""The families that the clients are tried with: how each writes, and the chat template that makes its prompts.

In:  the name of a bundled response template.
Out: a ``Family``: its form, and chat templates: a public one where ``../shared`` (or ``$STREAMPARSE_SHARED``) has it,
     and one written here from the form's own marks.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path

from streamparse import response_template_names
from streamparse.infer.compare import common_prefix
from tests.field.forms import FORMS, Form, compact, each

SHARED = Path(os.environ.get("STREAMPARSE_SHARED", Path(__file__).parents[2] / "shared"))
PUBLIC = SHARED / "cases" / "chat" / "chat_templates"

CHOSEN_FORMS = {"mistral": "names with arguments"}
"""The form that a family's models write today, where it isn't the first one."""

IN_HISTORY = {
    "gpt_oss": each(
        "<|start|>assistant to=functions.",
        lambda call: f"{call[0]}<|channel|>commentary json<|message|>{compact(call[1])}",
        "<|call|>",
        "",
    )
}
"""How public chat templates write calls, where the family's models write them in another way too."""

SAME_FORM = {"qwen3_coder": "qwen3_5", "qwen3_thinking": "qwen3"}

PUBLIC_TEMPLATES = {
    "apertus": "llamacpp__Apertus-8B-Instruct",
    "cohere2": "llamacpp__CohereForAI-c4ai-command-r7b-12-2024-tool_use",
    "deepseek_dsml": "llamacpp__deepseek-ai-DeepSeek-V3.2",
    "deepseek_r1": "vllm__tool_chat_template_deepseekr1",
    "deepseek_v3": "vllm__tool_chat_template_deepseekv3",
    "deepseek_v31": "vllm__tool_chat_template_deepseekv31",
    "functionary": "llamacpp__meetkai-functionary-medium-v3.1",
    "gemma4": "llamacpp__google-gemma-4-31B-it",
    "glm45": "llamacpp__GLM-4.6",
    "gpt_oss": "llamacpp__openai-gpt-oss-120b",
    "granite3": "vllm__tool_chat_template_granite",
    "granite4": "llamacpp__ibm-granite-granite-4.0",
    "hunyuan_a13b": "vllm__tool_chat_template_hunyuan_a13b",
    "kimi_k2": "llamacpp__Kimi-K2-Instruct",
    "lfm2": "llamacpp__LFM2-8B-A1B",
    "llama3_json": "llamacpp__meta-llama-Llama-3.1-8B-Instruct",
    "llama4_pythonic": "vllm__tool_chat_template_llama4_pythonic",
    "minimax_m2": "llamacpp__MiniMax-M2",
    "mistral": "llamacpp__Mistral-Small-3.2-24B-Instruct-2506",
    "nemotron_v2": "llamacpp__NVIDIA-Nemotron-Nano-v2",
    "nemotron_v3": "llamacpp__NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
    "phi4_mini": "vllm__tool_chat_template_phi4_mini",
    "qwen3": "llamacpp__Qwen-Qwen3-0.6B",
    "qwen3_5": "llamacpp__Qwen3.5-4B",
    "qwen3_coder": "llamacpp__Qwen3-Coder",
    "qwen3_thinking": "ollama__qwq_32b",
    "seed_oss": "llamacpp__ByteDance-Seed-OSS",
    "smollm3": "llamacpp__HuggingFaceTB-SmolLM3-3B",
}
"""Chat templates that write tools and their results. There is none for Ernie, EXAONE, OLMo and Step."""

ONE_CALL = {"llama3_json": "its chat template refuses several calls in one message"}
"""Families whose models make one call at a time, with the reason."""


@dataclass(frozen=True)
class Family:
    """A bundled family: how its models write."""

    name: str
    form: Form

    @property
    def in_history(self) -> tuple[Form, ...]:
        """The form in which its public chat template writes calls, and so may begin one; none where it is the same."""
        calls = IN_HISTORY.get(self.name)
        return () if calls is None else (replace(self.form, calls=calls),)

    def public_template(self) -> str | None:
        """The text of a public chat template, None where there is none."""
        name = PUBLIC_TEMPLATES.get(self.name)
        path = PUBLIC / f"{name}.jinja"
        return path.read_text(encoding="utf-8") if name and path.exists() else None

    def own_template(self) -> str:
        """A chat template written here: the marks of the form around the turns, and the form's own calls in history."""
        return _written(self.form)


def families() -> list[Family]:
    """All bundled families."""
    return [family(name) for name in response_template_names()]


def family(name: str) -> Family:
    """The family of a bundled response template."""
    source = SAME_FORM.get(name, name)
    forms = [form for form in FORMS if form.family == source]
    note = CHOSEN_FORMS.get(name)
    form = next(form for form in forms if note in (None, form.note))
    if name == "qwen3_coder":  # its models don't think
        form = replace(form, reasoning=None, thinking=None)
    return Family(name, form)


def _written(form: Form) -> str:
    """Turns of user, system and tool between the marks of the form's prompt, which ends with the assistant's own."""
    before, _, after = form.prompt.rpartition("Hi")
    said = form.said[0].removeprefix("<|start|>assistant") if after.endswith("<|start|>assistant") else form.said[0]
    return (
        "{%- if tools %}" + _say(before) + "{{- tools | tojson }}" + "{%- endif %}"
        "{%- for message in messages %}"
        "{%- if message.role == 'assistant' %}"
        "{%- if message.content %}" + _say(said) + "{{- message.content }}" + _say(form.said[1]) + "{%- endif %}"
        "{%- for call in message.tool_calls or [] %}"
        + _call(form)
        + "{%- endfor %}"
        + _say(form.turn_end)
        + "{%- else %}"
        "{%- if not (loop.first and tools) %}" + _say(before) + "{%- endif %}{{- '\\n' + message.content }}"
        "{%- if loop.last or loop.nextitem.role == 'assistant' %}" + _say(after) + "{%- endif %}"
        "{%- endif %}{%- endfor %}"
    )


def _call(form: Form) -> str:
    """A call in the form: its arguments as JSON, or one piece after the other, or else those of the weather's tool."""
    name, days, city = "@NAME@", 77, "@CITY@"
    call = form.calls([(name, {"days": days, "city": city})])
    for written in (json.dumps({"days": days, "city": city}), compact({"days": days, "city": city})):
        if written in call:
            return _filled(call, {name: "call.function.name", written: "call.function.arguments | tojson"})
    none, one = form.calls([(name, {})]), form.calls([(name, {"@KEY@": city})])
    head = common_prefix([none, one])
    tail = none[len(head) :]
    piece = one[len(head) : len(one) - len(tail)]
    if head + _piece(piece, "days", str(days)) + _piece(piece, "city", city) + tail == call:
        value = "value if value is string else value | tojson"
        pieces = _filled(piece, {"@KEY@": "key", city: value})
        head, tail = (_filled(part, {name: "call.function.name"}) for part in (head, tail))
        return head + "{%- for key, value in call.function.arguments.items() %}" + pieces + "{%- endfor %}" + tail
    arguments = {city: "call.function.arguments.city", str(days): "call.function.arguments.days"}
    return _filled(call, {name: "call.function.name", **arguments})


def _piece(piece: str, key: str, value: str) -> str:
    return piece.replace("@KEY@", key).replace("@CITY@", value)


def _filled(text: str, values: dict[str, str]) -> str:
    """Jinja that says the text, with expressions in the place of marks."""
    for mark, value in values.items():
        text = f"\0{value}\0".join(text.split(mark))
    parts = text.split("\0")
    return "".join(_say(part) if index % 2 == 0 else f"{{{{- {part} }}}}" for index, part in enumerate(parts))


def _say(text: str) -> str:
    return f"{{{{- {json.dumps(text, ensure_ascii=False)} }}}}" if text else ""
