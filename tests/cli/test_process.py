"""The command as a process among others: pipes, terminals, interrupts."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pty = pytest.importorskip("pty", reason="pipes, terminals and signals are tested as POSIX has them")

PARSE = [sys.executable, "-m", "streamparse", "parse", "--template", "qwen3"]
CURSOR_OFF, CURSOR_ON = b"\x1b[?25l", b"\x1b[?25h"
PATIENCE = 60
"""Seconds after which a test gives up; nothing is measured by it."""


def start(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*PARSE, *arguments],
        stdin=subprocess.PIPE,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "bufsize": 0, **options},
    )


def next_event(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    readable, _, _ = select.select([process.stdout], [], [], PATIENCE)
    assert readable, "no event came"
    event: dict[str, Any] = json.loads(process.stdout.readline())
    return event


def test_events_come_while_the_model_is_still_writing() -> None:
    with start() as process:
        assert process.stdin is not None
        process.stdin.write(b"<think>Hm")
        assert next_event(process)["type"] == "region_open"
        assert next_event(process)["text"] == "Hm"
        process.stdin.write("é".encode()[:1])
        process.stdin.write("é".encode()[1:] + b"</think>Hi")
        assert next_event(process)["text"] == "é"
        assert next_event(process)["value"] == "Hmé"
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def test_a_file_gives_the_same_as_standard_input(tmp_path: Path) -> None:
    text = '<think>Hm.</think>Hé<tool_call>{"name": "f", "arguments": {}}</tool_call>'.encode()
    (tmp_path / "output.txt").write_bytes(text)
    arguments = ["--output", "message"]
    piped = subprocess.run([*PARSE, *arguments], input=text, capture_output=True, timeout=PATIENCE, check=True)
    with (tmp_path / "output.txt").open("rb") as redirected:
        from_file = subprocess.run([*PARSE, *arguments], stdin=redirected, capture_output=True, timeout=PATIENCE)
    named = subprocess.run(
        [*PARSE, *arguments, str(tmp_path / "output.txt")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert piped.stdout == from_file.stdout == named.stdout
    assert json.loads(piped.stdout)["content"] == "Hé"


def test_no_input_at_all() -> None:
    done = subprocess.run([*PARSE], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=True)
    assert json.loads(done.stdout)["message"] == {"role": "assistant"}


def test_an_interrupt_ends_it_quietly() -> None:
    with start() as process:
        assert process.stdin is not None
        process.stdin.write(b"Hello")
        next_event(process)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_a_reader_that_has_seen_enough_ends_it_quietly() -> None:
    with start() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"Hello")
        next_event(process)
        process.stdout.close()
        process.stdin.write(b" world")
        process.stdin.close()
        assert process.wait(PATIENCE) == 141
        assert process.stderr is not None
        assert process.stderr.read() == b""


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_a_terminal_gets_the_live_view(locale: str) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TERM": "xterm"}
    with start(stdout=theirs, env=environment) as process:
        os.close(theirs)
        assert process.stdin is not None
        process.stdin.write('<think>Hm é</think>Hi<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'.encode())
        process.stdin.close()
        screen = read_terminal(ours)
        assert process.wait(PATIENCE) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""
    os.close(ours)
    for word in (b"reasoning_content", b"Hm ", b"Hi", b"f", b"a:"):
        assert word in screen
    assert screen.count(CURSOR_OFF) == screen.count(CURSOR_ON)


def test_an_interrupt_gives_the_terminal_back() -> None:
    ours, theirs = pty.openpty()
    with start(stdout=theirs, env={**os.environ, "TERM": "xterm"}) as process:
        os.close(theirs)
        assert process.stdin is not None
        process.stdin.write(b'<tool_call>{"name": "f", "argum')
        screen = read_terminal(ours, until=b"argum")
        process.send_signal(signal.SIGINT)
        screen += read_terminal(ours)
        assert process.wait(PATIENCE) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""
    os.close(ours)
    assert screen.count(CURSOR_OFF) == screen.count(CURSOR_ON) > 0


def read_terminal(descriptor: int, until: bytes | None = None) -> bytes:
    """Read up to some words, or until the other side has gone, which Linux reports as an error."""
    screen = b""
    latest = time.monotonic() + PATIENCE
    while until is None or until not in screen:
        readable, _, _ = select.select([descriptor], [], [], max(0.0, latest - time.monotonic()))
        assert readable, screen
        assert time.monotonic() < latest, screen
        try:
            piece = os.read(descriptor, 65536)
        except OSError:
            return screen
        if not piece:
            return screen
        screen += piece
    return screen
