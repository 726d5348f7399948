"""A socket as a session sees it, whichever library carries it; close codes, and the errors of this adapter.

StreamparseError
├── SocketClosedError    the other end has gone, or the socket was closed
├── ProtocolError        a client broke a rule; the socket is to be closed, with the close code of the rule
└── RefusedError         a server's own ``start`` refuses to start a generation; the client is told why
"""

from __future__ import annotations

from enum import IntEnum
from typing import Protocol

from streamparse.errors import StreamparseError


class Close(IntEnum):
    """Why a socket is closed: codes of RFC 6455, section 7.4.1, and from 4000 on those of this adapter."""

    NORMAL = 1000
    GOING_AWAY = 1001
    UNSUPPORTED_DATA = 1003
    ABNORMAL = 1006
    POLICY_VIOLATION = 1008
    TOO_LARGE = 1009
    INTERNAL_ERROR = 1011
    BAD_MESSAGE = 4400
    UNAUTHORIZED = 4401
    TIMEOUT = 4408
    TOO_MANY = 4429


class SocketClosedError(StreamparseError):
    """The other end of a socket has gone, or the socket was closed; ``code`` is the close code, 1006 without one."""

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(f"the socket is closed, with the close code {code}")


class ProtocolError(StreamparseError):
    """A client broke a rule; ``code`` is the close code."""

    def __init__(self, code: Close, reason: str) -> None:
        self.code = code
        self.reason = reason
        super().__init__(f"{code.value} {reason}")


class RefusedError(StreamparseError):
    """A generation is not started, for a reason that the client may know: the message."""


class Socket(Protocol):
    """One client's socket."""

    origin: str | None
    """The ``Origin`` header: the page that a browser's script belongs to; None if there is none."""
    host: str | None
    """The ``Host`` header."""

    async def receive(self) -> str | bytes:
        """Give the next message; raises SocketClosedError."""

    async def send(self, text: str) -> None:
        """Send a message, and wait while the client is slow to take it; raises SocketClosedError."""

    async def close(self, code: int, reason: str) -> None:
        """Close the socket; does nothing if it is closed."""
