"""Sources: whatever gives pieces is read the same way, and closed."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import pairwise
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from streamparse.errors import LimitError, SourceError
from streamparse.graph import Channel, End, SourceReader, cleanup
from streamparse.graph import source as source_module

pytestmark = pytest.mark.anyio


async def pieces_of(source: Any, **options: Any) -> list[Any]:
    """All pieces of a source, read to its end and closed."""
    reader = SourceReader(source, **options)
    pieces = [piece async for batch in reader for piece in batch]
    await reader.aclose()
    return pieces


class Recorded:
    """An iterator over pieces, synchronous and asynchronous in turn, that counts how often it was closed."""

    def __init__(self, *pieces: Any) -> None:
        self.iterator = iter(pieces)
        self.closed = 0


class Closable(Recorded):
    def __iter__(self) -> Iterator[Any]:
        return self.iterator

    def close(self) -> None:
        self.closed += 1


class AsyncClosable(Recorded):
    def __aiter__(self) -> AsyncClosable:
        return self

    async def __anext__(self) -> Any:
        await checkpoint()
        for piece in self.iterator:
            return piece
        raise StopAsyncIteration

    async def aclose(self) -> None:
        await checkpoint()
        self.closed += 1


class AsyncClosableByClose(AsyncClosable):
    aclose = None  # type: ignore[assignment]

    async def close(self) -> None:
        await checkpoint()
        self.closed += 1


async def generate(*pieces: Any) -> AsyncIterator[Any]:
    for piece in pieces:
        yield piece


@pytest.mark.parametrize(
    "source",
    [
        lambda: ["a", "b"],
        lambda: ("a", "b"),
        lambda: (piece for piece in "ab"),
        lambda: generate("a", "b"),
        lambda: Closable("a", "b"),
        lambda: AsyncClosable("a", "b"),
        lambda: AsyncClosableByClose("a", "b"),
    ],
)
async def test_pieces_come_from_any_iterable(source: Callable[[], Any]) -> None:
    assert await pieces_of(source()) == ["a", "b"]
    assert await pieces_of(source(), blocking=True) == ["a", "b"]


async def test_a_whole_text_is_one_piece() -> None:
    assert await pieces_of("text") == ["text"]
    assert await pieces_of(b"bytes") == [b"bytes"]


async def test_pieces_can_be_pushed_through_a_channel() -> None:
    channel = Channel[Any]()
    received: list[Any] = []

    async def read() -> None:
        received.extend(await pieces_of(channel))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await channel.send([1])
        await channel.send([2, 3])
        channel.close()
    assert received == [1, 2, 3]


async def test_the_end_is_kept_and_what_follows_is_not_read() -> None:
    source = AsyncClosable("a", End("length", usage={"tokens": 1}), "b")
    reader = SourceReader(source)
    assert reader.end is None
    assert [batch async for batch in reader] == [["a"]]
    assert reader.end == End("length", usage={"tokens": 1})
    assert list(source.iterator) == ["b"]


async def test_the_end_may_be_in_the_middle_of_a_batch() -> None:
    channel = Channel[Any]()
    await channel.send(["a", End("stop"), "b"])
    reader = SourceReader(channel)
    assert [batch async for batch in reader] == [["a"]]
    assert reader.end == End("stop")


@pytest.mark.parametrize("kind", [Closable, AsyncClosable, AsyncClosableByClose])
async def test_a_source_is_closed_once(kind: type[Any]) -> None:
    source = kind("a", "b")
    reader = SourceReader(source)
    await anext(reader)
    await reader.aclose()
    await reader.aclose()
    assert source.closed == 1


async def test_what_an_iterable_iterates_with_is_closed_before_the_iterable() -> None:
    closed = []

    class Response:
        async def __aiter__(self) -> AsyncIterator[str]:
            try:
                yield "a"
                yield "b"
            finally:
                closed.append("iterator")

        async def aclose(self) -> None:
            closed.append("response")

    reader = SourceReader(Response())
    await anext(reader)
    await reader.aclose()
    assert closed == ["iterator", "response"]


async def test_a_file_stays_open() -> None:
    file = io.StringIO("one\ntwo\n")
    assert await pieces_of(file) == ["one\n", "two\n"]
    assert not file.closed


async def test_what_is_no_source_is_refused_with_the_reason() -> None:
    async def forgotten() -> AsyncIterator[str]:
        return generate("a")

    with pytest.raises(SourceError, match="not int"):
        SourceReader(5)  # type: ignore[arg-type]
    coroutine = forgotten()
    with pytest.raises(SourceError, match="await it first"):
        SourceReader(coroutine)  # type: ignore[arg-type]
    coroutine.close()


async def test_an_error_of_the_source_is_told_with_its_cause() -> None:
    async def fail() -> AsyncIterator[str]:
        yield "a"
        raise OSError("gone")

    reader = SourceReader(fail())
    assert await anext(reader) == ["a"]
    with pytest.raises(SourceError, match="OSError: gone") as caught:
        await anext(reader)
    assert isinstance(caught.value.__cause__, OSError)


async def test_an_error_of_ours_in_the_source_stays_as_it_is() -> None:
    def fail() -> Iterator[str]:
        yield "a"
        raise LimitError("too much", limit="region_text")

    with pytest.raises(LimitError) as caught:
        await pieces_of(fail())
    assert caught.value.__cause__ is None


async def test_a_source_that_hangs_when_closed_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleanup, "CLOSING_SECONDS", 0.01)

    class Hanging(AsyncClosable):
        async def aclose(self) -> None:
            await anyio.sleep_forever()

    reader = SourceReader(Hanging("a"))
    with pytest.raises(SourceError, match="did not close within"):
        await reader.aclose()


async def test_other_tasks_run_while_a_source_never_waits() -> None:
    seen = 0
    turns: list[int] = []

    async def watch() -> None:
        while seen < 5000:
            turns.append(seen)
            await checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        async for batch in SourceReader(["word"] * 5000):
            seen += len(batch)
    gaps = [later - earlier for earlier, later in pairwise(turns)]
    assert max(gaps) * len("word") <= source_module.SLICE


async def test_a_source_that_never_waits_can_be_cancelled() -> None:
    def endless() -> Iterator[str]:
        while True:
            yield "word"

    with anyio.move_on_after(0.01) as scope:
        async for _ in SourceReader(endless()):
            pass
    assert scope.cancelled_caught


@given(
    st.lists(
        st.one_of(
            st.integers(0, 9),
            st.sampled_from(["", "a", "x" * 199, "y" * 201, "z" * 600, b"", b"x" * 405, [1] * 201, [1, 2]]),
        ),
        max_size=8,
    ),
    st.booleans(),
)
async def test_large_pieces_are_worked_off_in_slices(pieces: list[Any], pushed: bool) -> None:
    pieces_source: Any = pieces
    if pushed:
        pieces_source = Channel[Any](capacity=10**9)
        pieces_source.offer(list(pieces))
        pieces_source.close()
    reader = SourceReader(pieces_source)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_module, "SLICE", 200)
        batches = [batch async for batch in reader]
    assert all(sum(sizes(batch)) <= 2 * 200 for batch in batches)
    assert by_unit([piece for batch in batches for piece in batch]) == by_unit(pieces)
    assert reader.pieces == len(pieces)
    assert reader.amount == sum(sizes(pieces))


def sizes(pieces: list[Any]) -> list[int]:
    return [1 if isinstance(piece, int) else len(piece) for piece in pieces]


def by_unit(pieces: list[Any]) -> list[Any]:
    """The characters, bytes and ids, in order."""
    return [unit for piece in pieces for unit in ([piece] if isinstance(piece, int) else piece)]
