"""Fixtures that every test file may use."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from typing import cast

import pytest
import trio
from hypothesis import settings

settings.register_profile("streamparse", deadline=None)  # a busy machine is no fault of the code
settings.load_profile("streamparse")


def pytest_configure() -> None:
    """Undo that a shell starts what runs in the background with interrupts ignored, and all that it starts too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """The event loops that streamparse runs on; a test marked ``anyio`` runs on each."""
    return cast(str, request.param)


@pytest.fixture
def living_tasks(anyio_backend: str) -> Callable[[], int]:
    """A function that counts the tasks of the event loop that it is called in."""
    if anyio_backend == "trio":
        return lambda: trio.lowlevel.current_statistics().tasks_living
    return lambda: len(asyncio.all_tasks())


@pytest.fixture
def no_thread_left() -> Iterator[None]:
    """Fails the test if a thread that has begun to read a source in it is alive after it."""
    before = threading.enumerate()
    yield
    readers = [thread for thread in threading.enumerate() if thread.name == "streamparse source"]
    assert [thread for thread in readers if thread not in before] == []
