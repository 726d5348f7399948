"""The live demo: questions in, answers parsed while they are written, and a key that stops them."""

from __future__ import annotations

import io
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import pytest

from streamparse import End, ParseStream, SourceError, get_response_template, parse_stream
from streamparse.adapters.huggingface.smollm2 import SmolLM2
from streamparse.cli import main
from streamparse.cli.chat import converse, questions
from streamparse.cli.live import console_on

TEMPLATE = get_response_template("qwen3")


class Model:
    """Answers with a text; remembers what it was given."""

    def __init__(self, text: str = "<think>Hm.</think>Hello!") -> None:
        self.text = text
        self.given: list[tuple[str, list[dict[str, Any]]]] = []
        self.open = 0

    def __call__(self, question: str, history: list[dict[str, Any]]) -> ParseStream:
        self.given.append((question, history))
        return parse_stream(self.pieces(question), TEMPLATE, prefix="")

    async def pieces(self, question: str) -> AsyncIterator[Any]:
        self.open += 1
        try:
            for character in self.text:
                yield character
            if question == "for ever":
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)  # type: ignore[arg-type]
                await anyio.sleep_forever()
            yield End("stop", {"completion_tokens": 7})
        finally:
            self.open -= 1


def shown(model: Model, *asked: str) -> tuple[int, str]:
    """The exit code and the screen of a conversation."""
    screen = io.StringIO()
    code = converse(model, TEMPLATE, iter(asked), console_on(screen, plain=True))
    return code, screen.getvalue()


def test_an_answer_is_shown_with_its_regions_and_how_it_ended() -> None:
    code, screen = shown(Model(), "Hi")
    assert code == 0
    for words in ("reasoning_content", "Hm.", "Hello!", "(7 tokens; finish reason: stop)"):
        assert words in screen


def test_the_conversation_goes_on_with_what_was_said() -> None:
    model = Model()
    shown(model, "Hi", "Again")
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]
    assert model.given == [("Hi", []), ("Again", history)]


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="interrupts are tested as POSIX has them")
def test_an_interrupt_stops_the_answer_and_not_the_conversation() -> None:
    model = Model()
    code, screen = shown(model, "for ever", "Hi")
    assert "(stopped)" in screen
    assert model.open == 0
    assert model.given[1] == ("Hi", [])
    assert code == 0
    assert shown(model, "for ever")[0] == 130


def test_questions_are_the_lines_of_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("first\n\n second \n"))
    screen = io.StringIO()
    assert list(questions(console_on(screen, plain=True))) == ["first", "second"]
    assert "> first" in screen.getvalue()


def test_at_a_prompt_an_interrupt_or_the_end_of_input_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for leave in (EOFError, KeyboardInterrupt):
        typed: Iterator[Any] = iter(["first", " ", leave()])

        def read(_prompt: str, typed: Iterator[Any] = typed) -> str:
            entry = next(typed)
            if isinstance(entry, BaseException):
                raise entry
            return str(entry)

        monkeypatch.setattr("sys.stdin", Terminal())
        monkeypatch.setattr("builtins.input", read)
        assert list(questions(console_on(io.StringIO(), plain=True))) == ["first"]


def test_without_the_packages_one_line_says_which_commands_install_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> SmolLM2:
        raise SourceError("it needs torch; to install: pip install this")

    monkeypatch.setattr(SmolLM2, "load", missing)
    assert main(["demo", "--live"]) == 2
    assert "streamparse: it needs torch; to install: pip install this" in capsys.readouterr().err.splitlines()


def test_thinking_goes_with_the_live_demo(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--think"]) == 2
    assert "--think goes with --live" in capsys.readouterr().err
