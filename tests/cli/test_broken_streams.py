"""What the shell sees when the command's own streams are closed or full: one line and an exit code, no traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")
needs_a_full_device = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full to write to")


def run(words: str, redirection: str, tmp_path: Path) -> tuple[int, str]:
    """The exit code and the error output of the command, run by a shell with a redirection."""
    (tmp_path / "output.txt").write_text("Hello", encoding="utf-8")
    done = subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -m streamparse {words} {redirection}'],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("words", ["parse -t qwen3 output.txt", "templates", "templates qwen3", "demo --plain"])
def test_a_closed_output_is_one_line(words: str, tmp_path: Path) -> None:
    assert run(words, ">&-", tmp_path) == (2, "streamparse: standard output is closed\n")


def test_a_closed_input_is_one_line(tmp_path: Path) -> None:
    assert run("parse -t qwen3", "<&-", tmp_path) == (2, "streamparse: standard input is closed; name a file\n")


@needs_a_full_device
@pytest.mark.parametrize("words", ["parse -t qwen3 output.txt", "templates", "templates qwen3", "demo --plain"])
def test_a_full_device_is_one_line(words: str, tmp_path: Path) -> None:
    code, errors = run(words, f"> {FULL}", tmp_path)
    assert code == 2
    assert errors == "streamparse: can't write the output: No space left on device\n"


def test_a_closed_error_output_changes_no_exit_code(tmp_path: Path) -> None:
    assert run("parse -t no-such-template output.txt", "2>&-", tmp_path)[0] == 2
