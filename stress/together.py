"""Generations of a soak that share something: two keyed operators, a ``parse_many``, or the consumers of a broadcast.

In: a source of chance. Out: what the generations came to, counted; AssertionError where one has not exactly one end.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator, Hashable, Iterable
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel

from streamparse import (
    End,
    KeyedParser,
    Open,
    SnapshotError,
    broadcast,
    load_response_template,
    parse_many,
    parse_stream,
    pump,
)
from stress.material import NAMES, Disconnect, arriving, material

KEYS_AT_MOST = 12
IDLE_SECONDS = 60.0
UNEXPECTED = ("SnapshotError", "AssertionError", "KeyError", "IndexError", "AttributeError")
"""What an ``error`` event may not come from, as all snapshots that are taken up are good ones."""
MOVED = ("template", "tokenizer", "limits")

Pairs = list[tuple[int, Any]]


class Ends:
    """Counts the ends of generations: each has one."""

    def __init__(self, seen: Counter[str]) -> None:
        self._seen = seen
        self._of: Counter[Hashable] = Counter()

    def take(self, pairs: Iterable[tuple[Hashable, list[Any]]]) -> None:
        """Look for ends among events."""
        for key, events in pairs:
            for event in events:
                if event["type"] in ("message", "error"):
                    assert event.get("kind") not in UNEXPECTED, event["error"]
                    self._of[key] += 1
                    self._seen[f"together, {event.get('finish_reason') or event['type']}"] += 1

    def of(self, key: Hashable) -> int:
        """How many there were of a generation so far."""
        return self._of[key]

    def check(self, keys: Iterable[Hashable]) -> None:
        """Raise AssertionError unless each of the keys has come to one end."""
        wrong = {key: self._of[key] for key in keys if self._of[key] != 1}
        assert not wrong, f"generations with another number of ends than one: {wrong}"


def generation(chance: random.Random) -> tuple[dict[str, Any], list[Any]]:
    """A generation's options and its chunks, of which one may be of no known kind; it may never end."""
    pieces, options = material(chance, name := chance.choice(NAMES))
    if chance.random() < 0.05:
        pieces.insert(chance.randrange(len(pieces) + 1), 1.5)
    end = chance.choice([End("stop"), End("length"), End("cancelled"), Disconnect("gone"), None])
    options |= {"template": load_response_template(name), "prefix": ""}
    return options, [Open(**options), *pieces, *([] if end is None else [end])]


def in_turn(chance: random.Random, chunks: dict[int, list[Any]]) -> Iterable[Pairs]:
    """Batches of the chunks of several generations, whose turns come as chance wants."""
    while chunks:
        batch: Pairs = []
        for key in list(chunks):
            taken = chance.randrange(4)
            batch += [(key, chunk) for chunk in chunks[key][:taken]]
            del chunks[key][:taken]
            if not chunks[key]:
                del chunks[key]
        yield batch


async def keyed(chance: random.Random, seen: Counter[str]) -> None:
    """Generations under keys, which move from one operator to the other, are damaged on the way, and expire."""
    now = [0.0]
    operators = [KeyedParser(idle_seconds=IDLE_SECONDS, clock=lambda: now[0]) for _ in range(2)]
    made = {key: generation(chance) for key in range(chance.randrange(1, KEYS_AT_MOST))}
    at = dict.fromkeys(made, 0)
    ends = Ends(seen)
    expires = chance.random() < 0.3
    forgotten: set[int] = set()  # ended so long ago that what is left of them would begin a new generation
    for batch in in_turn(chance, {key: list(chunks) for key, (_, chunks) in made.items()}):
        for number, operator in enumerate(operators):
            wanted = [pair for pair in batch if at[pair[0]] == number and pair[0] not in forgotten]
            ends.take(operator.feed(wanted))
        for key, (options, _) in made.items():
            here, there = operators[at[key]], operators[1 - at[key]]
            if key in here and chance.random() < 0.1:
                saved = here.snapshot(key, message=chance.random() < 0.5)
                if chance.random() < 0.1:
                    saved = saved[: chance.randrange(len(saved))]
                try:
                    there.restore(key, saved, **{name: options[name] for name in MOVED if name in options})
                except SnapshotError:
                    seen["together, damaged snapshot"] += 1
                else:
                    here.drop(key)
                    at[key] = 1 - at[key]
        if expires and chance.random() < 0.1:
            expires, now[0] = False, 2 * IDLE_SECONDS
            forgotten = {key for key in made if ends.of(key)}
            ends.take(pair for operator in operators for pair in operator.expire())
        await anyio.lowlevel.checkpoint()
    ends.take(pair for operator in operators for pair in operator.finish())
    ends.check(made)


async def pumped(chance: random.Random, seen: Counter[str]) -> None:
    """Generations under keys through a pump, which may be left or cancelled in the middle."""
    made = {key: generation(chance)[1] for key in range(chance.randrange(1, KEYS_AT_MOST))}
    keys, ends = list(made), Ends(seen)
    leaves = chance.random() < 0.2
    with anyio.move_on_after(0 if chance.random() < 0.1 else 60):
        async with pump(in_turn(chance, made), KeyedParser(), blocking=chance.random() < 0.05) as batches:
            async for batch in batches:
                ends.take(batch)
                if leaves and chance.random() < 0.2:
                    return
        ends.check(keys)


async def many(chance: random.Random, seen: Counter[str]) -> None:
    """Sources read at once, of which some fail and some are cancelled, before they begin, while they run, or after."""
    options: dict[Hashable, dict[str, Any]] = {}
    sources: dict[Hashable, AsyncIterator[Any]] = {}
    for key in range(chance.randrange(1, KEYS_AT_MOST)):
        pieces, own = material(chance, name := chance.choice(NAMES))
        options[key] = {**own, "template": name}
        fails_at = chance.randrange(len(pieces) + 1) if chance.random() < 0.2 else None
        sources[key] = arriving(chance, pieces, fails_at)
    ends = Ends(seen)
    leaves = chance.random() < 0.1
    with anyio.move_on_after(0 if chance.random() < 0.1 else 60):
        stream = parse_many(sources, prefix="", options=options.__getitem__, limit=chance.randrange(1, 8), capacity=64)
        async with stream:
            async for tag, event in stream:
                ends.take([(tag, [event])])
                if chance.random() < 0.02:
                    stream.cancel(chance.randrange(KEYS_AT_MOST))
                if leaves and chance.random() < 0.05:
                    return
        ends.check(sources)


async def broadcasted(chance: random.Random, seen: Counter[str]) -> None:
    """One generation before consumers that come late, leave early, are slow, or are dropped."""
    pieces, options = material(chance, name := chance.choice(NAMES))
    options["errors"] = "report"
    source = parse_stream(arriving(chance, pieces, None), name, prefix="", **options)

    async def consume(chance: random.Random) -> None:
        for _ in range(chance.randrange(3)):
            await anyio.lowlevel.checkpoint()
        last = ""
        async with shared.subscribe(chance.choice(["wait", "join", "drop"]), capacity=200) as consumer:
            async for event in consumer:
                last = event["type"]
                if chance.random() < 0.02:
                    return
                if chance.random() < 0.1:
                    await anyio.sleep(0)
        assert last in ("message", "consumer_dropped") or shared.ending != "complete", last
        seen[f"together, {last}"] += 1

    grace = chance.choice([0, 60])
    shared = broadcast(source, history=chance.choice([300, 100_000]), grace=grace)
    async with shared, anyio.create_task_group() as tasks:
        for _ in range(chance.randrange(1, 5)):
            tasks.start_soon(partial(consume, random.Random(chance.random())))
