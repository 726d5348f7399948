"""The command: ``python -m stress.soak [--generations N] [--seed N]``, which is ``make soak``.

In: a number of generations (100,000 take about ten minutes). They run two hundred at a time, on asyncio and on trio,
and end in every way: whole, cut off, malformed, cancelled, left in the middle, with a source that fails, or moved to
another parser by a snapshot; alone, several in one operator (``together.py``), or one before several consumers. Out:
progress, and at the end what is left of them. The exit code is 1 if that is not nothing: a task, a thread, a file
handle, or memory that grows with the number of generations.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any

import anyio
import anyio.lowlevel
import trio

from streamparse import LimitError, ResponseParser, SnapshotError, SourceError, StreamparseError, parse_stream
from streamparse.graph import Channel
from stress.material import LIMITS, NAMES, arriving, material
from stress.together import broadcasted, keyed, many, pumped

AT_ONCE = 200
ROUND = 5_000
GROWTH_ALLOWED = 12_000_000
"""Bytes of resident memory that may be added after the first rounds, in as many as 100,000 generations take."""
LEAK = 100
"""Bytes of resident memory for each generation of the second half. In the first, what is remembered of the patterns of
all templates fills up: it is bounded, so it grows ever more slowly, and a leak does not."""
NOISE = 4_000_000
"""Bytes that the second half may add in any case."""


async def streamed(chance: random.Random, seen: Counter[str]) -> None:
    """A generation through ``parse_stream``, with any kind of source and any end."""
    name = chance.choice(NAMES)
    pieces, options = material(chance, name)
    fails_at = chance.randrange(len(pieces) + 1) if chance.random() < 0.1 else None
    source: Any = arriving(chance, pieces, fails_at)
    blocking = chance.random() < 0.02
    if blocking or chance.random() < 0.2:
        source = iter(pieces)
    leaves_after = chance.randrange(8) if chance.random() < 0.2 else -1
    stream = parse_stream(
        source,
        name,
        prefix="",
        chaining=chance.random() < 0.9,
        read_ahead=chance.random() < 0.05,
        blocking=blocking,
        **options,
    )
    with anyio.move_on_after(0 if chance.random() < 0.1 else 60) as scope:
        async with stream:
            count = 0
            async for _ in stream:
                count += 1
                if count == leaves_after:
                    seen["left in the middle"] += 1
                    return
        seen["whole"] += 1
    if scope.cancelled_caught:
        seen["cancelled"] += 1


async def pushed(chance: random.Random, seen: Counter[str]) -> None:
    """A generation that another task sends into a channel, which may be cancelled while it does."""
    name = chance.choice(NAMES)
    pieces, options = material(chance, name)
    channel: Channel[Any] = Channel("pieces", capacity=chance.choice([1, 64, 4096]))

    async def send() -> None:
        async with aclosing(channel):
            for piece in pieces:
                await channel.send([piece])
            channel.close()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(send)
        async with parse_stream(channel, name, prefix="", **{**options, "errors": "report"}) as stream:
            async for _ in stream:
                if chance.random() < 0.002:
                    tasks.cancel_scope.cancel()
    seen["pushed"] += 1


async def moved(chance: random.Random, seen: Counter[str]) -> None:
    """A generation that moves from parser to parser by snapshots, some of which are damaged."""
    name = chance.choice(NAMES)
    pieces, options = material(chance, name)
    parser = ResponseParser(name, "", **options)
    for piece in pieces:
        parser.feed(piece)
        if chance.random() < 0.1:
            saved = parser.snapshot(message=chance.random() < 0.5)
            if chance.random() < 0.05:
                seen["refused a damaged snapshot"] += refuses(saved[: chance.randrange(len(saved))], name, options)
                return
            parser = ResponseParser.restore(saved, name, tokenizer=options.get("tokenizer"), limits=LIMITS)
            await anyio.lowlevel.checkpoint()
    parser.finalize(chance.choice([None, "length"]))
    seen["moved"] += 1


def refuses(data: bytes, name: str, options: dict[str, Any]) -> bool:
    """Whether a damaged snapshot is refused, as it has to be."""
    try:
        ResponseParser.restore(data, name, tokenizer=options.get("tokenizer"), limits=LIMITS)
    except SnapshotError:
        return True
    raise AssertionError(f"a damaged snapshot was taken up: {data!r}")


TOGETHER = (keyed, pumped, many, broadcasted)
Kind = Callable[[random.Random, Counter[str]], Awaitable[None]]
KINDS: Sequence[Kind] = [*[streamed] * 12, pushed, pushed, moved, moved, *TOGETHER]


async def generation(chance: random.Random, seen: Counter[str]) -> None:
    """One generation of any kind; errors that are documented are part of life."""
    try:
        await chance.choice(KINDS)(chance, seen)
    except LimitError:
        seen["limit"] += 1
    except SnapshotError:
        raise  # a snapshot that was taken here must be good
    except SourceError:
        seen["source failed"] += 1
    except StreamparseError as error:
        seen[type(error).__name__] += 1
    except BaseExceptionGroup as group:
        unexpected = group.split(StreamparseError)[1]
        if unexpected is not None:
            raise unexpected from None
        seen["in a group"] += 1


async def round_of(count: int, seed: int, seen: Counter[str]) -> int:
    """Run some generations, ``AT_ONCE`` at a time; the number of tasks that are left over."""
    before = living_tasks()
    numbers = iter(range(count))

    async def work() -> None:
        for number in numbers:
            await generation(random.Random(seed + number), seen)

    async with anyio.create_task_group() as tasks:
        for _ in range(AT_ONCE):
            tasks.start_soon(work)
    for _ in range(50):  # what closes in the background may take a few turns
        await anyio.lowlevel.checkpoint()
        if living_tasks() <= before:
            break
    return living_tasks() - before


def living_tasks() -> int:
    """The tasks of this event loop."""
    try:
        return trio.lowlevel.current_statistics().tasks_living
    except RuntimeError:
        return len(asyncio.all_tasks())


def resident() -> int:
    """Bytes of memory that the process holds, after what can be collected has been."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as pages:
        return int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def handles() -> int:
    """Open file handles of the process."""
    return len(os.listdir("/proc/self/fd"))


