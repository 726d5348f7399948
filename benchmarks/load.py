"""Load from a second process: the tokens of many generations, each at its own pace, through a pipe.

In:  how many generations, tokens a second for each, seconds.
Out: on standard output, frames: a header (the length of what follows, the moment at which its tokens were due), then
     a list of ``(key, text)`` in the form of ``marshal``. ``frames`` reads them.

The frames are made beforehand and written when they are due, or later if the reader is behind; the moment stays what
it was, so what a reader takes too long for shows as latency. The generations begin one after the other, over a quarter
of the time, so that they don't all come to the same place of their text at once.
"""

from __future__ import annotations

import asyncio
import marshal
import struct
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

from benchmarks.workloads import chat, in_tokens

HEADER = struct.Struct("<Id")
STEP = 0.002
"""Seconds between two frames: the step of an inference engine, or a poll."""

GOLDEN = 0.618033988749895
"""The part of one that, added up, comes nowhere near where it has been."""

Frame = list[tuple[int, str]]


@dataclass(frozen=True)
class Load:
    """So many generations, tokens a second for each of them, and seconds."""

    generations: int
    rate: int
    seconds: float

    @property
    def all_run(self) -> tuple[float, float]:
        """Between which seconds every generation has begun and none has ended."""
        return self.seconds / 4, self.seconds

    @property
    def tokens_each(self) -> int:
        """How many tokens each generation has."""
        return int(self.rate * self.seconds)


def tokens(count: int) -> list[str]:
    """What each generation writes: reasoning and content, in tokens."""
    return in_tokens(chat(count * 8))[:count]


def frames_of(load: Load) -> list[tuple[float, Frame]]:
    """All frames: when each is due, in seconds from the beginning, and what is in it."""
    ticks_apart = max(1, round(1 / load.rate / STEP))
    ticks = [[] for _ in range(int(load.seconds * 1.25 / STEP) + ticks_apart)]  # type: list[Frame]
    texts = tokens(load.tokens_each)
    for key in range(load.generations):
        first = int(key * GOLDEN % 1 * load.seconds / 4 / STEP)
        for number, text in enumerate(texts):
            ticks[first + number * ticks_apart].append((key, text))
    return [(number * STEP, frame) for number, frame in enumerate(ticks) if frame]


def write(load: Load) -> None:
    """Write the frames when they are due."""
    made = [(after, marshal.dumps(frame)) for after, frame in frames_of(load)]
    out = sys.stdout.buffer
    began = time.monotonic() + 0.05
    for after, frame_bytes in made:
        due = began + after
        wait = due - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        out.write(HEADER.pack(len(frame_bytes), due) + frame_bytes)
        out.flush()


async def frames(load: Load) -> AsyncIterator[tuple[float, bool, Frame]]:
    """Start the process, and give when each frame was due, whether all generations ran then, and what is in it.

    The moment is one of ``time.monotonic``.
    """
    arguments = [str(load.generations), str(load.rate), str(load.seconds)]
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.load", *arguments], stdout=subprocess.PIPE)
    reader = asyncio.StreamReader(limit=2**20)
    loop = asyncio.get_running_loop()
    pipe, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), process.stdout)
    (start, end), began = load.all_run, None
    try:
        while header := await reader.read(HEADER.size):
            if len(header) < HEADER.size:
                header += await reader.readexactly(HEADER.size - len(header))
            length, due = HEADER.unpack(header)
            began = due if began is None else began
            yield due, start <= due - began < end, marshal.loads(await reader.readexactly(length))
    finally:
        pipe.close()
        process.kill()
        process.wait()


if __name__ == "__main__":
    write(Load(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
