"""``streamparse worker``: parses the generations of a Kafka topic, until it is told to stop.

SIGTERM and Ctrl-C end it cleanly: what was read is committed, and the other workers of the group go on.
"""

from __future__ import annotations

import argparse
import gc
import logging
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamparse.cli.command import OK, Command, UsageError
from streamparse.cli.inputs import number_above_zero, port_number

if TYPE_CHECKING:
    from streamparse.adapters.kafka import KafkaWorker, WorkerStatistics

PROGRESS_SECONDS = 10.0
SELDOM = (50_000, 50, 100)
"""Thresholds of the garbage collector for a process with thousands of generations (docs/many-generations.md)."""

EXAMPLES = """\
  streamparse worker --bootstrap 127.0.0.1:9092 --in chunks --out events --template qwen3
  streamparse worker --bootstrap 127.0.0.1:9092 --in chunks --out events --exactly-once --instance w1
  streamparse worker … --metrics-port 9100    lag, generations and more for Prometheus
  streamparse worker … --set security.protocol=SSL --set ssl.ca.location=ca.pem"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    topics = parser.add_argument_group("the broker and its topics")
    topics.add_argument("--bootstrap", required=True, metavar="HOST:PORT", help="brokers, with commas between them")
    topics.add_argument("--in", dest="source", required=True, metavar="TOPIC", help="the records of generations")
    topics.add_argument("--out", dest="sink", required=True, metavar="TOPIC", help="their events")
    topics.add_argument("--changelog", default="", metavar="TOPIC", help="the state (default: GROUP-IN-changelog)")
    topics.add_argument(
        "--dead-letters", default="", metavar="TOPIC", help="records that can't be used (default: IN-dead-letters)"
    )
    topics.add_argument(
        "--set",
        action="append",
        default=[],
        type=_setting,
        metavar="NAME=VALUE",
        help="a setting of confluent-kafka; may be given several times",
    )
    model = parser.add_argument_group("generations that don't say it themselves")
    model.add_argument("--template", metavar="NAME|FILE", help="the response template")
    model.add_argument("--prefix", metavar="TEXT", help='the prompt; "" if the generation is the whole message')
    model.add_argument("--errors", choices=["strict", "report", "repair"], default="report", help="(default: report)")
    model.add_argument("--deltas", action="store_true", help="events of tool calls while they are written")
    model.add_argument("--tokenizer", metavar="FILE", help="tokenizer.json, where chunks are token ids")
    group = parser.add_argument_group("the group")
    group.add_argument("--group", default="streamparse", metavar="NAME", help="its name (default: streamparse)")
    group.add_argument("--exactly-once", action="store_true", help="commit events, state and offsets in transactions")
    group.add_argument("--instance", metavar="NAME", help="a name that this worker keeps when it is restarted")
    group.add_argument(
        "--protocol", choices=["classic", "consumer"], default="classic", help="of rebalances; consumer: KIP-848"
    )
    for name, default, text in _numbers():
        group.add_argument(
            f"--{name}", type=number_above_zero, default=default, metavar="N", help=f"{text} (default: {default:g})"
        )
    parser.add_argument("--metrics-port", type=port_number, metavar="N", help="serve /metrics on 127.0.0.1")
    parser.add_argument("--metrics-host", default="127.0.0.1", metavar="HOST", help="… on another address")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def _numbers() -> list[tuple[str, float, str]]:
    return [
        ("session-seconds", 10.0, "how long a worker may be silent before its partitions go to others"),
        ("commit-seconds", 0.1, "how often it commits"),
        ("idle-seconds", 600.0, "after which a generation that nothing comes for is ended"),
        ("max-in-flight", 4_000_000, "text of a partition that may be taken and not be committed"),
        ("max-record", 900_000, "bytes of a record that it writes, at most"),
        ("replay", 20_000, "records that may be read again on taking over a partition"),
    ]


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"NAME=VALUE is needed, not {text!r}")
    return name, value


def run(arguments: argparse.Namespace) -> int:
    """Work until the process is told to stop."""
    try:
        from streamparse.adapters.kafka import KafkaWorker
    except ModuleNotFoundError as error:
        raise UsageError(f"{error.name} is missing: install the extra, pip install 'streamparse-llm[kafka]'") from error
    logging.basicConfig(level=logging.WARNING, format="streamparse: %(message)s", stream=sys.stderr)
    worker = KafkaWorker(**_options(arguments))
    gc.freeze()
    gc.set_threshold(*SELDOM)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: worker.stop())
    server = None
    if arguments.metrics_port is not None:
        server = _metrics(worker, arguments.metrics_port, arguments.metrics_host)
    try:
        _work(worker, quiet=arguments.quiet)
    finally:
        if server is not None:
            server.shutdown()
            server.server_close()
    return OK


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    names = ("bootstrap", "source", "sink", "changelog", "dead_letters", "template", "prefix", "group", "exactly_once")
    more = ("instance", "protocol", "session_seconds", "commit_seconds", "idle_seconds")
    options = {name: getattr(arguments, name) for name in (*names, *more)}
    options |= {name: int(getattr(arguments, name)) for name in ("max_in_flight", "max_record", "replay")}
    options["options"] = {"errors": arguments.errors, "deltas": arguments.deltas}
    options["client"] = dict(arguments.set)
    if arguments.tokenizer is not None:
        options["tokenizers"] = {"": _tokenizer(arguments.tokenizer)}
    return options


def _tokenizer(path: str) -> Any:
    try:
        from tokenizers import Tokenizer
    except ModuleNotFoundError as error:
        raise UsageError(f"{error.name} is missing: pip install 'streamparse-llm[tokenizers]'") from error
    if not Path(path).is_file():
        raise UsageError(f"no such file: {path}")
    return Tokenizer.from_file(path)


def _metrics(worker: KafkaWorker, port: int, host: str) -> Any:
    from streamparse.adapters.kafka.metrics import serve_metrics

    try:
        server = serve_metrics(worker, port, host)
    except OSError as error:
        raise UsageError(f"can't listen on {host}:{port}: {error}") from error
    print(f"streamparse: metrics on http://{host}:{server.server_address[1]}/metrics", file=sys.stderr, flush=True)
    return server


def _work(worker: KafkaWorker, *, quiet: bool) -> None:
    """Run the worker in a thread, and say now and then how it gets on; raises what it ends with."""
    failure: list[Exception] = []

    def work() -> None:
        try:
            worker.run_here()
        except Exception as error:
            failure.append(error)

    thread = threading.Thread(target=work, name="streamparse worker")
    thread.start()
    before, then = worker.statistics(), time.monotonic()
    while thread.is_alive():
        thread.join(PROGRESS_SECONDS)
        after, now = worker.statistics(), time.monotonic()
        if not quiet:
            print(f"streamparse: {progress(before, after, now - then)}", file=sys.stderr, flush=True)
        before, then = after, now
    if failure:
        raise failure[0]


def progress(before: WorkerStatistics, after: WorkerStatistics, seconds: float) -> str:
    """One line on how a worker gets on."""
    rate = (after.seen.records - before.seen.records) / max(seconds, 0.001)
    seen = after.seen
    return (
        f"{len(after.partitions)} partitions, {after.lag} records wait, {after.open} generations open; "
        f"{seen.records} records ({rate:.0f}/s), {seen.ended} ended, {seen.failed} failed, {seen.dead} dead letters"
    )


COMMAND = Command("parse the generations of a Kafka topic", EXAMPLES, add_arguments, run)
