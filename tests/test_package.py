"""What a newcomer sees of the package: its version, its names, and how its objects show themselves."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import metadata, version
from pathlib import Path
from typing import Any

import pytest

import streamparse
from streamparse import KeyedParser, ResponseParser, get_response_template, parse_many, parse_stream, pump


def test_it_has_a_version() -> None:
    assert streamparse.__version__ == version("streamparse-llm")


def test_dir_lists_what_is_imported_when_it_is_asked_for() -> None:
    assert {"parse_generate", "infer_response_template", "Inference", "__version__", *streamparse.__all__} <= {
        *dir(streamparse)
    }


def test_importing_it_stays_cheap_and_asks_for_no_extra() -> None:
    code = (
        "import sys; from streamparse import *; dir(sys.modules['streamparse']);"
        "print(sorted({'jinja2', 'httpx', 'transformers', 'starlette', 'rich', 'importlib.metadata'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "jinja2" not in done.stdout
    assert "httpx" not in done.stdout
    assert "transformers" not in done.stdout


def test_its_metadata_says_where_it_lives_and_what_it_is_for() -> None:
    about = metadata("streamparse-llm")
    assert {line.partition(",")[0] for line in about.get_all("Project-URL") or []} >= {
        "Homepage",
        "Issues",
        "Changelog",
    }
    assert "llm" in about["Keywords"]
    assert "Framework :: Trio" in (about.get_all("Classifier") or [])


def test_a_parser_shows_its_template_its_state_and_counts() -> None:
    parser = ResponseParser("qwen3", prefix="")
    assert repr(parser) == "<ResponseParser qwen3, open, 0 characters, 0 regions>"
    parser.feed("<think>Hm</think>")
    parser.finalize()
    assert repr(parser) == "<ResponseParser qwen3, ended, 17 characters, 1 region>"
    other = ResponseParser({"start_anchor": "<|a|>", "fields": {"content": {}}}, prefix="")
    assert repr(other) == "<ResponseParser template of content, open, 0 characters, 0 regions>"
    assert repr(get_response_template("harmony")) == "<ResponseTemplate gpt_oss>"


@pytest.mark.anyio
async def test_streams_do_too() -> None:
    stream = parse_stream(["Hel", "lo"], "qwen3", prefix="")
    assert repr(stream) == "<ParseStream qwen3, not begun, 0 pieces in, 0 items out>"
    await anext(stream)
    assert repr(stream).startswith("<ParseStream qwen3, running, 1 pieces in, 1 items out")
    assert [event async for event in stream]
    assert repr(stream) == "<ParseStream qwen3, ended, 2 pieces in, 5 items out>"
    async with parse_many({"a": "Hello"}, "qwen3", prefix="") as many:
        assert "not begun" in repr(many)
        assert [event async for event in many]
        assert repr(many).startswith("<ManyStream ended, 1 pieces in, 4 items out, 0 sources running")
    keyed = KeyedParser("qwen3", prefix="")
    assert repr(pump([], keyed)).startswith("<Graph parse by key, not begun")
    keyed.feed([("a", "Hello")])
    assert repr(keyed) == "<KeyedParser 1 open, 0 ended, 0 failed>"


def test_the_command_names_a_limit_by_its_flag(tmp_path: Path) -> None:
    output = tmp_path / "output.txt"
    output.write_text("<think>a</think>b<think>c</think>")
    command: list[Any] = [
        sys.executable,
        "-m",
        "streamparse",
        "parse",
        "--template",
        "qwen3",
        "--limit",
        "regions=2",
        output,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "--limit regions=NUMBER" in done.stderr
    assert "Limits." not in done.stderr
