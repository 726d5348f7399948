"""``streamparse guess`` as its user meets it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from streamparse import response_template_names
from streamparse.cli import main

MISTRAL = 'Let me see.[TOOL_CALLS]add[ARGS]{"a": 1}</s>'


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "output.txt"
    path.write_text(MISTRAL, encoding="utf-8")
    return path


def test_the_table_has_the_best_first_and_says_why(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guess", str(written)]) == 0
    heading, first, second, *_ = capsys.readouterr().out.splitlines()
    assert heading.split() == ["rank", "template", "why"]
    assert first.split(maxsplit=2) == ["1", "mistral", "reads content, 1 tool call; no markup is left over"]
    assert "leaves" in second
    assert "[TOOL_CALLS]" in second


def test_the_command_that_it_ends_with_reads_the_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "output.txt"
    path.write_text("Two.[/THINK]Let me see.</s>", encoding="utf-8")
    assert main(["guess", str(path)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("Next: streamparse parse --template mistral --prefix ")
    assert "'[/INST][THINK]'" in last
    arguments = shlex.split(last.removeprefix("Next: streamparse ").replace("$'", "'"))
    assert main([*arguments, "--output", "message"]) == 0
    message = json.loads(capsys.readouterr().out)
    assert message == {"role": "assistant", "reasoning_content": "Two.", "content": "Let me see."}


def test_all_templates_as_lines_of_json(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guess", "--json", str(written)]) == 0
    guesses = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(guess["template"] for guess in guesses) == list(response_template_names())
    assert guesses[0]["template"] == "mistral"
    assert guesses[0]["complete"]
    assert guesses[0]["message"]["tool_calls"][0]["function"] == {"name": "add", "arguments": {"a": 1}}


def test_a_text_that_tells_nothing_is_not_given_a_template(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "output.txt").write_text("Sunny, 21 degrees.")
    assert main(["guess", str(tmp_path / "output.txt")]) == 0
    out = capsys.readouterr().out
    assert "no markup" in out
    assert not [name for name in response_template_names() if name in out]


def test_what_no_template_reads_is_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "output.txt").write_text("[TOOL_CALLS] <tool_call> <|channel|> </think>")
    assert main(["guess", str(tmp_path / "output.txt")]) == 1
    assert "streamparse infer" in capsys.readouterr().out
