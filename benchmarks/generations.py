"""Section: many generations at once on one core, the tokens coming from a second process.

Each program is run beside the same program with no parser and with transformers' parser. CPU time is a token's; latency
runs from the moment at which a token was due. Counted is the time in which all generations run.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.collection import collected, collections
from benchmarks.load import Frame, Load, frames
from benchmarks.table import Table, show_progress, with_limit
from benchmarks.workloads import bundled
from streamparse import KeyedParser, load_response_template, parse_many, parse_stream

RATE = 50
OURS = load_response_template("qwen3")
SAMPLED = 10
"""Of so many generations with a task each, one has its latency taken."""
LATENCY_AIM = 0.060


@dataclass
class Measured:
    """What a run took."""

    cpu: float = 0.0
    tokens: int = 0
    latencies: list[float] = field(default_factory=list)

    @property
    def per_token(self) -> float:
        """CPU time of a token, in microseconds."""
        return self.cpu / max(self.tokens, 1) * 1e6

    def latency(self, part: float) -> float:
        """The latency, in seconds, that this part of the tokens stays under."""
        ordered = sorted(self.latencies)
        return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


class Meter:
    """Counts tokens and CPU time, from the first frame at which all generations run to the first after those."""

    def __init__(self) -> None:
        self.measured = Measured()
        self._began: float | None = None

    def count(self, tokens: int, all_run: bool) -> None:
        """Count a frame that is about to be taken."""
        if all_run:
            self._began = time.process_time() if self._began is None else self._began
            self.measured.tokens += tokens
        elif self._began is not None and not self.measured.cpu:
            self.measured.cpu = time.process_time() - self._began


Take = Callable[[Frame], object]


def bare_pump(_: Load) -> Take:
    """Only makes an event of each token."""
    return lambda frame: [(key, [event_of(text)]) for key, text in frame]


def keyed_pump(load: Load) -> Take:
    """The keyed operator."""
    return KeyedParser(OURS, prefix="", idle_seconds=60, max_open=load.generations).feed


def transformers_pump(load: Load) -> Take:
    """The parser of transformers for each key."""
    parsers = [transformers_parser() for _ in range(load.generations)]
    return lambda frame: [(key, parsers[key].feed(text)) for key, text in frame]


def event_of(text: str) -> dict[str, Any]:
    return {"type": "region_chunk", "field": "content", "text": text, "dirty": False}


def transformers_parser() -> Any:
    from transformers.utils.chat_parsing.response_parser import ResponseParser as Reference
    from transformers.utils.chat_parsing.response_templates import load_response_template as load_reference

    logging.getLogger("transformers").setLevel(logging.ERROR)
    if not _REFERENCE:
        _REFERENCE.append(load_reference(bundled("qwen3")))
    return Reference(_REFERENCE[0], prefix="")


_REFERENCE: list[Any] = []


async def run_pump(load: Load, make: Callable[[Load], Take]) -> Measured:
    """Take each frame as it comes."""
    take = make(load)
    meter = Meter()
    async for due, all_run, frame in frames(load):
        meter.count(len(frame), all_run)
        take(frame)
        if all_run:
            meter.measured.latencies.append(time.monotonic() - due)
    return meter.measured


Follow = Callable[[AsyncIterator[str], Callable[[], object]], Awaitable[object]]


async def bare_task(source: AsyncIterator[str], note: Callable[[], object]) -> None:
    """Only receives, and makes an event of each token."""
    async for text in source:
        event_of(text)
        note()


async def stream_task(source: AsyncIterator[str], note: Callable[[], object]) -> None:
    """``parse_stream``."""
    async with parse_stream(source, OURS, prefix="") as stream:
        async for _ in stream:
            note()


async def transformers_task(source: AsyncIterator[str], note: Callable[[], object]) -> None:
    """The parser of transformers."""
    parser = transformers_parser()
    async for text in source:
        for _ in parser.feed(text):
            pass
        note()


class Queues:
    """A queue for each generation, and when the token that came last was due."""

    def __init__(self, load: Load) -> None:
        self.queues: list[asyncio.Queue[str | None]] = [asyncio.Queue() for _ in range(load.generations)]
        self.due = 0.0
        self.meter = Meter()
        self.counting = False

    async def source(self, key: int) -> AsyncIterator[str]:
        """What comes for one key."""
        get = self.queues[key].get
        while (text := await get()) is not None:
            yield text

    def note(self, key: int) -> Callable[[], object]:
        """A function that takes the latency of some generations, and does nothing for the others."""
        return self._note if key % SAMPLED == 0 else nothing

    def _note(self) -> None:
        if self.counting:
            self.meter.measured.latencies.append(time.monotonic() - self.due)

    async def dispatch(self, load: Load) -> None:
        """Put each token into the queue of its generation, then let the tasks have their turn."""
        queues = self.queues
        async for due, all_run, frame in frames(load):
            self.meter.count(len(frame), all_run)
            self.due, self.counting = due, all_run
            for key, text in frame:
                queues[key].put_nowait(text)
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        for queue in queues:
            queue.put_nowait(None)


async def run_tasks(load: Load, follow: Follow) -> Measured:
    """A task and a queue for each generation."""
    queues = Queues(load)
    tasks = [asyncio.ensure_future(follow(queues.source(key), queues.note(key))) for key in range(load.generations)]
    await asyncio.sleep(0)
    await queues.dispatch(load)
    await asyncio.gather(*tasks)
    return queues.meter.measured


async def run_many(load: Load) -> Measured:
    """``parse_many``: a task that only moves pieces for each generation, and one consumer of all events."""
    queues = Queues(load)
    sources = {key: queues.source(key) for key in range(load.generations)}

    async def consume() -> None:
        async with parse_many(sources, OURS, prefix="", limit=load.generations) as stream:
            async for key, _ in stream:
                if key % SAMPLED == 0:
                    queues.note(key)()

    consumer = asyncio.ensure_future(consume())
    await asyncio.sleep(0.5)  # until all sources are being read
    await queues.dispatch(load)
    await consumer
    return queues.meter.measured


def nothing() -> None:
    """Do nothing."""


def measured(what: str, run: Callable[[], Any], times: int) -> Measured:
    """The run of several that took the median of the CPU time, with nothing left over from the one before."""
    runs = []
    for number in range(times):
        show_progress(f"{what}, run {number + 1} of {times}")
        gc.collect()
        runs.append(asyncio.run(run()))
    middle = statistics.median_low([one.per_token for one in runs])
    return next(one for one in runs if one.per_token == middle)


def row(table: Table, name: str, one: Measured, floor: Measured, limit: float | None = None) -> None:
    """A row: CPU time, of the floor's, and latency."""
    ratio = one.per_token / floor.per_token
    table.row(
        name,
        f"{one.per_token:.2f}",
        f"{ratio:.1f}×" if limit is None else with_limit(ratio, limit),
        f"{one.latency(0.5) * 1e3:.1f}",
        f"{one.latency(0.99) * 1e3:.1f}",
        f"{1e6 / one.per_token / RATE:,.0f}",
    )


