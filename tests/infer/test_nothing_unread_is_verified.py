"""What a chat template writes in a form that can't be read has not come back: no verdict says that it has."""

from __future__ import annotations

import pytest

from streamparse.infer import Inference, infer_response_template

CALL = '<tc>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments|tojson }}}</tc>'


def inferred(*, reasoning: str = "", content: str = "{{ m.content or '' }}", call: str = CALL) -> Inference:
    """The inference from a plain chat template that writes the parts of a turn as given."""
    return infer_response_template(
        "{% for m in messages %}<|im_start|>{{ m.role }}\n"
        + ("{% if m.reasoning_content %}" + reasoning + "{% endif %}" if reasoning else "")
        + content
        + "{% for c in m.tool_calls or [] %}"
        + call
        + "{% endfor %}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )


def test_what_is_written_so_that_it_can_be_read_is_verified() -> None:
    inference = inferred(reasoning="<think>{{ m.reasoning_content }}</think>")
    assert inference.verified
    assert {"reasoning_content", "content", "tool_calls"} == inference.template["fields"].keys()


@pytest.mark.parametrize(
    "reasoning",
    [
        "**{{ m.reasoning_content }}**",
        "({{ m.reasoning_content }})",
        "|{{ m.reasoning_content }}|",
        "[{{ m.reasoning_content }}]",
        "<think>{{ m.reasoning_content|upper }}</think>",
        "<think>{{ m.reasoning_content[:20] }}</think>",
    ],
)
def test_reasoning_that_is_shown_and_not_read(reasoning: str) -> None:
    inference = inferred(reasoning=reasoning)
    assert not inference.verified
    statuses = {check.feature: check.status for check in inference.checks}
    assert statuses["reasoning and content"] == "differs"
    assert statuses["content"] == "verified"


@pytest.mark.parametrize(
    "call",
    [
        "<tc>{{ c.function.arguments|tojson }}</tc>",
        "<tc>{{ c.function.name }}</tc>",
        '<tc>{"name": "{{ c.function.name|upper }}", "arguments": {{ c.function.arguments|tojson }}}</tc>',
        '<tc>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments|tojson|lower }}}</tc>',
    ],
)
def test_calls_that_are_written_and_not_read(call: str) -> None:
    inference = inferred(call=call)
    assert not inference.verified
    assert {check.feature: check.status for check in inference.checks}["a call"] == "differs"


def test_content_that_is_rewritten() -> None:
    inference = inferred(content="{{ (m.content or '')|e }}")
    assert not inference.verified


def test_what_is_not_written_at_all_stays_not_expressible() -> None:
    inference = inferred(call="")
    assert inference.verified
    statuses = {check.feature: check.status for check in inference.checks}
    assert statuses["a call"] == statuses["reasoning and content"] == "not expressible"
