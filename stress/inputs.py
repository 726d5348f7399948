"""What the fuzzer draws: templates, texts, schemas and snapshots, close enough to real ones to get far."""

from __future__ import annotations

import copy
import json
import zlib
from functools import cache
from typing import Any

from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from streamparse import get_response_template, response_template_names
from streamparse.stages.content import CONTENT_PARSERS

NAMES = response_template_names()

SCALARS: list[Any] = [
    None, True, False, 0, -1, 2**63, 1e308, float("nan"), "", "x", "{content}", "{a.b}", "<a>", "\ud800", [],
    {},
]  # fmt: skip

PATTERN_PARTS = [
    "a", "<", ">", ".", r"\s", r"\w", "[^<]", "[ab]", "(a)", "(?P<name>a)", "(?P<key>b)", "(?P<value>.*?)", "|",
    "*", "+", "?", "*?", "++", "{2,5}", "{1000}", "(?:", "(", ")", "(?=", "(?!", "(?<=", "(?<!", "(?>", r"\1",
    "(?P=name)", "^", "$", r"\b", r"\Z", r"\G", "(?i)", "(?|", "(?R)", r"\p{L}", "[[a-z]--[aeiou]]", r"\X",
    "(?a:b)", r"\K", "(*SKIP)", "(?(1)a|b)", "\\", "[",
]  # fmt: skip

TEXT_PARTS = [
    "a", " ", "\n", "word ", '"', "'", "\\", "{", "}", "[", "]", "(", ")", ",", ":", "=", "<", ">", "/", "é",
    "🙂", "\ud83d", "\0", "\x01", "1", "-1.5e9", "1" * 5000, "null", "True",
    '{"name": "f", "arguments": {"a": 1}}', '{"name": "f", "parameters": {}}',
    '[{"name": "f", "arguments": {}}]', "f(a=1)", "[f(a='b', c=[1, {'d': None}])]", "key: value\n", "<a>1</a>",
    "<parameter=a>\nb\n</parameter>", "<function=f>", "</function>", "```json\n", "```", "functions.f:0",
    "<|im_end|>", "<|im_start|>assistant\n",
]  # fmt: skip

SCHEMA_KEYS = [
    "type", "properties", "items", "prefixItems", "anyOf", "oneOf", "allOf", "enum", "const", "$ref", "$defs",
    "definitions", "required", "nullable", "additionalProperties", "pattern", "format", "not", "default", "a",
    "b",
]  # fmt: skip
SCHEMA_VALUES: list[Any] = [
    "string", "integer", "number", "boolean", "null", "object", "array", "#", "#/$defs/a", "#/properties/a",
    "#/a/0/~1~0%25", "http://127.0.0.1:9/schema.json", "file:///etc/passwd", "(a+)+$", "a", "b", 5, 2.5, True,
    None, ["a"], ["string", "null"],
]  # fmt: skip

ARGUMENTS = [
    "strip", "unquoted_keys", "string_delims", "allow_non_json", "tag_pattern", "value_parser",
    "merge_duplicates", "line_sep", "kv_sep", "name", "args", "brackets",
]  # fmt: skip

json_data = st.recursive(
    st.sampled_from(SCALARS) | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "b", "content", "type"]), inner, max_size=4)
    ),
    max_leaves=12,
)
patterns = st.lists(st.sampled_from(PATTERN_PARTS), max_size=12).map("".join)
schemas = st.recursive(
    st.sampled_from(SCHEMA_VALUES),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(SCHEMA_KEYS), inner, max_size=5),
    max_leaves=25,
)
arguments = st.dictionaries(
    st.sampled_from(ARGUMENTS),
    st.recursive(
        st.sampled_from([*SCALARS, *CONTENT_PARSERS, ["<q>", "</q>"]]) | patterns,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(ARGUMENTS), inner, max_size=3),
        max_leaves=6,
    ),
    max_size=4,
)


@cache
def marks_of(name: str) -> tuple[str, ...]:
    """The literal delimiters of a bundled template, and texts that its patterns may match."""
    marks: list[str] = []
    for field in get_response_template(name).fields.values():
        for delimiter in (field.open, field.close):
            if delimiter is not None and delimiter.literals is not None:
                marks += delimiter.literals
            elif delimiter is not None:
                marks.append(delimiter.pattern.replace("\\s*", "\n").replace("\\", ""))
    return tuple(marks)


