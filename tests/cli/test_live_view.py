"""What a person sees while a model writes: in a terminal, without one, and when the output is hostile."""

from __future__ import annotations

import io
from typing import Any

import pytest
import regex
from rich.console import Console

from streamparse import load_response_template
from streamparse.cli.live import LiveView, console_on

TEMPLATE = load_response_template({"start_anchor": "@", "fields": {"content": {"close_pattern": r"<end>\s*"}}})
CALL = {
    "type": "function",
    "function": {"name": "write", "arguments": {"path": "a.py", "text": "if x:\n    y", "n": 3}},
}


def region(field: str, *pieces: str, value: Any = None, dirty: bool = False) -> list[dict[str, Any]]:
    """The events of a region."""
    return [
        {"type": "region_open", "field": field},
        *({"type": "region_chunk", "field": field, "text": piece, "dirty": dirty} for piece in pieces),
        {"type": "region_close", "field": field, "value": "".join(pieces).strip() if value is None else value},
    ]


def message(*problems: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "message": {}, "problems": list(problems), "finish_reason": None}


def seen(events: list[dict[str, Any]], encoding: str = "utf-8", **options: Any) -> str:
    """What the view writes; on no terminal if no option says otherwise."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    console = Console(file=stream, highlight=False, **options) if options else console_on(stream)
    view = LiveView(console, TEMPLATE)
    for event in events:
        view.write(event)
    view.close()
    return stream.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]


def test_text_and_calls_without_a_terminal() -> None:
    events = region("reasoning_content", "\n", "Two ", "steps.\n") + region("content", "I will ", "write it.")
    events += [*region("tool_calls", '{"na', 'me"}', value=CALL, dirty=True), message()]
    assert seen(events) == (
        "· reasoning_content\nTwo steps.\n\nI will write it.\n\n"
        '▸ write\n    path: "a.py"\n    text:\n      if x:\n          y\n    n: 3\n'
    )


@pytest.mark.parametrize("pieces", [["\n\none\n\ntwo\n\n"], list("\n\none\n\ntwo\n\n")])
def test_empty_lines_are_kept_within_a_text_and_left_out_around_it(pieces: list[str]) -> None:
    assert seen(region("content", *pieces) + region("content", "three")) == "one\n\ntwo\n\nthree\n"


def test_text_appears_with_its_piece_and_not_at_the_end() -> None:
    stream = io.StringIO()
    view = LiveView(console_on(stream), TEMPLATE)
    for event in region("content", "one ", "two ")[:-1]:
        view.write(event)
    assert stream.getvalue() == "one two "


def test_several_calls_in_one_region_and_values_that_are_no_calls() -> None:
    events = region("tool_calls", "[", value=[CALL, {"function": {"name": "stop", "arguments": "now"}}], dirty=True)
    events += region("score", "{", value={"a": [1, None]}, dirty=True)
    assert seen(events).endswith('▸ stop\n    "now"\n\n▸ score\n    {"a":[1,null]}\n')


def test_faults_are_marked_and_keep_their_text_but_an_end_of_turn_is_no_fault() -> None:
    fault = {"field": "tool_calls", "error": "no value", "position": 9, "captures": {}, "partial": None}
    events = [
        *region("content", "Hi"),
        {"type": "region_malformed", "text": '{"a": ', "incomplete": False, **fault},
        {"type": "region_malformed", "text": "", "incomplete": True, **fault},
        {"type": "region_unclaimed", "text": "stray\n", "start": 0, "end": 6},
        {"type": "region_unclaimed", "text": "<end>\n", "start": 6, "end": 12},
        message({"type": "region_malformed", **fault}, {"type": "field_missing", "field": "answer", "error": "gone"}),
    ]
    assert seen(events).splitlines() == [
        "Hi",
        "",
        "✗ tool_calls malformed: no value",
        '    {"a":',
        "",
        "✗ tool_calls cut off: no value",
        "",
        "· unclaimed: stray",
        "",
        "✗ answer: gone",
    ]


def test_what_was_mended_is_said() -> None:
    events = region("tool_calls", "{", value=CALL, dirty=True)
    events[-1]["repaired"] = ["trailing comma", "single quotes"]
    assert seen(events).endswith("    · repaired: trailing comma; single quotes\n")


def test_a_terminal_gets_reasoning_dim_and_a_growing_call_that_is_replaced() -> None:
    events = region("reasoning_content", "Hm.") + region("tool_calls", '{"name": "wri', value=CALL, dirty=True)
    text = seen(events, force_terminal=True, width=40, color_system="standard")
    assert "\x1b[2mHm." in text
    assert '{"name": "wri' in text, "the raw text is shown while it grows"
    assert text.rindex("write") > text.rindex("\x1b[2K"), "and gives way to the call"
    assert text.endswith("3\x1b[0m\n")
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h"), "the cursor comes back"


@pytest.mark.parametrize("width", [1, 2, 7])
def test_narrow_terminals(width: int) -> None:
    events = region("content", "wide 漢字 text") + region("tool_calls", '{"name": "漢字"', value=CALL, dirty=True)
    text = seen(events, force_terminal=True, width=width, height=3)
    assert "wide漢字text" in "".join(text.split())
    assert '"a.py"' in "".join(text.split())


def test_a_terminal_gets_words_whole() -> None:
    fault = {"field": "tool_calls", "error": "a fault of several words", "position": 9, "captures": {}, "partial": None}
    events = [
        *region("content", "several wo", "rds that ne", "ed lines"),
        *region("score", "{", value={"text": "and words in a value"}, dirty=True),
        {"type": "region_malformed", "text": "raw words of a call", "incomplete": False, **fault},
    ]
    text = seen(events, force_terminal=True, width=12, color_system=None)
    # A word whose rest didn't fit is erased with the code that goes back to its column, and written again.
    assert text.startswith("several wo\x1b[9G\x1b[0K\nwords that \nneed lines\n")
    assert "\n    words of\n" in text
    for line in text.split("several wo\x1b[9G\x1b[0K\n")[1].splitlines():
        assert len(regex.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", line)) <= 12


def test_no_colour_where_none_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = seen(region("tool_calls", "{", value=CALL, dirty=True), force_terminal=True, width=40)
    assert "\x1b[36m" not in text
    assert "\x1b[31m" not in text


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_what_the_locale_cannot_write_is_escaped(encoding: str) -> None:
    text = seen(region("content", "漢 \ud83d 🙂") + region("tool_calls", "{", value=CALL, dirty=True), encoding)
    assert ("▸" in text) == (encoding == "utf-8")
    assert "\\ud83d" in text


def test_output_cannot_steer_the_terminal() -> None:
    hostile = "a\x1b]0;title\x07b\x1b[2Jc\x9b1m\r\nd\x00"
    fault = {"error": hostile, "position": None, "captures": {}, "partial": None, "incomplete": False}
    text = seen(
        [
            *region("content", hostile),
            *region(
                "tool_calls",
                hostile,
                value={"function": {"name": hostile, "arguments": {hostile: hostile}}},
                dirty=True,
            ),
            {"type": "region_malformed", "field": "tool_calls", "text": hostile, **fault},
            {"type": "region_unclaimed", "text": hostile, "start": 0, "end": 1},
            message({"type": "field_missing", "field": "answer", "error": hostile}),
        ]
    )
    assert not set(text) & {"\x1b", "\x07", "\x9b", "\r", "\x00"}
    assert "a\\x1b]0;title\\x07b" in text
