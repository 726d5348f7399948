"""Loading a template: from data, a file, a model's folder, the bundle; what is loaded is checked and never changes."""

from __future__ import annotations

import copy
import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from streamparse import (
    ResponseTemplate,
    TemplateError,
    get_response_template,
    load_response_template,
    response_template_names,
)
from streamparse.template import load as loading
from streamparse.template import without_fields

TEMPLATE: dict[str, Any] = {
    "start_anchor": "@@",
    "defaults": {"role": "assistant"},
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>"},
        "calls": {"open": "<call>", "close": "</call>", "content": "json", "repeats": True},
        "content": {},
    },
}


def write(path: Path, data: Any) -> Path:
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_a_dict_becomes_a_template() -> None:
    template = load_response_template(TEMPLATE)
    assert template.source == TEMPLATE
    assert template.defaults == {"role": "assistant"}
    assert list(template.fields) == ["thinking", "calls", "content"]
    assert template.implicit is template.fields["content"]
    assert template.fields["calls"].repeats
    assert template.fields["thinking"].streams
    assert not template.fields["calls"].streams
    assert template.fields["calls"].parse('{"a": 1}') == {"a": 1}


def test_a_loaded_template_is_itself() -> None:
    template = load_response_template(TEMPLATE)
    assert load_response_template(template) is template


def test_the_same_content_is_compiled_once() -> None:
    assert load_response_template(TEMPLATE) is load_response_template(copy.deepcopy(TEMPLATE))
    other = copy.deepcopy(TEMPLATE) | {"start_anchor": "@"}
    assert load_response_template(other).digest != load_response_template(TEMPLATE).digest


def test_what_is_kept_is_bounded() -> None:
    for number in range(600):
        load_response_template({"start_anchor": f"@{number}", "fields": {"content": {}}})
    assert len(loading._loaded) < 600


def test_changing_the_source_changes_no_loaded_template() -> None:
    source = copy.deepcopy(TEMPLATE) | {"start_anchor": "@changing"}
    template = load_response_template(source)
    source["fields"]["thinking"]["open"] = "changed"
    source["defaults"]["role"] = "changed"
    assert template.source["fields"]["thinking"]["open"] == "<think>"
    assert template.defaults == {"role": "assistant"}


def test_warnings_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    source = {"version": 1.0, "start_anchor": "@warned", "fields": {"content": {}}}
    with caplog.at_level(logging.WARNING, "streamparse"):
        for _ in range(3):
            load_response_template(source)
    assert [record.getMessage() for record in caplog.records] == [
        "response template: version: 1.0 counts as 1; write 1"
    ]


# files and folders


@pytest.mark.parametrize("kind", [str, Path])
def test_a_file_with_the_template(tmp_path: Path, kind: Any) -> None:
    path = write(tmp_path / "mine.json", TEMPLATE)
    assert load_response_template(kind(path)).source == TEMPLATE


@pytest.mark.parametrize("name", ["tokenizer_config.json", "config.json"])
def test_a_file_that_has_the_template_under_its_key(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, {"chat_template": "{{ x }}", "response_template": TEMPLATE})
    assert load_response_template(path).source == TEMPLATE


def test_a_models_folder(tmp_path: Path) -> None:
    write(tmp_path / "tokenizer_config.json", {"response_template": TEMPLATE})
    assert load_response_template(tmp_path).source == TEMPLATE
    own = TEMPLATE | {"start_anchor": "@own"}
    write(tmp_path / "response_template.json", own)
    assert load_response_template(str(tmp_path)).source == own


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "can't be read as JSON"),
        (b"\xff\xfe", "can't be read as JSON"),
        (b"[" * 100_000, "can't be read as JSON"),
        (b"[]", "must be a dict"),
        (b"{}", "'fields' is missing"),
    ],
)
def test_a_file_that_is_no_template_says_so(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(TemplateError, match=said):
        load_response_template(path)


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "secret.json", TEMPLATE)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read any file")
    with pytest.raises(TemplateError, match=r"secret\.json"):
        load_response_template(path)


def test_a_folder_without_a_template_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"response_template\.json"):
        load_response_template(tmp_path)


def test_a_name_that_is_nothing_lists_what_there_is() -> None:
    with pytest.raises(TemplateError, match=r"neither a file, nor a folder, nor a bundled template.*qwen3"):
        load_response_template("no such model")


@pytest.mark.parametrize("text", [json.dumps(TEMPLATE) * 20, "a" * 10_000, "a\0b", ""])
def test_text_that_is_no_path_says_so(text: str) -> None:
    with pytest.raises(TemplateError) as caught:
        load_response_template(text)
    assert len(str(caught.value)) < 2_000


# the bundle


def test_bundled_templates_are_found_by_name() -> None:
    assert "qwen3" in response_template_names()
    for name in response_template_names():
        template = get_response_template(name)
        assert isinstance(template, ResponseTemplate)
        assert load_response_template(name) is template


def test_an_unknown_bundled_template_lists_what_there_is() -> None:
    with pytest.raises(TemplateError, match="qwen3"):
        get_response_template("no such model")


# fields that are switched off


def test_fields_can_be_switched_off() -> None:
    template = load_response_template(TEMPLATE)
    assert list(without_fields(template, ["calls"]).fields) == ["thinking", "content"]
    assert without_fields(template, []) is template
    assert list(template.fields) == ["thinking", "calls", "content"]


def test_only_fields_that_there_are_can_be_switched_off() -> None:
    template = load_response_template(TEMPLATE)
    with pytest.raises(TemplateError, match="no field nothing"):
        without_fields(template, ["nothing"])
    with pytest.raises(TemplateError, match="must not be empty"):
        without_fields(template, list(template.fields))
