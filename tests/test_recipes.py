"""The recipes of the documentation do what they say: against a stand-in where the real thing can't be had here."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from tests.doc_blocks import ROOT, blocks

RECIPES = ROOT / "docs" / "recipes"

WITHOUT_A_HUB = """
import transformers

class AutoTokenizer:
    @classmethod
    def from_pretrained(cls, name):
        return cls()

    def apply_chat_template(self, messages, **options):
        return "<|im_start|>user\\n" + messages[0]["content"] + "<|im_end|>\\n<|im_start|>assistant\\n"

transformers.AutoTokenizer = AutoTokenizer
"""


def python_of(page: str) -> list[str]:
    """The blocks of Python of a recipe."""
    return [block.code for block in blocks(RECIPES / page, "python")]


def test_vllm_as_a_source(tmp_path: Path) -> None:
    program, stand_in = python_of("vllm.md")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    (tmp_path / "program.py").write_text(WITHOUT_A_HUB + program.replace("8000", port), encoding="utf-8")
    (tmp_path / "server.py").write_text(stand_in.replace("8000", port), encoding="utf-8")
    with subprocess.Popen([sys.executable, "server.py"], cwd=tmp_path, stderr=subprocess.DEVNULL) as server:
        try:
            while server.poll() is None:
                with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", int(port))):
                    break
                time.sleep(0.02)
            command = [sys.executable, "program.py"]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        finally:
            server.kill()
    assert done.returncode == 0, done.stderr
    assert done.stdout == "I will look.call: {'name': 'weather', 'arguments': {'city': 'Rome'}}\n"


def application(code: str) -> Any:
    """The application that a block of the recipe for FastAPI makes."""
    module = SimpleNamespace()
    exec(code, vars(module))
    return module.app


def data_of(answer: httpx.Response) -> list[str]:
    """The data of server-sent events."""
    assert answer.headers["content-type"].startswith("text/event-stream")
    return [line.removeprefix("data: ") for line in answer.text.splitlines() if line]


@pytest.mark.anyio
async def test_fastapi_sends_events() -> None:
    events_app, _ = python_of("fastapi.md")
    transport = httpx.ASGITransport(application(events_app))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        answer = await client.get("/ask", params={"question": "Rome"})
    events = [json.loads(data) for data in data_of(answer)]
    assert events[0] == {"type": "region_open", "field": "reasoning_content"}
    assert events[-1]["message"] == {
        "role": "assistant",
        "reasoning_content": "They ask about Rome",
        "content": "Sunny.",
    }


@pytest.mark.anyio
async def test_fastapi_sends_chunks_of_openai() -> None:
    _, chunks_app = python_of("fastapi.md")
    transport = httpx.ASGITransport(application(chunks_app))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        answer = await client.post("/v1/chat/completions", json={"messages": []})
    *chunks, done = data_of(answer)
    assert done == "[DONE]"
    calls = [call for chunk in chunks for call in json.loads(chunk)["choices"][0]["delta"].get("tool_calls", ())]
    assert calls[0]["function"]["name"] == "weather"
    assert json.loads("".join(call["function"].get("arguments", "") for call in calls)) == {"city": "Rome"}
