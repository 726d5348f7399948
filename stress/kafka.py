"""The command: ``python -m stress.kafka [--generations N] [--kills N] [--seed N]``, which is ``make soak-kafka``.

In: a number of generations (10,000), over a topic of 8 partitions, to 3 workers, which are killed and stopped at
random while one of the brokers is restarted. Out: progress, and whether the output is what it has to be: with
exactly-once each event once and in order, with at-least-once all of them. The exit code is 1 if it is not.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from streamparse.adapters.kafka.broker import BOOTSTRAP_VARIABLE, LocalBrokers
from stress.kafka_generations import OutputReader, faults, generations, interleaved, make_topics, write
from stress.kafka_workers import Workers

PARTITIONS = 8
WORKERS = 3
AT_ONCE = 400
RECORDS = 34
"""Records that a generation has, about; the input is written for as long as the kills take."""
QUIET_SECONDS = 240.0
"""How long nothing may come before it is held that nothing will."""


@dataclass(frozen=True)
class Plan:
    """What a soak does."""

    generations: int
    kills: int
    seed: int
    exactly_once: bool
    between: float
    """Seconds between two disturbances, at most."""
    away: float
    """Seconds for which a worker may be gone."""
    session: float = 6.0
    partitions: int = PARTITIONS
    workers: int = WORKERS
    rate: float | None = None


def soak(plan: Plan, bootstrap: str, brokers: LocalBrokers | None, folder: Path) -> tuple[list[str], str]:
    """Carry out a plan; what was wrong, and what was done."""
    kind = "exactly-once" if plan.exactly_once else "at-least-once"
    name = f"soak-{plan.seed}-{kind}-{time.time_ns()}"
    source, sink = f"{name}-in", f"{name}-out"
    make_topics(bootstrap, plan.partitions, source, sink)
    arguments = ["--bootstrap", bootstrap, "--in", source, "--out", sink, "--group", name]
    arguments += ["--session-seconds", str(plan.session), "--replay", "2000"]
    arguments += ["--exactly-once"] if plan.exactly_once else []
    chance = random.Random(plan.seed)
    every = generations(plan.generations, plan.seed)
    writing = threading.Thread(
        target=write,
        args=(bootstrap, source, interleaved(every, AT_ONCE, random.Random(plan.seed))),
        kwargs={"rate": plan.rate},
        daemon=True,
    )
    reader = OutputReader(bootstrap, sink, plan.partitions)
    started = time.monotonic()
    with Workers(plan.workers, arguments, folder) as workers:
        writing.start()
        next_at = time.monotonic() + plan.between
        heard = said = time.monotonic()
        restart_at = plan.kills // 2 if brokers is not None else -1
        while len(reader.seen.over) < plan.generations and time.monotonic() < heard + QUIET_SECONDS:
            now = time.monotonic()
            if reader.read(0.2):
                heard = now
            workers.restart_ended()
            if workers.did["killed"] < plan.kills and now >= next_at:
                what = workers.disturb(chance, away=plan.away)
                next_at = time.monotonic() + chance.uniform(0.3, 1) * plan.between
                if workers.did["killed"] >= restart_at >= 0 and brokers is not None:
                    restart_at = -1
                    brokers.kill(2)
                    brokers.start(2)
                    workers.did["broker killed and started again"] += 1
                    what += "; a broker killed and started again"
                show(started, reader, plan, what)
            elif now > said + 10:
                said = now
                show(started, reader, plan, "")
        writing.join(60)
        for _ in range(10):  # what comes again would come now
            reader.read(0.3)
        did = ", ".join(f"{count} {what}" for what, count in workers.did.items())
    reader.close()
    found = faults(reader.seen, generations(plan.generations, plan.seed), exactly_once=plan.exactly_once)
    if workers.did["killed"] < plan.kills:
        found.append(f"only {workers.did['killed']} of {plan.kills} kills came before the end")
    events = sum(map(len, reader.seen.events.values()))
    repeated = f", {reader.seen.repeated} of them again" if reader.seen.repeated else ""
    return (
        found,
        f"{kind}: {plan.generations} generations, {events} events{repeated}; {did}; {time.monotonic() - started:.0f} s",
    )


def show(started: float, reader: OutputReader, plan: Plan, what: str) -> None:
    """Say how it gets on."""
    over = len(reader.seen.over)
    print(f"{time.monotonic() - started:6.1f} s  {over:6} of {plan.generations} generations over  {what}", flush=True)


@contextmanager
def brokers_for_soak() -> Iterator[tuple[str, LocalBrokers | None]]:
    """The brokers that ``$STREAMPARSE_KAFKA_BOOTSTRAP`` names, or three of our own."""
    given = os.environ.get(BOOTSTRAP_VARIABLE)
    if given:
        yield given, None
        return
    with LocalBrokers(3) as brokers:
        yield brokers.bootstrap, brokers


def main(argv: Sequence[str] | None = None) -> int:
    """Soak with each guarantee."""
    parser = argparse.ArgumentParser(prog="python -m stress.kafka", description="Workers that are killed all the time.")
    parser.add_argument("--generations", type=int, default=10_000, metavar="N")
    parser.add_argument("--kills", type=int, default=30, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--between", type=float, default=8.0, metavar="N", help="seconds between two kills, at most")
    parser.add_argument("--only", choices=["exactly-once", "at-least-once"], help="one of the two guarantees")
    arguments = parser.parse_args(argv)
    failed = False
    with brokers_for_soak() as (bootstrap, brokers), tempfile.TemporaryDirectory() as folder:
        for exactly_once in (True, False):
            if arguments.only is not None and exactly_once != (arguments.only == "exactly-once"):
                continue
            plan = Plan(
                generations=arguments.generations,
                kills=arguments.kills,
                seed=arguments.seed,
                exactly_once=exactly_once,
                between=arguments.between,
                away=12.0,
                rate=arguments.generations * RECORDS / (arguments.kills * arguments.between * 1.7),
            )
            found, what = soak(plan, bootstrap, brokers, Path(folder))
            print(what, flush=True)
            for fault in found[:20]:
                print(f"  {fault}", flush=True)
            failed = failed or bool(found)
            if found:
                for log in sorted(Path(folder).glob("*.log")):
                    print(f"--- {log.name}\n{log.read_text('utf-8', 'replace')[-3000:]}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
