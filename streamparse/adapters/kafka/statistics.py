"""What a worker has seen: plain data, for progress, for metrics and for tests.

In:  the tallies of partitions, and what the loop counts.
Out: ``WorkerStatistics``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields

from streamparse.adapters.kafka.parsed import Tally


@dataclass(frozen=True)
class PartitionStatistics:
    """A partition that the worker has now.

    ``lag`` is how many records wait, ``in_flight`` how much text was taken and is not committed yet.
    """

    position: int
    lag: int
    open: int
    in_flight: int
    paused: bool


@dataclass(frozen=True)
class WorkerStatistics:
    """What a worker has seen since it was started; ``partitions`` are those that it has now.

    ``restored`` counts the generations that it took up from other workers, and ``restored_seconds`` is how long the
    last time took. ``aborts`` counts how often it went back to what was committed, and ``fenced`` how often because its
    partitions had been given to others.
    """

    partitions: Mapping[int, PartitionStatistics]
    seen: Tally
    commits: int
    aborts: int
    fenced: int
    pauses: int
    restored: int
    restored_seconds: float

    @property
    def lag(self) -> int:
        """How many records wait."""
        return sum(each.lag for each in self.partitions.values())

    @property
    def open(self) -> int:
        """How many generations are open."""
        return sum(each.open for each in self.partitions.values())


@dataclass
class WorkerCounts:
    """What the loop counts itself."""

    commits: int = 0
    aborts: int = 0
    fenced: int = 0
    pauses: int = 0
    restored: int = 0
    restored_seconds: float = 0.0
    retired: Tally = field(default_factory=Tally)

    def retire(self, tally: Tally) -> None:
        """Keep what a partition has seen that the worker has no more."""
        self.retired = together([self.retired, tally])

    def statistics(self, partitions: Mapping[int, PartitionStatistics], tallies: Iterable[Tally]) -> WorkerStatistics:
        """All of it."""
        return WorkerStatistics(
            partitions=partitions,
            seen=together([self.retired, *tallies]),
            commits=self.commits,
            aborts=self.aborts,
            fenced=self.fenced,
            pauses=self.pauses,
            restored=self.restored,
            restored_seconds=self.restored_seconds,
        )


def together(tallies: Iterable[Tally]) -> Tally:
    """The sums.

    >>> together([Tally(records=1), Tally(records=2)]).records
    3
    """
    tallies = list(tallies)
    return Tally(**{each.name: sum(getattr(tally, each.name) for tally in tallies) for each in fields(Tally)})
