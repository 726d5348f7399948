"""docs/websockets.md: its programs run, its messages are valid, its tables are whole."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect

from streamparse.adapters.websockets import EventServer
from streamparse.adapters.websockets.socket import Close
from tests.adapters.websockets.talk import FROM_CLIENT, FROM_SERVER, SCHEMA, Talk
from tests.adapters.websockets.test_asgi import serving

PAGE = (Path(__file__).parents[3] / "docs" / "websockets.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, re.DOTALL)
SERVER, CLIENT, APP = [code for language, code in BLOCKS if language == "python"][:3]


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    """Wait until a server listens."""
    for _ in range(3000):
        assert server.poll() is None, "the server has ended"
        with socket.socket() as trying:
            if trying.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)
    raise TimeoutError("the server does not listen")


def test_the_programs_run_and_print_what_the_page_shows() -> None:
    port = free_port()
    server = subprocess.Popen([sys.executable, "-W", "error", "-c", SERVER.replace("8765", str(port))])
    try:
        wait_for(port, server)
        client = [sys.executable, "-W", "error", "-c", CLIENT.replace("8765", str(port))]
        done = subprocess.run(client, capture_output=True, text=True, timeout=60, check=False)
    finally:
        server.terminate()
        server.wait()
    (shown,) = [code for language, code in BLOCKS if not language and code.startswith("reasoning_content closed")]
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == shown.splitlines()


def test_the_asgi_application_of_the_page_serves() -> None:
    namespace: dict[str, Any] = {}
    exec(APP, namespace)

    async def main() -> None:
        async with serving(namespace["app"]) as where, connect(f"ws://{where}") as connection:
            talk = Talk(connection.send, connection.recv)
            await talk.greet()
            await talk.say(type="start", generation="a")
            await talk.follow("a")
            assert talk.states["a"]["message"]["content"] == "Hello"

    asyncio.run(main())


def test_the_messages_that_the_page_shows_are_valid_and_go_on_where_they_stopped() -> None:
    lines = [line for _, code in BLOCKS for line in code.splitlines() if line.lstrip("> ").startswith('{"type"')]
    assert len(lines) > 8
    last = 0
    for line in lines:
        message = json.loads(line.lstrip("> "))
        (FROM_CLIENT if line.startswith(">") else FROM_SERVER).validate(message)
        if message["type"] == "events":
            assert message["first"] == last + 1
            last = message["last"]
        if message["type"] == "subscribe":
            assert message["after"] == last


def rows(heading: str) -> list[str]:
    """What stands in the first column of the table under a heading."""
    section = PAGE.split(f"{heading}\n")[1].split("\n#")[0]
    return [cell.strip() for cell in re.findall(r"^\| ([^|]*) \|", section, re.MULTILINE)]


def test_every_argument_of_the_server_is_in_the_table() -> None:
    named = re.findall(r"`(\w+)`", " ".join(rows("### What can be set")[1:]))
    assert sorted(named) == sorted(set(inspect.signature(EventServer).parameters) - {"start"})


def test_every_close_code_is_in_the_table() -> None:
    assert [int(code) for code in rows("### Close codes")[1:]] == [code for code in Close if code != Close.ABNORMAL]


def test_every_type_and_every_error_code_is_on_the_page() -> None:
    ends = ("from_client", "from_server")
    types = [each["$ref"].rpartition("/")[2] for end in ends for each in SCHEMA["$defs"][end]["oneOf"]]
    assert sorted(rows("## The messages")) == sorted(["type", *(f"`{name}`" for name in types), "type"])
    for code in SCHEMA["$defs"]["error"]["properties"]["code"]["enum"]:
        assert f"`{code}`" in PAGE


def test_the_schema_is_a_schema() -> None:
    FROM_CLIENT.check_schema(SCHEMA)
