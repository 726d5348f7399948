"""The example of the adapter, run as a program with the tiny model, and the first program of its docs page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from .tiny import HOW_TO_RUN, tiny_model, tiny_tokenizer

torch = pytest.importorskip("torch", reason=HOW_TO_RUN)

ROOT = Path(__file__).parents[3]
PATIENCE = 300
"""Seconds after which a test gives up; nothing is measured by it."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model and its tokenizer, saved as transformers saves them."""
    path = tmp_path_factory.mktemp("model")
    tiny_model().save_pretrained(path)
    tiny_tokenizer().save_pretrained(path)
    return path


def test_the_example_shows_an_answer_and_how_it_ended(folder: Path) -> None:
    example = ROOT / "examples" / "huggingface_generate.py"
    done = subprocess.run(
        [sys.executable, str(example), str(folder), "Hi"], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "[content]" in done.stdout
    assert done.stdout.rstrip().endswith(("(stop)", "(length)"))


def test_the_first_program_of_the_docs_page_runs(folder: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "huggingface.md").read_text(encoding="utf-8")
    program = tmp_path / "program.py"
    program.write_text(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(program), str(folder)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "'type': 'message'" in done.stdout
