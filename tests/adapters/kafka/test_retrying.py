"""What a broker can't answer for a moment is asked again; what can't be mended is said at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from confluent_kafka import Consumer, KafkaException
from confluent_kafka import KafkaError as ClientError
from confluent_kafka.admin import AdminClient

from streamparse.adapters.kafka import KafkaError, KafkaEvents, KafkaWorker, event_topic, loop, restoring, retrying
from stress.kafka_generations import Generation, make_topics, write

PASSING = [
    ClientError.NOT_LEADER_FOR_PARTITION,
    ClientError.LEADER_NOT_AVAILABLE,
    ClientError.COORDINATOR_LOAD_IN_PROGRESS,
    ClientError.UNKNOWN_TOPIC_OR_PART,
    ClientError._TRANSPORT,
    ClientError._TIMED_OUT,
]
LASTING = [ClientError.TOPIC_AUTHORIZATION_FAILED, ClientError.INVALID_REQUEST, ClientError._INVALID_ARG]
ONE = Generation("one", {"template": "qwen3", "prefix": ""}, ["<think>hm</think>", "Hello"])


class Failing:
    """A request that fails with some errors before it is answered."""

    def __init__(self, *codes: int) -> None:
        self.codes = list(codes)
        self.asked = 0

    def __call__(self) -> str:
        self.asked += 1
        if self.codes:
            raise KafkaException(ClientError(self.codes.pop(0)))
        return "answer"


@pytest.mark.parametrize("code", PASSING)
def test_errors_that_pass_are_waited_for(code: int) -> None:
    request = Failing(code, code)
    assert retrying.retried(request, 30) == "answer"
    assert request.asked == 3


@pytest.mark.parametrize("code", LASTING)
def test_errors_that_last_are_raised_at_once(code: int) -> None:
    request = Failing(code)
    with pytest.raises(KafkaException):
        retrying.retried(request, 30)
    assert request.asked == 1


def test_a_topic_that_may_not_exist_is_not_waited_for() -> None:
    with pytest.raises(KafkaException):
        retrying.retried(Failing(ClientError.UNKNOWN_TOPIC_OR_PART), 30, exists=False)


def test_waiting_ends_with_the_last_error_and_when_nobody_waits_any_more() -> None:
    with pytest.raises(KafkaException, match="Leader not available"):
        retrying.retried(Failing(*[ClientError.LEADER_NOT_AVAILABLE] * 100), 0)
    with pytest.raises(KafkaException, match="Leader not available"):
        retrying.retried(Failing(*[ClientError.LEADER_NOT_AVAILABLE] * 100), 30, stopped=lambda: True)


def faltering(method: Callable[..., Any], failures: dict[str, int]) -> Callable[..., Any]:
    """The method of a client, which fails twice before each first answer as a broker that has just started does."""

    def ask(self: Any, *arguments: Any, **named: Any) -> Any:
        failures[method.__name__] = failures.get(method.__name__, 0) + 1
        if failures[method.__name__] <= 2 and not named.get("cached"):
            raise KafkaException(ClientError(ClientError.NOT_LEADER_FOR_PARTITION))
        return method(self, *arguments, **named)

    return ask


def falter(patch: pytest.MonkeyPatch, module: Any, client: type[Any], *methods: str) -> dict[str, int]:
    """Make the clients of a module falter; what is returned counts how often each method was called."""
    calls: dict[str, int] = {}
    made = type(
        f"Faltering{client.__name__}",
        (client,),
        {name: faltering(getattr(client, name), calls) for name in methods},
    )
    patch.setattr(module, client.__name__, made)
    return calls


@pytest.mark.anyio
@pytest.mark.needs("groups")
async def test_workers_and_followers_begin_while_the_leaders_of_partitions_are_not_known(
    bootstrap: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_topics(bootstrap, 2, f"{name}-in", f"{name}-out")
    reading = falter(monkeypatch, event_topic, Consumer, "list_topics", "offsets_for_times")
    working = falter(monkeypatch, loop, Consumer, "committed", "get_watermark_offsets")
    taking_up = falter(monkeypatch, restoring, AdminClient, "list_offsets")
    write(bootstrap, f"{name}-in", ONE.records())
    worker = KafkaWorker(bootstrap, f"{name}-in", f"{name}-out", group=name, commit_seconds=0.05)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.to_thread.run_sync, worker.run_here)
        with anyio.fail_after(60):
            async with KafkaEvents(bootstrap, f"{name}-out") as events:
                seen = [event async for event in events.follow("one")]
        worker.stop()
    assert seen[-1]["type"] == "message"
    assert seen[-1]["message"]["content"] == "Hello"
    for calls in (reading, working, taking_up):
        assert min(calls.values()) > 2


@pytest.mark.anyio
async def test_a_topic_that_is_not_there_is_said_at_once(bootstrap: str, name: str) -> None:
    with anyio.fail_after(60):
        async with KafkaEvents(bootstrap, f"{name}-nowhere", client={"allow.auto.create.topics": False}) as events:
            with pytest.raises(KafkaError, match="there is no topic"):
                await anext(aiter(events.follow("one")))
