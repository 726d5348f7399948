"""The docs page: its programs run as they are written there, and a UI follows what another process parses."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from streamparse.adapters.kafka.broker import free_ports
from streamparse.adapters.kafka.wire import schema
from stress.kafka_generations import make_topics
from stress.kafka_workers import Workers

PAGE = Path(__file__).parents[3] / "docs" / "kafka.md"
PATIENCE = 60.0


def program(name: str, folder: Path) -> str:
    """A program of the page, as a file."""
    found = re.search(rf"```python\n(# Needs: the file name {name},.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found
    path = folder / name
    path.write_text(found[1], encoding="utf-8")
    return str(path)


@contextmanager
def served(path: str, bootstrap: str, port: int) -> Iterator[str]:
    """The server of the page, until the block ends."""
    process = subprocess.Popen([sys.executable, path, bootstrap, str(port)])
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            assert process.poll() is None
            assert time.monotonic() < deadline
            try:
                assert httpx.get(f"{url}/show/x").status_code == 200
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield url
    finally:
        process.kill()
        process.wait()


def events_of(url: str, generation: str, after: int, until: int | None) -> list[tuple[int, dict[str, Any]]]:
    """What an EventSource gets, from after an event on, until another one or the end."""
    seen: list[tuple[int, dict[str, Any]]] = []
    headers = {"Last-Event-ID": str(after)} if after else {}
    with httpx.stream("GET", f"{url}/sse/{generation}", headers=headers, timeout=PATIENCE) as answer:
        number = 0
        for line in answer.iter_lines():
            if line.startswith("id: "):
                number = int(line[4:])
            elif line.startswith("data: "):
                seen.append((number, json.loads(line[6:])))
                if number == until:
                    break
    return seen


@pytest.mark.needs("transactions", "isolation", "groups")
def test_a_page_follows_what_another_process_parses_though_its_server_is_killed_in_between(
    bootstrap: str, name: str, tmp_path: Path
) -> None:
    make_topics(bootstrap, 2, "chunks", "events")
    ui, model = program("ui.py", tmp_path), program("model.py", tmp_path)
    (port,) = free_ports(1)
    worker = ["--bootstrap", bootstrap, "--in", "chunks", "--out", "events", "--exactly-once", "--group", name]
    with Workers(1, worker, tmp_path, named=0):
        writing = subprocess.Popen([sys.executable, model, bootstrap, name])
        try:
            with served(ui, bootstrap, port) as url:
                first = events_of(url, name, 0, until=6)
            with served(ui, bootstrap, port) as url:
                rest = events_of(url, name, 6, until=None)
                with connect(f"ws{url.removeprefix('http')}/events") as socket:
                    for message in (
                        {"type": "hello", "version": 1},
                        {"type": "subscribe", "generation": name, "after": 6},
                    ):
                        socket.send(json.dumps(message))
                    texts, said = "", ""
                    while said != "end":
                        message = json.loads(socket.recv(PATIENCE))
                        said = message["type"]
                        texts += "".join(event.get("text", "") for event in message.get("events", ()))
            assert writing.wait(PATIENCE) == 0
        finally:
            writing.kill()
            writing.wait()
    numbers = [number for number, _ in [*first, *rest]]
    assert numbers == list(range(1, len(numbers) + 1))
    message = rest[-1][1]["message"]
    assert message["reasoning_content"].strip() == "They want to see it work."
    assert message["content"].startswith("It works: this was parsed by another process")
    assert texts == "".join(event.get("text", "") for _, event in rest)


def test_the_page_names_every_record_and_key_of_the_schema() -> None:
    page = PAGE.read_text("utf-8")
    kinds = schema()["$defs"]
    for kind in ("begin", "chunk", "end", "cancel"):
        assert f"| `{kind}` |" in page
        for key in kinds[kind]["properties"].keys() - {"type"}:
            assert f"`{key}`" in page, key
    for key in kinds["begin"]["properties"]["options"]["properties"]:
        assert f"`{key}`" in page, key
