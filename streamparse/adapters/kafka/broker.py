"""An Apache Kafka of one's own on 127.0.0.1, for tests, measurements and the demo: ``python -m …kafka.broker``.

In:  Java 17 or newer, and Maven, which fetches Apache Kafka by its coordinates, once, into a cache folder.
Out: brokers (KRaft, without a quorum of their own beyond the first) that end with the process that started them.

``$STREAMPARSE_KAFKA_BOOTSTRAP`` names brokers to use instead. The cache is ``$XDG_CACHE_HOME/streamparse`` (or
``~/.cache/streamparse``).
"""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from types import TracebackType
from typing import Self

from streamparse.adapters.kafka.errors import KafkaError

VERSION = "4.1.1"
"""The version of Apache Kafka that is fetched."""

BOOTSTRAP_VARIABLE = "STREAMPARSE_KAFKA_BOOTSTRAP"

_FETCH_ATTEMPTS = 3
_FETCH_SECONDS = 240
_START_SECONDS = 90

_POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>kafka-broker</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{version}</version>
  </dependency></dependencies>
</project>
"""

_PROPERTIES = """\
process.roles={roles}
node.id={node}
controller.quorum.voters=1@127.0.0.1:{controller}
listeners={listeners}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
log.dirs={data}
num.partitions=1
default.replication.factor={replicas}
min.insync.replicas=1
offsets.topic.replication.factor={replicas}
offsets.topic.num.partitions=4
transaction.state.log.replication.factor={replicas}
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor={replicas}
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
group.consumer.min.session.timeout.ms=1000
group.consumer.session.timeout.ms=6000
group.consumer.min.heartbeat.interval.ms=500
group.consumer.heartbeat.interval.ms=1000
auto.create.topics.enable=false
log.cleaner.dedupe.buffer.size=16777216
"""


class LocalBrokers:
    """Brokers on ports of their own; used with ``with``. ``count`` is how many there are, the first is the controller.

    Without ``folder`` their data is in a temporary folder, which goes with them. Raises KafkaError where Apache Kafka
    can't be fetched or doesn't start.
    """

    def __init__(self, count: int = 1, *, folder: Path | None = None, heap: str = "512m") -> None:
        self._folder = folder or Path(tempfile.mkdtemp(prefix="streamparse-kafka-"))
        self._temporary = folder is None
        self._heap = heap
        self._cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        self._controller, *self._ports = free_ports(count + 1)
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    @property
    def bootstrap(self) -> str:
        """The addresses of the brokers, as clients are given them."""
        return ",".join(f"127.0.0.1:{port}" for port in self._ports)

    def start(self, node: int) -> None:
        """Start a broker, counted from 1, and wait until it can be connected to."""
        libraries = fetch()
        settings = self._folder / f"{node}.properties"
        data = self._folder / f"data-{node}"
        fresh = not data.exists()
        settings.write_text(self._properties(node, data), encoding="utf-8")
        log = self._folder / f"{node}.log"
        java = ["java", f"-Xmx{self._heap}", "-XX:+UseSerialGC", "-cp", f"{libraries}/*"]
        if fresh:
            command = [*java, "kafka.tools.StorageTool", "format", "-t", self._cluster, "-c", str(settings)]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_START_SECONDS)
            if done.returncode:
                raise KafkaError(f"a directory for Kafka can't be formatted: {(done.stderr or done.stdout)[-500:]}")
        with log.open("ab") as output:
            self._processes[node] = subprocess.Popen(
                [sys.executable, "-I", "-c", _KEEPER, *java, "kafka.Kafka", str(settings)],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._await(node, log)

    def kill(self, node: int) -> None:
        """End a broker at once, as a crash would; ``start`` starts it again with its data."""
        _end(self._processes.pop(node), 0)

    def stop(self, node: int) -> None:
        """Let a broker end by itself."""
        _end(self._processes.pop(node), 20)

    def __enter__(self) -> Self:
        try:
            for node in range(1, len(self._ports) + 1):
                self.start(node)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for process in self._processes.values():
            _end(process, 0)
        self._processes.clear()
        if self._temporary:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _properties(self, node: int, data: Path) -> str:
        port = self._ports[node - 1]
        listeners = f"PLAINTEXT://127.0.0.1:{port}"
        return _PROPERTIES.format(
            node=node,
            roles="broker,controller" if node == 1 else "broker",
            controller=self._controller,
            listeners=f"{listeners},CONTROLLER://127.0.0.1:{self._controller}" if node == 1 else listeners,
            port=port,
            data=data,
            replicas=min(len(self._ports), 3),
        )

    def _await(self, node: int, log: Path) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and self._processes[node].poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self._ports[node - 1]), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise KafkaError(f"Kafka does not start; the end of its log:\n{log.read_text('utf-8', 'replace')[-1500:]}")


# Ends the broker when the pipe on its standard input closes, as it does however the process at its other end dies.
_KEEPER = """
import os, signal, subprocess, sys, threading
broker = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
def watch():
    kind = os.read(0, 1)
    (broker.terminate if kind == b"t" else broker.kill)()
