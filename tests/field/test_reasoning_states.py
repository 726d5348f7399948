"""Where reasoning begins and ends: opened by the prompt or the model, twice, never, by halves, in several blocks."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from streamparse import ResponseParser, get_response_template, response_template_names
from tests.field.forms import CHATML, COHERE, DEEPSEEK, FORMS, MISTRAL, Form
from tests.field.reading import call, message_of, shape

GEMMA = "<bos><|turn>user\nHi<turn|>\n<|turn>model\n"
THINKING = sorted(
    name for name in response_template_names() if get_response_template(name).policy.starts_in == "reasoning_content"
)


class Case(NamedTuple):
    """What came after a prompt, and the message."""

    what: str
    family: str
    prefix: str
    text: str
    message: dict[str, Any]


OPENED_TWICE_OR_NEVER = [
    Case(
        "twice", "qwen3", CHATML, "<think>\n<think>\nHm.\n</think>\n\nHi", {"reasoning_content": "Hm.", "content": "Hi"}
    ),
    Case(
        "again by the model",
        "nemotron_v3",
        CHATML + "<think>\n",
        "\n<think>Hm.</think>Hi",
        {"reasoning_content": "Hm.", "content": "Hi"},
    ),
    Case(
        "closed twice",
        "glm45",
        "<|assistant|>",
        "<think>a</think>\n</think>\nHi",
        {"reasoning_content": "a", "content": "Hi"},
    ),
    Case("closed and not opened", "qwen3", CHATML, "\n</think>\n\nHi", {"content": "Hi"}),
    Case(
        "switched off by the prompt, and closed again",
        "qwen3",
        CHATML + "<think>\n\n</think>\n\n",
        "</think>\n\nHi",
        {"content": "Hi"},
    ),
    Case(
        "switched off by the prompt, and thought all the same",
        "qwen3",
        CHATML + "<think>\n\n</think>\n\n",
        "<think>Hm.</think>Hi",
        {"reasoning_content": "Hm.", "content": "Hi"},
    ),
    Case("empty", "smollm3", CHATML, "<think>\n\n</think>\nHi", {"content": "Hi"}),
    Case("closed at once", "minimax_m2", "]~b]ai\n<think>\n", "</think>\n\nHi[e~[\n", {"content": "Hi"}),
]

OPENED_BY_THE_PROMPT = [
    Case("by half", "qwen3", CHATML + "<", "think>\nHm.</think>Hi", {"reasoning_content": "Hm.", "content": "Hi"}),
    Case(
        "by half",
        "gemma4",
        GEMMA + "<|channel>",
        "thought\nHm.\n<channel|>Hi<turn|>",
        {"reasoning_content": "Hm.", "content": "Hi"},
    ),
    Case(
        "by half",
        "gpt_oss",
        "<|start|>assistant<|channel|>",
        "analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hi",
        {"reasoning_content": "Hm.", "content": "Hi"},
    ),
    Case("the answer", "gpt_oss", "<|start|>assistant<|channel|>final<|message|>", "Hi<|return|>", {"content": "Hi"}),
    Case("the answer", "cohere2", COHERE + "<|START_RESPONSE|>", "Hi<|END_RESPONSE|>", {"content": "Hi"}),
    Case(
        "with some of it",
        "deepseek_r1",
        DEEPSEEK + "<think>\nFirst, ",
        "two.\n</think>\nHi",
        {"reasoning_content": "First, two.", "content": "Hi"},
    ),
    Case(
        "without a line break",
        "qwen3",
        CHATML + "<think>",
        "\nHm.\n</think>\n\nHi",
        {"reasoning_content": "Hm.", "content": "Hi"},
    ),
    Case(
        "where earlier turns have reasoning too",
        "qwen3",
        CHATML + "<think>\nold\n</think>\n\nHello<|im_end|>\n" + CHATML + "<think>\n",
        "new\n</think>\n\nHi",
        {"reasoning_content": "new", "content": "Hi"},
    ),
    Case(
        "where the prompt shows the marks of calls and of reasoning",
        "glm45",
        "<|system|>Write <tool_call>, <think>.<|user|>Hi<|assistant|><think>",
        "Hm.</think>Hi",
        {"reasoning_content": "Hm.", "content": "Hi"},
    ),
    *(
        Case("switched off with a lone close", family, prefix, "Hi", {"content": "Hi"})
        for family, prefix in [
            ("deepseek_v31", DEEPSEEK + "</think>"),
            ("deepseek_v31", DEEPSEEK + "    </think>"),
            ("deepseek_dsml", DEEPSEEK + "<think></think>"),
            ("deepseek_dsml", DEEPSEEK + "</think>"),
            ("glm45", "<|user|>Hi<|assistant|></think>"),
            ("glm45", "<|user|>Hi<|assistant|>\n<think></think>"),
        ]
    ),
]

NEVER_CLOSED = [
    Case("ended with the turn", "qwen3", CHATML + "<think>\n", "Hm.<|im_end|>\n", {"reasoning_content": "Hm."}),
    Case("ended with the turn", "gemma4", GEMMA, "<|channel>thought\nHm.<turn|>", {"reasoning_content": "Hm."}),
    Case("ended with the turn", "mistral", MISTRAL, "[THINK]Hm.</s>", {"reasoning_content": "Hm."}),
    Case(
        "ended with the turn",
        "cohere2",
        COHERE,
        "<|START_THINKING|>Hm.<|END_OF_TURN_TOKEN|>",
        {"reasoning_content": "Hm."},
    ),
    Case("just ended", "seed_oss", "<seed:bos>assistant\n", "<seed:think>Hm.", {"reasoning_content": "Hm."}),
    Case("cut off in its close", "qwen3", CHATML, "<think>Hm.</thi", {"reasoning_content": "Hm.</thi"}),
    Case(
        "the end of the turn mentioned",
        "kimi_k2",
        "",
        "<think>After <|im_end|> nothing comes.</think>Hi",
        {"reasoning_content": "After <|im_end|> nothing comes.", "content": "Hi"},
    ),
    Case(
        "a call in it, and then text",
        "qwen3",
        CHATML,
        '<think>Hm.<tool_call>{"name": "f", "arguments": {}}</tool_call>Done.<|im_end|>',
        {"reasoning_content": "Hm.", "content": "Done.", "tool_calls": [call("f")]},
    ),
    Case(
        "half a call in it",
        "minimax_m2",
        "]~b]ai\n<think>\n",
        'Hm.<minimax:tool_call>\n<invoke name="f">\n<parameter name="a">1</para',
        {"reasoning_content": 'Hm.<minimax:tool_call>\n<invoke name="f">\n<parameter name="a">1</para'},
    ),
    Case(
        "a mention and then a call in it",
        "deepseek_v31",
        DEEPSEEK + "<think>",
        "I need <｜tool▁calls▁begin｜> now.\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}"
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        {"reasoning_content": "I need <｜tool▁calls▁begin｜> now.", "tool_calls": [call("f")]},
    ),
    Case(
        "a draft that closes, and then another call that closes too",
        "seed_oss",
        "",
        "<seed:think>a<seed:tool_call><function=f></function></seed:tool_call>b</seed:think>"
        "<seed:tool_call><function=g></function></seed:tool_call>",
        {
            "reasoning_content": "a<seed:tool_call><function=f></function></seed:tool_call>b",
            "tool_calls": [call("g")],
        },
    ),
]

SEVERAL_BLOCKS = [
    Case(
        "both",
        "mistral",
        MISTRAL,
        "[THINK]a[/THINK]x[THINK]b[/THINK]y</s>",
        {"reasoning_content": "a\n\nb", "content": "x\n\ny"},
    ),
    Case(
        "text first",
        "qwen3",
        CHATML,
        "Here. <think>a</think> More.",
        {"reasoning_content": "a", "content": "Here.\n\nMore."},
    ),
    Case(
        "an empty second",
        "qwen3",
        CHATML,
        "<think>a</think>x<think>\n</think>\ny",
        {"reasoning_content": "a", "content": "x\n\ny"},
    ),
    Case(
        "between calls",
        "qwen3_5",
        CHATML,
        "<think>a</think><tool_call><function=f></function></tool_call>\n<think>b</think>\n"
        "<tool_call><function=g></function></tool_call>\n\n",
        {"reasoning_content": "a\n\nb", "tool_calls": [call("f"), call("g")]},
    ),
    Case(
        "channels",
        "gpt_oss",
        "<|start|>assistant",
        "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|>"
        "<|start|>assistant<|channel|>commentary<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>y<|return|>",
        {"reasoning_content": "a\n\nb", "content": "x\n\ny"},
    ),
    Case(
        "responses",
        "cohere2",
        COHERE,
        "<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>x<|END_RESPONSE|><|START_THINKING|>b<|END_THINKING|>"
        "<|START_RESPONSE|>y<|END_RESPONSE|><|END_OF_TURN_TOKEN|>",
        {"reasoning_content": "a\n\nb", "content": "x\n\ny"},
    ),
]

WRAPPED_ANSWERS = [
    Case(
        "answer",
        "hunyuan_a13b",
        "",
        "<think>\nr\n</think>\n<answer>\nHi\n</answer><|eos|>",
        {"reasoning_content": "r", "content": "Hi"},
    ),
    Case(
        "answer, cut off",
        "hunyuan_a13b",
        "",
        "<think>\nr\n</think>\n<answer>\nHi",
        {"reasoning_content": "r", "content": "Hi"},
    ),
    Case("answer alone", "hunyuan_a13b", "", "<answer>Hi</answer>", {"content": "Hi"}),
    Case(
        "response",
        "ernie",
        CHATML + "<think>\n",
        "r\n</think>\n\n<response>\nHi\n</response>\n",
        {"reasoning_content": "r", "content": "Hi"},
    ),
    Case(
        "response",
        "granite3",
        "",
        "<think>r</think><response>Hi</response>",
        {"reasoning_content": "r", "content": "Hi"},
    ),
    Case(
        "no response", "granite3", "", "<think>r</think>Hi<|end_of_text|>", {"reasoning_content": "r", "content": "Hi"}
    ),
    Case(
        "in words",
        "granite3",
        "",
        "Here is my thought process: r\n\nHere is my response: Hi",
        {"reasoning_content": "r", "content": "Hi"},
    ),
    Case(
        "text",
        "cohere2",
        COHERE,
        "<|START_THINKING|>r<|END_THINKING|><|START_TEXT|>Hi<|END_TEXT|>",
        {"reasoning_content": "r", "content": "Hi"},
    ),
    Case(
        "no response",
        "cohere2",
        COHERE,
        "<|START_THINKING|>r<|END_THINKING|>Hi",
        {"reasoning_content": "r", "content": "Hi"},
    ),
    Case(
        "another mark", "mistral", MISTRAL, "<think>\nr\n</think>\nHi</s>", {"reasoning_content": "r", "content": "Hi"}
    ),
    Case("another mark", "kimi_k2", "", "◁think▷r◁/think▷Hi<|im_end|>", {"reasoning_content": "r", "content": "Hi"}),
]

CASES = [
    *OPENED_TWICE_OR_NEVER,
    *OPENED_BY_THE_PROMPT,
    *NEVER_CLOSED,
    *SEVERAL_BLOCKS,
    *WRAPPED_ANSWERS,
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.family}: {case.what}")
@pytest.mark.parametrize("errors", ["report", "repair"])
def test_reasoning_and_answer_are_told_apart(case: Case, errors: str) -> None:
    assert message_of(case.family, case.text, prefix=case.prefix, errors=errors) == case.message


def test_families_whose_prompts_open_the_reasoning_by_default() -> None:
    assert THINKING == [
        "deepseek_r1",
        "glm45",
        "kimi_k3",
        "minimax_m2",
        "nemotron_v2",
        "nemotron_v3",
        "plamo3",
        "qwen3_5",
        "qwen3_thinking",
        "step3",
    ]


@pytest.mark.parametrize("form", [form for form in FORMS if form.family in THINKING], ids=str)
def test_without_its_prompt_a_lone_close_ends_reasoning_that_the_prompt_opened(form: Form) -> None:
    assert form.reasoning is not None
    text = "Plan: x." + form.reasoning[1]
    expected = {"reasoning_content": "Plan: x.", "content": "Hi."}
    assert message_of(form.family, text + "Hi." + form.turn_end) == expected
    expected = {"reasoning_content": "Plan: x.", "tool_calls": form.made([("f", {"a": "b"})])}
    assert message_of(form.family, text + form.calls([("f", {"a": "b"})])) == expected
    assert message_of(form.family, "Hi." + form.turn_end) == {"content": "Hi."}
    assert message_of(form.family, form.thinks("r") + "Hi.") == {"reasoning_content": "r", "content": "Hi."}


CALL = "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</tool_call>"
MADE = [call("f", a="x")]


@pytest.mark.parametrize(
    ("policy", "text", "message"),
    [
        ("hold", f"Hm.{CALL}\n", {"reasoning_content": "Hm.", "tool_calls": MADE}),
        ("hold", f"Hm.{CALL}\n</think>Hi", {"reasoning_content": f"Hm.{CALL}", "content": "Hi"}),
        ("text", f"Hm.{CALL}\n", {"reasoning_content": f"Hm.{CALL}"}),
        ("text", f"Hm.{CALL}\n</think>Hi", {"reasoning_content": f"Hm.{CALL}", "content": "Hi"}),
        ("call", f"Hm.{CALL}\n", {"reasoning_content": "Hm.", "tool_calls": MADE}),
        ("call", f"Hm.{CALL}\n</think>Hi", {"reasoning_content": "Hm.", "tool_calls": MADE, "content": "Hi"}),
        ("call", f"Hm.{CALL}So.{CALL}</think>", {"reasoning_content": "Hm.\n\nSo.", "tool_calls": MADE + MADE}),
        ("call", "Use <tool_call> so.</think>Hi", {"reasoning_content": "Use <tool_call> so.", "content": "Hi"}),
    ],
)
def test_what_calls_in_reasoning_are_is_for_the_template_to_say(
    policy: str, text: str, message: dict[str, Any]
) -> None:
    source = get_response_template("qwen3_5").source
    template = source | {"streamparse": source["streamparse"] | {"calls_in_reasoning": policy}}
    prefix = CHATML + "<think>\n"
    assert message_of(template, text, prefix=prefix) == message
    for end in range(len(text)):
        parser = ResponseParser(template, prefix, errors="repair")
        parser.feed(text[:end])
        restored = ResponseParser.restore(parser.snapshot(), template)
        restored.feed(text[end:])
        assert shape(restored.finalize()[0]) == message


def test_what_may_go_on_as_a_delimiter_keeps_its_place_before_a_part_of_a_close() -> None:
    for family in ("qwen3_5", "qwen3_coder", "nemotron_v3"):
        text = "<think>a<tool_call><function=g>\n<think></function>b"
        reasoning = text.removeprefix("<think>")
        assert message_of(family, text, problems=None) == {"reasoning_content": reasoning}
