"""``streamparse demo --kafka``: recordings through a topic, parsed by workers that are killed while one watches.

In:  the recordings, at reading speed; a broker that is named, or one that it starts (it needs Java and Maven).
Out: what becomes of the workers and of each generation. A worker that has ended, by its own or by ``kill -9``, is
     started again.
"""

from __future__ import annotations

import contextlib
import logging
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from rich.console import Console
from rich.text import Text

from streamparse.cli.command import FAULTY, OK, UsageError
from streamparse.cli.lines import shown

if TYPE_CHECKING:
    from streamparse.adapters.kafka import KafkaEvents

WORKERS = 2
PARTITIONS = 4
COPIES = 2
SESSION_SECONDS = 6
_LOOK_SECONDS = 0.2


def run(bootstrap: str | None, speed: float, kill_every: float | None, console: Console, names: tuple[str, ...]) -> int:
    """Show it; ``kill_every`` is how often a worker is killed, in seconds, None: only by the user."""
    try:
        from streamparse.adapters.kafka.broker import LocalBrokers
        from streamparse.adapters.kafka.errors import KafkaError
    except ModuleNotFoundError as error:
        raise UsageError(f"{error.name} is missing: install the extra, pip install 'streamparse-llm[kafka]'") from error
    logging.getLogger("streamparse.kafka").setLevel(logging.CRITICAL)  # of brokers that are gone for a moment
    try:
        with contextlib.ExitStack() as entered:
            if bootstrap is None:
                console.print(Text("starting Apache Kafka (the first time it is fetched) …", "dim"))
                bootstrap = entered.enter_context(LocalBrokers()).bootstrap
            folder = Path(entered.enter_context(TemporaryDirectory()))
            show = _Demo(bootstrap, speed, kill_every, console, folder)
            return anyio.run(show.run, names)
    except KafkaError as error:
        raise UsageError(str(error)) from error
    except ExceptionGroup as group:
        failures, others = group.split(KafkaError)
        if failures is None or others is not None:
            raise
        raise UsageError(_first(failures)) from group


class _Demo:
    """One show: its topics, its workers, and what was seen."""

    def __init__(self, bootstrap: str, speed: float, kill_every: float | None, console: Console, folder: Path) -> None:
        self._bootstrap = bootstrap
        self._pause = 1 / speed
        self._kill_every = kill_every
        self._console = console
        self._folder = folder
        self._name = f"streamparse-demo-{uuid.uuid4().hex[:8]}"
        self._workers: dict[int, subprocess.Popen[bytes]] = {}
        self._faults = 0

    async def run(self, names: tuple[str, ...]) -> int:
        """Write the recordings, follow them, and look after the workers meanwhile."""
        from streamparse.adapters.kafka import KafkaEvents

        await anyio.to_thread.run_sync(self._make_topics)
        generations = [f"{name}-{copy}" for copy in range(1, COPIES + 1) for name in names]
        with self._running():
            async with (
                KafkaEvents(self._bootstrap, f"{self._name}-events") as events,
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(self._look_after_workers)
                async with anyio.create_task_group() as work:
                    for generation in generations:
                        work.start_soon(self._write, generation)
                        work.start_soon(self._follow, events, generation)
                tasks.cancel_scope.cancel()
        whole = len(generations) - self._faults
        self._say("", f"{whole} of {len(generations)} generations came whole, each event once and in order", "bold")
        return FAULTY if self._faults else OK

    def _make_topics(self) -> None:
        from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

        from streamparse.adapters.kafka.topics import create

        admin = AdminClient({"bootstrap.servers": self._bootstrap, "log_level": 0})
        create(admin, *[NewTopic(f"{self._name}-{what}", PARTITIONS) for what in ("chunks", "events")])

    async def _write(self, generation: str) -> None:
        """Be the model server: write a recording, a token at a time."""
        from confluent_kafka import Producer

        from streamparse.adapters.kafka import begin_record, chunk_record, end_record
        from streamparse.cli.demo import recording

        about, tokens = recording(generation.rpartition("-")[0])
        producer = Producer({"bootstrap.servers": self._bootstrap, "linger.ms": 0, "log_level": 0})
        topic = f"{self._name}-chunks"
        begin = begin_record(generation, template=about["template"], prefix=about["prefix"], tools=about["tools"])
        producer.produce(topic, **begin)
        for token in tokens:
            await anyio.sleep(self._pause)
            producer.produce(topic, **chunk_record(generation, token))
            producer.poll(0)
        producer.produce(topic, **end_record(generation, "stop"))
        await anyio.to_thread.run_sync(producer.flush)

    async def _follow(self, events: KafkaEvents, generation: str) -> None:
        """Read a generation's events, and say what it came to."""
        last, message = 0, None
        async with contextlib.aclosing(events.follow(generation).numbered()) as numbered:
            async for number, event in numbered:
                self._faults += number != last + 1
                last = number
                if event["type"] == "region_open":
                    self._say(generation, f"event {number}: {event['field']} …")
                elif event["type"] in ("message", "error"):
                    message = event["message"]
        text = str((message or {}).get("content") or (message or {}).get("tool_calls") or "")
        self._say(generation, f"over after event {last}: {shown(text)[:100]}", "green")

    async def _look_after_workers(self) -> None:
        """Start the workers that have ended again, and kill one now and then if that was asked for."""
        kill_at = time.monotonic() + (self._kill_every or 0.0)
        victim = 0
        while True:
            await anyio.sleep(_LOOK_SECONDS)
            for number, process in list(self._workers.items()):
                if process.poll() is not None:
                    self._say("", f"worker {number} (process {process.pid}) has ended: {_ending(process)}", "red")
                    self._start(number)
            if self._kill_every is not None and time.monotonic() >= kill_at:
                kill_at = time.monotonic() + self._kill_every
                victim = victim % WORKERS + 1
                self._workers[victim].kill()

    @contextlib.contextmanager
    def _running(self) -> Iterator[None]:
        try:
            for number in range(1, WORKERS + 1):
                self._start(number)
            yield
        finally:
            for process in self._workers.values():
                process.kill()
                process.wait()

    def _start(self, number: int) -> None:
        command = [sys.executable, "-m", "streamparse", "worker", "--bootstrap", self._bootstrap, "--exactly-once"]
        command += ["--in", f"{self._name}-chunks", "--out", f"{self._name}-events", "--group", self._name]
        command += ["--instance", f"worker-{number}", "--session-seconds", str(SESSION_SECONDS), "--quiet"]
        with (self._folder / f"worker-{number}.log").open("ab") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._workers[number] = process
        self._say("", f"worker {number} is process {process.pid}; to kill it: kill -9 {process.pid}", "cyan")

    def _say(self, who: str, what: str, style: str = "") -> None:
        self._console.print(Text(f"{who:24}{what}" if who else what, style), soft_wrap=True)


def _first(error: Exception) -> str:
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return str(error)


def _ending(process: subprocess.Popen[bytes]) -> str:
    return f"killed by signal {-process.returncode}" if process.returncode < 0 else f"exit code {process.returncode}"
