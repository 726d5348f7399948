"""The docs page works as it stands: its upstream and its chat template, with the server between them and the client."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from streamparse.infer.source import read_chat_template
from tests.adapters.serve.running import served, settings

pytestmark = pytest.mark.asyncio

PAGE = (Path(__file__).parents[3] / "docs" / "openai.md").read_text(encoding="utf-8")

REQUEST = PAGE.partition("-d '")[2].partition("'")[0]


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found[1]


async def until_listening(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return


async def test_the_page_works_as_it_stands(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = block("python").replace("8000", str(port))
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stderr=asyncio.subprocess.DEVNULL)
    (tmp_path / "chat_template.jinja").write_text(block("jinja"))
    chat_template = read_chat_template(tmp_path / "chat_template.jinja")
    url = f"http://127.0.0.1:{port}/v1"
    try:
        async with asyncio.timeout(30):
            await until_listening(port)
            async with served(settings(url, chat_template=chat_template)) as server, httpx.AsyncClient() as http:
                body: dict[str, Any] = json.loads(REQUEST) | {"stream": False}
                whole = (await http.post(f"{server.url}/chat/completions", json=body)).json()
                body["stream"] = True
                streamed = (await http.post(f"{server.url}/chat/completions", json=body)).text
    finally:
        process.kill()
        await process.wait()
    message = whole["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("I will.", "Look it up.")
    assert message["tool_calls"][0]["function"]["arguments"] == '{"city":"Rome"}'
    assert streamed.endswith("data: [DONE]\n\n")