COLUMNS = ("program", "µs a token", "of bare", "p50 ms", "p99 ms", "by its CPU")


def report_pumps(load: Load, times: int, collection: str) -> None:
    """Pumps: everything that waits is taken at once."""
    title = f"{load.generations:,} generations at {RATE} tokens a second through one pump"
    table = Table(f"{title}; garbage is collected {collection}", COLUMNS)
    found = {
        name: measured(name, lambda make=make: run_pump(load, make), times)
        for name, make in (("bare", bare_pump), ("keyed operator", keyed_pump), ("transformers", transformers_pump))
    }
    row(table, "bare: an event a token", found["bare"], found["bare"])
    row(table, "the keyed operator", found["keyed operator"], found["bare"], 2.5)
    row(table, "transformers' parser", found["transformers"], found["bare"])
    share = found["keyed operator"].per_token / found["transformers"].per_token
    print(f"the keyed operator takes {share:.2f} of the transformers pump's CPU time (aim: at most 0.33)")


def report_capacity(sizes: Iterable[int], seconds: float) -> None:
    """How many generations the keyed operator holds on a core, with the garbage collector as it is and as advised."""
    for how, thresholds in collections():
        title = f"the keyed operator on one core, {RATE} tokens a second each; garbage is collected {how}"
        table = Table(title, COLUMNS)
        holds = 0
        for size in sizes:
            load = Load(size, RATE, seconds)
            with collected(thresholds):
                found = measured(f"{size:,} generations", lambda load=load: run_pump(load, keyed_pump), 1)
            row(table, f"{size:,} generations", found, found)
            if found.latency(0.99) <= LATENCY_AIM:
                holds = size
        print(f"p99 stays under {LATENCY_AIM * 1e3:.0f} ms up to {holds:,} generations")


def report_all_pumps(load: Load, times: int) -> None:
    """Pumps, with the garbage collector as it is and as advised."""
    for how, thresholds in collections():
        with collected(thresholds):
            report_pumps(load, times, how)


def report_tasks(load: Load, times: int) -> None:
    """A task and a queue each."""
    table = Table(f"{load.generations:,} generations at {RATE} tokens a second, a task and a queue each", COLUMNS)
    follows = {"bare": bare_task, "parse_stream": stream_task, "transformers": transformers_task}
    runs: dict[str, Callable[[], Any]] = {
        name: (lambda follow=follow: run_tasks(load, follow)) for name, follow in follows.items()
    }
    runs["parse_many"] = lambda: run_many(load)
    found = {name: measured(name, run, times) for name, run in runs.items()}
    row(table, "bare: they only receive", found["bare"], found["bare"])
    row(table, "parse_stream", found["parse_stream"], found["bare"], 1.5)
    row(table, "parse_many", found["parse_many"], found["bare"])
    row(table, "transformers' parser", found["transformers"], found["bare"])
    slower = found["parse_stream"].latency(0.99) / found["bare"].latency(0.99)
    print(f"p99 of parse_stream is {with_limit(slower, 2.0)} that of the bare tasks")


def report(*, quick: bool) -> None:
    """Print the section."""
    if quick:
        report_all_pumps(Load(500, RATE, 2.0), 1)
        report_tasks(Load(200, RATE, 2.0), 1)
        report_capacity((1_000,), 2.0)
    else:
        report_all_pumps(Load(5_000, RATE, 8.0), 3)
        report_tasks(Load(1_000, RATE, 8.0), 3)
        report_capacity((2_500, 5_000, 7_500, 10_000), 8.0)
