"""What ends a turn is none of its content, wherever the chat template prints it: always, or only where more follows."""

from __future__ import annotations

from typing import Any

import pytest

from streamparse import parse_response
from streamparse.infer import Inference, infer_response_template

CONDITIONS = {
    "always": "true",
    "behind all but the last": "not loop.last",
    "with a generation prompt behind the last too": "(loop.last and add_generation_prompt) or not loop.last",
    "the same in other words": "add_generation_prompt or not loop.last",
    "of other roles always": "m.role != 'assistant' or not loop.last",
    "of other roles, and in prompts": "m.role != 'assistant' or add_generation_prompt",
    "where a message follows": "loop.nextitem is defined",
}
MARKS = {
    "the same for all": (("<|im_start|>user\n", "<|im_end|>\n"), ("<|im_start|>assistant\n", "<|im_end|>\n")),
    "another than the user's": (("<s>[INST] ", " [/INST]"), (" ", "</s>")),
    "none of the user's": (("<|user|>\n", "\n"), ("<|assistant|>\n", "<|stop|>\n")),
    "without line breaks": (("<|u|>", "<|e|>"), ("<|a|>", "<|e|>")),
}
CALL = '<tc>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments|tojson }}}</tc>'


def chat_template(marks: Any, condition: str, *, system: str = "", calls: bool = False) -> str:
    user, user_end, assistant, assistant_end = (str(text) for pair in marks for text in pair)
    end = "{% if " + condition + " %}" + assistant_end + "{% endif %}"
    if user_end == assistant_end:
        user_end = "{% if add_generation_prompt or " + condition + " %}" + user_end + "{% endif %}"
    return (
        (system + assistant_end if system else "")
        + "{% for m in messages %}{% if m.role == 'assistant' %}"
        + assistant
        + "{{ m.content or '' }}"
        + ("{% for c in m.tool_calls or [] %}" + CALL + "{% endfor %}" if calls else "")
        + end
        + "{% else %}"
        + user
        + "{{ m.content }}"
        + user_end
        + "{% endif %}{% endfor %}{% if add_generation_prompt %}"
        + assistant
        + "{% endif %}"
    )


def content_with_its_end(inference: Inference, end: str) -> Any:
    """What is read of an answer that the model has ended, behind the prompt that the chat template renders."""
    case = next(case for check in inference.checks if check.feature == "content" for case in check.cases)
    return parse_response(f"Hello.{end}", inference.template, prefix=case.prefix, errors="report").get("content")


@pytest.mark.parametrize("marks", MARKS.values(), ids=MARKS)
@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
@pytest.mark.parametrize("calls", [False, True], ids=["no calls", "calls"])
def test_no_content_has_the_mark_that_ends_its_turn(marks: Any, condition: str, calls: bool) -> None:
    inference = infer_response_template(chat_template(marks, condition, calls=calls))
    end = marks[1][1].strip()
    assert inference.verified, inference.explain()
    assert content_with_its_end(inference, end) == "Hello."
    outputs = [case.output for check in inference.checks if check.feature == "content" for case in check.cases]
    assert any(output.endswith(end) for output in outputs), "the end is tried"


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_a_system_message_of_the_chat_template_makes_no_difference(condition: str) -> None:
    marks = MARKS["the same for all"]
    template = chat_template(marks, condition, system="<|im_start|>system\nBe brief.")
    inference = infer_response_template(template)
    assert inference.verified
    assert content_with_its_end(inference, "<|im_end|>") == "Hello."


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_the_end_may_be_the_tokenizers_own(condition: str) -> None:
    marks = (("<|u|>", "\n"), ("<|a|>", "{{ eos_token }}"))
    inference = infer_response_template(chat_template(marks, condition), eos_token="</s>")
    assert inference.verified
    assert content_with_its_end(inference, "</s>") == "Hello."


@pytest.mark.parametrize("marks", MARKS.values(), ids=MARKS)
def test_where_ends_are_only_in_prompts_nothing_is_verified_that_does_not_come_back(marks: Any) -> None:
    inference = infer_response_template(chat_template(marks, "add_generation_prompt"))
    if inference.verified:
        assert content_with_its_end(inference, marks[1][1].strip()) == "Hello."


@pytest.mark.parametrize("header", ["### User:\n", "[Round {{ loop.index0 }}] USER:", "<|user|>\n"])
def test_the_header_of_the_next_question_is_no_end(header: str) -> None:
    inference = infer_response_template(
        "{% for m in messages %}{% if m.role == 'assistant' %}<|bot|>{{ m.content }}{% else %}"
        + header
        + "{{ m.content }}\n{% endif %}{% endfor %}{% if add_generation_prompt %}<|bot|>{% endif %}"
    )
    assert inference.analysis["ends_of_turn"] == []
    assert inference.verified
