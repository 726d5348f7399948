"""The example on Quix Streams, in an environment of its own: killed in the middle, it goes on from its changelog.

The environment is made once, in the cache folder; where that can't be done the test is skipped, and says why.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from stress.kafka_generations import Generation, OutputReader, faults, make_topics, write

ROOT = Path(__file__).parents[3]
QUIX = "3.28.1"
NEEDED = (f"quixstreams=={QUIX}", "anyio>=4.7", "regex", "orjson", "jsonschema", "rich")
PATIENCE = 90


def environment() -> Path:
    """The interpreter of the environment."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = cache / "streamparse" / f"quix-{QUIX}-python-{version}"
    python = folder / "bin" / "python"
    if not (folder / "whole").exists():
        venv.create(folder, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *NEEDED]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        except subprocess.TimeoutExpired:
            pytest.skip("Quix Streams can't be installed: it took more than 240 seconds")
        if done.returncode:
            pytest.skip(f"Quix Streams can't be installed: {done.stderr.strip()[-200:]}")
        (folder / "whole").touch()
    return python


@pytest.mark.needs("transactions", "isolation", "groups", "take-over")
def test_the_example_gives_each_event_once_though_it_is_killed_in_the_middle(
    bootstrap: str, name: str, tmp_path: Path
) -> None:
    python = environment()
    make_topics(bootstrap, 1, f"{name}-in", f"{name}-out")
    texts = ["<think>Hm", "m.</think>", *[f"word{number} " for number in range(30)]]
    every = [Generation(key, {"template": "qwen3", "prefix": ""}, texts) for key in ("a", "b", "c")]
    records = [record for rows in zip(*[one.records() for one in every], strict=True) for record in rows]
    reader = OutputReader(bootstrap, f"{name}-out", 1)

    def start(number: int) -> subprocess.Popen[bytes]:
        folder = tmp_path / str(number)  # without what the first one had on its disk
        folder.mkdir()
        with (tmp_path / "log").open("ab") as log:
            return subprocess.Popen(
                [str(python), str(ROOT / "examples/kafka/quix_streams.py"), bootstrap, f"{name}-in", f"{name}-out"],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=log,
                stderr=log,
            )

    def read_until(count: int) -> None:
        for _ in range(PATIENCE * 5):
            reader.read(0.2)
            if sum(map(len, reader.seen.events.values())) >= count:
                return
        pytest.fail((tmp_path / "log").read_text("utf-8", "replace")[-2000:])

    first = start(1)
    try:
        write(bootstrap, f"{name}-in", records[: len(records) // 2])
        read_until(20)
    finally:
        first.kill()
        first.wait()
    second = start(2)
    try:
        write(bootstrap, f"{name}-in", records[len(records) // 2 :])
        read_until(sum(len(one.events()) for one in every))
    finally:
        second.kill()
        second.wait()
    reader.close()
    assert faults(reader.seen, every, exactly_once=True) == []
