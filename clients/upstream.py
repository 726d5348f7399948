"""An engine's endpoint of raw completions, with a scripted model behind it.

In:  requests with a prompt.
Out: the model's text in small pieces, the finish reason and the usage, as server-sent events.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from clients.model import Said, ScriptedModel

PIECE = 3
"""Characters of a piece: few enough that every mark is cut."""

RETRY_AFTER = "7"


@contextmanager
def upstream(model: ScriptedModel) -> Iterator[str]:
    """Serve for as long as the block runs; gives the URL."""

    class Completions(_Completions):
        pass

    Completions.model = model
    with ThreadingHTTPServer(("127.0.0.1", 0), Completions) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()


class _Completions(BaseHTTPRequestHandler):
    model: ScriptedModel

    def do_GET(self) -> None:
        """List the one model."""
        self._json(200, {"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "test"}]})

    def do_POST(self) -> None:
        """Complete a prompt."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = self.model.completes(body["prompt"], held="response_format" in body)
        if said.status != 200:
            self._json(said.status, {"error": {"message": "the engine refuses", "code": said.status}})
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in _events(body["prompt"], said):
            self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        if not said.breaks:
            self.wfile.write(b"data: [DONE]\n\n")

    def _json(self, status: int, data: Any) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if status == 429:
            self.send_header("retry-after", RETRY_AFTER)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of requests."""


def _events(prompt: str, said: Said) -> Iterator[dict[str, Any]]:
    for start in range(0, len(said.text), PIECE):
        yield {"choices": [{"index": 0, "text": said.text[start : start + PIECE], "finish_reason": None}]}
    if said.breaks:
        return
    yield {"choices": [{"index": 0, "text": "", "finish_reason": said.reason}]}
    prompt_tokens, tokens = len(prompt) // PIECE, len(said.text) // PIECE
    counts = {"prompt_tokens": prompt_tokens, "completion_tokens": tokens, "total_tokens": prompt_tokens + tokens}
    yield {"choices": [], "usage": counts}
