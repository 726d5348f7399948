"""The page, served in a thread of its own, and a browser to look at it with."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import anyio
import anyio.from_thread
import pytest

from streamparse.adapters.web import Input, Model, Pace, Page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run"),
]
SECONDS = 60_000
"""How long a browser may take before a test is given up, in milliseconds; nothing waits that long if all is well."""


class Served:
    """A page that is being served: its address, and calls into its event loop."""

    def __init__(self, page: Page, portal: anyio.from_thread.BlockingPortal) -> None:
        self.page = page
        self.url = page.url
        self._portal = portal

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function, synchronous or not, where the page runs."""
        return self._portal.call(function, *arguments)

    def step(self, times: int = 1) -> None:
        """Let each generation have one piece, so many times; returns when they have had them."""
        for _ in range(times):
            self.call(self.page.show.pace.step)
            self.call(anyio.wait_all_tasks_blocked)

    def until_followed(self) -> None:
        """Wait until every generation is followed by a page; before, it has not begun."""

        async def wait() -> None:
            keys = [about["key"] for about in self.page.show.state()["generations"]]
            with anyio.fail_after(SECONDS / 1000):
                while not all(
                    generation.statistics().consumers for generation in map(self.page.events.generation, keys)
                ):
                    await anyio.sleep(0.01)

        self.call(wait)

    def disconnect(self) -> None:
        """Cut every socket."""

        def cut() -> None:
            for connection in list(self.page.sockets.connections):
                connection.transport.abort()

        self.call(cut)


@contextmanager
def served(
    inputs: Sequence[Input], *, rate: float = 2000, paused: bool = False, model: Model | None = None
) -> Iterator[Served]:
    pace = Pace(rate, paused=paused)
    with (
        anyio.from_thread.start_blocking_portal("asyncio") as portal,
        portal.wrap_async_context_manager(Page(inputs, pace=pace, model=model)) as page,
    ):
        yield Served(page, portal)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's chromium, driven by Playwright."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium on the PATH (apt-get install chromium)")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture
def open_tab(browser: Any) -> Iterator[Callable[..., Any]]:
    """A function that opens a page in a tab of its own; no tab may have an error or load anything foreign."""
    contexts: list[Any] = []
    faults: list[str] = []

    def open_(url: str, *, width: int = 1280, height: int = 800, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        context.set_default_timeout(SECONDS)
        tab = context.new_page()
        tab.on("pageerror", lambda error: faults.append(f"error: {error}"))
        tab.on("dialog", lambda dialog: faults.append(f"dialog: {dialog.message}"))
        tab.on("request", lambda request: request.url.startswith((url, "blob:")) or faults.append(request.url))
        tab.goto(url)
        return tab

    yield open_
    for context in contexts:
        context.close()
    assert faults == []
