"""Both ends of a conversation over a websocket, every message of which is checked against the schema."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio
from jsonschema import Draft202012Validator

from streamparse import parse_stream
from streamparse.adapters.websockets import fold, new_state
from streamparse.adapters.websockets.messages import schema
from streamparse.adapters.websockets.socket import SocketClosedError
from streamparse.encode import encode_event

Message = dict[str, Any]

SCHEMA = schema()
FROM_CLIENT = Draft202012Validator({"$defs": SCHEMA["$defs"], "$ref": "#/$defs/from_client"})
FROM_SERVER = Draft202012Validator({"$defs": SCHEMA["$defs"], "$ref": "#/$defs/from_server"})

OUTPUT = (
    "<think>Two cities, so two calls.</think>I will look at both of them for you.\n"
    '<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>\n'
    '<tool_call>{"name": "weather", "arguments": {"city": "Osl</tool_call>\n'
    "Done. 👋"
)


class Model:
    """Starts generations of one text, and knows how many run."""

    def __init__(self, text: str = OUTPUT, *, size: int = 3, pause: float = 0.0, then: str = "end") -> None:
        self.text = text
        self.size = size
        self.pause = pause
        self.then = then
        self.running = 0
        self.started = 0
        self.given = 0

    def __call__(self, parameters: Any, client: Any) -> Any:
        return parse_stream(self._pieces(), "qwen3", prefix="", errors="repair", deltas=True)

    async def _pieces(self) -> AsyncIterator[str]:
        self.running += 1
        self.started += 1
        try:
            for start in range(0, len(self.text), self.size):
                await anyio.sleep(self.pause)
                self.given += 1
                yield self.text[start : start + self.size]
            if self.then == "hang":
                await anyio.sleep_forever()
            if self.then == "fail":
                raise ConnectionError("the engine's password is 1234")
        finally:
            self.running -= 1

    async def state(self) -> dict[str, Any]:
        """What a UI shows in the end."""
        state = new_state()
        async with parse_stream(self.text, "qwen3", prefix="", errors="repair", deltas=True) as events:
            async for event in events:
                fold(state, event)
        plain: dict[str, Any] = json.loads(encode_event(state, standard=True))
        return plain


class Talk:
    """A client's side: says messages, hears messages, and folds the events of generations."""

    def __init__(self, send: Callable[[str], Awaitable[None]], receive: Callable[[], Awaitable[str | bytes]]) -> None:
        self._send = send
        self._receive = receive
        self.states: dict[str, dict[str, Any]] = {}
        self.last: dict[str, int] = {}
        self.frames = 0

    async def say(self, **message: Any) -> None:
        FROM_CLIENT.validate(message)
        await self._send(json.dumps(message))

    async def hear(self) -> Message:
        """The next message that is no heartbeat."""
        with anyio.fail_after(20):
            while True:
                frame = await self._receive()
                assert isinstance(frame, str)
                message: Message = json.loads(frame)
                FROM_SERVER.validate(message)
                if message["type"] != "heartbeat":
                    return message

    async def greet(self, **keys: Any) -> Message:
        await self.say(type="hello", version=1, **keys)
        welcome = await self.hear()
        assert welcome["type"] == "welcome"
        return welcome

    async def follow(self, name: str, *, stop_after: float = float("inf")) -> Message | None:
        """Take events in until the end of a generation, or for so many messages; give the message at the end."""
        while stop_after > 0:
            message = await self.hear()
            if message["generation"] != name:
                self.take(message)
                continue
            if message["type"] != "events":
                return message
            self.take(message)
            stop_after -= 1
        return None

    def take(self, message: Message) -> None:
        """Take events in; each number comes once and in order."""
        if message["type"] == "events":
            name = message["generation"]
            assert message["first"] == self.last.get(name, 0) + 1
            assert len(message["events"]) <= message["last"] - message["first"] + 1
            self.last[name] = message["last"]
            self.frames += 1
            state = self.states.setdefault(name, new_state())
            for event in message["events"]:
                fold(state, event)


class Pipe:
    """A socket in memory; the client's end is ``talk``."""

    def __init__(self, *, origin: str | None = None, host: str | None = "example.org") -> None:
        self.origin = origin
        self.host = host
        self._to_server, self._from_client = anyio.create_memory_object_stream[str | bytes](100)
        self._to_client, self._from_server = anyio.create_memory_object_stream[str | bytes](0)
        self.closed_with: tuple[int, str] | None = None
        self.talk = Talk(self.put, self._from_server.receive)

    async def put(self, frame: str | bytes) -> None:
        await self._to_server.send(frame)

    def go(self) -> None:
        """Be a client that goes away."""
        for end in (self._to_server, self._from_server):
            end.close()

    async def receive(self) -> str | bytes:
        try:
            return await self._from_client.receive()
        except anyio.EndOfStream:
            raise SocketClosedError(1006) from None

    async def send(self, text: str) -> None:
        try:
            await self._to_client.send(text)
        except anyio.BrokenResourceError:
            raise SocketClosedError(1006) from None

    async def close(self, code: int, reason: str) -> None:
        assert self.closed_with is None
        assert len(reason.encode()) <= 123
        self.closed_with = (int(code), reason)

    def __enter__(self) -> Pipe:
        return self

    def __exit__(self, *_: object) -> None:
        for end in (self._to_server, self._from_client, self._to_client, self._from_server):
            end.close()
