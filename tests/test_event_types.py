"""A user's script over events, as mypy and pyright see it: right as it is, and wrong with a misspelt key or type."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import asyncio
from typing import assert_never

from streamparse import Event, KeyedParser, Message, RegionClose, ResponseParser
from streamparse import broadcast, parse_many, parse_stream, pump


def show(event: Event) -> str:
    match event["type"]:
        case "region_chunk":
            return event["field"] + event["text"]
        case "region_delta":
            return event.get("name", "") + event.get("arguments", "")
        case "message":
            return str(event["message"]) + (event["finish_reason"] or "")
        case "region_malformed":
            return event["error"]
        case _:
            return ""


def kind(event: Event) -> str:
    # all types there are: one that is misspelt, or forgotten, is an error at the end
    match event["type"]:
        case "region_open" | "region_chunk" | "region_close":
            return "region"
        case "region_malformed" | "region_unclaimed" | "region_delta":
            return "rest"
        case "message" | "error" | "consumer_dropped":
            return "end"
    assert_never(event)


def by_comparison(event: Event) -> int | None:
    if event["type"] == "region_close":
        closed: RegionClose = event
        return len(closed["field"])
    elif event["type"] == "region_unclaimed":
        return event["start"]
    return None


async def main() -> list[str]:
    shown: list[str] = []
    parser = ResponseParser("qwen3", prefix="")
    for event in [*parser.initial_events, *parser.feed("Hello"), *parser.finalize()[1]]:
        shown.append(show(event))
    async for event in parse_stream("Hello", "qwen3", prefix=""):
        shown.append(show(event))
    async with parse_stream("Hello", "qwen3", prefix="") as stream:
        event = await asyncio.wait_for(anext(stream), 15)
        shown.append(show(event))
        stream.stop()
    async with parse_many({"a": "Hello"}, "qwen3", prefix="") as many:
        async for key, of_key in many:
            shown.append(str(key) + show(of_key))
    keyed = KeyedParser("qwen3", prefix="")
    for key, batch in keyed.feed([("a", "Hello")]):
        shown += map(show, batch)
    shown += map(show, keyed.end("a"))
    async with pump([[("a", "Hello")]], keyed) as pairs:
        async for batches in pairs:
            for key, batch in batches:
                shown += map(show, batch)
    async with broadcast(parse_stream("Hello", "qwen3", prefix="")) as generation:
        async with generation.subscribe() as consumer:
            async for event in consumer:
                shown.append(show(event))
    return shown


def last(events: list[Event]) -> Message | None:
    found = events[-1]
    return found if found["type"] == "message" else None


asyncio.run(main())
"""

MISTAKES: dict[str, tuple[str, ...]] = {
    "a misspelt key": ('event["field"] + event["text"]', 'event["field"] + event["txet"]'),
    "a key of another event": ('return event["error"]', 'return event["finish_reason"] or ""'),
    "a misspelt type": ('case "region_malformed" |', 'case "region_malfromed" |', "assert_never(event)"),
    "a misspelt type in a comparison": ('event["type"] == "region_close"', 'event["type"] == "region_clsoe"'),
    "a value of another type": ('return event["start"]', 'return event["text"]'),
    "a pair as if it were an event": ("shown.append(str(key) + show(of_key))", "shown.append(show((key, of_key)))"),
}


def checked(checker: str, path: Path) -> subprocess.CompletedProcess[str]:
    commands = {
        "mypy": [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--follow-imports=silent", str(path)],
        "pyright": [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable],
    }
    (path.parent / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict", "include": ["' + path.name + '"]}')
    return subprocess.run(commands[checker], cwd=path.parent, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(params=["mypy", "pyright"])
def checker(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    pytest.importorskip({"mypy": "mypy", "pyright": "basedpyright"}[name])
    return name


def test_a_script_that_uses_events_as_they_are_has_no_errors(checker: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = checked(checker, script)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_mistake_is_an_error_where_it_is(checker: str, tmp_path: Path) -> None:
    """All of them in one run, as a checker takes seconds; mypy sees a misspelt case at the last one."""
    script = tmp_path / "script.py"
    text = SCRIPT
    places = {}
    for name, (right, wrong, *_) in MISTAKES.items():
        assert text.count(right) == 1, name
        text = text.replace(right, wrong)
    for name, (_, *shown_at) in MISTAKES.items():
        places[name] = {text[: text.index(place)].count("\n") + 1 for place in shown_at}
    script.write_text(text)
    done = checked(checker, script)
    assert done.returncode != 0
    for name, lines in places.items():
        assert any(f"script.py:{line}:" in done.stdout for line in lines), f"{name}, {lines}: {done.stdout}"


def test_the_script_runs(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    subprocess.run([sys.executable, str(script)], check=True, timeout=60)
