"""A chat template that writes what a bundled template reads gets that one, and the account says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamparse import get_response_template, load_response_template, parse_response
from streamparse.cli import main
from streamparse.infer import infer_response_template

NAME, ARGUMENTS = "{{ c.function.name }}", "{{ c.function.arguments|tojson }}"


def chat_template(
    call: str, begin: str = "", end: str = "", turn: str = "<|im_start|>", turn_end: str = "<|im_end|>\n"
) -> str:
    """A plain chat template in the style of ChatML that writes calls in this way."""
    return (
        "{% for m in messages %}"
        + turn
        + "{{ m.role }}\n{{ m.content or '' }}{% if m.tool_calls %}"
        + begin
        + "{% for c in m.tool_calls %}"
        + call
        + "{% endfor %}"
        + end
        + "{% endif %}"
        + turn_end
        + "{% endfor %}"
        "{% if add_generation_prompt %}" + turn + "assistant\n{% endif %}"
    )


HERMES = chat_template('<tool_call>\n{"name": "' + NAME + '", "arguments": ' + ARGUMENTS + "}\n</tool_call>\n")
KIMI = (
    "{% for m in messages %}{% if m.role == 'assistant' %}<|im_assistant|>assistant<|im_middle|>{{ m.content or '' }}"
    "{% if m.tool_calls %}<|tool_calls_section_begin|>{% for c in m.tool_calls %}<|tool_call_begin|>functions."
    + NAME
    + ":{{ loop.index0 }}<|tool_call_argument_begin|>"
    + ARGUMENTS
    + "<|tool_call_end|>{% endfor %}"
    "<|tool_calls_section_end|>{% endif %}<|im_end|>{% else %}<|im_user|>{{ m.role }}<|im_middle|>{{ m.content }}"
    "<|im_end|>{% endif %}{% endfor %}{% if add_generation_prompt %}<|im_assistant|>assistant<|im_middle|>{% endif %}"
)
KNOWN = {"qwen3": HERMES, "kimi_k2": KIMI}


@pytest.mark.parametrize(("name", "source"), KNOWN.items())
def test_the_bundled_template_is_taken_and_named(name: str, source: str) -> None:
    inference = infer_response_template(source)
    assert inference.bundled == name
    assert inference.verified
    assert load_response_template(inference.template) == get_response_template(name)
    assert f"the bundled template {name!r}" in inference.explain()


def test_it_reads_what_the_chat_template_does_not_show() -> None:
    lone = '<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{"zone": "UTC"}<|tool_call_end|>'
    prompt = "<|im_user|>user<|im_middle|>Hi<|im_end|><|im_assistant|>assistant<|im_middle|>"
    message = parse_response(
        f"◁think▷Hm.◁/think▷{lone}", infer_response_template(KIMI).template, prefix=prompt, errors="report"
    )
    assert message["reasoning_content"] == "Hm."
    assert message["tool_calls"][0]["function"] == {"name": "now", "arguments": {"zone": "UTC"}}


@pytest.mark.parametrize("source", KNOWN.values(), ids=KNOWN)
def test_it_can_be_left_out(source: str) -> None:
    inference = infer_response_template(source, bundled=False)
    assert inference.bundled is None
    assert inference.verified
    assert "description" not in inference.template.get("streamparse", {})


@pytest.mark.parametrize(
    "source",
    [
        chat_template('<mine>{"name": "' + NAME + '", "arguments": ' + ARGUMENTS + "}</mine>"),
        chat_template(
            '<tool_call>{"name": "' + NAME + '", "arguments": ' + ARGUMENTS + "}</tool_call>", turn_end="<|mine|>"
        ),
        chat_template("", "", ""),
    ],
    ids=["other marks of calls", "another end", "no calls"],
)
def test_what_no_bundled_template_reads_whole_is_inferred(source: str) -> None:
    inference = infer_response_template(source)
    assert inference.bundled is None
    assert inference.verified
    assert "bundled" not in inference.explain()


def test_the_command_names_it(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "chat_template.jinja"
    file.write_text(HERMES, encoding="utf-8")
    assert main(["infer", str(file), "--explain"]) == 0
    assert "the bundled template 'qwen3'" in capsys.readouterr().out
    assert main(["infer", str(file), "--explain", "--no-bundled"]) == 0
    assert "bundled" not in capsys.readouterr().out
