"""A server of Anthropic's Messages API, as a program would build it of ``MessageEvents``: streams only.

In:  the URL of an upstream, a chat template and the name of a response template.
Out: the URL to give to Anthropic's client.
"""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from streamparse import parse_stream
from streamparse.adapters.anthropic import MessageEvents
from streamparse.adapters.openai import RawCompletion, sse_event
from streamparse.adapters.serve.prompt import PromptRenderer
from streamparse.infer.source import ChatTemplate


@contextmanager
def messages_server(upstream: str, chat_template: str, template: str) -> Iterator[str]:
    """Run it in a thread for as long as the block runs."""
    prompts = PromptRenderer(ChatTemplate(chat_template))

    async def endpoint(request: Request) -> StreamingResponse:
        asked = await request.json()
        tools = [_function(tool) for tool in asked.get("tools", [])]
        prompt = prompts.render([part for message in asked["messages"] for part in _messages(message)], tools)
        completion = RawCompletion(upstream, prompt, parameters={"max_tokens": asked["max_tokens"]})
        return StreamingResponse(_events(completion, prompt, tools), media_type="text/event-stream")

    async def _events(completion: RawCompletion, prompt: str, tools: list[dict[str, Any]]) -> AsyncIterator[bytes]:
        message = MessageEvents(template, model="scripted")
        stream = parse_stream(completion, template, prefix=prompt, tools=tools, deltas=True)
        async with stream as events:
            async for event in events:
                for made in message.feed(event):
                    yield sse_event(made, name=made["type"])
        for made in message.finish(stream.end.usage if stream.end else None):
            yield sse_event(made, name=made["type"])

    app = Starlette(routes=[Route("/v1/messages", endpoint, methods=["POST"])])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", ws="none", timeout_graceful_shutdown=1))
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def _function(tool: dict[str, Any]) -> dict[str, Any]:
    function = {"name": tool["name"], "description": tool.get("description"), "parameters": tool["input_schema"]}
    return {"type": "function", "function": function}


def _messages(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A message of this API as messages of a chat: results of tools are messages of their own there."""
    if isinstance(message["content"], str):
        yield message
        return
    blocks = message["content"]
    for block in blocks:
        if block["type"] == "tool_result":
            yield {"role": "tool", "tool_call_id": block["tool_use_id"], "content": _text(block["content"])}
    calls = [
        {
            "id": block["id"],
            "type": "function",
            "function": {"name": block["name"], "arguments": json.dumps(block["input"])},
        }
        for block in blocks
        if block["type"] == "tool_use"
    ]
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    if calls:
        yield {"role": message["role"], "content": text, "tool_calls": calls}
    elif text:
        yield {"role": message["role"], "content": text}


def _text(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)
