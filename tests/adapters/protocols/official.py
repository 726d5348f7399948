"""The official clients of OpenAI and Anthropic, in front of a server that answers with given events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import anthropic
import openai

from streamparse.adapters.openai import sse_event


class Clients:
    """The clients; whatever they ask is answered with the events that :meth:`answer` was given last."""

    def __init__(self, url: str) -> None:
        self.body = b""
        self.anthropic = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
        self.openai = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)

    def answer(self, events: Sequence[Any]) -> None:
        """Answer with these from now on."""
        self.body = b"".join(sse_event(event, name=event["type"]) for event in events)


@contextmanager
def official_clients() -> Iterator[Clients]:
    """Run the server for as long as the block runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(clients.body)))
            self.end_headers()
            self.wfile.write(clients.body)

        def log_message(self, *_arguments: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        clients = Clients(f"http://127.0.0.1:{server.server_port}")
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            with clients.anthropic, clients.openai:
                yield clients
        finally:
            server.shutdown()
            thread.join()
