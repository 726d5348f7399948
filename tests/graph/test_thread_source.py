"""Sources that block are read in a thread, which ends with its reader."""

from __future__ import annotations

import contextvars
import gc
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest

from streamparse.errors import SourceError
from streamparse.graph import SourceReader, cleanup
from streamparse.graph.coalescing import ITEM_WEIGHT
from streamparse.graph.thread import ThreadReader

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("no_thread_left")]


class Blocking:
    """Gives what is put into its queue, blocking until there is something; notes when its thread leaves it."""

    def __init__(self) -> None:
        self.queue: queue.Queue[Any] = queue.Queue()
        self.closed_in: str | None = None

    def __iter__(self) -> Iterator[Any]:
        try:
            while (piece := self.queue.get()) is not None:
                yield piece
        finally:
            self.closed_in = threading.current_thread().name


def reading() -> list[threading.Thread]:
    """The threads that read a source."""
    return [thread for thread in threading.enumerate() if thread.name == "streamparse source"]


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait until something in another thread is true."""
    with anyio.fail_after(5):
        while not condition():
            await anyio.sleep(0.001)


async def test_the_loop_runs_on_while_the_source_blocks() -> None:
    source = Blocking()
    reader = SourceReader(source, blocking=True)
    received: list[Any] = []

    async def read() -> None:
        async for batch in reader:
            received.extend(batch)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        for piece in ("a", "b"):
            await anyio.sleep(0)
            source.queue.put(piece)
            await eventually(lambda piece=piece: piece in received)
        source.queue.put(None)
    assert received == ["a", "b"]
    assert source.closed_in == "streamparse source"


async def test_closing_ends_the_thread_at_the_next_piece_and_closes_the_source_in_it() -> None:
    source = Blocking()
    reader = SourceReader(source, blocking=True)
    source.queue.put("a")
    assert await anext(reader) == ["a"]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reader.aclose)
        await anyio.wait_all_tasks_blocked()
        source.queue.put("b")
    assert source.closed_in == "streamparse source"


async def test_a_thread_that_does_not_end_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    before = reading()
    monkeypatch.setattr(cleanup, "CLOSING_SECONDS", 0.01)
    source = Blocking()
    reader = SourceReader(source, blocking=True)
    source.queue.put("a")
    await anext(reader)
    with pytest.raises(SourceError, match="did not close"):
        await reader.aclose()
    source.queue.put(None)
    await eventually(lambda: source.closed_in is not None)
    await eventually(lambda: not [thread for thread in reading() if thread not in before])


async def test_a_reader_that_nobody_holds_ends_its_thread() -> None:
    source = Blocking()
    reader = ThreadReader(source)
    source.queue.put("a")
    await anext(reader)
    del reader
    gc.collect()
    source.queue.put("b")
    await eventually(lambda: source.closed_in is not None)


async def test_the_thread_reads_ahead_by_a_bounded_amount() -> None:
    given = 0

    def endless() -> Iterator[str]:
        nonlocal given
        while True:
            given += 1
            yield "x" * ITEM_WEIGHT

    reader = ThreadReader(endless(), capacity=20 * ITEM_WEIGHT)
    first = await anext(reader)
    await eventually(lambda: given >= len(first) + 10)
    await anyio.sleep(0.01)
    assert given <= len(first) + 11, "ten wait, and one could not be put in"
    second = await anext(reader)
    assert len(second) == 10
    await reader.aclose()


async def test_an_error_of_the_source_comes_after_its_pieces() -> None:
    def fail() -> Iterator[str]:
        yield "a"
        raise OSError("gone")

    reader = SourceReader(fail(), blocking=True)
    pieces: list[str] = []
    with pytest.raises(SourceError, match="gone"):
        await read_all(reader, pieces)
    assert pieces == ["a"]
    await reader.aclose()


async def read_all(reader: SourceReader, pieces: list[Any]) -> None:
    async for batch in reader:
        pieces += batch


async def test_a_reader_that_was_never_read_closes_its_source_without_a_thread() -> None:
    class Source(list[str]):
        closed = False

        def close(self) -> None:
            self.closed = True

    source = Source("ab")
    reader = SourceReader(source, blocking=True)
    await reader.aclose()
    assert source.closed
    assert [batch async for batch in reader] == []


async def test_reading_can_be_cancelled_while_the_source_blocks() -> None:
    source = Blocking()
    reader = SourceReader(source, blocking=True)
    with anyio.move_on_after(0.01) as scope:
        await anext(reader)
    assert scope.cancelled_caught
    source.queue.put(None)
    await reader.aclose()


async def test_the_source_sees_the_context_of_its_reader() -> None:
    name = contextvars.ContextVar("name", default="nobody")
    name.set("reader")

    def tell() -> Iterator[str]:
        yield name.get()

    reader = SourceReader(tell(), blocking=True)
    assert await anext(reader) == ["reader"]
    await reader.aclose()


async def test_when_closing_returns_the_thread_is_gone() -> None:
    kept, threads = threading.local(), []

    class Slow:
        """Takes its time to be thrown away, as what a library keeps for each thread may."""

        def __del__(self) -> None:
            threading.Event().wait(0.05)

    def give() -> Iterator[str]:
        kept.value = Slow()
        threads.append(threading.current_thread())
        yield "a"

    reader = SourceReader(give(), blocking=True)
    assert [batch async for batch in reader] == [["a"]]
    await reader.aclose()
    assert [thread.is_alive() for thread in threads] == [False]
