"""What is parsed: templates, and texts of any length in the formats that they describe.

In: a length in characters. Out: text, and its pieces, cut as a tokenizer would cut them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from streamparse import get_response_template

Template = dict[str, Any]

PROSE = (
    "The harbour lies quiet in the morning, and the first boats come back before the town is awake. "
    "Nets are hung to dry along the wall; someone whistles, someone else counts crates. "
)
PROSE_WITH_ANGLES = "if a < b and c <d, then <i>x</i> < y; see <https://example.org> or Vec<u8> <- 3. "
TOKEN = re.compile(r"<\|\w+\|>|</?(?:think|tool_call)>| ?\w{1,7}|\s+|.", re.DOTALL)
"""What a tokenizer would make one token of: the special tokens of the formats, short words, white space."""


@dataclass(frozen=True)
class Workload:
    """A template, and a text for it of about the length that is asked for."""

    name: str
    template: Template
    text: Callable[[int], str]


def in_tokens(text: str) -> list[str]:
    """A text in pieces of four characters on average, as tokens are."""
    return TOKEN.findall(text)


def in_pieces(text: str, size: int | None) -> Iterator[str]:
    """A text in pieces of one size, or whole (None)."""
    if size is None:
        yield text
    else:
        for start in range(0, len(text), size):
            yield text[start : start + size]


def filled(sentences: str, length: int) -> str:
    """Sentences, repeated to a length."""
    return (sentences * (length // len(sentences) + 1))[:length]


def conversation(opening: str, close: str, call: Callable[[int], str], length: int) -> str:
    """A third of the text is reasoning, then comes content, and two tool calls at the end."""
    calls = call(1) + call(2)
    return opening + filled(PROSE, length // 3) + close + filled(PROSE, length * 2 // 3 - len(calls)) + calls


def json_call(number: int) -> str:
    arguments = {"city": "Oslo", "days": number, "note": PROSE[:60]}
    return "<tool_call>\n" + json.dumps({"name": "get_weather", "arguments": arguments}) + "\n</tool_call>"


def tagged_call(number: int) -> str:
    return (
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n"
        f"<parameter=days>\n{number}\n</parameter>\n<parameter=note>\n{PROSE[:60]}\n</parameter>\n"
        "</function>\n</tool_call>\n"
    )


def channel_call(number: int) -> str:
    return (
        "<|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>"
        f'{{"city": "Oslo", "days": {number}, "note": "{PROSE[:60]}"}}<|call|>'
    )


def bundled(name: str) -> Template:
    """A bundled template without what transformers would refuse: our own key."""
    return {key: value for key, value in get_response_template(name).source.items() if key != "streamparse"}


LITERAL: Template = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>"},
        "content": {"close": "<|im_end|>"},
        "tool_calls": {
            "open": "<tool_call>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
    },
}

BLANKS_FIRST: Template = {
    "defaults": {"role": "assistant"},
    "start_anchor_pattern": r"<\|im_start\|>assistant\s*",
    "fields": {
        "thinking": {"open_pattern": r"\s*<think>\s*", "close_pattern": r"\s*</think>\s*"},
        "content": {"close_pattern": r"\s*<\|im_end\|>\s*"},
        "tool_calls": {
            "open_pattern": r"\s*<tool_call>\s*",
            "close_pattern": r"\s*</tool_call>\s*",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
    },
}
"""The shape that ``transformers serve`` uses for models without a template of their own."""


def chat(length: int) -> str:
    return conversation("<think>\n", "\n</think>\n\n", json_call, length)


def tagged(length: int) -> str:
    return conversation("<think>\n", "\n</think>\n\n", tagged_call, length)


def channels(length: int) -> str:
    content = "<|end|><|start|>assistant<|channel|>commentary<|message|>"
    return conversation(
        "<|channel|>analysis<|message|>", content, lambda n: "<|end|>" * (n == 1) + channel_call(n), length
    )


def angles(length: int) -> str:
    return filled(PROSE_WITH_ANGLES, length)


FORMATS = [
    Workload("chat, literals", LITERAL, chat),
    Workload("chat (qwen3)", bundled("qwen3"), chat),
    Workload("XML (qwen3_5)", bundled("qwen3_5"), tagged),
    Workload("channels (gpt_oss)", bundled("gpt_oss"), channels),
]

HARDER = [
    Workload("prose full of <", LITERAL, angles),
    Workload("prose full of < (qwen3)", bundled("qwen3"), angles),
    Workload(r"chat, patterns with \s* first", BLANKS_FIRST, chat),
    Workload(r"prose, patterns with \s* first", BLANKS_FIRST, lambda length: filled(PROSE, length)),
]


def one_field(**delimiters: Any) -> Template:
    """A template of one field beside the implicit one."""
    return {"start_anchor": "@@", "fields": {"content": {}, "x": {"content": "text", **delimiters}}}


HEADER = r"<\|channel\|>(?:final|commentary)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"

UNCLOSED_STRING = '<tool_call>{"name": "f", "arguments": {"a": "'
UNCLOSED_TAG = "<tool_call>\n<function=f>\n<parameter=a>\n"
TAGGED_END = "\n</function>\n</tool_call>"

HOSTILE = [
    Workload("prose", LITERAL, lambda length: filled(PROSE, length)),
    Workload("a region that never closes", LITERAL, lambda length: "<tool_call>" + filled(PROSE, length)),
    Workload(
        "a header that never ends",
        one_field(open_pattern=HEADER, close="<|end|>"),
        lambda length: "<|channel|>final" + filled(PROSE, length),
    ),
    Workload("a run of blanks", BLANKS_FIRST, lambda length: " " * length),
    Workload("blanks between words", BLANKS_FIRST, lambda length: filled("a" + " " * 997, length)),
    Workload("[^<]* in an open", one_field(open_pattern="[^<]*<x>", close="</x>"), lambda n: filled(PROSE, n)),
    Workload('"< " repeated', LITERAL, lambda length: filled("< ", length)),
    Workload(r'"< " repeated, \s* first', BLANKS_FIRST, lambda length: filled("< ", length)),
    Workload("half a delimiter repeated", LITERAL, lambda length: filled("<tool_cal", length)),
    Workload("opens repeated", LITERAL, lambda length: filled("<tool_call>", length)),
    Workload("closes in a string", LITERAL, lambda length: UNCLOSED_STRING + filled(" </tool_call> ", length)),
    Workload("calls in open reasoning", LITERAL, lambda length: "<think>" + filled(json_call(1), length)),
    Workload("brackets in a call", LITERAL, lambda length: '<tool_call>{"a": ' + "[" * length + "</tool_call>"),
    Workload("blanks in an open tag", bundled("qwen3_5"), lambda length: UNCLOSED_TAG + " " * length + TAGGED_END),
    Workload(
        "tags that never close", bundled("qwen3_5"), lambda length: UNCLOSED_TAG + filled("<parameter=a>", length)
    ),
]
"""Texts on which a careless parser takes quadratic time."""


def calls_of(name: str, opening: str, unit: str, closing: str) -> Workload:
    """A call of a bundled template with one part many times."""
    return Workload(name, bundled(name.partition(":")[0]), lambda n: opening + filled(unit, n) + closing)


HARDER_VALUES = [
    calls_of("llama4_pythonic: a truncated call", "[search(", "a0=1, ", ""),
    calls_of("llama4_pythonic: brackets", "[search(a=", "[", ")]"),
    calls_of("llama4_pythonic: quotes", "[search(a='", "\\'", "')]"),
    calls_of("qwen3_5: one long parameter", UNCLOSED_TAG, "x", TAGGED_END),
    calls_of("qwen3_5: blanks", UNCLOSED_TAG, " ", ""),
    calls_of("qwen3_5: many parameters", "<tool_call>\n<function=f>\n", "<parameter=a>\n1\n</parameter>\n", TAGGED_END),
    calls_of("qwen3_5: closes that close nothing", UNCLOSED_TAG, "</parameter>", TAGGED_END),
    calls_of("qwen3: JSON without its end", '<tool_call>{"name": "f", "arguments": {', '"a": [1, {}], ', ""),
    calls_of(
        "qwen3: JSON to be mended", '<tool_call>{"name": "f", "arguments": {', "'a': [1, {},], ", "}}</tool_call>"
    ),
    calls_of("qwen3: quotes", '<tool_call>{"name": "f", "arguments": {"a": "', '"', '"}}</tool_call>'),
    calls_of("qwen3: many keys", '<tool_call>{"name": "f", "arguments": {', '"a":1,', '"b":2}}</tool_call>'),
    calls_of("qwen3: digits", '<tool_call>{"name": "f", "arguments": {"a": ', "7", "}}</tool_call>"),
    calls_of("qwen3: empty calls", "", "<tool_call></tool_call>", ""),
    calls_of("qwen3: thoughts", "", "<think></think>", ""),
    calls_of("gpt_oss: channels", "", "<|channel|>", ""),
    calls_of("gpt_oss: headers", "", "<|start|>assistant<|channel|>final", ""),
    calls_of("mistral: marks", "", "[TOOL_CALLS]", ""),
    calls_of("gemma4: marks", "<|tool_call>call:f{a:", '<|"|>', "}"),
    calls_of("deepseek_v31: marks", "", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>", ""),
    calls_of("kimi_k2: marks", "<|tool_calls_section_begin|>", "<|tool_call_begin|>functions.f:0", ""),
    calls_of("minimax_m2: marks", "<minimax:tool_call>", '<invoke name="f">', ""),
    calls_of("glm45: marks", "<tool_call>f\n", "<arg_key>a</arg_key>", ""),
]
"""Texts that make structures, value parsers and menders work hard."""
