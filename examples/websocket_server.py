"""Events over websockets: a client loses its connection in the middle, comes back, and misses nothing.

    python examples/websocket_server.py           # server and client in this terminal
    python examples/websocket_server.py --serve   # a page at http://127.0.0.1:8765, until Ctrl-C

It needs the extra `websockets`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from collections.abc import AsyncIterator
from importlib.resources import files
from typing import Any

from websockets.asyncio.client import connect
from websockets.datastructures import Headers
from websockets.http11 import Response

from streamparse import ParseStream, parse_stream
from streamparse.adapters.websockets import EventServer, fold, new_state
from streamparse.adapters.websockets.library import serve

OUTPUT = """<think>They want the weather.</think>I will ask the weather tool.
<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>"""
CLIENT = files("streamparse.adapters.websockets") / "client.js"
PAGE = """<!doctype html><meta charset="utf-8"><title>streamparse</title>
<button>Ask</button> <pre></pre>
<script type="module">
  import { Connection } from "/client.js";
  const connection = new Connection(location.href.replace("http", "ws"));
  document.querySelector("button").onclick = () => {
    connection.start({ question: "Weather in Rome?" }).onchange = ({ state, status }) => {
      const regions = state.regions.map((region) => `${region.field}: ${region.text}`);
      document.querySelector("pre").textContent = [...regions, `(${status})`].join("\\n");
    };
  };
</script>"""


async def model(_question: str) -> AsyncIterator[str]:
    """Stand for a model that answers a question."""
    for start in range(0, len(OUTPUT), 4):
        await asyncio.sleep(0.01)
        yield OUTPUT[start : start + 4]


def start(parameters: Any, _client: Any) -> ParseStream:
    """Start what a client asks for."""
    return parse_stream(model(parameters["question"]), "qwen3", prefix="", deltas=True)


def page(_connection: Any, request: Any) -> Any:
    """Answer a browser that wants the page or the module; None for a websocket."""
    if "Upgrade" in request.headers:
        return None
    kind, text = ("javascript", CLIENT.read_text("utf-8")) if request.path == "/client.js" else ("html", PAGE)
    headers = Headers({"Content-Type": f"text/{kind}; charset=utf-8"})
    return Response(200, "OK", headers, text.encode())


async def follow(address: str) -> None:
    """Be a client whose first connection breaks after ten messages."""
    name, last, state = str(uuid.uuid4()), 0, new_state()
    start = {"type": "start", "generation": name, "parameters": {"question": "Weather in Rome?"}}
    async for socket in connect(address):  # again and again
        await socket.send(json.dumps({"type": "hello", "version": 1}))
        await socket.send(json.dumps({"type": "subscribe", "generation": name, "after": last} if last else start))
        messages = 10 if not last else 1000
        while messages and (message := json.loads(await socket.recv()))["type"] != "end":
            messages -= 1
            for event in message.get("events", ()):
                last = message["last"]
                fold(state, event)
        await socket.close()
        if messages:
            break
        print(f"the connection is lost after event {last}")
    for region in state["regions"]:
        print(f"{region['field']}: {region['text'].strip()}")
    print(f"{message['reason']} after event {last}")


async def main() -> None:
    """Serve, for the client in this program or for browsers."""
    forever = "--serve" in sys.argv
    server = EventServer(start)
    async with server, serve(server, "127.0.0.1", 8765 if forever else 0, process_request=page) as listening:
        port = listening.sockets[0].getsockname()[1]
        if forever:
            print(f"http://127.0.0.1:{port}")
            await asyncio.Event().wait()
        await follow(f"ws://127.0.0.1:{port}")


if __name__ == "__main__":
    asyncio.run(main())
