"""Marks that text only mentions are text: in answers and in reasoning, one mark or a pair, with quotes or without."""

from __future__ import annotations

import re

import pytest

from streamparse import ResponseParser
from tests.field.forms import CHATML, FORMS, LLAMA, Form
from tests.field.reading import call, message_of

MARK = re.compile(r"<[^<>\s\"]+>|\[[A-Z_/]+\]|functools")

# What is never text there, mentioned or not: what opens reasoning, the ends of turns, headers of channels, and the
# marks of Llama's code interpreter, which stand before anything.
NEVER_TEXT = re.compile(
    r"<\|(?:channel|start|message|call|end|constrain|python_\w+|begin|message_model|end_message|eom)\|>"
)


def marks_of(form: Form) -> list[str]:
    """The marks around the form's calls."""
    return [mark for mark in dict.fromkeys(MARK.findall(form.calls([("f", {"a": "b"})]))) if mark != '<|"|>']


MENTIONS = [
    pytest.param(form, mark, id=f"{form}: {mark}")
    for form in FORMS
    for mark in marks_of(form)
    if not NEVER_TEXT.fullmatch(mark)
]


@pytest.mark.parametrize(("form", "mark"), MENTIONS)
@pytest.mark.parametrize("text", ["Write {0} to begin, then go on.", "Use `{0}` and '{0}' for that."])
def test_a_mark_that_the_answer_mentions(form: Form, mark: str, text: str) -> None:
    answer = text.format(mark)
    assert message_of(form.family, form.says(answer) + form.turn_end, prefix=form.prompt) == {"content": answer}


@pytest.mark.parametrize(("form", "mark"), [param for param in MENTIONS if param.values[0].reasoning])  # type: ignore[union-attr]
def test_a_mark_that_reasoning_mentions(form: Form, mark: str) -> None:
    reasoning = f"I could write {mark} or `{mark}` here."
    text = form.thinks(reasoning) + form.says("Hi.") + form.turn_end
    expected = {"reasoning_content": reasoning, "content": "Hi."}
    assert message_of(form.family, text, prefix=form.prompt) == expected


@pytest.mark.parametrize(("form", "mark"), MENTIONS)
def test_a_mark_that_is_mentioned_before_a_call(form: Form, mark: str) -> None:
    text = form.says(f"As {mark} says:\n") + form.calls([("f", {"a": "b"})]) + form.turn_end
    expected = {"content": f"As {mark} says:", "tool_calls": [call("f", a="b")]}
    assert message_of(form.family, text, prefix=form.prompt) == expected


UNMARKED = [
    pytest.param(form, id=str(form))
    for form in FORMS
    if form.family in ("llama3_json", "llama4_pythonic") and not form.note
]


@pytest.mark.parametrize("form", UNMARKED)
@pytest.mark.parametrize(
    "text",
    [
        "```json\n{}\n```",
        "```\n{}\n```\nThat is how.",
        "Like this:\n\n~~~\n{}\n~~~",
        "````md\n```\n{}\n```\n````",
        "1. Write\n\n   ```python\n   {}\n   ```\n2. Send it.",
        "```json {}```",
        "Write `{}` there.",
        "Write `` {} `` there.",
        "An example:\n\n    {}\n\nThat is all.",
        "```json\n[{}\n{}]\n```",
        "```json\n{}",
    ],
)
def test_a_call_without_a_mark_is_text_in_code(form: Form, text: str) -> None:
    answer = text.replace("{}", form.calls([("f", {"a": "b"})]))
    assert message_of(form.family, answer, prefix=form.prompt) == {"content": answer}
    assert message_of(form.family, answer + form.turn_end, errors="report") == {"content": answer}


@pytest.mark.parametrize("form", UNMARKED)
@pytest.mark.parametrize(
    "text",
    [
        "```json\n{}\n```\n",
        "Write `{}` there.\n",
        "A single ` only.\n",
        "~~No.~~ ",
        "~~~~\n~~~\n~~~~\n\n",
        "```\n``\n~~~\n```\n",
        "Two lines.\n   ",
    ],
)
def test_a_call_behind_code_is_a_call(form: Form, text: str) -> None:
    made = [("f", {"a": "b"})]
    answer = text.replace("{}", form.calls(made))
    expected = {"content": answer.strip(), "tool_calls": form.made(made)}
    assert message_of(form.family, answer + form.calls(made) + form.turn_end, prefix=form.prompt) == expected


def test_a_fence_that_the_prompt_opened_quotes() -> None:
    text = '{"name": "f", "parameters": {"a": 1}}\n```'
    assert message_of("llama3_json", text, prefix=LLAMA + "As JSON:\n```json\n")["content"].endswith(text)


