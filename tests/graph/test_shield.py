"""A step that outlasts its reader: whoever waits for one comes back, whatever ends the shield meanwhile."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from streamparse import parse_stream
from streamparse.graph.shield import Shield

pytestmark = pytest.mark.anyio

TRIES = 40
"""Two tasks become ready at once, and trio draws lots for their order: each order comes up."""


class Work:
    """A step, and what closes its source; counts both."""

    def __init__(self) -> None:
        self.steps = 0
        self.closed = 0

    async def step(self) -> str:
        self.steps += 1
        await checkpoint()
        return "done"

    async def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize("pauses", range(5))
async def test_a_reader_does_not_wait_for_a_step_that_closing_has_overtaken(pauses: int) -> None:
    for _ in range(TRIES):
        work, outcomes = Work(), []
        shield = Shield(work.close)

        async def read(shield: Shield, work: Work, outcomes: list[Any]) -> None:
            outcomes.append(await shield.do(work.step))

        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read, shield, work, outcomes)
                while not shield.busy:
                    await checkpoint()
                for _ in range(pauses):
                    await checkpoint()
                await shield.aclose()
        assert outcomes in ([None], ["done"])
        assert work.closed == 1


async def test_a_step_asked_for_after_closing_gives_nothing() -> None:
    work = Work()
    shield = Shield(work.close)
    assert await shield.do(work.step) == "done"
    await shield.aclose()
    with anyio.fail_after(20):
        assert await shield.do(work.step) is None
    assert work.steps == 1


@pytest.mark.parametrize("way", [{"read_ahead": True}, {"chaining": False}])
async def test_who_closes_a_stream_with_its_last_event_keeps_no_other_reader_waiting(way: dict[str, Any]) -> None:
    for _ in range(TRIES):
        seen: list[dict[str, Any]] = []

        async def read(stream: Any, seen: list[dict[str, Any]]) -> None:
            while (event := await anext(stream, None)) is not None:
                seen.append(event)

        with anyio.fail_after(20):
            async with (
                anyio.create_task_group() as tasks,
                parse_stream(["Hello ", "world"], "qwen3", prefix="", **way) as stream,
            ):
                tasks.start_soon(read, stream, seen)
                while not seen or seen[-1]["type"] != "message":
                    await checkpoint()
        assert seen[-1]["message"]["content"] == "Hello world"
