"""The command as its user meets it: help, exit codes, and errors of one line."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import pytest

from streamparse import response_template_names
from streamparse.cli import COMMANDS, main

COMPLETE = '<think>Hm.</think>Hi<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
MALFORMED = 'Hi<tool_call>{"name": </tool_call> there'


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A file with a model's output."""
    path = tmp_path / "output.txt"
    path.write_text(COMPLETE, encoding="utf-8")
    return path


def stderr_line(capsys: pytest.CaptureFixture[str]) -> str:
    """What was written to standard error, which must be one line and no traceback."""
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def test_events_come_out_as_lines_of_json(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", "--template", "qwen3", str(written)]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert events[0] == {"type": "region_open", "field": "reasoning_content"}
    assert events[-1]["type"] == "message"
    assert events[-1]["message"] == {
        "role": "assistant",
        "reasoning_content": "Hm.",
        "content": "Hi",
        "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}],
    }


def test_the_message_alone(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", "-t", "qwen3", "--output", "message", str(written)]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["content"] == "Hi"


def test_malformed_output_is_exit_code_1_and_the_rest_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "output.txt"
    path.write_text(MALFORMED)
    assert main(["parse", "-t", "qwen3", "--output", "message", str(path)]) == 1
    streams = capsys.readouterr()
    assert json.loads(streams.out)["content"].split() == ["Hi", "there"]
    assert streams.err.startswith("streamparse: tool_calls, position ")
    assert len(streams.err.splitlines()) == 1


def test_what_the_parser_can_add_can_be_asked_for(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--deltas", "--spans", "--call-ids", "--without", "reasoning_content"]
    assert main(["parse", "-t", "qwen3", *flags, str(written)]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (delta,) = [event for event in events if event["type"] == "region_delta"]
    assert delta["name"] == "f"
    assert delta["arguments"] == '{"a":1}'
    assert delta["id"] == events[-1]["message"]["tool_calls"][0]["id"]
    assert events[0] == {"type": "region_open", "field": "content", "start": 0, "end": 0, "captures": {}}
    assert events[-1]["message"]["content"] == "<think>Hm.</think>Hi"


def test_a_field_that_cannot_be_switched_off_is_exit_code_2(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", "-t", "qwen3", "--without", "thoughts", str(written)]) == 2
    assert "thoughts" in stderr_line(capsys)


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "output.txt").write_text(COMPLETE, encoding="utf-8-sig")
    (tmp_path / "prompt.txt").write_text("<|im_start|>assistant\n", encoding="utf-8-sig")
    (tmp_path / "tools.json").write_text("[]", encoding="utf-8-sig")
    files = ["--prefix-file", str(tmp_path / "prompt.txt"), "--tools", str(tmp_path / "tools.json")]
    assert main(["parse", "-t", "qwen3", *files, str(tmp_path / "output.txt")]) == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert first == {"type": "region_open", "field": "reasoning_content"}


@pytest.mark.parametrize("command", [["parse", "-t", "qwen3"], ["guess"]], ids=["parse", "guess"])
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (COMPLETE.encode("utf-16"), "UTF-16"),
        (COMPLETE.encode("utf-16-le"), "UTF-16"),
        (COMPLETE.encode("utf-16-be"), "UTF-16"),
        (COMPLETE.encode("utf-32"), "UTF-16 (or UTF-32)"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "binary"),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00", "binary"),
    ],
    ids=["UTF-16", "UTF-16 without mark", "big-endian", "UTF-32", "PNG", "gzip"],
)
def test_what_is_no_utf_8_text_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str], data: bytes, said: str
) -> None:
    (tmp_path / "output").write_bytes(data)
    assert main([*command, str(tmp_path / "output")]) == 2
    line = stderr_line(capsys)
    assert said in line
    assert str(tmp_path / "output") in line


def test_strict_stops_at_malformed_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "output.txt"
    path.write_text(MALFORMED)
    assert main(["parse", "-t", "qwen3", "--errors", "strict", str(path)]) == 1
    assert "tool_calls" in stderr_line(capsys)


def test_a_required_field_that_is_missing_is_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = {"start_anchor": "@", "fields": {"answer": {"open": "<a>", "optional": False}, "content": {}}}
    (tmp_path / "template.json").write_text(json.dumps(template))
    (tmp_path / "output.txt").write_text("no answer")
    arguments = ["parse", "-t", str(tmp_path / "template.json"), "--output", "message", str(tmp_path / "output.txt")]
    assert main(arguments) == 1
    assert "answer" in stderr_line(capsys)


def test_the_prompt_says_what_is_open_already(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "output.txt").write_text("Hm.</think>Hi")
    (tmp_path / "prompt.txt").write_text("<|im_start|>assistant\n<think>\n")
    for prefix in (
        ["--prefix", "<|im_start|>assistant\n<think>\n"],
        ["--prefix-file", str(tmp_path / "prompt.txt")],
    ):
        assert main(["parse", "-t", "qwen3", "--output", "message", *prefix, str(tmp_path / "output.txt")]) == 0
        assert json.loads(capsys.readouterr().out)["reasoning_content"] == "Hm."


