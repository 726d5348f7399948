"""A family's own marks are never text: stray, doubled or misplaced, they are dropped and told, unless quoted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse import ResponseParser, get_response_template, response_template_names
from streamparse.stages.recovery.own_marks import own_marks
from tests.field.forms import FORMS, Form
from tests.field.reading import message_of

FAMILIES = response_template_names()
FORM = {form.family: form for form in reversed(FORMS)}


def literals_of(family: str) -> list[str]:
    """The marks that a family's template spells out, but those that its fields open or close with in any place."""
    template = get_response_template(family)
    return [mark for marks in own_marks(template) for mark in marks.literals or () if not opens_or_ends(family, mark)]


def opens_or_ends(family: str, mark: str) -> bool:
    """Whether a mark alone opens a region of text, or ends one: it means something wherever it stands."""
    template = get_response_template(family)
    texts = [field for field in template.fields.values() if field.streams]
    delimiters = [each for field in texts for each in (field.open, field.close) if each is not None]
    return any(each.compiled.match(mark) or (each.literals and mark in each.literals) for each in delimiters)


MARKED = [
    pytest.param(form, mark, id=f"{form}: {mark!r}") for form in FORM.values() for mark in literals_of(form.family)
]


@pytest.mark.parametrize(("form", "mark"), MARKED)
def test_a_mark_on_a_line_of_its_own_is_dropped_and_told(form: Form, mark: str) -> None:
    text = form.says(f"One line.\n{mark}\nAnother line.")
    message = message_of(form.family, text, prefix=form.prompt, problems=None)
    assert mark.strip() not in message["content"]
    assert "One line." in message["content"]
    assert "tool_calls" not in message


@pytest.mark.parametrize(("form", "mark"), MARKED)
def test_a_mark_in_a_fence_is_text(form: Form, mark: str) -> None:
    if form.family in ("functionary", "xlam"):
        return  # a fence may be xLAM's own open, and all of functionary's marks begin a message
    answer = f"They are written so:\n```\nx {mark.strip()} y\n```\nThat is all."
    message = message_of(form.family, form.says(answer), prefix=form.prompt, problems=None)
    assert mark.strip() in message["content"]


@pytest.mark.parametrize(("form", "mark"), [each for each in MARKED if each.values[0].reasoning])  # type: ignore[union-attr]
def test_a_mark_in_a_thought_is_dropped(form: Form, mark: str) -> None:
    text = form.thinks(f"First this.\n{mark}\nThen that.") + form.says("Done.")
    message = message_of(form.family, text, prefix=form.prompt, problems=None)
    assert mark.strip() not in message.get("reasoning_content", "")
    assert mark.strip() not in message.get("content", "")


@pytest.mark.parametrize(
    ("family", "text", "message"),
    [
        ("gemma4", "<|channel><|channel>thought\nHm.<channel|>Hi.", {"reasoning_content": "Hm.", "content": "Hi."}),
        ("gpt_oss", "<|channel|>assistant<|message|>Hi.<|end|>", {"content": "Hi."}),
        (
            "gpt_oss",
            "<|channel|>final<|message|>A.<|end|><|start|>assistant~~x<|channel|>final<|message|>B.<|return|>",
            {"content": "A.\n\nB."},
        ),
        ("kimi_k2", "Look.\n<|tool_call_section_begin|>\n<|tool_call_section_end|>", {"content": "Look."}),
        ("deepseek_v31", "<｜tool▁outputs▁begin｜>Seen.<｜tool▁outputs▁end｜>", {"content": "Seen."}),
        ("qwen3", "<tool_call></tool_call>Nothing to call.", {"content": "Nothing to call."}),
        ("olmo3", "<function_calls></function_calls>", {}),
        ("lfm2", "<|tool_call_start|><|tool_call_end|>", {}),
    ],
)
def test_marks_without_what_they_delimit(family: str, text: str, message: dict[str, str]) -> None:
    assert message_of(family, text, problems=None) == message


def test_a_mark_that_a_sentence_names_is_text() -> None:
    text = "The tag <tool_call> opens it, and </tool_call> closes it."
    assert message_of("smollm3", text) == {"content": text}


def test_a_dropped_mark_is_a_problem_with_its_place() -> None:
    parser = ResponseParser("gemma4", "", errors="report")
    parser.feed("Hi.\n<|turn>\nThere.")
    message, _ = parser.finalize()
    assert message["content"] == "Hi.\n\nThere."
    assert [(problem["type"], problem["position"], problem["text"]) for problem in parser.problems] == [
        ("region_unclaimed", 4, "<|turn>")
    ]


@given(st.sampled_from(FAMILIES), st.data())
def test_cuts_never_matter_to_marks(family: str, data: st.DataObject) -> None:
    marks = [mark for found in own_marks(get_response_template(family)) for mark in found.literals or ()]
    parts = st.sampled_from([*marks, "a", " ", "\n", "`", ". ", "```\n", "\n\n"])
    text = "".join(data.draw(st.lists(parts, max_size=12)))
    message_of(family, text, problems=None)
