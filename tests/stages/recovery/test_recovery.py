"""What users get for output in which delimiters alone mislead: quoted, forgotten, repeated, inside values, cut off.

Each case is read whole, by character, and restored from a snapshot at every place; the message is the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from streamparse import ResponseParser

CHATML = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"


class Case(NamedTuple):
    """What a model wrote, and the message that its user would call right."""

    what: str
    template: str
    text: str
    message: dict[str, Any]
    problems: tuple[str, ...] = ()
    prefix: str = ""
    finish_reason: str | None = None


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


QUOTED = [
    Case(
        "an open delimiter in prose is text",
        "qwen3",
        "Begin with <tool_call> and end.",
        {"content": "Begin with <tool_call> and end."},
    ),
    Case(
        "an empty pair of delimiters is text, and what follows is not lost",
        "qwen3",
        "Use <tool_call></tool_call> markers. Then answer.",
        {"content": "Use <tool_call></tool_call> markers. Then answer."},
    ),
    Case(
        "a placeholder in braces is text",
        "smollm3",
        "Write <tool_call>{...}</tool_call>.",
        {"content": "Write <tool_call>{...}</tool_call>."},
    ),
    Case(
        "a quotation before a real call",
        "qwen3",
        'Now `<tool_call>`: <tool_call>{"name": "f", "arguments": {}}</tool_call>',
        {"content": "Now `<tool_call>`:", "tool_calls": [call("f")]},
    ),
    Case(
        "JSON that is no call is text",
        "llama3_json",
        'The answer is {"name": "Ada", "age": 36}.',
        {"content": 'The answer is {"name": "Ada", "age": 36}.'},
    ),
    Case(
        "a list in prose is no list of calls",
        "llama4_pythonic",
        "Use [x for x in f(y)] or [f(x)](link).",
        {"content": "Use [x for x in f(y)] or [f(x)](link)."},
    ),
]

INSIDE_VALUES = [
    Case(
        "a close delimiter inside a JSON string",
        "qwen3",
        '<tool_call>{"name": "f", "arguments": {"a": "x</tool_call>y"}}</tool_call>Done',
        {"content": "Done", "tool_calls": [call("f", a="x</tool_call>y")]},
    ),
    Case(
        "a whole call inside a JSON string, rightly escaped",
        "qwen3",
        r'<tool_call>{"name": "f", "arguments": {"a": "<tool_call>{\"name\": 1}</tool_call>"}}</tool_call>',
        {"tool_calls": [call("f", a='<tool_call>{"name": 1}</tool_call>')]},
    ),
    Case(
        "a close delimiter inside a tagged value",
        "qwen3_5",
        "<tool_call>\n<function=w>\n<parameter=t>\nEnd with </function>\n</tool_call> please.\n</parameter>\n"
        "</function>\n</tool_call>Done",
        {"content": "Done", "tool_calls": [call("w", t="End with </function>\n</tool_call> please.")]},
    ),
    Case(
        "the end of the turn inside a JSON string",
        "qwen3",
        '<tool_call>{"name": "f", "arguments": {"a": "<|im_end|>"}}</tool_call><|im_end|>\n',
        {"tool_calls": [call("f", a="<|im_end|>")]},
    ),
    Case(
        "a delimiter inside a string of a dialect",
        "gemma4",
        '<|tool_call>call:f{a:<|"|>x<tool_call|>y<|"|>}<tool_call|>',
        {"tool_calls": [call("f", a="x<tool_call|>y")]},
    ),
    Case(
        "a delimiter inside a string of a list of calls",
        "lfm2",
        "<|tool_call_start|>[f(a='x<|tool_call_end|>y')]<|tool_call_end|>",
        {"tool_calls": [call("f", a="x<|tool_call_end|>y")]},
    ),
    Case(
        "a string that never ends does not swallow the next call",
        "qwen3",
        '<tool_call>{"name": "f", "arguments": {"a": "x}</tool_call>'
        '<tool_call>{"name": "g", "arguments": {}}</tool_call>ok',
        {"content": "ok", "tool_calls": [call("g")]},
        ("region_malformed",),
    ),
    Case(
        "a close in a key that has no value ends the call, however many brackets are closed behind it",
        "qwen3",
        '<tool_call>{"name": "f", "arguments": {"</tool_call>", "a": {}}}</tool_call>Done.',
        {"content": '", "a": {}}}Done.'},
        ("region_malformed", "region_unclaimed"),
    ),
    Case(
        "a string that never ends does not swallow the answer",
        "qwen3",
        '<tool_call>{"name": "f", "arguments": {"a": "x}</tool_call>The answer.',
        {"content": "The answer."},
        ("region_malformed",),
    ),
]

REASONING = [
    Case(
        "a call in reasoning that never closes is a call",
        "qwen3",
        'Check.\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>',
        {"reasoning_content": "Check.", "tool_calls": [call("f")]},
        prefix=CHATML + "<think>\n",
    ),
    Case(
        "a draft of a call in reasoning that closes is reasoning",
        "qwen3",
        '<think>Maybe <tool_call>{"name": "f", "arguments": {}}</tool_call>? No.</think>Hi',
        {"reasoning_content": 'Maybe <tool_call>{"name": "f", "arguments": {}}</tool_call>? No.', "content": "Hi"},
    ),
    Case(
        "two calls in reasoning that never closes",
        "qwen3_5",
        "<think>So.<tool_call>\n<function=f>\n</function>\n</tool_call>\n"
        "<tool_call>\n<function=g>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call><|im_end|>",
        {"reasoning_content": "So.", "tool_calls": [call("f"), call("g", a="1")]},
    ),
    Case(
        "a delimiter that is only mentioned in reasoning",
        "qwen3",
        "<think>I could use <tool_call> here",
        {"reasoning_content": "I could use <tool_call> here"},
    ),
    Case(
        "a call in reasoning that is cut off is no call",
        "qwen3",
        '<think>So. <tool_call>{"name": "f", "argum',
        {"reasoning_content": 'So. <tool_call>{"name": "f", "argum'},
    ),
    Case(
        "the prompt opened the reasoning, and the model opens it again",
        "qwen3",
        "<think>\nHm.\n</think>\n\nHi",
        {"reasoning_content": "Hm.", "content": "Hi"},
        prefix=CHATML + "<think>\n",
    ),
    Case(
        "the close of reasoning that is closed already, where no text has begun",
        "qwen3",
        "<think>Hm.</think>\n</think>\n\nHi",
        {"reasoning_content": "Hm.", "content": "Hi"},
    ),
    Case(
        "the close of reasoning that text mentions",
        "qwen3",
        "<think>Hm.</think>It ends with </think>, always.",
        {"reasoning_content": "Hm.", "content": "It ends with </think>, always."},
    ),
    Case(
        "reasoning that ends with the turn",
        "qwen3",
        "<think>Hm.<|im_end|>\n",
        {"reasoning_content": "Hm."},
    ),
    Case(
        "an end of the turn that reasoning mentions",
        "qwen3",
        "<think>The <|im_end|> token ends it.</think>Hi",
        {"reasoning_content": "The <|im_end|> token ends it.", "content": "Hi"},
    ),
    Case(
        "a generation that began inside its reasoning, its prompt unknown",
        "deepseek_r1",
        "I weigh it.\n</think>\n\nIt is 4.",
        {"reasoning_content": "I weigh it.", "content": "It is 4."},
    ),
    Case(
        "a generation that has no reasoning, its prompt unknown",
        "deepseek_r1",
        "It is 4.",
        {"content": "It is 4."},
    ),
    Case(
        "several blocks of reasoning and of text are all kept",
        "mistral",
        "[THINK]a[/THINK]x[THINK]b[/THINK]y</s>",
        {"reasoning_content": "a\n\nb", "content": "x\n\ny"},
    ),
]

UNFINISHED = [
    Case(
        "the generation ends right behind an open delimiter",
        "qwen3",
        "Let me look.\n<tool_call>",
        {"content": "Let me look."},
        ("region_malformed",),
    ),
    Case(
        "a call without its close delimiter counts if it is whole",
        "kimi_k2",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}",
        {"tool_calls": [{"id": "functions.f:0", **call("f")}]},
        finish_reason="stop",
    ),
    Case(
        "unless the generation was cut off",
        "kimi_k2",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}",
        {},
        ("region_malformed",),
        finish_reason="length",
    ),
    Case(
        "tags that may go on don't count where it is not known why the generation ended",
        "qwen3_5",
        "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n",
        {},
        ("region_malformed",),
    ),
    Case(
        "but where the model meant to stop there",
        "qwen3_5",
        "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n",
        {"tool_calls": [call("f", a="1")]},
        finish_reason="stop",
    ),
    Case(
        "a call in the middle of an argument never counts",
        "deepseek_v31",
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>a<｜tool▁sep｜>{"x": 1}<｜tool▁call▁end｜>'
        '<｜tool▁call▁begin｜>b<｜tool▁sep｜>{"y": "lon',
        {"tool_calls": [call("a", x=1)]},
        ("region_malformed",),
    ),
    Case(
        "the end of the turn ends a call that is whole",
        "qwen3",
        '<tool_call>{"name": "f", "arguments": {}}<|im_end|>\n',
        {"tool_calls": [call("f")]},
    ),
    Case(
        "the next call's open ends a call that is whole",
        "qwen3",
        '<tool_call>{"name": "f", "arguments": {}}\n<tool_call>{"name": "g", "arguments": {}}</tool_call>',
        {"tool_calls": [call("f"), call("g")]},
    ),
    Case(
        "a call with a name and nothing else has no arguments",
        "kimi_k2",
        "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>\n<|tool_call_end|>",
        {"tool_calls": [{"id": "functions.f:0", **call("f")}]},
    ),
    Case(
        "but not where the generation ends before it could have any",
        "kimi_k2",
        "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>",
        {},
        ("region_malformed",),
    ),
    Case(
        "a call without a name is no call",
        "qwen3",
        "<tool_call>{}</tool_call>Hm.",
        {"content": "Hm."},
        ("region_malformed",),
    ),
]

ENDS_WITH_VALUE = [
    Case(
        "text after a call without a close delimiter",
        "phi4_mini",
        'functools[{"name": "f", "arguments": {"a": ["]"]}}] I searched.',
        {"content": "I searched.", "tool_calls": [call("f", a=["]"])]},
    ),
    Case(
        "calls one after the other",
        "llama3_json",
        '{"name": "f", "parameters": {}}; {"name": "g", "parameters": {"a": "}"}}<|eot_id|>',
        {"tool_calls": [call("f"), call("g", a="}")]},
    ),
    Case(
        "JSON where calls as in Python are expected",
        "llama4_pythonic",
        '<|python_start|>{"type": "function", "name": "f", "parameters": {"a": "ls"}}<|python_end|>',
        {"tool_calls": [call("f", a="ls")]},
    ),
    Case(
        "text before and after calls as in Python",
        "llama4_pythonic",
        "Calling:\n[f(a=[1, 2]), g()]\nDone.<|eot|>",
        {"content": "Calling:\n\nDone.", "tool_calls": [call("f", a=[1, 2]), call("g")]},
    ),
    Case(
        "names with arguments, and a list, behind the same marker",
        "mistral",
        '[TOOL_CALLS]f[ARGS]{"a": 1}[TOOL_CALLS] [{"name": "g", "arguments": {}}]</s>',
        {"tool_calls": [call("f", a=1), call("g")]},
    ),
]

WRONG_CLOSES = [
    Case(
        "the open and the close written twice",
        "qwen3",
        '<tool_call>\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\n</tool_call>\nDone.',
        {"content": "Done.", "tool_calls": [call("f")]},
    ),
    Case(
        "an open that is mentioned twice",
        "qwen3",
        "Write <tool_call> <tool_call> so.",
        {"content": "Write <tool_call> <tool_call> so."},
    ),
    Case(
        "half of a close of two tags behind a value that tells its own end",
        "qwen3_5",
        '<tool_call>\n{"name": "f", "arguments": {"a": "</function>"}}\n</tool_call>Done.',
        {"content": "Done.", "tool_calls": [call("f", a="</function>")]},
    ),
    Case(
        "another call's open where nothing was written yet of one in tags",
        "qwen3_5",
        "<tool_call>\n<function=f>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
        {"tool_calls": [call("f", a="1")]},
        ("region_malformed",),
    ),
    Case(
        "the close behind a call that ends with its value",
        "functionary",
        '<function=f>{"a": 1}</function>\n<function=g>{}</function>Done.',
        {"content": "Done.", "tool_calls": [call("f", a=1), call("g")]},
    ),
    Case(
        "a bracket too many behind a call that ends with its value",
        "llama3_json",
        '{"name": "f", "parameters": {"a": 1}}}<|eot_id|>',
        {"tool_calls": [call("f", a=1)]},
    ),
    Case(
        "a fence that was to be closed first",
        "deepseek_v3",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n```",
        {"tool_calls": [call("f")]},
    ),
    Case(
        "the close never comes, and the model goes on talking",
        "qwen3",
        '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\nDone.<|im_end|>',
        {"content": "Done.", "tool_calls": [call("f", a=1)]},
    ),
    Case(
        "the close is cut off by the end",
        "qwen3",
        '<tool_call>{"name": "f", "arguments": {}}</tool_ca',
        {"tool_calls": [call("f")]},
    ),
    Case(
        "another tag stands where the close should",
        "granite4",
        '<tool_call>{"name": "f", "arguments": {}}</function>\nDone.',
        {"content": "Done.", "tool_calls": [call("f")]},
    ),
    Case(
        "the close of another mark stands where the close should",
        "lfm2",
        "<|tool_call_start|>[f(a=1)]<|tool_calls_end|>Done.<|im_end|>",
        {"content": "Done.", "tool_calls": [call("f", a=1)]},
    ),
    Case(
        "half of a close of two tags, the outer one missing",
        "qwen3_5",
        "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\nDone.",
        {"content": "Done.", "tool_calls": [call("f", a="1")]},
    ),
    Case(
        "half of a close of two tags, the inner one missing",
        "seed_oss",
        "<seed:tool_call>\n<function=f>\n<parameter=a>1</parameter>\n</seed:tool_call>Done.<seed:eos>",
        {"content": "Done.", "tool_calls": [call("f", a="1")]},
    ),
    Case(
        "half of a close, and no arguments",
        "nemotron_v3",
        "<tool_call>\n<function=f>\n</function>\n<tool_call>\n<function=g>\n</function>\n</tool_call>",
        {"tool_calls": [call("f"), call("g")]},
        prefix=CHATML,
    ),
    Case(
        "a whole call without its close in reasoning that never closes",
        "qwen3",
        '<think>Check.\n<tool_call>{"name": "f", "arguments": {}}',
        {"reasoning_content": "Check.", "tool_calls": [call("f")]},
    ),
]

CASES = [*QUOTED, *INSIDE_VALUES, *REASONING, *UNFINISHED, *ENDS_WITH_VALUE, *WRONG_CLOSES]
cases = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.template}: {case.what}")


def finished(parser: ResponseParser, case: Case) -> None:
    message, _ = parser.finalize(case.finish_reason)
    content = message.pop("content", "").replace("\n\n", "\n")
    expected = dict(case.message)
    assert message == {"role": "assistant", **{key: expected[key] for key in expected if key != "content"}}
    assert content == expected.get("content", "").replace("\n\n", "\n")
    assert tuple(problem["type"] for problem in parser.problems) == case.problems


@cases
@pytest.mark.parametrize("errors", ["report", "repair"])
def test_the_message_is_what_a_user_would_call_right(case: Case, errors: Any) -> None:
    for pieces in ([case.text], list(case.text)):
        parser = ResponseParser(case.template, prefix=case.prefix, errors=errors)
        for piece in pieces:
            parser.feed(piece)
        finished(parser, case)


@cases
def test_a_parser_restored_anywhere_gives_the_same(case: Case) -> None:
    for cut in range(len(case.text)):
        parser = ResponseParser(case.template, prefix=case.prefix, errors="report")
        parser.feed(case.text[:cut])
        restored = ResponseParser.restore(parser.snapshot(), case.template)
        restored.feed(case.text[cut:])
        finished(restored, case)


@cases
def test_every_character_is_in_some_event(case: Case) -> None:
    parser = ResponseParser(case.template, prefix=case.prefix, errors="report", spans=True)
    events = [event for character in case.text for event in parser.feed(character)]
    events += parser.finalize(case.finish_reason)[1]
    position = 0
    for event in events:
        assert event["start"] == position
        if event["type"] in ("region_chunk", "region_unclaimed"):
            assert event["text"] == case.text[event["start"] : event["end"]]
        position = event["end"]
    assert position == len(case.text)


LOOKS_BACK = [r"(?<=a)<", r"\b<", r"(?<![>a])<", r"(?<=a.)<"]
"""Closes that depend on what stands right before them."""


@pytest.mark.parametrize("close", LOOKS_BACK)
@given(text=st.text("7a<>", max_size=10), data=st.data())
def test_what_is_read_again_is_read_behind_the_text_that_it_stands_behind(close: str, text: str, data: Any) -> None:
    """A ``>`` that opens no tags is a quotation, so what follows it is read twice."""
    template = {
        "start_anchor": "@@",
        "fields": {
            "numbers": {"content": "int", "close_pattern": close, "repeats": True},
            "tags": {
                "open": ">",
                "content": "xml-inline",
                "content_args": {"tag_pattern": r"<p=(?P<key>\w+)>(?P<value>.*?)</p>"},
                "repeats": True,
            },
        },
    }
    cut = data.draw(st.integers(0, len(text)))
    found = []
    for pieces in ([text], list(text), [text[:cut], text[cut:]]):
        parser = ResponseParser(template, prefix="", errors="report")
        events = [event for piece in pieces for event in parser.feed(piece)] + parser.finalize()[1]
        found.append([event for event in events if event["type"] != "region_chunk"])
    assert found[0] == found[1] == found[2]
    for event in found[0]:
        if event["type"] == "region_malformed" and event["field"] == "numbers":
            start = event["position"]
            inside = regex.search(close, text[: start + len(event["text"])], pos=start)
            assert inside is None, "the region would have ended there"


UNDECIDED_CALLS = (
    '[\t{\'function\':".\' "arguments\': [{"name":"f","arguments":{"k0":"[1]",\n "k1":{"k0":-0},\n "\\u00e9"\t:{"b":"\''
    '1"},\n "key":{b":"\'1"},\n "key":{},\n "c":"x"}},\n{"name":"g",\n  "arguments":'
)
"""Calls that follow each other so closely that which delimiter opens one is decided far behind it, several times."""


@pytest.mark.parametrize("place", range(64))
def test_what_is_looked_for_far_ahead_is_the_same_in_one_piece_and_in_many(place: int) -> None:
    text = "." * place + UNDECIDED_CALLS
    outcomes = []
    for pieces in ([text], [*text]):
        parser = ResponseParser("llama3_json", prefix="", errors="report")
        for piece in pieces:
            parser.feed(piece)
        message, _ = parser.finalize()
        outcomes.append((message, parser.problems))
    assert outcomes[0] == outcomes[1]
