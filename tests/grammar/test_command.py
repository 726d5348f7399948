"""``streamparse grammar``: grammars and what they leave out, from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamparse.cli import main
from streamparse.grammar import to_grammar

TOOLS: list[dict[str, Any]] = [
    {"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer", "multipleOf": 3}}}}
]


@pytest.fixture
def tools_file(tmp_path: Path) -> str:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS), encoding="utf-8")
    return str(path)


def test_the_grammar_is_printed(tools_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["grammar", "qwen3", "--tools", tools_file, "--tool-choice", "required", "--target", "lark"]
    assert main(words) == 0
    assert (
        capsys.readouterr().out.strip()
        == to_grammar("qwen3", TOOLS, target="lark", tool_choice="required").text.strip()
    )


def test_a_structural_tag_is_json(tools_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grammar", "qwen3", "--tools", tools_file, "--target", "structural_tag", "--one-call"]) == 0
    assert json.loads(capsys.readouterr().out)["type"] == "structural_tag"


def test_what_is_left_out_is_said(tools_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grammar", "qwen3", "--tools", tools_file, "--relaxed"]) == 0
    line = json.loads(capsys.readouterr().out)
    assert (line["where"], line["keyword"]) == ("f/properties/n", "multipleOf")


def test_a_lazy_grammar_says_what_begins_it(tools_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grammar", "qwen3", "--tools", tools_file]) == 0
    assert "<tool_call>" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["--tools", "nowhere.json"],
        ["--tool-choice", "required"],
        ["--tool-choice", "g"],
        ["--response-format", "none.json"],
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grammar", "qwen3", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1
