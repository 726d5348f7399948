"""The client for browsers: what it says, what it takes in, when it tries again and when it gives up."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import subprocess
from functools import partial
from typing import Any

import pytest

from streamparse.adapters.websockets import EventServer
from streamparse.adapters.websockets.library import serve
from tests.adapters.websockets.node import needs_node, run_module
from tests.adapters.websockets.talk import Model

pytestmark = needs_node

SCENE = """
import { Connection } from "CLIENT";

const sockets = [];
class FakeSocket {
  constructor(url) { this.said = []; this.url = url; sockets.push(this); setTimeout(() => this.onopen()); }
  send(text) { this.said.push(JSON.parse(text)); }
  close(code) { this.closedWith = code ?? 1005; }
  say(message) { this.onmessage({ data: JSON.stringify(message) }); }
  chunks(first, last, text) {
    this.say({ type: "events", generation: "g", first, last,
               events: [{ type: "region_chunk", field: "content", text, dirty: false }] });
  }
  welcome() { this.say({ type: "welcome", version: 1, heartbeat: HEARTBEAT }); }
}
let HEARTBEAT = 20;
const statuses = [];
const connect = (options) =>
  new Connection("ws://x", { WebSocket: FakeSocket, onstatus: ({ status }) => statuses.push(status), ...options });
const socket = async (number) => {
  while (sockets.length <= number || sockets[number].said.length === 0) await new Promise((go) => setTimeout(go, 1));
  return sockets[number];
};
const show = (value) => console.log(JSON.stringify(value));
"""


def play(scene: str) -> list[Any]:
    """What a scene shows."""
    return [json.loads(line) for line in run_module(SCENE + scene).splitlines()]


def test_a_lost_connection_goes_on_after_the_last_event() -> None:
    first, second, state, statuses = play("""
        const connection = connect({ token: async () => "secret" });
        const generation = connection.start({ question: "?" }, "g");
        const one = await socket(0);
        one.welcome();
        one.chunks(1, 3, "Hel");
        one.onclose({ code: 1006 });
        const two = await socket(1);
        two.welcome();
        two.chunks(4, 4, "lo");
        two.say({ type: "end", generation: "g", last: 4, reason: "complete" });
        await generation.over;
        connection.close();
        show(one.said); show(two.said); show([generation.state.regions[0].text, generation.status, two.closedWith]);
        show(statuses);
    """)
    hello = {"type": "hello", "version": 1, "token": "secret"}
    assert first == [hello, {"type": "start", "generation": "g", "parameters": {"question": "?"}}]
    assert second == [hello, {"type": "subscribe", "generation": "g", "after": 3}]
    assert state == ["Hello", "complete", 1000]
    assert statuses == ["open", "waiting", "connecting", "open", "closed"]


def test_a_start_of_which_nothing_came_is_said_again() -> None:
    said = play("""
        const connection = connect();
        connection.start(null, "g").stop();
        const one = await socket(0);
        one.welcome();
        one.onclose({ code: 1001 });
        const two = await socket(1);
        two.welcome();
        connection.close();
        show(two.said);
    """)
    start = {"type": "start", "generation": "g", "parameters": None}
    assert said == [[{"type": "hello", "version": 1}, start, {"type": "stop", "generation": "g"}]]


def test_what_was_seen_is_left_out_and_what_was_missed_is_asked_for() -> None:
    asked, text = play("""
        const connection = connect();
        const generation = connection.subscribe("g");
        const one = await socket(0);
        one.welcome();
        one.chunks(1, 2, "ab");
        one.chunks(1, 2, "ab");
        one.chunks(4, 4, "d");
        one.chunks(3, 4, "cd");
        connection.close();
        show(one.said.map(({ after }) => after ?? null)); show(generation.state.regions[0].text);
    """)
    assert asked == [None, 0, 2], "hello, and two times to subscribe"
    assert text == "abcd"


@pytest.mark.parametrize("code", [1003, 1008, 1009, 4400, 4401])
def test_a_refusal_is_not_tried_again(code: int) -> None:
    shown = play(
        """
        const connection = connect();
        const generation = connection.subscribe("g");
        (await socket(0)).onclose({ code: CODE, reason: "no" });
        await generation.over;
        show([connection.status, connection.closed.code, generation.status, generation.error]);
    """.replace("CODE", str(code))
    )
    assert shown == [["closed", code, "refused", f"the server closed the connection: {code} no"]]


def test_a_server_that_falls_silent_is_left() -> None:
    closed, again = play("""
        HEARTBEAT = 0.004;
        const connection = connect();
        const one = await socket(0);
        one.welcome();
        HEARTBEAT = 20;
        const two = await socket(1);
        two.welcome();
        connection.close();
        show(one.closedWith); show(connection.failures);
    """)
    assert (closed, again) == (1005, 0)


def test_an_error_concerns_its_generation_only() -> None:
    shown = play("""
        const connection = connect();
        const generation = connection.subscribe("h");
        const other = connection.subscribe("g");
        const one = await socket(0);
        one.welcome();
        one.say({ type: "error", generation: "h", code: "unknown_generation", message: "there is none" });
        one.chunks(1, 1, "a");
        one.say({ type: "something new" });
        connection.close();
        show([generation.status, generation.error, other.status]);
    """)
    assert shown == [["refused", "unknown_generation: there is none", "running"]]


def test_a_generation_that_was_left_is_not_followed_any_more() -> None:
    said = play("""
        const connection = connect();
        const generation = connection.subscribe("g");
        const one = await socket(0);
        one.welcome();
        generation.leave();
        one.chunks(1, 1, "a");
        show([generation.last, one.said.at(-1)]);
        connection.close();
    """)
    assert said == [[0, {"type": "unsubscribe", "generation": "g"}]]


FOLLOW = """
import { Connection } from "CLIENT";
const { address, breaks } = JSON.parse(await new Promise((take) => process.stdin.once("data", take)));
let opened = 0;
const connection = new Connection(address, { onstatus: ({ status }) => (opened += status === "open") });
const generation = connection.start({});
let seen = 0;
generation.onchange = (_, events) => {
  seen += events.length > 0;
  if (breaks.includes(seen)) connection.socket.close(); // as a network that fails
};
await generation.over;
connection.close();
console.log(JSON.stringify([generation.status, opened, generation.state]));
process.exit(0);
"""


@pytest.mark.skipif(
    subprocess.run(
        ["node", "--experimental-websocket", "-e", "new WebSocket('ws://x').close"], capture_output=True, check=False
    ).returncode
    if shutil.which("node")
    else True,
    reason="this node has no WebSocket",
)
@pytest.mark.parametrize("seed", range(3))
def test_a_real_server_is_followed_through_breaks_at_random_events(seed: int) -> None:
    breaks = [1, *random.Random(seed).sample(range(2, 15), 3)]
    model = Model(pause=0.001)

    async def main() -> tuple[str, Any]:
        async with EventServer(model, grace=60) as server, serve(server, "127.0.0.1", 0) as listening:
            given = {"address": f"ws://127.0.0.1:{listening.sockets[0].getsockname()[1]}", "breaks": breaks}
            run = partial(run_module, FOLLOW, given=json.dumps(given), options=("--experimental-websocket",))
            return await asyncio.to_thread(run), await model.state()

    printed, state = asyncio.run(main())
    status, opened, shown = json.loads(printed)
    assert (status, shown) == ("complete", state)
    assert opened > 1
    assert model.started == 1
