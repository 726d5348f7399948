"""The demo: recordings replayed through the real graph, for a person or a pipe."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from streamparse.cli import main
from streamparse.cli.demo import RECORDINGS, recording


def test_without_a_terminal_it_shows_every_recording_in_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    for name in RECORDINGS:
        about, _ = recording(name)
        assert f"{about['template']}: {about['title']}" in shown
        assert f"> {about['prompt']}" in shown
    for line in (
        "▸ get_weather",
        '    city: "Paris"',
        "▸ write_file",
        "    timeout: 120",
        "▸ find_tables",
        "    people: 2",
    ):
        assert line in shown.splitlines()
    assert "malformed" not in shown
    assert "unclaimed" not in shown


def test_the_recordings_are_of_three_formats() -> None:
    assert len({recording(name)[0]["template"] for name in RECORDINGS}) == 3


def test_a_pace_can_be_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--plain", "--speed", "100000"]) == 0
    assert "▸ find_tables" in capsys.readouterr().out


@pytest.mark.parametrize("speed", ["0", "-1", "nan", "inf", "fast"])
def test_a_pace_must_be_a_number_above_0(speed: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["demo", f"--speed={speed}"])
    assert exit_.value.code == 2
    assert "above 0" in capsys.readouterr().err


def test_it_says_how_to_get_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    assert "streamparse demo --web" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--port", "8000"], ["--open"]])
def test_options_of_the_page_need_the_page(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", *arguments]) == 2
    assert "--web" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["65536", "-1", "http"])
def test_a_port_is_a_number(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["demo", "--web", f"--port={port}"])
    assert exit_.value.code == 2
    assert "65535" in capsys.readouterr().err


def test_a_port_that_is_taken_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["demo", "--web", "--port", str(port)]) == 2
    assert f"can't listen on port {port}" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="it is interrupted with a signal")
def test_the_page_is_served_until_it_is_interrupted() -> None:
    command = [sys.executable, "-m", "streamparse", "demo", "--web"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[0]
        with urllib.request.urlopen(url, timeout=60) as answer:
            assert b"<title>streamparse</title>" in answer.read()
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
    assert (process.returncode, complaint) == (0, "ended\n")


def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith(("websockets", "streamparse.adapters.web"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "websockets", None)
    assert main(["demo", "--web"]) == 2
    assert "streamparse-llm[web]" in capsys.readouterr().err
