"""What a client may say in which state, what it is told, and what becomes of its generations."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from streamparse import StreamparseError, parse_stream
from streamparse.adapters.websockets import EventServer, RefusedError
from tests.adapters.websockets.talk import OUTPUT, Model, Pipe

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def serving(server: EventServer, *pipes: Pipe) -> AsyncIterator[None]:
    """Serve clients; those that are still there at the end go away."""
    async with server, anyio.create_task_group() as tasks:
        for pipe in pipes:
            tasks.start_soon(server.serve, pipe)
        try:
            yield
        finally:
            for pipe in pipes:
                pipe.go()
    for pipe in pipes:
        pipe.__exit__()


async def settle() -> None:
    for _ in range(30):
        await checkpoint()


async def until(condition: Callable[[], Any]) -> None:
    with anyio.fail_after(10):
        while not condition():
            await anyio.sleep(0.001)


async def closed(pipe: Pipe) -> tuple[int, str]:
    """What a session was closed with."""
    await until(lambda: pipe.closed_with is not None)
    assert pipe.closed_with is not None
    return pipe.closed_with


async def test_a_client_starts_a_generation_and_gets_all_of_it() -> None:
    model, pipe = Model(), Pipe()
    async with serving(EventServer(model), pipe):
        assert await pipe.talk.greet() == {"type": "welcome", "version": 1, "heartbeat": 20.0}
        await pipe.talk.say(type="start", generation="a", parameters={"question": "?"})
        end = await pipe.talk.follow("a")
        assert end == {"type": "end", "generation": "a", "last": pipe.talk.last["a"], "reason": "complete"}
        assert pipe.talk.states["a"] == await model.state()


async def test_several_clients_follow_several_generations() -> None:
    model, pipes = Model(), [Pipe(), Pipe(), Pipe()]
    async with serving(EventServer(model), *pipes):
        for pipe in pipes:
            await pipe.talk.greet()
        for name in "ab":
            await pipes[0].talk.say(type="start", generation=name)
        await settle()
        for pipe in pipes[1:]:
            await pipe.talk.say(type="subscribe", generation="a")
            await pipe.talk.say(type="subscribe", generation="b", after=0)

        async def follow(pipe: Pipe) -> None:
            ends = 0
            while ends < 2:
                message = await pipe.talk.hear()
                pipe.talk.take(message)
                ends += message["type"] == "end"

        async with anyio.create_task_group() as tasks:
            for pipe in pipes:
                tasks.start_soon(follow, pipe)
        state = await model.state()
        assert [pipe.talk.states for pipe in pipes] == [{"a": state, "b": state}] * 3
    assert model.started == 2


async def test_who_comes_back_gets_the_rest() -> None:
    model = Model()
    pipes = [Pipe() for _ in range(5)]
    states: dict[str, Any] = {}
    last: dict[str, int] = {}
    async with serving(EventServer(model, grace=3600), *pipes):
        for pipe in pipes:
            talk = pipe.talk
            talk.states, talk.last = states, last
            await talk.greet()
            if not last:
                await talk.say(type="start", generation="a")
            else:
                await talk.say(type="subscribe", generation="a", after=last["a"])
            if await talk.follow("a", stop_after=1 if pipe is not pipes[-1] else math.inf):
                break
            pipe.go()
        assert states["a"] == await model.state()
    assert model.started == 1


async def test_starting_again_does_not_start_twice() -> None:
    model, pipe = Model(), Pipe()
    async with serving(EventServer(model), pipe):
        await pipe.talk.greet()
        await pipe.talk.say(type="start", generation="a")
        await pipe.talk.follow("a")
        await pipe.talk.say(type="start", generation="a")
        pipe.talk.last.clear()
        assert (await pipe.talk.follow("a") or {})["type"] == "end"
    assert model.started == 1


async def test_of_two_clients_that_start_the_same_at_once_one_starts_it() -> None:
    model, pipes = Model(then="hang"), [Pipe(), Pipe()]
    async with serving(EventServer(model), *pipes):
        for pipe in pipes:
            await pipe.talk.greet()
        for pipe in pipes:
            await pipe.talk.say(type="start", generation="a")
        for pipe in pipes:
            await pipe.talk.follow("a", stop_after=1)
        assert model.started == 1


async def test_a_client_that_goes_away_stops_its_generation() -> None:
    model, pipe, other = Model(then="hang"), Pipe(), Pipe()
    async with serving(EventServer(model, grace=0), pipe, other):
        for each in (pipe, other):
            await each.talk.greet()
            await each.talk.say(type="start", generation="a")
            await each.talk.follow("a", stop_after=1)
        pipe.go()
        await settle()
        assert model.running == 1, "somebody still follows it"
        other.go()
        await until(lambda: model.running == 0)


async def test_a_generation_that_its_client_may_come_back_to_goes_on() -> None:
    model, pipe, other = Model(then="hang"), Pipe(), Pipe()
    async with serving(EventServer(model, grace=3600), pipe, other):
        await pipe.talk.greet()
        await pipe.talk.say(type="start", generation="a")
        await pipe.talk.follow("a", stop_after=1)
        pipe.go()
        await other.talk.greet()
        await other.talk.say(type="subscribe", generation="a")
        await other.talk.follow("a", stop_after=1)
        assert model.running == 1
    assert model.running == 0


async def test_leaving_a_generation_is_as_going_away() -> None:
    model, pipe = Model(then="hang"), Pipe()
    server = EventServer(model, grace=0)
    async with serving(server, pipe):
        await pipe.talk.greet()
        await pipe.talk.say(type="start", generation="a")
        await pipe.talk.follow("a", stop_after=1)
        await pipe.talk.say(type="unsubscribe", generation="a")
        await pipe.talk.say(type="unsubscribe", generation="never heard of")
        await until(lambda: model.running == 0)
        generation = server.generation("a")
        assert generation is not None
        await until(lambda: generation.ending == "stopped")


async def test_stopping_ends_a_generation_for_everybody() -> None:
    model, pipe, other = Model(then="hang"), Pipe(), Pipe()
    async with serving(EventServer(model), pipe, other):
        for each in (pipe, other):
            await each.talk.greet()
            await each.talk.say(type="start", generation="a")
            await each.talk.follow("a", stop_after=1)
        await pipe.talk.say(type="stop", generation="a")
        for each in (pipe, other):
            assert (await each.talk.follow("a") or {})["reason"] == "stopped"
    assert model.running == 0


async def test_a_generation_that_fails_says_so_but_not_more_than_a_client_should_know() -> None:
    pipe = Pipe()
    async with serving(EventServer(Model("Hello", then="fail")), pipe):
        await pipe.talk.greet()
        await pipe.talk.say(type="start", generation="a")
        end = await pipe.talk.follow("a")
        assert end == {"type": "end", "generation": "a", "last": 3, "reason": "failed", "error": "SourceError"}
        assert pipe.talk.states["a"]["regions"][0]["text"] == "Hello"


async def test_a_start_function_may_be_asynchronous_and_may_refuse() -> None:
    async def start(parameters: Any, client: Any) -> Any:
        await checkpoint()
        if parameters != "please":
            raise RefusedError("say please")
        return parse_stream("Hello", "qwen3", prefix="")

    pipe = Pipe()
    async with serving(EventServer(start), pipe):
        await pipe.talk.greet()
        await pipe.talk.say(type="start", generation="a", parameters="now")
        refusal = {"type": "error", "generation": "a", "code": "refused", "message": "say please"}
        assert await pipe.talk.follow("a") == refusal
        await pipe.talk.say(type="start", generation="b", parameters="please")
        await pipe.talk.follow("b")
        assert pipe.talk.states["b"]["message"] == {"role": "assistant", "content": "Hello"}


async def test_a_source_that_is_no_context_manager_is_closed() -> None:
    closed_sources = []

    async def events() -> AsyncIterator[dict[str, Any]]:
        try:
            yield {"type": "tool_result", "value": [1]}
            await anyio.sleep_forever()
        finally:
            closed_sources.append(True)

    pipe = Pipe()
    async with serving(EventServer(lambda parameters, client: events()), pipe):
        await pipe.talk.greet()
        await pipe.talk.say(type="start", generation="a")
        await pipe.talk.follow("a", stop_after=1)
        await pipe.talk.say(type="stop", generation="a")
        await pipe.talk.follow("a")
    assert closed_sources == [True]


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("no json", 4400),
        ("[" * 50_000, 4400),
        ("[]", 4400),
        ('{"type": "dance"}', 4400),
        ('{"type": ["hello"]}', 4400),
        ('{"type": "hello"}', 4400),
        ('{"type": "hello", "version": 2}', 4400),
        ('{"type": "subscribe", "generation": "a"}', 4400),
        ('{"type": "hello", "version": 1, "token": 5}', 4400),
        (b"bytes", 1003),
        ("x" * 65_537, 1009),
    ],
)
async def test_a_client_that_does_not_say_hello_properly_is_closed(frame: str | bytes, code: int) -> None:
    pipe = Pipe()
    async with serving(EventServer(Model()), pipe):
        await pipe.put(frame)
        assert (await closed(pipe))[0] == code


@pytest.mark.parametrize(
    "frame",
    [
        '{"type": "hello", "version": 1}',
        '{"type": "start", "generation": ""}',
        '{"type": "start", "generation": "%s"}' % ("x" * 201),
        '{"type": "start"}',
        '{"type": "subscribe", "generation": "a", "after": -1}',
        '{"type": "subscribe", "generation": "a", "after": 1.5}',
        '{"type": "stop", "generation": 7}',
        *('{"type": "stop", "generation": ' + "[" * deep + "]" * deep + "}" for deep in range(900, 1000, 10)),
        '{"type": "events", "generation": "a", "first": 1, "last": 1, "events": [{"type": "x"}]}',
    ],
)
async def test_what_is_no_message_ends_a_session(frame: str) -> None:
    pipe = Pipe()
    async with serving(EventServer(Model()), pipe):
        await pipe.talk.greet()
        await pipe.put(frame)
        code, reason = await closed(pipe)
        assert code == 4400
        assert reason


async def test_a_client_that_says_nothing_is_closed() -> None:
    pipe = Pipe()
    async with serving(EventServer(Model(), hello_seconds=0.01), pipe):
        assert await closed(pipe) == (4408, "no hello within 0.01 seconds")


async def test_a_client_that_takes_nothing_is_closed() -> None:
    model, pipe = Model(), Pipe()
    async with serving(EventServer(model, send_seconds=0.05), pipe):
        await pipe.talk.greet()
        await pipe.talk.say(type="start", generation="a")
        assert (await closed(pipe))[0] == 4408


async def test_heartbeats_come_when_nothing_else_does() -> None:
    pipe = Pipe()
    async with serving(EventServer(Model(), heartbeat=0.005), pipe):
        await pipe.talk.greet()
        for _ in range(3):
            assert json.loads(await pipe.talk._receive()) == {"type": "heartbeat"}


@pytest.mark.parametrize(
    ("origin", "origins", "welcome"),
    [
        (None, None, True),
        ("https://example.org", None, True),
        ("https://EXAMPLE.org", None, True),
        ("https://evil.org", None, False),
        ("null", None, False),
        ("http://[", None, False),
        ("https://other.org", ["https://other.org"], True),
        ("https://example.org", ["https://other.org"], False),
        (None, ["https://other.org"], True),
        ("https://evil.org", ["*"], True),
    ],
)
async def test_pages_of_other_origins_may_not_connect(origin: str | None, origins: Any, welcome: bool) -> None:
    pipe = Pipe(origin=origin)
    async with serving(EventServer(Model(), origins=origins), pipe):
        if welcome:
            await pipe.talk.greet()
        else:
            assert await closed(pipe) == (1008, "pages of this origin may not connect")


def test_one_origin_is_written_as_a_list() -> None:
    with pytest.raises(StreamparseError, match="list of origins"):
        EventServer(Model(), origins="https://example.org")


async def check_token(token: str | None) -> str | None:
    return "Ann" if token == "secret" else None


@pytest.mark.parametrize("keys", [{}, {"token": "guess"}])
async def test_a_token_is_checked(keys: dict[str, str]) -> None:
    pipe = Pipe()
    async with serving(EventServer(Model(), check_token=check_token), pipe):
        await pipe.talk.say(type="hello", version=1, **keys)
        assert await closed(pipe) == (4401, "the token was refused")


async def test_what_a_client_may_do_is_asked_with_what_the_token_stands_for() -> None:
    asked = []
    clients = []

    def authorize(client: Any, what: str, generation: str) -> bool:
        asked.append((client, what, generation))
        return what == "start" and generation == "mine"

    def start(parameters: Any, client: Any) -> Any:
        clients.append(client)
        return parse_stream("Hello", "qwen3", prefix="")

    pipe = Pipe()
    async with serving(EventServer(start, check_token=check_token, authorize=authorize), pipe):
        await pipe.talk.greet(token="secret")
        for what in ("start", "subscribe", "stop"):
            await pipe.talk.say(type=what, generation="other")
            error = await pipe.talk.follow("other")
            assert error is not None
            assert (error["code"], error["message"]) == ("refused", f"this client may not {what} this generation")
        await pipe.talk.say(type="start", generation="mine")
        assert (await pipe.talk.follow("mine") or {})["type"] == "end"
    assert {client for client, _, _ in asked} == {"Ann"}
    assert clients == ["Ann"]


async def test_what_is_not_there_is_an_error_and_not_the_end() -> None:
    pipe = Pipe()
    async with serving(EventServer(Model("Hello")), pipe):
        await pipe.talk.greet()
        for what in ("subscribe", "stop"):
            await pipe.talk.say(type=what, generation="a")
            assert (await pipe.talk.follow("a") or {})["code"] == "unknown_generation"
        await pipe.talk.say(type="start", generation="a")
        await pipe.talk.follow("a")
        await pipe.talk.say(type="subscribe", generation="a", after=99)
        assert (await pipe.talk.follow("a") or {})["code"] == "lost_events"
        pipe.talk.last["a"] = 3
        await pipe.talk.say(type="subscribe", generation="a", after=3)
        assert (await pipe.talk.follow("a") or {})["type"] == "end"


async def test_who_needs_more_than_the_history_keeps_is_told() -> None:
    pipe = Pipe()
    server = EventServer(Model("word " * 4000 + OUTPUT), grace=math.inf, history=5000)
    async with serving(server, pipe):
        generation = await server.start("a")
        async with generation.subscribe() as reader:
            async for _ in reader:
                pass
        await pipe.talk.greet()
        await pipe.talk.say(type="subscribe", generation="a")
        assert (await pipe.talk.follow("a") or {})["code"] == "lost_events"


async def test_there_are_limits_to_clients_generations_and_what_one_follows() -> None:
    pipes = [Pipe(), Pipe(), Pipe()]
    server = EventServer(Model(then="hang"), max_clients=2, max_generations=2, max_followed=1)
    async with serving(server, *pipes):
        await until(lambda: any(pipe.closed_with for pipe in pipes))
        pipes.sort(key=lambda pipe: pipe.closed_with is not None)
        assert pipes[2].closed_with == (4429, "there are too many connections; try again later")
        assert server.clients == 2
        for pipe, name in zip(pipes, "ab", strict=False):
            await pipe.talk.greet()
            await pipe.talk.say(type="start", generation=name)
            await pipe.talk.follow(name, stop_after=1)
        await pipes[0].talk.say(type="subscribe", generation="b")
        assert (await pipes[0].talk.follow("b") or {})["code"] == "too_many"
        await pipes[0].talk.say(type="start", generation="c")
        assert (await pipes[0].talk.follow("c") or {})["code"] == "too_many"


async def test_generations_that_have_ended_make_room_for_others() -> None:
    pipe, server = Pipe(), EventServer(Model("Hello"), max_generations=2)
    async with serving(server, pipe):
        await pipe.talk.greet()
        for name in "abc":
            await pipe.talk.say(type="start", generation=name)
            assert (await pipe.talk.follow(name) or {})["reason"] == "complete"
        assert [name for name in "abc" if server.generation(name)] == ["b", "c"]


async def test_generations_are_forgotten_some_time_after_their_end() -> None:
    pipe, server = Pipe(), EventServer(Model("Hello"), keep=0.01)
    async with serving(server, pipe):
        await pipe.talk.greet()
        await pipe.talk.say(type="start", generation="a")
        await pipe.talk.follow("a")
        await until(lambda: server.generation("a") is None)


async def test_subscribing_again_takes_the_place_of_the_subscription_before() -> None:
    model, pipe = Model(then="hang"), Pipe()
    server = EventServer(model)
    async with serving(server, pipe):
        talk = pipe.talk
        await talk.greet()
        await talk.say(type="start", generation="a")
        for _ in range(3):
            await talk.follow("a", stop_after=1)
            await talk.say(type="subscribe", generation="a", after=talk.last["a"])
        await until(lambda: model.given == len(range(0, len(OUTPUT), model.size)))
        await talk.say(type="subscribe", generation="a")
        generation = server.generation("a")
        assert generation is not None
        await until(lambda: len(generation.statistics().consumers) == 1)
        await talk.say(type="stop", generation="a")
        while (message := await talk.hear())["type"] == "events":
            if message["first"] == 1:
                talk.last.clear()
                talk.states.clear()
            if message["first"] == talk.last.get("a", 0) + 1:  # others were on their way before
                talk.take(message)
        assert message["reason"] == "stopped"
        assert talk.last["a"] == message["last"]
        assert talk.states["a"]["regions"][1]["text"] == "I will look at both of them for you.\n"


async def test_a_slow_client_gets_joined_chunks_and_slows_nobody() -> None:
    model, slow, fast = Model("word " * 2000, size=5), Pipe(), Pipe()
    async with serving(EventServer(model), slow, fast):
        for pipe in (slow, fast):
            await pipe.talk.greet()
            await pipe.talk.say(type="start", generation="a")
        await slow.talk.follow("a", stop_after=1)
        assert (await fast.talk.follow("a") or {})["reason"] == "complete"
        before = slow.talk.frames
        assert (await slow.talk.follow("a") or {})["reason"] == "complete"
        assert slow.talk.frames - before < 10 < fast.talk.frames
        assert slow.talk.states == fast.talk.states == {"a": await model.state()}


async def test_a_fault_of_the_server_closes_the_socket_and_tells_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def authorize(*_: Any) -> bool:
        raise RuntimeError("the database's password is 1234")

    pipe = Pipe()
    async with serving(EventServer(Model(), authorize=authorize), pipe):
        await pipe.talk.greet()
        await pipe.talk.say(type="start", generation="a")
        assert await closed(pipe) == (1011, "")
    assert "a session over a websocket failed" in caplog.text


async def test_leaving_the_server_ends_its_sessions_and_generations(living_tasks: Callable[[], int]) -> None:
    before = living_tasks()
    model, pipe = Model(then="hang"), Pipe()
    with pipe:
        async with anyio.create_task_group() as tasks:
            async with EventServer(model, grace=math.inf) as server:
                tasks.start_soon(server.serve, pipe)
                await pipe.talk.greet()
                await pipe.talk.say(type="start", generation="a")
                await pipe.talk.follow("a", stop_after=1)
                assert model.running == 1
            assert model.running == 0
        assert pipe.closed_with == (1001, "the server is being shut down")
    assert living_tasks() == before


async def test_cancelling_a_session_closes_its_socket(living_tasks: Callable[[], int]) -> None:
    before = living_tasks()
    model, pipe = Model(then="hang"), Pipe()
    with pipe:
        async with EventServer(model, grace=0) as server:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(server.serve, pipe)
                await pipe.talk.greet()
                await pipe.talk.say(type="start", generation="a")
                await pipe.talk.follow("a", stop_after=1)
                tasks.cancel_scope.cancel()
            assert pipe.closed_with == (1001, "")
            await until(lambda: model.running == 0)
    assert living_tasks() == before


async def test_a_server_is_entered_before_it_serves() -> None:
    with pytest.raises(StreamparseError, match="enter the server"):
        await EventServer(Model()).start("a")
