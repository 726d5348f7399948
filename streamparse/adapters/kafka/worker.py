"""The worker: reads generations from a topic, parses them, and writes their events to another.

In:  a broker, topics, and what a generation is parsed with where its records don't say.
Out: events, in order within a generation; several workers of a group share the partitions.
"""

from __future__ import annotations

import threading
from typing import Any

import anyio
import anyio.to_thread

from streamparse.adapters.kafka.loop import Loop
from streamparse.adapters.kafka.settings import WorkerSettings
from streamparse.adapters.kafka.statistics import WorkerStatistics


class KafkaWorker:
    """A member of a group of workers; ``run`` runs it, on asyncio or trio.

    ``bootstrap`` are the brokers, ``source`` and ``sink`` the topics of the records and of the events. The workers of
    one ``group`` share the work. With ``exactly_once`` events, state and offsets are committed in one transaction;
    without, events may come again after a crash, the same with the same numbers.

    =====================  ===================================================================================
    ``changelog``          the compacted topic of the state; ``GROUP-SOURCE-changelog``
    ``dead_letters``       the topic of records that can't be used; ``SOURCE-dead-letters``
    ``template``           for generations that name none, as are ``prefix`` and ``options``
    ``tokenizers``         those of token ids, by name; ``""`` is for generations that name none
    ``limits``             of each parser
    ``instance``           a name that this worker keeps when it is restarted: static membership
    ``protocol``           ``"classic"`` (cooperative), or ``"consumer"`` (KIP-848)
    ``session_seconds``    how long a worker may be silent before its partitions go to others; with
                           ``"consumer"`` the broker says
    ``commit_seconds``     how often it commits; with ``exactly_once`` readers see events after that
    ``idle_seconds``       after which a generation that nothing comes for is ended as expired; None: never
    ``max_open``           generations that may be open in a partition
    ``max_in_flight``      text of a partition that may be taken and not be committed; then it is paused
    ``max_record``         bytes of a record that it writes, at most
    ``replay``             records that may have to be read again on taking over a partition
    ``replicas``           of the topics that it creates; -1: as the broker says
    ``client``             settings of confluent-kafka, such as ``{"security.protocol": "SSL"}``
    =====================  ===================================================================================

    Raises ArgumentError and TemplateError for what can't be meant.

        worker = KafkaWorker("127.0.0.1:9092", "chunks", "events", template="qwen3", exactly_once=True)
        await worker.run()
    """

    def __init__(self, bootstrap: str, source: str, sink: str, **options: Any) -> None:
        self.settings = WorkerSettings(bootstrap=bootstrap, source=source, sink=sink, **options)
        self._stop = threading.Event()
        self._loop = Loop(self.settings, self._stop)

    async def run(self) -> None:
        """Work until ``stop`` is called or the task is cancelled; then commit, and leave the group.

        Raises KafkaError if the broker can't do what is needed, and FencedError if another worker of this instance
        name has started.
        """
        finished = anyio.Event()
        failure: list[Exception] = []

        async def work() -> None:
            try:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(self.run_here, limiter=anyio.CapacityLimiter(1))
            except Exception as error:
                failure.append(error)
            finally:
                finished.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            try:
                await finished.wait()
            finally:
                self.stop()
        if failure:
            raise failure[0]

    def run_here(self) -> None:
        """Do what ``run`` does, in this thread."""
        self._loop.run()

    def stop(self) -> None:
        """End ``run`` cleanly; may be called from any thread, and from a handler of a signal."""
        self._stop.set()

    def statistics(self) -> WorkerStatistics:
        """What the worker has seen so far; may be called from any thread."""
        return self._loop.statistics()