def test_a_fence_holds_nothing_back() -> None:
    parser = ResponseParser("llama3_json", LLAMA, errors="repair")
    for piece in ("As JSON:", " ``", "`", "json", "\n", "1, 2", "\n``", "`", "\n", "~~~", "\n", "    ", "x"):
        events = parser.feed(piece)
        assert [event["text"] for event in events if event["type"] == "region_chunk"] == [piece]


REASONING = [pytest.param(form, id=str(form)) for form in FORMS if form.reasoning and MARK.match(form.reasoning[0])]
MENTIONED = [
    "I write {0} before I think.",
    "The marks `{0}` and `{1}` stand around it.",
    'It begins with "{0}", and ends with "{1}".',
    "What I think ({0}) is no answer.",
    "Put thoughts in {0}...{1} tags.",
    "An empty pair is {0}{1} there.",
    "```\n{0}\nHm.\n{1}\n```\nThat is how.",
    "It begins with {0}",
]


@pytest.mark.parametrize("form", REASONING)
@pytest.mark.parametrize("text", MENTIONED)
@pytest.mark.parametrize("thinks", [False, True], ids=["at once", "after reasoning"])
def test_a_mark_of_reasoning_that_the_answer_mentions(form: Form, text: str, thinks: bool) -> None:
    if NEVER_TEXT.search(form.thinks("")) or (thinks and form.family == "gpt_oss"):
        return
    opening, closing = (mark.strip() for mark in form.thinks("|~|").split("|~|"))
    answer = text.format(opening, closing)
    written = (form.thinks("Hm.") if thinks else "") + form.says(answer) + form.turn_end
    expected = {"content": answer} | ({"reasoning_content": "Hm."} if thinks else {})
    assert message_of(form.family, written, prefix=form.prompt) == expected


@pytest.mark.parametrize("form", REASONING)
@pytest.mark.parametrize("before", ["Here is text. ", "Hi!", "A line:\n", "One\n\n", "x", "`code` is here.\n"])
def test_reasoning_behind_text_is_reasoning(form: Form, before: str) -> None:
    if NEVER_TEXT.search(form.thinks("")):
        return
    expected = {"reasoning_content": "Hm, hm.", "content": f"{before.strip()}\n\nDone."}
    assert message_of(form.family, before + form.thinks("Hm, hm.").lstrip() + "Done.", prefix=form.prompt) == expected


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("qwen3", "Put it in <tool_call>...</tool_call> tags."),
        ("qwen3", "Put it in <tool_call>\n{...}\n</tool_call> tags."),
        ("qwen3", "The tags <tool_call></tool_call> stand around it."),
        ("qwen3", "Schema: <tool_call>[args]</tool_call>"),
        ("qwen3_5", "Write <tool_call> then <function=name> and so on."),
        ("qwen3_coder", "Write <function=example_function_name> and a <parameter=example_parameter_1>."),
        ("granite4", "Each <tool_call> needs a name."),
        ("hunyuan_a13b", "Lists stand in <tool_calls>[...]</tool_calls>."),
        ("mistral", "The token [TOOL_CALLS] comes first, then [ARGS]."),
        ("lfm2", "It is <|tool_call_start|>[...]<|tool_call_end|> there."),
        ("olmo3", "Calls stand in <function_calls></function_calls>."),
        ("nemotron_v2", "Use <TOOLCALL> for that."),
        ("phi4_mini", "Python's functools[...] is no list; functools.partial is a function."),
        ("llama4_pythonic", "In `[x for x in f(y)]`, [f(x)](link) and [1, 2] nothing is called."),
        ("llama3_json", 'As JSON: {"name": "Ada", "age": 36} or {"a": 1}.'),
        ("llama3_json", '{"name": "get", "description": "gets", "parameters": {}}'),
        ("minimax_m2", 'Write <invoke name="f"> inside <minimax:tool_call> tags.'),
        ("deepseek_dsml", 'Write <｜DSML｜invoke name="f"> first.'),
        ("functionary", "Answer:\n>>> 1 + 1\n2"),
        ("functionary", "Use <function=f> with JSON after it."),
        ("glm45", "Use <tool_call>name and then keys."),
    ],
)
def test_what_is_only_like_a_call(family: str, text: str) -> None:
    assert message_of(family, text) == {"content": text}


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n```',
        '```json\n{"name": "get_weather", "parameters": {"city": "Paris"}}\n```\nDone.',
        '{"name": "get_weather", "arguments": {"city": "Paris"}}',
    ],
)
def test_json_without_the_marks_of_its_family_is_text(text: str) -> None:
    assert message_of("qwen3", text, prefix=CHATML) == {"content": text}
