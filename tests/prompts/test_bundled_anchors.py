"""Nothing of a prompt comes into the message: every bundled family, with prompts that are written here."""

from __future__ import annotations

from typing import Any

import pytest
from transformers.utils import chat_parsing as reference

from streamparse import parse_response, parse_stream
from streamparse.template.bundled import bundled_source
from streamparse.template.policy import EXTENSION_KEY
from tests.field.forms import FORMS, Form

DEEPSEEK_CALL = (
    "<｜User｜>Time?<｜Assistant｜>Wearlierw<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n"
    "```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>"
)
V31_CALL = (
    "<｜User｜>Time?<｜Assistant｜></think>Wearlierw<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>now<｜tool▁sep｜>{}"
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>"
)
DSML_CALL = (
    "<｜User｜>Time?<｜Assistant｜></think>Wearlierw\n\n<｜DSML｜function_calls>\n"
    '<｜DSML｜invoke name="now">\n</｜DSML｜invoke>\n</｜DSML｜function_calls><｜end▁of▁sentence｜>'
)
OUTPUT = "<｜tool▁output▁begin｜>nine<｜tool▁output▁end｜>"
OUTPUTS = f"<｜tool▁outputs▁begin｜>{OUTPUT}<｜tool▁outputs▁end｜>"
TWO_OUTPUTS = f"<｜tool▁outputs▁begin｜>{OUTPUT}\n{OUTPUT}<｜tool▁outputs▁end｜>"
DSML_OUTPUT = "\n\n<function_results>\n<result>nine</result>\n</function_results>\n\n"
GEMMA_CALL = (
    "<|turn>user\nTime?<turn|>\n<|turn>model\n<|tool_call>call:now{}<tool_call|>"
    '<|tool_response>response:now{value:<|"|>nine<|"|>}<tool_response|>'
)
APERTUS_CALL = "<|user_start|>Time?<|user_end|><|assistant_start|><|tools_prefix|>[{}]<|tools_suffix|>[nine]"

PROMPTS = {
    "deepseek_v3, a result": ("deepseek_v3", DEEPSEEK_CALL + OUTPUTS),
    "deepseek_v3, two results": ("deepseek_v3", DEEPSEEK_CALL + TWO_OUTPUTS),
    "deepseek_v3, an answer behind the result": (
        "deepseek_v3",
        f"{DEEPSEEK_CALL}{OUTPUTS}Wearlierw<｜end▁of▁sentence｜>",
    ),
    "deepseek_v3, a question without a header behind it": (
        "deepseek_v3",
        f"{DEEPSEEK_CALL}{OUTPUTS}Wearlierw<｜end▁of▁sentence｜><｜User｜>And <b>now</b>?",
    ),
    "deepseek_r1, a result": ("deepseek_r1", DEEPSEEK_CALL + OUTPUTS),
    "deepseek_r1, two results": ("deepseek_r1", DEEPSEEK_CALL + TWO_OUTPUTS),
    "deepseek_v31, a result": ("deepseek_v31", V31_CALL + OUTPUT),
    "deepseek_v31, two results": ("deepseek_v31", V31_CALL + OUTPUT + OUTPUT),
    "deepseek_v31, two rounds": ("deepseek_v31", V31_CALL + OUTPUT + V31_CALL + OUTPUT),
    "deepseek_dsml, a result": ("deepseek_dsml", f"{DSML_CALL}{DSML_OUTPUT}</think>"),
    "deepseek_dsml, a result, and empty thoughts": ("deepseek_dsml", f"{DSML_CALL}{DSML_OUTPUT}<think></think>"),
    "deepseek_dsml, not asked for more": ("deepseek_dsml", DSML_CALL + DSML_OUTPUT),
    "gemma4, a result": ("gemma4", GEMMA_CALL),
    "gemma4, old content behind the result": ("gemma4", f"{GEMMA_CALL}Wearlierw<turn|>\n"),
    "apertus, a result in the same turn": ("apertus", APERTUS_CALL),
    "functionary, the beginning of a head": (
        "functionary",
        "<|start_header_id|>user<|end_header_id|>\n\nTime?<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n>>>",
    ),
    "seed_oss, thoughts that the prompt has closed": (
        "seed_oss",
        "<seed:bos>user\nTime?<seed:eos><seed:bos>assistant\n<seed:think>\n<seed:cot_budget_reflect>The budget is 0."
        "</seed:cot_budget_reflect>\n</seed:think>",
    ),
}

lines = pytest.mark.parametrize(("family", "prefix"), PROMPTS.values(), ids=PROMPTS)
forms = pytest.mark.parametrize("form", FORMS, ids=str)
modes = pytest.mark.parametrize("errors", ["strict", "report", "repair"])

HELLO = {"role": "assistant", "content": "Hello"}


def in_version_1(family: str) -> dict[str, Any]:
    """The template without what only streamparse knows."""
    return {key: value for key, value in bundled_source(family).items() if key != EXTENSION_KEY}


@lines
@modes
def test_what_is_generated_is_the_message(family: str, prefix: str, errors: Any) -> None:
    assert parse_response("Hello", family, prefix=prefix, errors=errors) == HELLO


@lines
def test_transformers_keeps_nothing_of_the_prompt_either(family: str, prefix: str) -> None:
    assert reference.parse_response("Hello", in_version_1(family), prefix=prefix) == HELLO


def histories(form: Form) -> dict[str, str]:
    """Prompts with a turn of the model before: an answer, a call; the last of them at the end, closed."""
    answer = f"{form.prompt}{form.says('Wearlierw')}{form.turn_end}"
    call = f"{form.prompt}{form.calls([('wearliercallw', {'a': 1})])}{form.turn_end}"
    return {
        "a question": form.prompt,
        "an answer before": answer + form.prompt,
        "a call before": call + form.prompt,
        "an answer at the end": answer,
        "a call at the end": call,
    }


@forms
@modes
def test_nothing_of_the_history_comes_into_the_message_of_any_family(form: Form, errors: Any) -> None:
    for label, prefix in histories(form).items():
        message = parse_response("Hello", form.family, prefix=prefix, errors=errors)
        assert "tool_calls" not in message, label
        assert {value for key, value in message.items() if key != "role"} <= {"Hello"}, label


@forms
def test_a_turn_behind_a_history_is_read_as_behind_a_question(form: Form) -> None:
    text = form.calls([("now", {"zone": "UTC"})]) + form.turn_end
    expected = parse_response(text, form.family, prefix=form.prompt, errors="report")
    for label, prefix in histories(form).items():
        assert parse_response(text, form.family, prefix=prefix, errors="report") == expected, label


@pytest.mark.anyio
@lines
async def test_a_stream_with_the_prompt_as_prefix_gives_only_what_is_generated(family: str, prefix: str) -> None:
    events = [event async for event in parse_stream(iter("Hello"), family, prefix=prefix)]
    assert "".join(event["text"] for event in events if event["type"] == "region_chunk") == "Hello"
    assert "tool_calls" not in {event.get("field") for event in events}
    assert events[-1]["message"] == HELLO


@forms
def test_text_that_is_left_open_in_the_prompt_still_begins_the_message(form: Form) -> None:
    if form.said[0]:
        return  # the family's answers have a head, which is no text
    message = parse_response("there", form.family, prefix=f"{form.prompt}Hello ", errors="report")
    assert message.get("content", message.get("reasoning_content")) == "Hello there"
