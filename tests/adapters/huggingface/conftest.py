"""What every test of the adapter is held to: no thread is left, no generation runs on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest


@pytest.fixture(autouse=True)
def no_thread_runs_on() -> Iterator[None]:
    """Fails the test if a thread that generates or reads is alive when it returns."""
    yield
    assert living_threads() == []


@pytest.fixture
def threads() -> Callable[[], list[str]]:
    """The names of the adapter's threads that are alive."""
    return living_threads


def living_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("streamparse ")]
