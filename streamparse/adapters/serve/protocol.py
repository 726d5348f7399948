"""What a protocol beside chat completions is: how its requests are read, and how its answers are written.

In:  the body of a request.
Out: the same request in the words of chat completions, and the machine that makes its answer of events.

The protocols are in modules of their own, named after them; ``speaking.py`` sends what they write.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from streamparse.adapters.serve.errors import RequestError
from streamparse.events import RawEvent
from streamparse.template import ResponseTemplate


class Machine(Protocol):
    """Turns the events of one generation into those of a protocol."""

    def start(self) -> list[RawEvent]:
        """Give the events that come before all others."""

    def feed(self, event: RawEvent) -> list[RawEvent]:
        """Give what comes of the next event."""

    def finish(self, usage: Mapping[str, Any] | None = None) -> list[RawEvent]:
        """Give the last events."""


@dataclass(frozen=True, slots=True)
class Making:
    """What a machine is made with beside the request."""

    template: ResponseTemplate
    model: str
    whole_calls: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: the body of the same request for a chat completion, and what makes the machine of its answer."""

    chat: dict[str, Any]
    machine: Callable[[Making], Machine]


@dataclass(frozen=True, slots=True)
class Speech:
    """A protocol: ``path`` of its endpoint, ``read`` for its requests, and what its answers are made of.

    ``named`` says that an event's type is also the name of its server-sent event; ``done`` comes after all events.
    ``conversation`` is what names the conversation in the body of a request; where there is one, answers can be kept:
    ``abort`` gives the events that end one that was stopped, and ``lost`` those that tell a reader that no more comes.

    ``fail`` gives the events that end an answer in which an error came. ``whole`` makes an answer that is not streamed
    of all of its events, and ``refusal`` the body of one that has not begun.
    """

    path: str
    read: Callable[[dict[str, Any]], Asked]
    fail: Callable[[Any, RequestError], Sequence[RawEvent]]
    named: bool = False
    done: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    whole: Callable[[list[RawEvent]], Any] | None = None
    refusal: Callable[[RequestError], Any] = RequestError.object
    conversation: str = ""
    abort: Callable[[Any], Sequence[RawEvent]] = lambda machine: machine.finish()
    lost: Callable[[RequestError], Sequence[RawEvent]] = lambda _error: ()
