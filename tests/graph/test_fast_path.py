"""The direct way of small pieces: what comes of them is as on the other way, whoever reads and whatever fails."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import anyio
import pytest

from streamparse.errors import StreamparseError
from streamparse.graph import Graph
from streamparse.stream import parse_stream

pytestmark = pytest.mark.anyio


class Machine:
    """A machine that gives each item, in a form of its own; as the only one it is on the fast path."""

    name = "machine"

    def __init__(self, form: Callable[[Any], Iterable[Any]]) -> None:
        self._form = form

    def feed(self, item: Any) -> Iterable[Any]:
        return self._form(item)

    def finish(self) -> list[Any]:
        return ["end"]


class Batches(Machine):
    """The same machine for batches, which are never on the fast path."""

    takes_batches = True

    def feed(self, batch: list[Any]) -> list[Any]:
        made: list[Any] = []
        for item in batch:
            made += self._form(item)
        return made


def failing(error: Exception) -> Callable[[Any], list[Any]]:
    def form(item: Any) -> list[Any]:
        if item == "c":
            raise error
        return [item]

    return form


async def given(graph: Graph) -> tuple[list[Any], str]:
    """The items of a graph, and the error that it ends with."""
    items: list[Any] = []
    try:
        async with graph:
            async for item in graph:
                items.append(item)
    except StreamparseError as error:
        return items, f"{type(error).__name__}: {error}"
    return items, ""


FORMS: dict[str, Callable[[Any], Iterable[Any]]] = {
    "list": lambda item: [item],
    "tuple": lambda item: (item,),
    "set": lambda item: {item},
    "generator": lambda item: (part for part in [item]),
    "queue": lambda item: deque([item]),
    "nothing, or twice": lambda item: iter([item] * 2 if item > "b" else []),
}


@pytest.mark.parametrize("form", FORMS)
async def test_a_machine_on_the_fast_path_may_give_what_any_machine_may(form: str) -> None:
    graph, other = (Graph(list("abcdef"), [kind(FORMS[form])]) for kind in (Machine, Batches))
    assert await given(graph) == await given(other)
    assert graph.statistics().items == other.statistics().items
    assert graph.statistics().stages == other.statistics().stages


@pytest.mark.parametrize("error", [LookupError("no"), StopIteration(), StopAsyncIteration()])
async def test_an_error_of_such_a_machine_is_told_and_counted_as_of_any(error: Exception) -> None:
    graph, other = (Graph(list("abcdef"), [kind(failing(error))]) for kind in (Machine, Batches))
    items, failure = await given(graph)
    assert items == ["a", "b"]
    assert failure.startswith("StageError: stage 'machine' failed")
    assert await given(other) == (items, failure)
    seen = graph.statistics()
    assert (seen.pieces, seen.items) == (3, 2)
    assert seen.stages == other.statistics().stages


async def test_an_error_of_a_generator_that_a_machine_gives_is_the_machines() -> None:
    def form(item: Any) -> Iterable[Any]:
        if item == "c":
            raise LookupError("no")
        yield item

    items, failure = await given(Graph(list("abcdef"), [Machine(form)]))
    assert items == ["a", "b"]
    assert failure.startswith("StageError: stage 'machine' failed")


@pytest.mark.parametrize("held", ["<", "<thi"])
async def test_a_second_reader_is_refused_while_one_waits_for_more_than_a_piece(held: str) -> None:
    more = anyio.Event()

    async def pieces() -> AsyncIterator[str]:
        for piece in ("Hello", " you", held):  # of the last nothing comes, so its reader goes on to wait
            yield piece
        await more.wait()
        yield "b> there"

    texts: list[str] = []
    refused: list[str] = []

    async with parse_stream(pieces(), "qwen3", prefix="") as stream:

        async def read() -> None:
            texts.extend([event["text"] async for event in stream if event["type"] == "region_chunk"])

        async with anyio.create_task_group() as readers:
            readers.start_soon(read)
            for _ in range(2):
                await anyio.wait_all_tasks_blocked()
                try:
                    await anext(stream)
                except StreamparseError as error:
                    refused.append(str(error))
            more.set()
    assert "".join(texts) == f"Hello you{held}b> there"
    assert ["another task is reading" in error for error in refused] == [True, True]
