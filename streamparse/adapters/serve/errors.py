"""What a client is told when a request can't be served, in the form of OpenAI's errors.

In:  what went wrong: a ``RequestError``, or an error of streamparse.
Out: a status and an error object, which the official client raises as the error of that status.
"""

from __future__ import annotations

import re
from typing import Any

from starlette.responses import Response

from streamparse.adapters.openai import error_object
from streamparse.adapters.openai.raw_completion import CompletionError
from streamparse.encode import encode_event
from streamparse.errors import StreamparseError

_KINDS = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}

_FROM_UPSTREAM = {400: 400, 404: 404, 413: 400, 422: 400, 429: 429, 503: 503}
"""The upstream's refusals that are the client's to know, and their status; any other is a bad gateway."""

_ADDRESS = re.compile(r"""\b[a-z][a-z0-9+.-]*://[^\s"'<>)]+|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b""", re.IGNORECASE)
_RETRY_AFTER = re.compile(r"\d{1,9}(?:\.\d{1,6})?|[A-Za-z]{3}, [\w :-]{1,40}")


class RequestError(StreamparseError):
    """A request that is refused: ``status``, the message, and, where one is at fault, the parameter and a code.

    ``retry_after`` is when to try again, in the words of the header of that name.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        retry_after: str | None = None,
    ) -> None:
        self.status = status
        self.param = param
        self.code = code
        self.retry_after = retry_after
        super().__init__(message)

    def object(self) -> Any:
        """Give the error as JSON-able data."""
        kind = _KINDS.get(self.status, "invalid_request_error" if self.status < 500 else "server_error")
        return error_object(str(self), kind, param=self.param, code=self.code)

    def response(self, said: Any = None) -> Response:
        """Give the error as an answer, in other words if they are given; one that passes says when to try again."""
        headers = {"retry-after": self.retry_after or "1"} if self.status in (429, 503) else None
        return json_response(self.object() if said is None else said, self.status, headers)


def as_request_error(error: StreamparseError) -> RequestError:
    """Give what a client is told of an error of the upstream, or of the parser.

    What the upstream says of the request is the client's to know, without addresses. Where it is, how it failed and
    what it said then is not.

    >>> as_request_error(CompletionError("it answered 422: no such field", status=422)).status
    400
    """
    if isinstance(error, RequestError):
        return error
    if not isinstance(error, CompletionError):
        return RequestError(500, str(error), code=type(error).__name__)
    if error.timed_out:
        return RequestError(504, "the upstream took too long to answer", code="upstream_timeout")
    status = _FROM_UPSTREAM.get(error.status or 0, 502)
    if status == 502:
        return RequestError(502, "the upstream failed", code="upstream_error")
    said = _ADDRESS.sub("[address]", error.said)
    retry_after = error.retry_after if _RETRY_AFTER.fullmatch(error.retry_after or "") else None
    return RequestError(status, f"the upstream refused: {said}", code="upstream_error", retry_after=retry_after)


def took_too_long(seconds: float) -> RequestError:
    """Give the error of a request whose time is up."""
    return RequestError(504, f"the request took more than {seconds:g} seconds", code="request_timeout")


def json_response(data: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Give an answer with JSON, as every JSON reader takes it."""
    return Response(encode_event(data, standard=True), status, headers, "application/json")
