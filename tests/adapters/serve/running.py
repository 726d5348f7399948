"""A server that runs in the event loop of the test, on a free port of 127.0.0.1."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import uvicorn

from streamparse.adapters.serve import Settings, create_app
from streamparse.infer.source import ChatTemplate

CHATML = ChatTemplate(
    "{% if tools %}<|im_start|>system\n{{ tools | tojson }}<|im_end|>\n{% endif %}"
    "{% for message in messages %}"
    "{% if message.content is not string %}{{ raise_exception('content must be text') }}{% endif %}"
    "<|im_start|>{{ message.role }}{{ ' ' + message.name if message.name else '' }}\n"
    "{% if message.reasoning_content %}<think>\n{{ message.reasoning_content }}\n</think>\n\n{% endif %}"
    "{{ message.content }}"
    "{% for call in message.tool_calls or [] %}<tool_call>{{ call.function | tojson }}</tool_call>{% endfor %}"
    "<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% if enable_thinking is false %}<think>\n\n</think>\n\n"
    "{% endif %}{% endif %}",
    "<s>",
)


def settings(url: str, **changes: Any) -> Settings:
    return Settings(**{"upstream": url, "chat_template": CHATML, "template": "qwen3", **changes})


class Running:
    """A server that runs; ``url`` is what a client is given."""

    def __init__(self, url: str, server: uvicorn.Server, task: asyncio.Task[None]) -> None:
        self.url = url
        self._server = server
        self._task = task

    async def stop(self) -> None:
        """Stop it as a signal does."""
        self._server.should_exit = True
        await self._task


@asynccontextmanager
async def served(settings: Settings, *, grace: int = 1) -> AsyncIterator[Running]:
    """Run a server for as long as the block runs; requests under way are given ``grace`` seconds to end then."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(create_app(settings), log_level="critical", ws="none", timeout_graceful_shutdown=grace)
        server = uvicorn.Server(config)
        server.capture_signals = nullcontext  # type: ignore[method-assign]
        server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]  # of older versions
        task = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started:
            assert not task.done(), task.exception()
            await asyncio.sleep(0.005)
        running = Running(f"http://127.0.0.1:{listening.getsockname()[1]}/v1", server, task)
        try:
            yield running
        finally:
            await running.stop()