threading.Thread(target=watch, daemon=True).start()
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.exit(broker.wait() & 255)
"""


def _end(process: subprocess.Popen[bytes], grace: float) -> None:
    """End a broker: by itself within ``grace`` seconds, or else at once."""
    assert process.stdin is not None, "it was started with a pipe"
    with contextlib.suppress(subprocess.TimeoutExpired, OSError):
        if grace:
            process.stdin.write(b"t")
            process.stdin.flush()
            process.wait(grace)
    with contextlib.suppress(OSError):  # it has ended already
        process.stdin.close()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def free_ports(count: int) -> list[int]:
    """So many ports that nothing listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def missing() -> str | None:
    """What is missing to start a broker here; None if nothing is."""
    if _cached(VERSION).is_dir() and shutil.which("java"):
        return None
    absent = [name for name in ("java", "mvn") if shutil.which(name) is None]
    return f"{' and '.join(absent)} is not installed" if absent else None


def fetch(version: str = VERSION) -> Path:
    """The folder with the libraries of Apache Kafka, which are fetched if they are not there yet; raises KafkaError."""
    libraries = _cached(version)
    if libraries.is_dir():
        return libraries
    if (reason := missing()) is not None:
        raise KafkaError(f"a broker can't be started: {reason}; ${BOOTSTRAP_VARIABLE} may name one that runs")
    libraries.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=libraries.parent) as folder:
        (Path(folder) / "pom.xml").write_text(_POM.format(version=version), encoding="utf-8")
        command = [
            "mvn",
            "-q",
            "-B",
            "dependency:copy-dependencies",
            "-DoutputDirectory=libs",
            "-DincludeScope=runtime",
        ]
        said = ""
        for attempt in range(_FETCH_ATTEMPTS):
            time.sleep(5 * attempt)
            try:
                done = subprocess.run(
                    command, cwd=folder, capture_output=True, text=True, timeout=_FETCH_SECONDS, check=False
                )
            except subprocess.TimeoutExpired:
                said = f"it took more than {_FETCH_SECONDS} seconds"
                continue
            said = (done.stdout + done.stderr)[-500:]
            if done.returncode == 0:
                try:
                    (Path(folder) / "libs").rename(libraries)
                except OSError:  # another process was faster
                    if not libraries.is_dir():
                        raise
                return libraries
    raise KafkaError(f"Maven can't fetch Apache Kafka {version}: {said}")


def _cached(version: str) -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache) / "streamparse" / f"kafka-{version}"


def main() -> None:
    """Fetch Apache Kafka, or with ``run`` start a broker and keep it until standard input ends or Ctrl-C."""
    if sys.argv[1:] == ["fetch"]:
        try:
            print(fetch())
        except KafkaError as error:
            sys.exit(str(error))
        return
    if sys.argv[1:] != ["run"]:
        sys.exit("usage: python -m streamparse.adapters.kafka.broker fetch | run")
    with LocalBrokers() as brokers:
        print(brokers.bootstrap, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            sys.stdin.read()


if __name__ == "__main__":
    main()
