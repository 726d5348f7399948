"""The demo: recordings replayed through the real graph, for a person or a pipe."""

from __future__ import annotations

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
