"""Where a chat template may come from, and that a result is kept by content."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamparse.infer import InferenceError, infer_response_template
from tests.infer.written_templates import frame, written

SOURCE = frame(written("message.content"))
ENDED = frame(written("message.content", "eos_token"), end="")
CONFIG: dict[str, Any] = {"chat_template": ENDED, "bos_token": "<s>", "eos_token": {"content": "</s>"}}


def closes(source: Any, **options: Any) -> str:
    template = infer_response_template(source, **options).template
    return str(template["fields"]["content"].get("close_pattern", ""))


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_jinja_text_a_path_and_its_name_are_the_same(tmp_path: Path) -> None:
    path = write(tmp_path / "chat_template.jinja", SOURCE)
    expected = infer_response_template(SOURCE).template
    assert infer_response_template(path).template == expected
    assert infer_response_template(str(path)).template == expected
    assert infer_response_template(tmp_path).template == expected


def test_special_tokens_come_from_the_tokenizers_configuration(tmp_path: Path) -> None:
    config = write(tmp_path / "tokenizer_config.json", json.dumps(CONFIG))
    assert closes(config) == closes(tmp_path) == closes(CONFIG) == r"</s>\s*"


def test_a_folder_takes_the_jinja_file_and_the_configurations_tokens(tmp_path: Path) -> None:
    write(tmp_path / "tokenizer_config.json", json.dumps({**CONFIG, "chat_template": SOURCE}))
    write(tmp_path / "chat_template.jinja", ENDED)
    assert closes(tmp_path) == r"</s>\s*"


def test_an_argument_goes_before_the_configuration() -> None:
    assert closes(CONFIG, eos_token="<|stop|>") == r"<\|stop\|>\s*"


def test_a_tokenizer_is_a_source() -> None:
    assert closes(SimpleNamespace(**{**CONFIG, "eos_token": "</s>"})) == r"</s>\s*"


@pytest.mark.parametrize("named", [{"default": SOURCE, "tool_use": ENDED}, {"default": ENDED}])
def test_of_several_templates_the_one_for_tools_goes_first(named: dict[str, str]) -> None:
    listed = [{"name": name, "template": text} for name, text in named.items()]
    assert closes({**CONFIG, "chat_template": named}) == closes({**CONFIG, "chat_template": listed}) == r"</s>\s*"


def test_what_will_be_given_to_apply_chat_template_is_given_here_too() -> None:
    source = frame(written("message.content"), end="", before="{%- set mark = '<|a|>' if loud else '<|b|>' %}").replace(
        "{{- message.content }}", "{{- message.content ~ mark }}"
    )
    assert closes(source, chat_template_kwargs={"loud": True}) == r"<\|a\|>\s*"
    assert closes(source) == r"<\|b\|>\s*"


def test_the_same_content_is_inferred_once(tmp_path: Path) -> None:
    path = write(tmp_path / "chat_template.jinja", SOURCE)
    assert infer_response_template(path) is infer_response_template(SOURCE)
    assert infer_response_template(SOURCE, eos_token="</s>") is not infer_response_template(SOURCE)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (17, "int is no source"),
        ("no/such/file", "can't read"),
        ({"chat_template": None}, "has no chat template"),
        (SimpleNamespace(chat_template=None), "has no chat template"),
    ],
)
def test_what_has_no_chat_template_says_so(source: Any, why: str) -> None:
    with pytest.raises(InferenceError, match=why):
        infer_response_template(source)


@pytest.mark.parametrize(
    ("text", "why"), [("{", "is not JSON"), ("[]", "no JSON object"), ("{}", "has no chat template")]
)
def test_a_faulty_configuration_says_so(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(InferenceError, match=why):
        infer_response_template(write(tmp_path / "tokenizer_config.json", text))


def test_an_empty_folder_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(InferenceError, match=r"chat_template\.jinja"):
        infer_response_template(tmp_path)