@st.composite
def texts(draw: st.DrawFn, name: str) -> str:
    """What a model of a family might write, or not: some parts of it many times."""
    marks = marks_of(name)
    part = st.sampled_from(TEXT_PARTS) | (st.sampled_from(marks) if marks else st.just("x"))
    cut = st.builds(lambda mark, size: mark[:size], part, st.integers(1, 12))
    several = st.builds(lambda mark, times: mark * times, part, st.sampled_from([1, 1, 1, 1, 1, 3, 40, 600]))
    return "".join(draw(st.lists(several | cut | part, max_size=25)))


@st.composite
def damaged(draw: st.DrawFn, original: Any) -> Any:
    """JSON data with a few of its parts replaced, taken out, doubled or made deep."""
    data = copy.deepcopy(original)
    for _ in range(draw(st.integers(1, 3))):
        holder, key = draw(st.sampled_from(places(data)))
        what = draw(st.sampled_from(["replace", "replace", "pattern", "drop", "deep", "many"]))
        if what == "drop":
            del holder[key]
        elif what == "deep":
            for _ in range(draw(st.sampled_from([3, 90, 200]))):
                holder[key] = [holder[key]]
        elif what == "many":
            holder[key] = [holder[key]] * draw(st.sampled_from([2, 100]))
        else:
            holder[key] = draw(patterns if what == "pattern" else json_data)
        if not places(data):
            return data
    return data


def places(data: Any) -> list[tuple[Any, Any]]:
    """Every place of JSON data, as what holds it and under which key."""
    found: list[tuple[Any, Any]] = []
    waiting = [data]
    while waiting and len(found) < 500:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        for key in keys:
            found.append((holder, key))
            waiting.append(holder[key])
    return found


def with_checksum(state: dict[str, Any]) -> bytes:
    """A snapshot that is as it should be on the outside."""
    state = {key: value for key, value in state.items() if key != "checksum"}
    content = json.dumps(state, separators=(",", ":")).encode("ascii")
    return b'%s,"checksum":%d}' % (content[:-1], zlib.crc32(content))


@cache
def byte_tokenizer() -> Tokenizer:
    """A tokenizer whose tokens are bytes, with some marks as tokens of their own."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken("<|im_end|>", normalized=False)])
    tokenizer.add_tokens([AddedToken(mark, normalized=False) for mark in ("<tool_call>", "</think>")])
    return tokenizer


@cache
def chat_templates() -> tuple[str, ...]:
    """Chat templates to start from: what ships with the tests, and one that is written here."""
    own = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n"
        "{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content }}"
        "{% for c in m.tool_calls or [] %}<tool_call>{{ c.function | tojson }}</tool_call>{% endfor %}"
        "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    return (own,)


JINJA_PARTS = [
    "{{", "}}", "{%", "%}", "{% for x in range(99999) %}", "{% endfor %}", "{{ messages }}",
    "{{ tools | tojson }}", "{% if x %}", "{% endif %}", "{% macro m() %}", "{% endmacro %}", "{{ m() }}",
    "{% set x = 'a' * 9999999 %}", "{{ x * 99999 }}", "{{ ''.__class__ }}", "{{ raise_exception('no') }}",
    "{{ messages[0].content }}", "<think>", "</think>", "\n", "-", "| tojson", "| length", "(", ")", ".", "[0]",
    "{{ loop }}", "{% include 'x' %}", "{{ strftime_now('%Y') }}", "{% generation %}", "{% endgeneration %}",
    "{% break %}",
]  # fmt: skip


@st.composite
def jinja(draw: st.DrawFn) -> str:
    """A chat template with parts taken out and put in."""
    text = draw(st.sampled_from(chat_templates()))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.sampled_from([0, 0, 1, 8, 60]))
        text = text[:start] + "".join(draw(st.lists(st.sampled_from(JINJA_PARTS), max_size=4))) + text[end:]
    return text
