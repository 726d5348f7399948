"""How each family writes reasoning, calls and the end of its turn: what its models write, put together from parts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.field.reading import call

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Form:
    """One form of one family.

    ``calls`` writes several calls. ``prompt`` is the end of a prompt, ``thinking`` what the prompt adds where it opens
    the reasoning itself, ``reasoning`` what stands around reasoning, ``turn_end`` what the model ends its turn with.
    ``typed`` says whether arguments keep their types without tool schemas, ``said`` what stands around the answer,
    ``note`` which of the family's forms this is.
    """

    family: str
    calls: Callable[[list[Call]], str]
    prompt: str
    turn_end: str
    reasoning: tuple[str, str] | None = None
    thinking: str | None = None
    typed: bool = True
    said: tuple[str, str] = ("", "")
    note: str = ""

    def __str__(self) -> str:
        return f"{self.family} {self.note}".strip()

    def says(self, text: str) -> str:
        """Text as the answer."""
        return self.said[0] + text + self.said[1]

    def thinks(self, text: str) -> str:
        """Text as reasoning, of which the form must have some."""
        assert self.reasoning is not None, "the form has reasoning"
        return self.reasoning[0] + text + self.reasoning[1]

    def made(self, calls: list[Call]) -> list[dict[str, Any]]:
        """The calls as they stand in the message."""
        return [
            call(name, **{key: value if self.typed else as_text(value) for key, value in arguments.items()})
            for name, arguments in calls
        ]


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def named(call: Call, key: str = "arguments") -> str:
    return compact({"name": call[0], key: call[1]})


def each(before: str, write: Callable[[Call], str], after: str, between: str = "\n") -> Callable[[list[Call]], str]:
    """Every call in its own marks."""
    return lambda calls: between.join(before + write(call) + after for call in calls)


def around(before: str, each_call: Callable[[list[Call]], str], after: str) -> Callable[[list[Call]], str]:
    """One mark around all calls."""
    return lambda calls: before + each_call(calls) + after


def listed(before: str, after: str, key: str = "arguments") -> Callable[[list[Call]], str]:
    """A JSON list of calls."""
    return lambda calls: before + compact([{"name": name, key: arguments} for name, arguments in calls]) + after


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else compact(value)


def tags(head: str, tail: str, write: Callable[[Any], str] = as_text, middle: str = ">\n") -> Callable[[Call], str]:
    """A tag for each argument; ``head`` has a place for its name."""
    return lambda call: "".join(head.format(key) + middle + write(value) + tail for key, value in call[1].items())


def python(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(python, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{compact(key)}: {python(item)}" for key, item in value.items()) + "}"
    return compact(value) if isinstance(value, str) else repr(value)


def python_call(call: Call) -> str:
    return f"{call[0]}({', '.join(f'{key}={python(value)}' for key, value in call[1].items())})"


def python_list(calls: list[Call]) -> str:
    return f"[{', '.join(map(python_call, calls))}]"


def gemma(value: Any, quote: str = '<|"|>') -> str:
    if isinstance(value, str):
        return quote + value + quote
    if isinstance(value, list):
        return f"[{','.join(gemma(item, quote) for item in value)}]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{gemma(item, quote)}" for key, item in value.items()) + "}"
    return compact(value)


def numbered(calls: list[Call]) -> str:
    return "".join(
        f"<|tool_call_begin|>functions.{name}:{index}<|tool_call_argument_begin|>{compact(arguments)}<|tool_call_end|>"
        for index, (name, arguments) in enumerate(calls)
    )


def dsml(call: Call, mark: str = "｜DSML｜") -> str:
    return f'<{mark}invoke name="{call[0]}">\n' + "".join(
        f'<{mark}parameter name="{key}" string="{str(isinstance(value, str)).lower()}">{as_text(value)}'
        f"</{mark}parameter>\n"
        for key, value in call[1].items()
    )


def kimi_k3(calls: list[Call]) -> str:
    kinds = {bool: "boolean", int: "number", float: "number", str: "string", type(None): "null", dict: "object"}
    return "".join(
        f'<|open|>call tool="{name}" index="{index}"<|sep|>'
        + "".join(
            f'<|open|>argument key="{key}" type="{kinds.get(type(value), "array")}"<|sep|>{as_text(value)}'
            "<|close|>argument<|sep|>"
            for key, value in arguments.items()
        )
        + "<|close|>call<|sep|>"
        for index, (name, arguments) in enumerate(calls, 1)
    )


def spaced_dsml(call: Call) -> str:
    return dsml(call, "｜DSML｜ ")


def function_gemma(value: Any) -> str:
    return gemma(value, "<escape>")


def solar(calls: list[Call]) -> str:
    return "".join(
        f"<|tool_call:begin|>a1b2c3d4e{index}<|tool_call:name|>{name}<|tool_call:args|>{compact(arguments)}"
        "<|tool_call:end|>"
        for index, (name, arguments) in enumerate(calls)
    )


def cohere(calls: list[Call]) -> str:
    return compact(
        [
            {"tool_call_id": str(index), "tool_name": name, "parameters": arguments}
            for index, (name, arguments) in enumerate(calls)
        ]
    )


CHATML = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
LLAMA = "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
LLAMA_4 = "<|header_start|>user<|header_end|>\n\nHi<|eot|><|header_start|>assistant<|header_end|>\n\n"
DEEPSEEK = "<｜User｜>Hi<｜Assistant｜>"
HARMONY = "<|start|>user<|message|>Hi<|end|><|start|>assistant"
COHERE = "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>Hi<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>"
THINK = ("<think>\n", "\n</think>\n\n")
HERMES = each("<tool_call>\n", named, "\n</tool_call>")
PARAMETERS = tags("<parameter={}", "\n</parameter>\n")
CODER = each("<tool_call>\n", lambda call: f"<function={call[0]}>\n{PARAMETERS(call)}</function>", "\n</tool_call>")
FENCED = around(
    "<｜tool▁calls▁begin｜>",
    each(
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
        lambda call: f"{call[0]}\n```json\n{compact(call[1])}\n```",
        "<｜tool▁call▁end｜>",
    ),
    "<｜tool▁calls▁end｜>",
)
UNFENCED = around(
    "<｜tool▁calls▁begin｜>",
    each("<｜tool▁call▁begin｜>", lambda call: f"{call[0]}<｜tool▁sep｜>{compact(call[1])}", "<｜tool▁call▁end｜>", ""),
    "<｜tool▁calls▁end｜>",
)
KEYS_AND_VALUES = tags("<arg_key>{}</arg_key", "</arg_value>\n", middle=">\n<arg_value>")
TIGHT_KEYS_AND_VALUES = tags("<arg_key>{}</arg_key", "</arg_value>", middle="><arg_value>")
INVOKE = tags('<parameter name="{}"', "</parameter>\n", middle=">")
STEPTML = tags('<steptml:parameter name="{}"', "</steptml:parameter>", middle=">")
TIGHT_PARAMETERS = tags("<parameter={}", "</parameter>\n", middle=">")
HY = tags("<arg_key:opensource>{}</arg_key:opensource", "</arg_value:opensource>\n", middle=">\n<arg_value:opensource>")
LONGCAT = tags("<longcat_arg_key>{}</longcat_arg_key", "</longcat_arg_value>\n", middle=">\n<longcat_arg_value>")
INLINE_PARAMETERS = tags("<parameter={}", "</parameter>\n", middle=">")
ATEM = tags('<atem:parameter name="{}"', "</atem:parameter>\n", middle=">")
MISTRAL = "[INST]Hi[/INST]"
GRANITE = "<|start_of_role|>assistant<|end_of_role|>"
PHI = "<|user|>Hi<|end|><|assistant|>"

FORMS = (
    Form("qwen3", HERMES, CHATML, "<|im_end|>\n", THINK, "<think>\n"),
    Form("qwen3_5", CODER, CHATML, "<|im_end|>\n", THINK, "<think>\n", typed=False),
    Form("qwen3_5", HERMES, CHATML, "<|im_end|>\n", THINK, "<think>\n", note="JSON"),
    Form("deepseek_r1", FENCED, DEEPSEEK, "<｜end▁of▁sentence｜>", THINK, "<think>\n"),
    Form("deepseek_v3", FENCED, DEEPSEEK, "<｜end▁of▁sentence｜>"),
    Form("deepseek_v31", UNFENCED, DEEPSEEK, "<｜end▁of▁sentence｜>", ("<think>", "</think>"), "<think>"),
    Form(
        "deepseek_dsml",
        around("<｜DSML｜function_calls>\n", each("", dsml, "</｜DSML｜invoke>"), "\n</｜DSML｜function_calls>"),
        DEEPSEEK,
        "<｜end▁of▁sentence｜>",
        ("<think>", "</think>"),
        "<think>",
    ),
    Form(
        "kimi_k2",
        around("<|tool_calls_section_begin|>", numbered, "<|tool_calls_section_end|>"),
        "<|im_user|>user<|im_middle|>Hi<|im_end|><|im_assistant|>assistant<|im_middle|>",
        "<|im_end|>",
        ("<think>", "</think>"),
        "<think>",
    ),
    Form(
        "glm45",
        each("<tool_call>", lambda call: f"{call[0]}\n{KEYS_AND_VALUES(call)}", "</tool_call>"),
        "<|user|>\nHi<|assistant|>",
        "<|observation|>",
        ("\n<think>", "</think>\n"),
        "<think>",
    ),
    Form(
        "glm45",
        each("<tool_call>", lambda call: f"{call[0]}{TIGHT_KEYS_AND_VALUES(call)}", "</tool_call>", ""),
        "<|user|>\nHi<|assistant|>",
        "<|observation|>",
        ("<think>", "</think>"),
        "<think>",
        note="without line breaks",
    ),
    Form(
        "glm45", HERMES, "<|user|>\nHi<|assistant|>", "<|observation|>", ("<think>", "</think>"), "<think>", note="JSON"
    ),
    Form(
        "minimax_m2",
        around(
            "<minimax:tool_call>\n",
            each("", lambda call: f'<invoke name="{call[0]}">\n{INVOKE(call)}</invoke>', ""),
            "\n</minimax:tool_call>",
        ),
        "]~b]user\nHi[e~[\n]~b]ai\n",
        "[e~[\n",
        THINK,
        "<think>\n",
        typed=False,
    ),
    Form(
        "gpt_oss",
        each(
            "<|start|>assistant<|channel|>commentary to=functions.",
            lambda call: f"{call[0]} <|constrain|>json<|message|>{compact(call[1])}",
            "<|call|>",
            "",
        ),
        HARMONY,
        "",
        ("<|channel|>analysis<|message|>", "<|end|>"),
        "<|channel|>analysis<|message|>",
        said=("<|start|>assistant<|channel|>final<|message|>", "<|end|>"),
    ),
    Form(
        "gemma4",
        each("<|tool_call>call:", lambda call: call[0] + gemma(call[1]), "<tool_call|>", ""),
        "<|turn>user\nHi<turn|>\n<|turn>model\n",
        "<turn|>",
        ("<|channel>thought\n", "\n<channel|>"),
        "<|channel>thought\n",
    ),
    Form("llama3_json", lambda calls: "; ".join(named(call, "parameters") for call in calls), LLAMA, "<|eot_id|>"),
    Form(
        "llama3_json",
        each("<|python_tag|>", lambda call: named(call, "parameters"), "", "; "),
        LLAMA,
        "<|eom_id|>",
        note="with its mark",
    ),
    Form("llama4_pythonic", python_list, LLAMA_4, "<|eot|>"),
    Form(
        "llama4_pythonic", around("<|python_start|>", python_list, "<|python_end|>"), LLAMA_4, "<|eot|>", note="marked"
    ),
    Form("mistral", listed("[TOOL_CALLS] ", ""), MISTRAL, "</s>", ("[THINK]", "[/THINK]"), "[THINK]", note="list"),
    Form(
        "mistral",
        each("[TOOL_CALLS]", lambda call: f"{call[0]}[ARGS]{compact(call[1])}", "", ""),
        MISTRAL,
        "</s>",
        ("[THINK]", "[/THINK]"),
        "[THINK]",
        note="names with arguments",
    ),
    Form(
        "granite3",
        listed("<|tool_call|>", ""),
        GRANITE,
        "<|end_of_text|>",
        ("<think>", "</think>"),
    ),
    Form("granite4", HERMES, GRANITE, "<|end_of_text|>", ("<think>", "</think>")),
    Form(
        "cohere2",
        around("<|START_ACTION|>", cohere, "<|END_ACTION|>"),
        COHERE,
        "<|END_OF_TURN_TOKEN|>",
        ("<|START_THINKING|>", "<|END_THINKING|>"),
        "<|START_THINKING|>",
    ),
    Form("phi4_mini", listed("functools", ""), PHI, "<|end|>"),
    Form(
        "phi4_mini",
        listed("<|tool_call|>", "<|/tool_call|>"),
        PHI,
        "<|end|>",
        note="marked",
    ),
    Form("hunyuan_a13b", listed("<tool_calls>", "</tool_calls>"), "<|startoftext|>Hi<|extra_0|>", "<|eos|>", THINK),
    Form(
        "lfm2",
        around("<|tool_call_start|>", python_list, "<|tool_call_end|>"),
        CHATML,
        "<|im_end|>",
        ("<think>", "</think>"),
    ),
    Form(
        "lfm2",
        listed("<|tool_call_start|>", "<|tool_call_end|>"),
        CHATML,
        "<|im_end|>",
        ("<think>", "</think>"),
        note="JSON",
    ),
    Form(
        "seed_oss",
        each(
            "<seed:tool_call>\n",
            lambda call: f"<function={call[0]}>\n{TIGHT_PARAMETERS(call)}</function>",
            "\n</seed:tool_call>",
        ),
        "<seed:bos>user\nHi<seed:eos><seed:bos>assistant\n",
        "<seed:eos>",
        ("<seed:think>", "</seed:think>"),
        "<seed:think>",
        typed=False,
    ),
    Form(
        "seed_oss",
        each("<seed:tool_call>\n", named, "\n</seed:tool_call>"),
        "<seed:bos>user\nHi<seed:eos><seed:bos>assistant\n",
        "<seed:eos>",
        ("<seed:think>", "</seed:think>"),
        "<seed:think>",
        note="JSON",
    ),
    Form(
        "step3",
        around(
            "<｜tool_calls_begin｜>\n",
            each(
                "<｜tool_call_begin｜>function<｜tool_sep｜>",
                lambda call: f'<steptml:invoke name="{call[0]}">{STEPTML(call)}</steptml:invoke>',
                "<｜tool_call_end｜>",
            ),
            "\n<｜tool_calls_end｜>",
        ),
        "<|BOT|>user\nHi<|EOT|><|BOT|>assistant\n",
        "<|EOT|>",
        THINK,
        "<think>\n",
        typed=False,
    ),
    Form(
        "nemotron_v2",
        listed("<TOOLCALL>", "</TOOLCALL>"),
        "<SPECIAL_11>Assistant\n",
        "<SPECIAL_12>",
        THINK,
        "<think>\n",
    ),
    Form("nemotron_v3", CODER, CHATML, "<|im_end|>\n", THINK, "<think>\n", typed=False),
    Form("smollm3", HERMES, CHATML, "<|im_end|>\n", THINK, "<think>\n"),
    Form("ernie", HERMES, CHATML, "<|im_end|>\n", THINK, "<think>\n"),
    Form(
        "functionary",
        each("<function=", lambda call: f"{call[0]}>{compact(call[1])}", "</function>", ""),
        LLAMA,
        "<|eom_id|>",
    ),
    Form(
        "functionary",
        each(">>>", lambda call: f"{call[0]}\n{compact(call[1])}", "", ""),
        LLAMA,
        "<|eot_id|>",
        said=(">>>all\n", ""),
        note="version 3.2",
    ),
    Form(
        "apertus",
        lambda calls: f"<|tools_prefix|>{compact([{name: arguments} for name, arguments in calls])}<|tools_suffix|>",
        "<|user_start|>Hi<|user_end|><|assistant_start|>",
        "<|assistant_end|>",
        ("<|inner_prefix|>", "<|inner_suffix|>"),
        "<|inner_prefix|>",
    ),
    Form("exaone4", HERMES, "[|user|]\nHi[|endofturn|]\n[|assistant|]\n", "[|endofturn|]", THINK, "<think>\n"),
    Form(
        "olmo3",
        around("<function_calls>", lambda calls: "\n".join(map(python_call, calls)), "</function_calls>"),
        CHATML,
        "<|im_end|>",
        ("<think>", "</think>"),
        "<think>",
    ),
    Form(
        "olmo3",
        around("<function_calls>", python_list, "</function_calls>"),
        CHATML,
        "<|im_end|>",
        ("<think>", "</think>"),
        "<think>",
        note="a list",
    ),
    Form(
        "kimi_k3",
        around("<|open|>tools<|sep|>", kimi_k3, "<|close|>tools<|sep|>"),
        '<|open|>message role="user"<|sep|>Hi<|close|>message<|sep|><|end_of_msg|>'
        '<|open|>message role="assistant"<|sep|>',
        "<|close|>message<|sep|><|end_of_msg|>",
        ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
        "<|open|>think<|sep|>",
        said=("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
    ),
    Form(
        "deepseek_v41",
        around("<｜DSML｜ calls>\n", each("", spaced_dsml, "</｜DSML｜ invoke>"), "\n</｜DSML｜ calls>"),
        DEEPSEEK,
        "<｜end▁of▁sentence｜>",
        ("<think>", "</think>"),
        "<think>",
    ),
    Form(
        "functiongemma",
        each("<start_function_call>call:", lambda call: call[0] + function_gemma(call[1]), "<end_function_call>", ""),
        "<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n",
        "<end_of_turn>",
    ),
    Form(
        "hy_v3",
        around(
            "<tool_calls:opensource>\n",
            each(
                "<tool_call:opensource>",
                lambda call: f"{call[0]}<tool_sep:opensource>\n{HY(call)}",
                "</tool_call:opensource>",
            ),
            "\n</tool_calls:opensource>",
        ),
        "<｜hy_User:opensource｜>Hi<｜hy_Assistant:opensource｜>",
        "<｜hy_eos:opensource｜>",
        ("<think:opensource>", "</think:opensource>"),
        "<think:opensource>",
    ),
    Form(
        "hy_v4",
        around(
            "<tool_calls>",
            each("<tool_call>", lambda call: f"{call[0]}{TIGHT_KEYS_AND_VALUES(call)}", "</tool_call>", ""),
            "</tool_calls>",
        ),
        "<｜hy_User｜>Hi<｜hy_Assistant｜>",
        "<｜hy_eos｜>",
        ("<think>", "</think>"),
        "<think>",
    ),
    Form(
        "solar_open",
        around("<|begin|>assistant<|tool_calls|>", solar, "<|calls|>"),
        "<|begin|>user<|content|>Hi<|end|><|begin|>assistant",
        "",
        ("<|begin|>assistant<|think|>", "<|end|>"),
        said=("<|begin|>assistant<|content|>", "<|end|>"),
    ),
    Form(
        "gigachat3",
        each("<|function_call|>", named, "", ""),
        "user<|role_sep|>\nHi<|message_sep|>\n\nassistant<|role_sep|>\n",
        "<|message_sep|>\n\n",
    ),
    Form(
        "gigachat3",
        each("function call<|role_sep|>\n", named, "", "<|message_sep|>\n\n"),
        "user<|role_sep|>\nHi<|message_sep|>\n\nassistant<|role_sep|>\n",
        "<|message_sep|>\n\n",
        note="a turn for each call",
    ),
    Form(
        "jamba",
        listed("<tool_calls>", "</tool_calls>"),
        "<|bom|><|user|> Hi<|eom|><|bom|><|assistant|>",
        "<|eom|>",
    ),
    Form(
        "internlm2",
        each("<|action_start|><|plugin|>\n", named, "<|action_end|>", ""),
        CHATML,
        "<|im_end|>\n",
        THINK,
        "<think>\n",
    ),
    Form(
        "intern_s1",
        each("<|action_start|> <|plugin|>\n", lambda call: named(call, "parameters"), "<|action_end|>"),
        CHATML,
        "<|im_end|>\n",
        THINK,
        "<think>\n",
    ),
    Form(
        "mimo",
        each(
            "<tool_call>\n",
            lambda call: f"<function={call[0]}>\n{INLINE_PARAMETERS(call)}</function>",
            "\n</tool_call>",
        ),
        CHATML,
        "<|im_end|>",
        ("<think>", "</think>"),
        "<think>",
        typed=False,
    ),
    Form(
        "longcat",
        each("<longcat_tool_call>", lambda call: f"{call[0]}\n{LONGCAT(call)}", "</longcat_tool_call>"),
        "[Round 0] USER:Hi ASSISTANT:",
        "</longcat_s>",
        ("<longcat_think>\n", "\n</longcat_think>\n"),
        "<longcat_think>\n",
    ),
    Form(
        "longcat",
        each("<longcat_tool_call>", named, "</longcat_tool_call>"),
        "<longcat_user>Hi<longcat_assistant>",
        "</longcat_s>",
        ("<longcat_think>\n", "\n</longcat_think>\n"),
        "<longcat_think>\n",
        note="JSON",
    ),
    Form(
        "plamo3",
        around(
            "<|plamo:begin_tool_requests:plamo|>",
            each(
                "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>",
                lambda call: (
                    f"{call[0]}<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>"
                    f"<|plamo:constrain|>json<|plamo:msg|>{compact(call[1])}"
                ),
                "<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>",
                "",
            ),
            "<|plamo:end_tool_requests:plamo|>",
        ),
        "user<|plamo:msg|>Hi<|plamo:tag|>assistant<|plamo:msg|>",
        "<|plamo:tag|>",
        ("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),
        "<|plamo:begin_think:plamo|>",
    ),
    Form(
        "inkling",
        each(
            "<|message_model|>",
            lambda call: f"{call[0]}<|content_invoke_tool_json|>{named(call, 'args')}",
            "<|end_message|>",
            "",
        ),
        "<|message_user|><|content_text|>Hi<|end_message|><|message_model|>",
        "<|content_model_end_sampling|>",
        ("<|content_thinking|>", "<|end_message|>"),
        said=("<|message_model|><|content_text|>", "<|end_message|>"),
    ),
    Form(
        "muse_glimmer",
        each(
            "<|start|>assistant to=",
            lambda call: (
                f'{call[0]}<|message|><atem:function_calls>\n<atem:invoke name="{call[0]}">\n{ATEM(call)}'
                "</atem:invoke>\n</atem:function_calls>"
            ),
            "",
            "<|eom|>",
        ),
        "<|start|>user<|message|>Hi<|eot|><|start|>assistant",
        "<|eot|>",
        ("<|start|>assistant to=self<|message|>", "<|eom|>"),
        said=("<|start|>assistant to=user<|message|>", "<|eom|>"),
    ),
    Form("xlam", listed("", ""), LLAMA, "<|eot_id|>"),
)
