"""The files of the page over HTTP, and who may have them.

In:  the path and headers of a request. Out: a response; or None for a websocket that may be opened.

The page is for the browser of the one who started it. A request must name this machine as its host, so that a foreign
name that resolves to 127.0.0.1 gets nothing (DNS rebinding), and a websocket must come from the page itself. The
headers keep the page from loading or running anything but its own files: a model's output is nobody's code.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from importlib import resources
from importlib.resources.abc import Traversable

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

SOCKETS = frozenset({"/events", "/control"})

CONTENT_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Pages:
    """Serves the page's files at a port of this machine."""

    port: int

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names under which the page is reached."""
        return (f"127.0.0.1:{self.port}", f"localhost:{self.port}")

    @property
    def origins(self) -> tuple[str, ...]:
        """The origins of the page."""
        return tuple(f"http://{host}" for host in self.hosts)

    def respond(self, request: Request) -> Response | None:
        """The response to a request, or None if it is to become a websocket."""
        if request.headers.get_all("Host") not in [[host] for host in self.hosts]:
            return self._response(HTTPStatus.FORBIDDEN, b"This page is at http://%s\n" % self.hosts[0].encode())
        path = request.path.partition("?")[0]
        if path in SOCKETS:
            if request.headers.get_all("Origin") in [[origin] for origin in self.origins]:
                return None
            return self._response(HTTPStatus.FORBIDDEN, b"Only the page itself may connect\n")
        file = files().get("/index.html" if path == "/" else path)
        if file is None:
            return self._response(HTTPStatus.NOT_FOUND, b"There is no such file\n")
        return self._response(HTTPStatus.OK, file.read_bytes(), CONTENT_TYPES[file.name.rpartition(".")[2]])

    def _response(self, status: HTTPStatus, body: bytes, content_type: str = "text/plain; charset=utf-8") -> Response:
        headers = Headers(
            {
                **HEADERS,
                "Content-Type": content_type,
                "Content-Length": str(len(body)),
                "Content-Security-Policy": self._policy(),
                "Connection": "close",
            }
        )
        return Response(status.value, status.phrase, headers, body)

    def _policy(self) -> str:
        """Own files only; the sockets by name, since not every browser counts them as the page's own."""
        sockets = " ".join(f"ws://{host}" for host in self.hosts)
        return (
            f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src {sockets}; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
            "trusted-types 'none'"
        )


@cache
def files() -> dict[str, Traversable]:
    """Every file that is served, by its path: nothing else can be asked for."""
    static = resources.files("streamparse.adapters.web") / "static"
    client = resources.files("streamparse.adapters.websockets") / "client.js"
    return {**dict(_files_in(static, "")), "/client.js": client}


def _files_in(folder: Traversable, path: str) -> list[tuple[str, Traversable]]:
    found = []
    for entry in folder.iterdir():
        here = f"{path}/{entry.name}"
        if entry.is_dir():
            found += _files_in(entry, here)
        elif entry.name.rpartition(".")[2] in CONTENT_TYPES:
            found.append((here, entry))
    return found
