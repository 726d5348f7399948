"""Raw completions over HTTP: the text as it was written, errors in words, and no connection left open."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
import anyio.lowlevel
import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamparse import End, SourceError, parse_stream
from streamparse.adapters.openai import CompletionError, RawCompletion, raw_completion
from streamparse.adapters.openai.servers import SERVERS
from tests.adapters.openai.upstream import USAGE, Exchange, answering, breaking, playing, says, stalling, upstream

pytestmark = pytest.mark.anyio

CALL = '<tool_call>{"name": "weather", "arguments": {"city": "Zürich 🌦"}}</tool_call>'


async def pieces_of(completion: RawCompletion) -> list[Any]:
    async with completion:
        return [piece async for piece in completion]


async def test_text_comes_as_it_was_written_and_the_end_says_why() -> None:
    async with upstream(playing(says(["<think>", "Hm", "</think>", "Hi"], reason="length"))) as server:
        pieces = await pieces_of(RawCompletion(server.url, "prompt"))
    assert pieces == ["<think>", "Hm", "</think>", "Hi", End("length", USAGE)]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, 2000), max_size=40), line_end=st.sampled_from(["\n", "\r\n", "\r"]))
async def test_the_cuts_of_the_bytes_make_no_difference(cuts: list[int], line_end: str) -> None:
    texts = ["<think>a\u2028b\x85</think>", *CALL, " é", "🌦", "\ud83d"]
    body = says(texts).replace(b"\n", line_end.encode())
    body = body.replace(b"\\u00e9", "é".encode()).replace(b"\\u2028", "\u2028".encode())
    body = f": a comment{line_end}{line_end}".encode() + body
    async with upstream(playing(body, cuts)) as server:
        assert await pieces_of(RawCompletion(server.url, "prompt")) == [*texts, End("stop", USAGE)]


async def test_it_is_a_source_of_parse_stream() -> None:
    async with (
        upstream(playing(says([CALL]))) as server,
        parse_stream(RawCompletion(server.url, "prompt"), "qwen3", prefix="") as events,
    ):
        found = [event async for event in events]
    assert found[-1]["message"]["tool_calls"][0]["function"]["arguments"] == {"city": "Zürich 🌦"}
    assert found[-1]["finish_reason"] == "stop"
    assert events.end == End("stop", USAGE)


async def test_what_is_asked_keeps_the_text_raw_and_is_not_overridden() -> None:
    asked = {}
    async with upstream(playing(says(["Hi"]))) as server:
        for kind in SERVERS:
            parameters = {"max_tokens": 9, "temperature": 0.5, "skip_special_tokens": True}
            options = {"model": "m", "special_tokens": ["<think>"], "api_key": "secret"}
            await pieces_of(RawCompletion(server.url, "p", server=kind, parameters=parameters, **options))
            asked[kind] = server.exchanges[-1]
    for kind, exchange in asked.items():
        assert exchange.path == "/v1/completion" if kind == "llama.cpp-native" else exchange.path == "/v1/completions"
        assert exchange.headers["authorization"] == "Bearer secret"
        assert (exchange.body["prompt"], exchange.body["stream"], exchange.body["model"]) == ("p", True, "m")
        assert exchange.body["temperature"] == 0.5
    assert asked["vllm"].body["skip_special_tokens"] is False
    assert asked["vllm"].body["spaces_between_special_tokens"] is False
    assert asked["vllm"].body["add_special_tokens"] is False
    assert asked["sglang"].body["skip_special_tokens"] is False
    assert asked["llama.cpp"].body["preserved_tokens"] == ["<think>"]
    assert asked["llama.cpp-native"].body["n_predict"] == 9
    assert asked["openai"].body["stream_options"] == {"include_usage": True}


async def test_a_prompt_of_any_characters_or_of_token_ids_is_sent() -> None:
    async with upstream(playing(says(["Hi"]))) as server:
        await pieces_of(RawCompletion(server.url, "a \ud800 b"))
        await pieces_of(RawCompletion(server.url, [1, 2, 3]))
    assert [exchange.body["prompt"] for exchange in server.exchanges] == ["a \ud800 b", [1, 2, 3]]


async def test_the_stream_of_llama_cpp_is_read_too() -> None:
    events = [
        {"content": "Hi", "stop": False},
        {"content": "", "stop": True, "stop_type": "limit", "tokens_evaluated": 3, "tokens_predicted": 5},
    ]
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    async with upstream(playing(body)) as server:
        pieces = await pieces_of(RawCompletion(server.url, "p", server="llama.cpp-native"))
    assert pieces == ["Hi", End("length", USAGE)]


@pytest.mark.parametrize(
    ("play", "status", "words"),
    [
        (answering("404 Not Found", b'{"error": {"message": "no model x"}}'), 404, "answered 404: no model x"),
        (answering("400 Bad Request", b'{"object": "error", "message": "too long"}'), 400, "too long"),
        (answering("422 Unprocessable", b'{"detail": "bad field"}'), 422, "bad field"),
        (answering("500 Oops", b"x" * 10_000, "text/plain"), 500, r"answered 500: x+ \.\.\."),
        (answering("503 Busy", b""), 503, "answered 503: nothing"),
        (answering("307 Moved", b""), 307, "answered 307"),
        (answering("200 OK", b'{"choices": []}'), 200, "application/json and not with an event stream"),
        (playing(b'data: {"error": {"message": "out of memory"}}\n\n'), 200, "out of memory"),
        (playing(b'event: error\ndata: {"message": "overloaded"}\n\n'), 200, "overloaded"),
        (playing(b"event: error\ndata: overloaded\n\n"), 200, "broke off the generation: overloaded"),
        (playing(b'data: {"object": "error", "message": "no room"}\n\n'), 200, "no room"),
        (playing(b"data: {not json\n\n"), 200, "can't be read: .*not json"),
        (playing(b"data: [1]\n\n"), 200, "no object"),
        (playing(b"data: " + b"[" * 100_000 + b"\n\n"), 200, "can't be read"),
        (playing(b"data: {}\n\n"), 200, "neither choices nor content"),
        (playing(b'data: {"choices": 5}\n\n'), 200, "no list of objects"),
        (playing(b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'), 200, "chat completion"),
        (playing(b'data: {"choices": [{"text": 5}]}\n\n'), 200, "no text"),
        (playing(says(["Hi"], reason=None, done=False)), 200, "cut off"),
        (playing(b""), 200, "cut off"),
        (breaking(says(["Hi"], reason=None, done=False)), None, "broke off its answer"),
    ],
)
async def test_what_goes_wrong_is_told_with_what_and_where(play: Any, status: int | None, words: str) -> None:
    async with upstream(play) as server:
        with pytest.raises(CompletionError, match=words) as caught:
            await pieces_of(RawCompletion(server.url, "p"))
        assert str(caught.value).startswith(f"{server.url}/completions ")
        assert caught.value.status == status
        with anyio.fail_after(5):
            while server.open:
                await anyio.sleep(0.01)


async def repeating(exchange: Exchange, data: bytes) -> None:
    """Write the same bytes until the client has gone."""
    with suppress(anyio.BrokenResourceError):
        while True:
            await exchange.send(data)
            await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize("data", [b"x" * 1000, b"data: x\n" * 100])
async def test_an_event_that_never_ends_is_given_up(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.send(says(["Hi"] * 1000, reason=None, usage=None, done=False))
        await repeating(exchange, data)

    monkeypatch.setattr(raw_completion, "EVENT_AT_MOST", 50_000)
    async with upstream(play) as server:
        pieces = []
        with pytest.raises(CompletionError, match=r"an event of its stream has more than 50,000 bytes"):
            pieces += [piece async for piece in RawCompletion(server.url, "p")]
        with anyio.fail_after(5):
            while server.open:
                await anyio.sleep(0.01)


@pytest.mark.parametrize("size", [1, 100_000])
async def test_of_an_error_that_never_ends_the_beginning_is_told(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(exchange: Exchange) -> None:
        await exchange.begin("500 Oops", "text/plain")
        await exchange.send(b"out of memory ")
        if size == 1:
            await exchange.until_gone()
        await repeating(exchange, b"x" * size)

    monkeypatch.setattr(raw_completion, "_REFUSAL_SECONDS", 0.2 if size == 1 else 60)
    async with upstream(play) as server:
        with pytest.raises(CompletionError, match="answered 500: out of memory"):
            await pieces_of(RawCompletion(server.url, "p"))
        with anyio.fail_after(5):
            while server.open:
                await anyio.sleep(0.01)


@pytest.mark.parametrize("status", ["200 OK", "500 Oops"])
async def test_an_answer_that_is_compressed_is_refused_for_it_may_be_larger_than_memory(status: str) -> None:
    async def play(exchange: Exchange) -> None:
        assert exchange.headers["accept-encoding"] == "identity"
        await exchange.begin(status, "text/event-stream\r\ncontent-encoding: gzip")
        await exchange.send(gzip.compress(b"x" * 1_000_000))
        await exchange.end()

    async with upstream(play) as server:
        with pytest.raises(CompletionError, match="compressed"):
            await pieces_of(RawCompletion(server.url, "p"))


async def test_events_without_data_are_none_and_blanks_around_the_last_word_say_nothing() -> None:
    body = b"event: ping\n\nid: 5\n\ndata:\n\nretry: 3\n\n" + says(["Hi"], done=False) + b"data: [DONE] \n\n"
    async with upstream(playing(body)) as server:
        assert await pieces_of(RawCompletion(server.url, "p")) == ["Hi", End("stop", USAGE)]


@pytest.mark.parametrize("parameters", [{"n": 2}, {"echo": True}])
def test_parameters_that_make_more_than_one_completion_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(parameters))):
        RawCompletion("http://127.0.0.1:1/v1", "p", parameters=parameters)


async def test_a_server_that_is_silent_for_too_long_is_given_up() -> None:
    async with upstream(stalling(says(["Hi"], reason=None, done=False))) as server:
        with pytest.raises(CompletionError, match=r"said nothing for 0\.2 seconds; give a longer timeout=") as caught:
            await pieces_of(RawCompletion(server.url, "p", timeout=0.2))
        assert caught.value.timed_out


async def test_a_generation_that_has_ended_is_whole_whatever_comes_after() -> None:
    for play in (breaking(says(["Hi"], done=False)), stalling(says(["Hi"], done=False))):
        async with upstream(play) as server:
            assert await pieces_of(RawCompletion(server.url, "p", timeout=0.5)) == ["Hi", End("stop", USAGE)]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://127.0.0.1:1/v1", "can't be reached"),
        ("localhost:8000/v1", "is no URL of a server"),
        ("http://127.0.0.1:port/v1", "is no URL of a server"),
    ],
)
async def test_a_server_that_is_not_there_is_told_with_what_to_do(url: str, words: str) -> None:
    with pytest.raises(CompletionError, match=words):
        await pieces_of(RawCompletion(url, "p"))


def test_a_kind_of_server_that_is_not_known_is_refused_with_those_that_are() -> None:
    with pytest.raises(ValueError, match=r"'openai', 'vllm', 'sglang', 'llama\.cpp'"):
        RawCompletion("http://localhost/v1", "p", server="llama")


@pytest.mark.parametrize("how", ["leave", "cancel", "fail", "close"])
async def test_leaving_closes_the_connection(how: str, living_tasks: Callable[[], int]) -> None:
    before = living_tasks()
    async with upstream(stalling(says(["Hi"], reason=None, done=False))) as server:
        stream = parse_stream(RawCompletion(server.url, "p"), "qwen3", prefix="")
        with anyio.fail_after(30):
            if how == "cancel":
                with anyio.CancelScope() as scope:
                    async with stream as events:
                        async for _ in events:
                            scope.cancel()
            elif how == "close":
                await anext(stream)
                await stream.aclose()
            else:
                try:
                    async with stream as events:
                        async for _ in events:
                            if how == "fail":
                                raise KeyError
                            break
                except KeyError:
                    pass
            await server.exchanges[0].gone.wait()
            while server.open:
                await anyio.sleep(0.01)
    assert living_tasks() == before


async def test_a_client_of_the_callers_own_is_used_and_left_open() -> None:
    async with upstream(playing(says(["Hi"]))) as server, httpx.AsyncClient(headers={"x-mine": "1"}) as client:
        await pieces_of(RawCompletion(server.url, "p", client=client, headers={"x-more": "2"}))
        await pieces_of(RawCompletion(server.url, "p", client=client))
        assert not client.is_closed
    assert [exchange.headers["x-mine"] for exchange in server.exchanges] == ["1", "1"]
    assert server.exchanges[0].headers["x-more"] == "2"


async def test_a_completion_that_is_closed_before_it_began_sends_nothing() -> None:
    async with upstream(playing(says(["Hi"]))) as server:
        completion = RawCompletion(server.url, "p")
        await completion.aclose()
        assert [piece async for piece in completion] == []
    assert server.exchanges == []


async def test_its_errors_are_source_errors() -> None:
    with pytest.raises(SourceError):
        async with parse_stream(RawCompletion("http://127.0.0.1:1/v1", "p"), "qwen3", prefix="") as events:
            _ = [event async for event in events]
