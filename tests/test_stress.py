"""The fuzzer and the soak run, find what there is to find, and say so by their exit codes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from streamparse import StreamparseError
from stress import fuzz, soak
from stress.oracle import Find, checked
from stress.targets import TARGETS

ROOT = Path(__file__).parent.parent


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("target", TARGETS)
def test_each_target_finds_nothing(target: str) -> None:
    assert fuzz.run(TARGETS[target], 0.1, first_seed=7) >= fuzz.ROUND


def test_the_fuzzer_reports_the_smallest_input_of_a_find() -> None:
    def target(data: Any) -> None:
        number = data.draw(fuzz.st.integers(0, 10**6))
        checked(lambda: [][number], 1)

    with pytest.raises(Find, match="IndexError"):
        fuzz.run(target, 0.1, first_seed=1)


def test_the_command_says_by_its_exit_code_whether_something_was_found() -> None:
    done = run("stress.fuzz", "--seconds", "0.1", "--seed", "1", "content", "schemas")
    assert (done.returncode, done.stdout.count("nothing found")) == (0, 2), done.stderr
    assert run("stress.fuzz", "no-such-target").returncode == 2


def test_documented_errors_are_no_finds_and_all_else_is() -> None:
    def failing(error: BaseException) -> Any:
        def call() -> None:
            raise error

        return call

    assert checked(failing(StreamparseError("x")), 1) is None
    assert checked(lambda: 5, 1) == 5
    for error in (KeyError("x"), RecursionError(), MemoryError(), AssertionError()):
        with pytest.raises(Find):
            checked(failing(error), 1)
    with pytest.raises(Find, match="CPU time"):
        checked(lambda: sum(range(10**6)), 0, seconds=0.0)


def test_a_short_soak_leaves_nothing() -> None:
    lines: list[str] = []
    assert soak.soak(400, seed=3, show=lines.append) == []
    assert "400 generations" in lines[0]
    assert lines[-1].startswith("ended: ")


@pytest.mark.parametrize("leak", ["tasks", "handles"])
def test_a_leak_is_seen(leak: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kept: list[Any] = []
    whole = soak.round_of

    async def leaking(count: int, seed: int, seen: Any) -> int:
        await whole(count, seed, seen)
        if leak == "handles":
            kept.append((tmp_path / "file").open("w"))
        return int(leak == "tasks")

    monkeypatch.setattr(soak, "round_of", leaking)
    monkeypatch.setattr(soak, "ROUND", 20)
    wrong = soak.soak(40, seed=3, show=lambda _: None)
    for file in kept:
        file.close()
    assert any(leak.removesuffix("s") in sentence for sentence in wrong)