def sources() -> int:
    """Threads that read a source."""
    return sum(thread.name == "streamparse source" for thread in threading.enumerate())


def soak(generations: int, seed: int, show: Callable[[str], None]) -> list[str]:
    """Run the generations in rounds; what is wrong after them, each as a sentence."""
    seen: Counter[str] = Counter()
    wrong: list[str] = []
    begun, first_handles = time.monotonic(), 0
    memory: list[int] = []
    done = 0
    while done < generations:
        count = min(ROUND, generations - done)
        backend = ("asyncio", "trio")[(done // ROUND) % 2]
        left = anyio.run(round_of, count, seed + done, seen, backend=backend)
        done += count
        memory.append(resident())
        first_handles = first_handles or handles()
        show(
            f"{done:9,} generations  {time.monotonic() - begun:6.0f} s  {memory[-1] / 1e6:7.1f} MB  "
            f"{handles()} handles  {threading.active_count()} threads  ({backend})"
        )
        if left:
            wrong.append(f"{left} tasks were left over on {backend}")
    if handles() > first_handles:
        wrong.append(f"{handles() - first_handles} file handles are open that were not after the first round")
    if sources():
        wrong.append(f"{sources()} threads still read a source")
    filled = memory[min(len(memory), 100_000 // ROUND) - 1] - memory[min(len(memory) - 1, 2)]
    if filled > GROWTH_ALLOWED:
        wrong.append(f"memory grew by {filled / 1e6:.1f} MB after the first rounds")
    grown, half = memory[-1] - memory[len(memory) // 2], generations // 2
    if grown > max(NOISE, LEAK * half):
        wrong.append(f"memory grew by {grown / 1e6:.1f} MB in the second half, {grown / half:.0f} bytes a generation")
    show("ended: " + ", ".join(f"{name} {count:,}" for name, count in seen.most_common()))
    return wrong


def main(words: list[str] | None = None) -> int:
    """Soak; the exit code says whether anything is left."""
    parser = argparse.ArgumentParser(
        prog="python -m stress.soak", description="Many generations that end in every way."
    )
    parser.add_argument("--generations", type=int, default=100_000, help="how many (default: 100,000)")
    parser.add_argument("--seed", type=int, default=1, help="what chance begins with (default: 1)")
    arguments = parser.parse_args(words)
    logging.getLogger("streamparse").setLevel(logging.ERROR)
    wrong = soak(arguments.generations, arguments.seed, lambda line: print(line, flush=True))
    for sentence in wrong:
        print(f"WRONG: {sentence}", flush=True)
    if not wrong:
        print("nothing is left", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
