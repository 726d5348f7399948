"""Worker processes that are killed, stopped and started again.

In:  what each is started with; a source of chance.
Out: processes of ``streamparse worker``, all of which have ended when the ``with`` block has.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

STOP_SECONDS = 60.0


class Workers:
    """So many processes of ``streamparse worker``; ``arguments`` are those of all.

    The first ones have an instance name, which they keep; the last has none, so the group sees a new member each time.
    What they say goes to files in ``folder``.
    """

    def __init__(self, count: int, arguments: Sequence[str], folder: Path, *, named: int | None = None) -> None:
        self._arguments = arguments
        self._folder = folder
        self._named = count - 1 if named is None else named
        self._processes: list[subprocess.Popen[bytes] | None] = [None] * count
        self.did: Counter[str] = Counter()

    def start(self, number: int) -> None:
        """Start a worker."""
        name = ["--instance", f"worker-{number}"] if number < self._named else []
        with self.log(number).open("ab") as log:
            self._processes[number] = subprocess.Popen(
                [sys.executable, "-m", "streamparse", "worker", *self._arguments, *name],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def log(self, number: int) -> Path:
        """The file with what a worker said."""
        return self._folder / f"worker-{number}.log"

    def said(self, number: int) -> str:
        """What a worker said."""
        return self.log(number).read_text("utf-8", "replace")

    def kill(self, number: int) -> None:
        """End a worker at once."""
        process = self._process(number)
        process.kill()
        process.wait()
        self.did["killed"] += 1

    def stop(self, number: int) -> int:
        """Ask a worker to end, and wait for it; its exit code."""
        process = self._process(number)
        process.terminate()
        self.did["stopped"] += 1
        return process.wait(STOP_SECONDS)

    def freeze(self, number: int) -> None:
        """Let a worker do nothing, without its knowing."""
        self._process(number).send_signal(signal.SIGSTOP)
        self.did["frozen"] += 1

    def thaw(self, number: int) -> None:
        """Let it go on."""
        self._process(number).send_signal(signal.SIGCONT)

    def ended(self, number: int) -> int | None:
        """The exit code of a worker that has ended, None while it runs."""
        return self._process(number).poll()

    def restart_ended(self) -> None:
        """Start those again that have ended by themselves, as whoever runs them would."""
        for number, process in enumerate(self._processes):
            if process is not None and process.poll() is not None:
                self.did["ended by themselves"] += 1
                self.start(number)

    def disturb(self, chance: random.Random, *, away: float) -> str:
        """Do something to one of them, and start it again at once or after up to ``away`` seconds; what it was."""
        number = chance.randrange(len(self._processes))
        if chance.random() < 0.15:
            self.stop(number)
            what = f"worker {number} stopped"
        else:
            self.kill(number)
            what = f"worker {number} killed"
        if chance.random() < 0.3:
            time.sleep(chance.uniform(0, away))
            what += ", and the others had its partitions for a while"
        self.start(number)
        return what

    def __enter__(self) -> Self:
        for number in range(len(self._processes)):
            self.start(number)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for process in self._processes:
            if process is not None:
                os.kill(process.pid, signal.SIGCONT) if process.poll() is None else None
                process.kill()
                process.wait()

    def _process(self, number: int) -> subprocess.Popen[bytes]:
        process = self._processes[number]
        assert process is not None, "it has been started"
        return process
