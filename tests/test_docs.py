"""What the README and the docs show is what happens, and what they link to is there."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import streamparse
from streamparse import load_response_template, parse_response, parse_stream
from streamparse.cli import _argument_parser as argument_parser
from streamparse.encode import encode_event
from tests import doc_blocks
from tests.doc_blocks import PAGES, ROOT

README = ROOT / "README.md"


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    return [block.code for block in doc_blocks.blocks(ROOT / page, language)]


def quoted(page: str, before: str) -> str:
    """The code that stands between backquotes just before some words."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.search(rf"`([^`]*)`{before}", text)
    assert found, f"{page} has no code before {before!r}"
    return found[1]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in link:
            assert (page.parent / link).exists(), link


def test_paths_that_are_named_are_there() -> None:
    text = README.read_text("utf-8") + (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for path in re.findall(r"`((?:streamparse|examples|docs|tests|benchmarks|stress)/[\w./]*)`", text):
        assert (ROOT / path).exists() or "NAME" in path, path


def test_the_template_of_the_format_page_gives_the_message_that_it_shows() -> None:
    template, message, *_ = map(json.loads, blocks("docs/response-template.md", "json"))
    text = quoted("docs/response-template.md", " becomes")
    assert parse_response(text, template, prefix="") == message


def test_the_field_of_the_format_page_is_a_field() -> None:
    field = json.loads(blocks("docs/response-template.md", "json")[2])
    template = load_response_template({"start_anchor": "@", "fields": {"tool_calls": field}})
    assert template.warnings == ()


def test_the_format_page_names_every_key_that_a_template_may_have() -> None:
    page = (ROOT / "docs" / "response-template.md").read_text(encoding="utf-8")
    schema = json.loads((ROOT / "streamparse" / "template" / "response_template.schema.json").read_text("utf-8"))
    places = [schema, *(schema["$defs"][name] for name in ("field", "policy", "field_policy"))]
    for key in (key for place in places for key in place["properties"]):
        assert f"`{key}`" in page, key


def test_the_events_page_shows_the_events_that_come() -> None:
    (shown,) = blocks("docs/events.md", "json")
    text = quoted("docs/events.md", ", read with the template `qwen3`")

    async def collect() -> list[dict[str, Any]]:
        async with parse_stream([text], "qwen3", prefix="") as events:
            return [event async for event in events]

    assert [encode_event(event).decode() for event in asyncio.run(collect())] == shown.splitlines()


PYTHON = [block for page in PAGES for block in doc_blocks.blocks(page, "python")]
PASTED = [block for block in PYTHON if block.needs is None and not block.until_stopped]
RUN_ON = [block for block in PYTHON if block.until_stopped]
NEEDING = [block for block in PYTHON if block.needs is not None]


@pytest.mark.parametrize("block", PASTED, ids=str)
def test_a_block_runs_as_pasted_or_says_what_it_needs(block: doc_blocks.Block, tmp_path: Path) -> None:
    (tmp_path / "block.py").write_text(block.code, encoding="utf-8")
    command = [sys.executable, "-W", "error", "block.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, ""), "let it run as pasted, or begin it with '# Needs: …'"


@pytest.mark.parametrize("block", RUN_ON, ids=str)
def test_a_block_that_runs_on_is_a_server_that_can_be_reached(block: doc_blocks.Block, tmp_path: Path) -> None:
    (documented,) = set(re.findall(r"\b\d{4}\b", block.code))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "block.py").write_text(block.code.replace(documented, str(port)), encoding="utf-8")
    with subprocess.Popen([sys.executable, "block.py"], cwd=tmp_path, stderr=subprocess.PIPE) as server:
        try:
            while server.poll() is None:
                with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.02)
            assert server.poll() is None, server.communicate()[1]
        finally:
            server.kill()


@pytest.mark.parametrize("block", NEEDING, ids=str)
def test_a_block_names_all_that_it_needs(block: doc_blocks.Block) -> None:
    words = set(re.findall(r"\w+", block.needs or ""))
    assert block.missing_names() <= words, "name them in the line '# Needs: …'"
    for statement in block.imports():
        assert missing_module(statement) in {None, *words}, "name the package in the line '# Needs: …'"


def missing_module(statement: str) -> str | None:
    """The module that is not installed, of those that the statement imports."""
    try:
        exec(statement, {})
    except ModuleNotFoundError as error:
        return error.name
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_block_of_javascript_says_what_it_needs(page: Path) -> None:
    for block in doc_blocks.blocks(page, "js"):
        assert block.code.startswith("// Needs: "), block


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_are_commands(page: Path) -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    for line, command in doc_blocks.commands(page):
        words = (
            shlex.split(re.split(r" [|>&] ?", command)[0], posix=True) if "streamparse" in command else command.split()
        )
        if words[:1] == ["make"]:
            assert set(words[1:]) <= set(targets), f"{page.name}:{line}"
        if words[:1] == ["streamparse"] and words[1:] and words[1:] not in (["--help"], ["--version"]):
            arguments_of(words[1:], f"{page.name}:{line}")


def arguments_of(words: list[str], where: str) -> None:
    """Fails where the command doesn't take these arguments."""
    try:
        argument_parser().parse_args([word for word in words if word != "--help"])
    except SystemExit as error:
        pytest.fail(f"{where}: streamparse {' '.join(words)}: {error.code}")


def test_the_reference_has_every_public_name() -> None:
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    described = {name.rpartition(".")[2] for name in re.findall(r"^::: ([\w.]+)", pages, re.MULTILINE)}
    assert "errors" in described, "all errors at once"
    public = {*streamparse.__all__, "infer_response_template", "Inference"}
    assert {name for name in public if not hasattr(streamparse.errors, name)} <= described


def test_the_readme_shows_what_its_script_prints() -> None:
    script = next(doc_blocks.blocks(README, "python"))
    (shown,) = [block.code for block in doc_blocks.blocks(README, "text")]
    done = subprocess.run([sys.executable, "-c", script.code], capture_output=True, text=True, check=True)
    assert done.stdout == shown
    assert len([line for line in script.code.splitlines() if line]) < 20


def test_the_readme_counts_the_families() -> None:
    assert f"{len(streamparse.response_template_names())} families" in README.read_text("utf-8")


def test_links_of_the_readme_hold_outside_the_repository() -> None:
    targets = re.findall(r"\]\(([^)]+)\)", README.read_text("utf-8"))
    assert [target for target in targets if "://" not in target] == [], "relative links lead nowhere on a package index"
    for target in targets:
        path = re.sub(r"^https://\S+?/streamparse/(?:blob/|tree/)?main/", "", target)
        assert (ROOT / path.partition("#")[0]).exists(), target
