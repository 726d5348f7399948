"""Ids for calls whose model wrote none, on request: opaque, and unique in any conversation.

In: batches of events. Out: the same, each call of a ``region_close`` with an ``id``. Where there are deltas, the delta
stage gives the ids out with them, and asks here for those that have to be made.
"""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

from streamparse.stages.calls import calls_in
from streamparse.stages.deltas.plan import is_call_field
from streamparse.template.model import ResponseTemplate

Event = dict[str, Any]


class CallIds:
    """Makes the missing ids; those that the model wrote are kept.

    >>> from streamparse.template import get_response_template
    >>> stage = CallIds(get_response_template("qwen3"), "a seed")
    >>> call = {"type": "function", "function": {"name": "f", "arguments": {}}}
    >>> stage.feed([{"type": "region_close", "field": "tool_calls", "value": call}])[0]["value"]["id"]
    'call_7d19ba07d77c92476f2aa729'
    """

    def __init__(self, template: ResponseTemplate, seed: str | None = None) -> None:
        self._watched = {name for name, field in template.fields.items() if is_call_field(field)}
        self._seed = uuid.uuid4().hex if seed is None else seed
        self._next = 0

    def feed(self, batch: list[Event]) -> list[Event]:
        """The batch with its missing ids."""
        for event in batch:
            if event["type"] == "region_close" and event["field"] in self._watched:
                for call in calls_in(event["value"]):
                    if call.get("id") in (None, ""):
                        call["id"] = self._made(str(self._next))
                        self._next += 1
        return batch

    def of_delta(self, index: int) -> str:
        """The id of the call with that index, for its deltas and its value."""
        return self._made(f"delta/{index}")

    def snapshot(self) -> dict[str, Any]:
        """The state as JSON-able data."""
        return {"seed": self._seed, "next": self._next}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that :meth:`snapshot` gave."""
        self._seed, self._next = state["seed"], state["next"]

    def _made(self, what: str) -> str:
        return "call_" + hashlib.blake2b(f"{self._seed}/{what}".encode(), digest_size=12).hexdigest()
