"""The pace: steady, paused, step by step, the same for all generations."""

from __future__ import annotations

import anyio
import pytest

from streamparse.adapters.web.pace import Pace, Turns

pytestmark = pytest.mark.anyio


async def count_turns(turns: Turns, counts: list[int], place: int) -> None:
    while True:
        await turns.next()
        counts[place] += 1


async def test_each_step_gives_every_generation_one_piece() -> None:
    pace = Pace(2000, paused=True)
    counts = [0, 0]
    async with anyio.create_task_group() as tasks:
        for place in range(2):
            tasks.start_soon(count_turns, pace.turns(), counts, place)
        for steps in range(1, 4):
            pace.step()
            with anyio.fail_after(10):
                while counts != [steps, steps]:
                    await anyio.sleep(0)
            assert pace.state.paused
        tasks.cancel_scope.cancel()


async def test_steps_that_nobody_had_time_for_are_not_lost() -> None:
    pace = Pace(1, paused=True)
    turns = pace.turns()
    for _ in range(3):
        pace.step()
    with anyio.fail_after(10):
        for _ in range(3):
            await turns.next()
    with anyio.move_on_after(0.05) as scope:
        await turns.next()
    assert scope.cancelled_caught


async def test_a_pause_ends_when_it_is_told_to_and_a_change_of_speed_counts_at_once() -> None:
    pace = Pace(0.5, paused=True)
    turns = pace.turns()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(turns.next)
        await anyio.wait_all_tasks_blocked()
        pace.go_on()
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(1.5):  # the turn would come after two seconds
            pace.set_rate(2000)
            await turns.next()


async def test_who_was_kept_waiting_does_not_catch_up() -> None:
    now = [0.0]
    pace = Pace(10, clock=lambda: now[0])
    turns = pace.turns()
    now[0] = 5.0
    await turns.next()
    with anyio.move_on_after(0.02) as scope:
        await turns.next()
    assert scope.cancelled_caught
    now[0] = 5.1
    await turns.next()
