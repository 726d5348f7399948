"""Questions to a model, on the page."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Callable
from typing import Any

import anyio

from streamparse.adapters.web import Input
from streamparse.errors import SourceError
from streamparse.template import get_response_template
from tests.adapters.web.conftest import served

ANSWER = ["<think>", "An", " ant", ".", "</think>", "Ants", " are", " small", "."]


class Ant:
    """A model that writes ``ANSWER``, then goes on for ever, fails, or ends."""

    name = "Ant-1"

    def __init__(self, then: str = "end") -> None:
        self.then = then
        self.asked: list[tuple[str, bool]] = []
        self.stopped = threading.Event()

    def ask(self, question: str, *, think: bool) -> Input:
        self.asked.append((question, think))
        return Input(
            title=question,
            template=get_response_template("qwen3"),
            template_name="qwen3",
            pieces=[],
            origin=self.name,
            writes=self.write,
        )

    async def write(self) -> AsyncGenerator[str, None]:
        try:
            for piece in ANSWER:
                yield piece
            while self.then == "go on":
                await anyio.sleep(0)
                yield " Very."
            if self.then == "fail":
                raise SourceError("the ant has left")
        finally:
            self.stopped.set()


def ask(tab: Any, question: str) -> None:
    tab.fill("[name=question]", question)
    tab.click("#ask button")


def test_without_a_model_nothing_can_be_asked(open_tab: Callable[..., Any]) -> None:
    with served([]) as page:
        tab = open_tab(page.url)
        tab.wait_for_function("() => document.querySelector('[name=bundled]').options.length > 0")
        assert tab.locator("#ask").is_hidden()


def test_a_question_is_answered_while_the_model_writes(open_tab: Callable[..., Any]) -> None:
    model = Ant()
    with served([], paused=True, model=model) as page:
        tab = open_tab(page.url)
        tab.check("[name=think]")
        ask(tab, " How big are ants? ")
        tab.wait_for_selector(".card .stop:visible")
        page.until_followed()
        page.step(4)
        tab.wait_for_function("() => document.querySelector('.raw pre').textContent === '<think>An ant.'")
        page.call(page.page.show.pace.go_on)
        tab.wait_for_selector(".card[data-state=complete]")
        assert tab.locator(".card .content").text_content() == "Ants are small."
        assert tab.locator(".card .stop").is_hidden()
        assert model.asked == [("How big are ants?", True)]
        tab.keyboard.press("Escape")
        tab.click("#again")
        tab.wait_for_selector(".card[data-key=g2][data-state=complete]")
        assert tab.locator(".card .content").text_content() == "Ants are small."
        assert len(model.asked) == 1


def test_the_stop_button_stops_the_model(open_tab: Callable[..., Any]) -> None:
    model = Ant("go on")
    with served([], model=model) as page:
        tab = open_tab(page.url)
        ask(tab, "How big?")
        tab.wait_for_function("() => document.querySelector('.card .content')?.textContent.includes('Very.')")
        tab.click(".card .stop")
        assert model.stopped.wait(60)
        tab.wait_for_selector(".card[data-state=stopped]")


def test_a_model_that_fails_says_so_and_leaves_what_it_wrote(open_tab: Callable[..., Any]) -> None:
    with served([], model=Ant("fail")) as page:
        tab = open_tab(page.url)
        ask(tab, "How big?")
        tab.wait_for_selector(".verdict.bad:has-text('the ant has left')")
        assert "Ants are small." in tab.locator(".card .content").text_content()


def test_leaving_stops_the_model(open_tab: Callable[..., Any]) -> None:
    model = Ant("go on")
    with served([], model=model) as page:
        tab = open_tab(page.url)
        ask(tab, "How big?")
        tab.wait_for_function("() => document.querySelector('.card .content')?.textContent.includes('Very.')")
    assert model.stopped.is_set()
