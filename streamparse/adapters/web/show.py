"""The generations that are on, and the pace that they share.

In:  inputs; what a page asks for (``control.py``).
Out: generations of an ``EventServer``, each under a key; ``state``, which every page shows, and ``changed`` to wait for
     the next one.

All pages see the same: a pause on one of them is a pause on each.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Mapping
from dataclasses import asdict
from itertools import count
from typing import Any

import anyio

from streamparse.adapters.web.generation import events_of
from streamparse.adapters.web.inputs import Input, RequestError
from streamparse.adapters.web.live import Model
from streamparse.adapters.web.pace import Pace
from streamparse.adapters.websockets import EventServer, RefusedError
from streamparse.cli.templates import summary
from streamparse.events import RawEvent as Event
from streamparse.template import response_template_names
from streamparse.template.bundled import bundled_source

AT_MOST = 24
"""Generations on at a time."""

TEMPLATES = [{"name": name, "description": summary(bundled_source(name))} for name in response_template_names()]


class Show:
    """Runs inputs as generations of ``events``; made before that server is, which asks it for their events."""

    def __init__(self, pace: Pace, model: Model | None = None) -> None:
        self.pace = pace
        self.model = model
        self._inputs: dict[str, Input] = {}
        self._keys = count(1)
        self._events: EventServer | None = None
        self._changed = anyio.Event()

    def source(self, parameters: Any, _client: Any) -> AsyncIterable[Event]:
        """What the event server asks for the events of a generation: only this show starts any."""
        if not isinstance(parameters, Input):
            raise RefusedError("generations are started through the control socket")
        return events_of(parameters, self.pace.turns())

    async def begin(self, events: EventServer, inputs: Iterable[Input]) -> None:
        """Put the first generations on; each starts when the first page follows it."""
        self._events = events
        for made in inputs:
            await self.put_on(made)

    async def put_on(self, made: Input, *, first: bool = False) -> str:
        """Put a generation on, behind the others or before them; gives its key."""
        if len(self._inputs) >= AT_MOST:
            raise RequestError(f"there are {AT_MOST} generations on already; close one first")
        assert self._events is not None, "the show has begun"
        key = f"g{next(self._keys)}"
        await self._events.start(key, made)
        self._inputs = {key: made, **self._inputs} if first else {**self._inputs, key: made}
        self.tell()
        return key

    async def again(self) -> None:
        """Put all generations on anew, from their start."""
        inputs = list(self._inputs.values())
        for key in list(self._inputs):
            self._take_off(key)
        for made in inputs:
            await self.put_on(made)

    def remove(self, key: str) -> None:
        """Take a generation off."""
        self.input(key)
        self._take_off(key)
        self.tell()

    def input(self, key: str) -> Input:
        """The input of a generation; raises RequestError where there is none of that key."""
        if key not in self._inputs:
            raise RequestError("this generation is not on any more")
        return self._inputs[key]

    def state(self) -> Mapping[str, Any]:
        """What a page shows besides the events."""
        return {
            "pace": asdict(self.pace.state),
            "templates": TEMPLATES,
            "model": None if self.model is None else self.model.name,
            "generations": [_about(key, made) for key, made in self._inputs.items()],
        }

    def tell(self) -> None:
        """Say that the state has changed."""
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    def changed(self) -> anyio.Event:
        """What is set at the next change."""
        return self._changed

    def _take_off(self, key: str) -> None:
        assert self._events is not None, "the show has begun"
        del self._inputs[key]
        generation = self._events.generation(key)
        if generation is not None:
            generation.stop()


def _about(key: str, made: Input) -> dict[str, Any]:
    """What a page is told of a generation; ``length`` is in the units that JavaScript counts."""
    begins = [event["start"] for event in made.parser().initial_events if event["type"] == "region_open"]
    return {
        "key": key,
        "title": made.title,
        "template": made.template_name,
        "origin": made.origin,
        "prompt": made.prompt,
        "live": made.writes is not None,
        "prompt_end": made.prefix[begins[0] :] if begins else "",
        "length": sum(len(piece.encode("utf-16-le", "surrogatepass")) // 2 for piece in made.pieces),
    }