@pytest.mark.parametrize("wrap", [lambda tools: tools, lambda tools: {"model": "m", "tools": tools}])
def test_tools_say_of_what_type_arguments_are(tmp_path: Path, capsys: pytest.CaptureFixture[str], wrap) -> None:
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}
    (tmp_path / "tools.json").write_text(json.dumps(wrap([{"type": "function", "function": tool}])))
    (tmp_path / "output.txt").write_text("<tool_call><function=f><parameter=n>\n3\n</parameter></function></tool_call>")
    arguments = ["--tools", str(tmp_path / "tools.json"), "--output", "message", str(tmp_path / "output.txt")]
    assert main(["parse", "-t", "qwen3_5", *arguments]) == 0
    assert json.loads(capsys.readouterr().out)["tool_calls"][0]["function"]["arguments"] == {"n": 3}


def test_a_template_from_a_model_folder(written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = {"start_anchor": "@", "fields": {"thought": {"open": "<think>", "close": "</think>"}}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"response_template": template}))
    assert main(["parse", "-t", str(tmp_path), "--output", "message", str(written)]) == 0
    assert json.loads(capsys.readouterr().out) == {"thought": "Hm."}


def test_what_json_libraries_stumble_over_comes_out_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = r'{"big": 123456789012345678901234567890, "half": "\ud83d", "none": NaN}'
    (tmp_path / "output.txt").write_text(f'<tool_call>{{"name": "f", "arguments": {arguments}}}</tool_call>')
    assert main(["parse", "-t", "qwen3", "--output", "message", str(tmp_path / "output.txt")]) == 0
    got = json.loads(capsys.readouterr().out)["tool_calls"][0]["function"]["arguments"]
    assert got["big"] == 123456789012345678901234567890
    assert got["half"] == "\ud83d"
    assert got["none"] != got["none"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-t", "no-such-model"], "no-such-model"),
        (["-t", "{tmp}/broken.json"], "broken.json"),
        (["-t", "{tmp}/faulty.json"], "fields.content.open"),
        (["-t", "{tmp}"], "tokenizer_config.json"),
        (["-t", "qwen3", "{tmp}/no-such-file"], "No such file"),
        (["-t", "qwen3", "{tmp}"], "Is a directory"),
        (["-t", "qwen3", "--prefix-file", "{tmp}/no-such-file"], "No such file"),
        (["-t", "qwen3", "--prefix-file", "{tmp}/latin-1.txt"], "not UTF-8"),
        (["-t", "qwen3", "--tools", "{tmp}/broken.json"], "not JSON"),
        (["-t", "qwen3", "--tools", "{tmp}/faulty.json"], "no list of tools"),
    ],
)
def test_what_cannot_be_used_is_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "faulty.json").write_text('{"start_anchor": "@", "fields": {"content": {"open": "", "close": 3}}}')
    (tmp_path / "latin-1.txt").write_bytes(b"caf\xe9")
    assert main(["parse", *(argument.format(tmp=tmp_path) for argument in arguments)]) == 2
    assert said in stderr_line(capsys)


@pytest.mark.parametrize("arguments", [[], ["prase"], ["parse"], ["parse", "-t", "qwen3", "--errors", "lenient"]])
def test_wrong_arguments_are_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2
    assert "--help" in stderr_line(capsys)


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_help_has_examples_and_exit_codes(command: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--help"] if command is None else [command, "--help"])
    assert exit_.value.code == 0
    text = capsys.readouterr().out
    assert "examples:\n  streamparse " in text or f"examples:\n  streamparse {command}" in text
    assert "exit codes:" in text


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--version"])
    assert exit_.value.code == 0
    assert capsys.readouterr().out == f"streamparse {version('streamparse-llm')}\n"


def test_templates_are_listed_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["templates"]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert list(lines) == list(response_template_names())
    assert "Qwen 3" in lines["qwen3"]
    assert "hermes" in lines["qwen3"], "the other names are there too"


@pytest.mark.parametrize("name", ["qwen3", "hermes"])
def test_a_printed_template_can_be_used(
    name: str, written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["templates", name]) == 0
    (tmp_path / "mine.json").write_text(capsys.readouterr().out, encoding="utf-8")
    assert main(["parse", "-t", str(tmp_path / "mine.json"), "--output", "message", str(written)]) == 0
    assert json.loads(capsys.readouterr().out)["reasoning_content"] == "Hm."


def test_a_template_that_is_not_bundled(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["templates", "no-such-model"]) == 2
    assert "qwen3" in stderr_line(capsys)


def test_limits_can_be_changed(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["parse", "-t", "qwen3", "--output", "message", str(written), "--limit"]
    assert main([*command, "regions=100", "--limit", "region_text=1000"]) == 0
    capsys.readouterr()
    assert main([*command, "regions=1"]) == 1
    error = capsys.readouterr().err
    assert "raise it with --limit regions=NUMBER" in error
    assert "Limits.regions" not in error


@pytest.mark.parametrize("limit", ["regions", "regions=", "regions=many", "regions=0", "region=5", "=5"])
def test_what_is_no_limit_is_said_in_one_place(limit: str, written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["parse", "-t", "qwen3", str(written), "--limit", limit])
    assert caught.value.code == 2
    assert limit.partition("=")[0] in capsys.readouterr().err
