"""The error of inference: a chat template that can't be read, parsed or rendered at all."""

from __future__ import annotations

from streamparse.errors import StreamparseError


class InferenceError(StreamparseError, ValueError):
    """A chat template gives no response template; the message says where it fails and why.

    ``line`` is the line of the chat template (None where no line is concerned).
    """

    def __init__(self, reason: str, *, line: int | None = None) -> None:
        self.reason = reason
        self.line = line
        super().__init__(f"line {line}: {reason}" if line is not None else reason)
