"""Many generations on Ray: each actor holds a keyed operator, and a generation goes to the actor of its key.

pip install ray streamparse-llm
python on_ray.py
"""

from __future__ import annotations

import zlib
from typing import Any

import ray

from streamparse import End, KeyedParser, Open

ACTORS = 2


@ray.remote
class Parser:
    """Parses the generations of some keys; moves them to another actor by snapshots."""

    def __init__(self) -> None:
        self._keyed = KeyedParser("qwen3", prefix="")

    def feed(self, batch: list[tuple[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
        """The events of a batch."""
        return self._keyed.feed(batch)

    def give_up(self) -> dict[str, bytes]:
        """The snapshots of all generations that are open."""
        return {key: self._keyed.snapshot(key) for key in self._keyed}

    def take_up(self, snapshots: dict[str, bytes]) -> None:
        """Go on with the generations of another actor."""
        for key, snapshot in snapshots.items():
            self._keyed.restore(key, snapshot)


def by_actor(batch: list[tuple[str, Any]]) -> list[list[tuple[str, Any]]]:
    """Split a batch by the actor of each key."""
    parts: list[list[tuple[str, Any]]] = [[] for _ in range(ACTORS)]
    for key, chunk in batch:
        parts[zlib.crc32(key.encode()) % ACTORS].append((key, chunk))
    return parts


def main() -> None:
    """Parse four generations, the second half of them by actors that have taken the place of others."""
    ray.init(num_cpus=ACTORS * 2, include_dashboard=False, log_to_driver=False)
    actors = [Parser.remote() for _ in range(ACTORS)]
    keys = ["a", "b", "c", "d"]
    batches = [
        [(key, Open()) for key in keys] + [(key, "<think>Hm") for key in keys],
        [(key, f".</think>Hello from {key}.") for key in keys] + [(key, End("stop")) for key in keys],
    ]
    for number, batch in enumerate(batches):
        if number == 1:
            heirs = [Parser.remote() for _ in range(ACTORS)]
            for old, new in zip(actors, heirs, strict=True):
                ray.get(new.take_up.remote(old.give_up.remote()))
                ray.kill(old)
            actors = heirs
        parts = zip(actors, by_actor(batch), strict=True)
        for pairs in ray.get([actor.feed.remote(part) for actor, part in parts]):
            for key, events in pairs:
                print(key, [event["type"] for event in events], events[-1].get("message", ""))
    ray.shutdown()


if __name__ == "__main__":
    main()
