"""What is left of a generation that ended too early, or of calls whose end is missing or wrong."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pytest

from streamparse import ResponseParser
from tests.field.forms import CHATML, FORMS, Call, Form, compact
from tests.field.reading import WHOLE, call, message_of

PARIS: list[Call] = [("f", {"city": "Paris"})]
TWO: list[Call] = [("f", {"city": "Paris"}), ("g", {"text": "Rome is big"})]


def cut_in_second(form: Form) -> str:
    """Two calls, cut off in the argument of the second."""
    text = form.calls(TWO)
    return text[: text.rindex("big") + 1]


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("finish_reason", [None, "stop", "length"])
def test_a_whole_call_survives_the_end_of_the_next(form: Form, finish_reason: str | None) -> None:
    for errors in ("report", "repair"):
        message = message_of(
            form.family,
            form.says("Hi.") + cut_in_second(form),
            prefix=form.prompt,
            errors=errors,
            finish_reason=finish_reason,
            problems=1,
        )
        assert message == {"content": "Hi.", "tool_calls": form.made(PARIS)}


IN_BRACKETS = [
    form for form in FORMS if form.calls(TWO).rstrip(">|/_abcdefghijklmnopqrstuvwxyzTOLCAEND<").endswith("]")
]


@pytest.mark.parametrize("form", IN_BRACKETS, ids=str)
def test_a_list_of_whole_calls_that_lacks_its_bracket(form: Form) -> None:
    text = form.calls(TWO)
    cut = text[: text.rindex("]")]
    for errors in ("report", "repair"):
        for finish_reason in (None, "stop"):
            message = message_of(
                form.family, cut, prefix=form.prompt, errors=errors, finish_reason=finish_reason, deltas=True
            )
            assert message == {"tool_calls": form.made(TWO)}
        message = message_of(
            form.family, cut, prefix=form.prompt, errors=errors, finish_reason="length", deltas=True, problems=1
        )
        assert message == {"tool_calls": form.made(TWO[:1])}


# Of a call that is named by its only key nothing is certain before its end.
@pytest.mark.parametrize("form", [form for form in FORMS if form.family != "apertus"], ids=str)
def test_the_event_says_what_was_cut_off(form: Form) -> None:
    for deltas in (False, True):
        parser = ResponseParser(form.family, form.prompt, errors="repair", deltas=deltas)
        events = parser.feed(cut_in_second(form))
        events += parser.finalize("length")[1]
        malformed = [event for event in events if event["type"] == "region_malformed"]
        assert [event["incomplete"] for event in malformed] == [True]
        assert "Rome" in malformed[0]["text"]
        malformed[0]["partial"].pop("id", None)
        assert malformed[0]["partial"] == {"name": "g", "arguments": {"text": "Rome is b"}}
        assert [problem["error"] for problem in parser.problems] == [malformed[0]["error"]]


MARK = re.compile(r"<[^<>\s\"]+>|\[[A-Z_/]+\]|>>>|```")


def marks_after_a_value(form: Form) -> list[str]:
    """The marks that stand behind a form's value, its own end and the turn's aside, one by one and all together."""
    tail = form.calls([("f", {"a": "quoted"})]).partition("quoted")[2]
    marks = list(dict.fromkeys(MARK.findall(tail)))
    if marks and tail.lstrip().startswith(marks[0]):
        marks = marks[1:]
    return [*marks, "\n".join(marks)] if len(marks) > 1 else marks


QUOTING = [pytest.param(form, mark, id=f"{form}: {mark}") for form in FORMS for mark in marks_after_a_value(form)]


@pytest.mark.parametrize(("form", "mark"), QUOTING)
@pytest.mark.parametrize("errors", ["report", "repair"])
def test_a_call_that_is_cut_off_behind_a_mark_it_quotes_does_not_count(form: Form, mark: str, errors: str) -> None:
    text = form.calls([("f", {"a": f"Q\n{mark}\nW", "b": "z"})])
    start, end = text.index("Q"), text.index("W")
    for cut in range(start + 1, end + 1):
        sizes = (WHOLE, 1) if cut == end else (WHOLE,)
        message = message_of(
            form.family,
            text[:cut],
            prefix=form.prompt,
            errors=errors,
            finish_reason="length",
            problems=1,
            sizes=sizes,
        )
        assert message == {}


class Case(NamedTuple):
    """What a model wrote, and the message."""

    what: str
    family: str
    text: str
    message: dict[str, Any]
    problems: int = 0
    finish_reason: str | None = None


CALL = compact({"name": "f", "arguments": {"a": 1}})
F = {"tool_calls": [call("f", a=1)]}
DEEPSEEK_CALL = '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": 1}'
KIMI_CALL = '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": 1}'

MISSING_ENDS = [
    Case("nothing follows", "qwen3", f"<tool_call>\n{CALL}", F),
    Case("nothing follows, cut off", "qwen3", f"<tool_call>\n{CALL}", {}, 1, "length"),
    Case("nothing follows", "kimi_k2", KIMI_CALL, F),
    Case("nothing follows, cut off", "kimi_k2", KIMI_CALL, {}, 1, "length"),
    Case("the end of the turn follows", "exaone4", f"<tool_call>{CALL}[|endofturn|]", F),
    Case("the end of the turn follows", "deepseek_v31", DEEPSEEK_CALL + "<｜end▁of▁sentence｜>", F),
    Case("the end of the section follows", "deepseek_v31", DEEPSEEK_CALL + "<｜tool▁calls▁end｜>", F),
    Case("the end of the section follows", "kimi_k2", KIMI_CALL + "<|tool_calls_section_end|>", F),
    Case("text follows", "smollm3", f"<tool_call>{CALL}\nDone.<|im_end|>", F | {"content": "Done."}),
    Case(
        "another call follows",
        "qwen3",
        f"<tool_call>{CALL}\n<tool_call>{CALL}</tool_call>",
        {"tool_calls": [call("f", a=1)] * 2},
    ),
    Case("reasoning follows", "qwen3", f"<tool_call>{CALL}\n<think>Hm.</think>", F | {"reasoning_content": "Hm."}),
    Case("half of it", "qwen3", f"<tool_call>{CALL}</tool", F),
    Case(
        "its first half",
        "qwen3_5",
        "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</function>",
        {"tool_calls": [call("f", a="x")]},
    ),
    Case(
        "its second half",
        "nemotron_v3",
        "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</tool_call>Hi",
        {"tool_calls": [call("f", a="x")], "content": "Hi"},
    ),
    Case(
        "its second half, no arguments",
        "qwen3_5",
        "<tool_call>\n<function=f>\n</tool_call>\nHi",
        {"tool_calls": [call("f")], "content": "Hi"},
    ),
    Case(
        "its second half",
        "minimax_m2",
        '<minimax:tool_call><invoke name="f"><parameter name="a">x</parameter></minimax:tool_call>Hi',
        {"tool_calls": [call("f", a="x")], "content": "Hi"},
    ),
    Case("all of it, between tags", "qwen3_5", "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>", {}, 1),
    Case(
        "all of it, and the model meant to stop",
        "qwen3_5",
        "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>",
        {"tool_calls": [call("f", a="x")]},
        0,
        "stop",
    ),
    Case(
        "the turn ended between tags",
        "seed_oss",
        "<seed:tool_call><function=f><parameter=a>x</parameter><seed:eos>",
        {"tool_calls": [call("f", a="x")]},
    ),
    Case("the fence, too", "deepseek_r1", '<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"a": 1}', F),
    Case("not the fence", "deepseek_r1", '<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"a": 1}\n```\n', F),
    Case(
        "the invoke's, in a section that ends",
        "deepseek_dsml",
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n</｜DSML｜function_calls>',
        {"tool_calls": [call("f")]},
    ),
    Case("gemma", "gemma4", '<|tool_call>call:f{a:<|"|>x<|"|>}<turn|>', {"tool_calls": [call("f", a="x")]}),
    Case(
        "a message of its own follows",
        "gpt_oss",
        '<|channel|>commentary to=functions.f<|message|>{"a": 1}<|start|>assistant<|channel|>final<|message|>Hi',
        F | {"content": "Hi"},
    ),
]

WRONG_ENDS = [
    Case("another tag", "qwen3", f"<tool_call>{CALL}</tool_calls>Hi", F | {"content": "Hi"}),
    Case("another tag", "hunyuan_a13b", f"<tool_calls>[{CALL}]</tool_call>Hi", F | {"content": "Hi"}),
    Case("the open again", "qwen3", f"<tool_call>{CALL}<tool_call>", F, 1),
    Case("another mark", "lfm2", "<|tool_call_start|>[f(a=1)]<|tool_list_end|>Hi", F | {"content": "Hi"}),
    Case("the end of reasoning", "qwen3", f"<tool_call>{CALL}</think>Hi", F | {"content": "Hi"}),
    Case(
        "another end of the message", "gpt_oss", '<|channel|>commentary to=functions.f<|message|>{"a": 1}<|return|>', F
    ),
    Case(
        "two ends of the message",
        "gpt_oss",
        '<|channel|>commentary to=functions.f<|message|>{"a": 1}<|end|><|call|>',
        F,
    ),
    Case("a bracket too many", "llama3_json", '{"name": "f", "parameters": {"a": 1}}}', F),
    Case("a bracket too many", "phi4_mini", f"functools[{CALL}]]<|end|>", F),
]

FRAGMENTS = [
    Case("an open and nothing more", "qwen3", "Let me look.\n<tool_call>", {"content": "Let me look."}, 1),
    Case("an open and a bracket", "qwen3", "Let me look.\n<tool_call>\n{", {"content": "Let me look."}, 1),
    Case(
        "an open and nothing more", "granite4", "Let me look.\n<tool_call>\n", {"content": "Let me look."}, 1, "length"
    ),
    Case("a named open and nothing more", "qwen3_5", "Look.<tool_call>\n<function=f>", {"content": "Look."}, 1),
    Case(
        "a named open and nothing more",
        "deepseek_v31",
        "Look.<｜tool▁call▁begin｜>f<｜tool▁sep｜>",
        {"content": "Look."},
        1,
    ),
    Case("half an open", "qwen3", "Look.\n<tool_ca", {"content": "Look.\n<tool_ca"}),
    Case("half a named open", "qwen3_5", "<tool_call>\n<function", {"content": "<function"}, 1),
    Case("half a close of the turn", "qwen3", "Hi<|im_e", {"content": "Hi<|im_e"}),
    Case(
        "half an argument, whatever comes",
        "kimi_k2",
        '<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": 1<|tool_call_end|>Hi',
        {"content": "Hi", "tool_calls": [call("f", a=1)]},
    ),
]

CASES = [*MISSING_ENDS, *WRONG_ENDS, *FRAGMENTS]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.family}: {case.what}")
def test_what_is_left(case: Case) -> None:
    message = message_of(case.family, case.text, finish_reason=case.finish_reason, problems=case.problems)
    assert message == case.message


def test_a_mended_end_is_said() -> None:
    parser = ResponseParser("qwen3", CHATML, errors="report")
    events = parser.feed(f"<tool_call>{CALL}") + parser.finalize()[1]
    assert [event["repaired"] for event in events if "repaired" in event] == [["the close delimiter is missing"]]


UNCLOSED = [
    form
    for form in FORMS
    if re.search(r"</[^<>]*(?:param|arg_value)[^<>]*>", form.calls([("f", {"a": "x"})])) and form.family != "qwen3"
]


@pytest.mark.parametrize("form", UNCLOSED, ids=str)
@pytest.mark.parametrize("finish_reason", [None, "stop", "length"])
def test_a_last_value_without_its_closing_tag(form: Form, finish_reason: str | None) -> None:
    def without_tag(written: list[Call]) -> str:
        return re.sub(r"\n?</[^<>]*(?:param|arg_value)[^<>]*>(?=\s*</)", "", form.calls(written))

    written: list[Call] = [("f", {"a": "x", "b": "big"})]
    expected = {"tool_calls": form.made(written)}
    ended = {"prefix": form.prompt, "finish_reason": finish_reason}
    assert message_of(form.family, without_tag(written) + form.turn_end, **ended) == expected
    followed = without_tag(written) + "\n" + form.calls(written)
    assert message_of(form.family, followed, **ended) == {"tool_calls": form.made(written * 2)}
    cut_off = finish_reason == "length"
    message = message_of(form.family, without_tag(written), problems=int(cut_off), **ended)
    assert message == ({} if cut_off else expected)
