"""Ids for calls whose model wrote none, on request: opaque, and unique in any conversation.

In: batches of events. Out: the same, each call of a ``region_close`` with an ``id``, and, where there are deltas, the
id with the first delta of a call, or, for a field that may yet give an id of the model's, with its last.
"""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

from streamparse.template.model import Field, ResponseTemplate

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
        self._template = template
        self._seed = uuid.uuid4().hex if seed is None else seed
        self._next = 0
        self._first: int | None = None
        self._unnamed: set[int] = set()

    def feed(self, batch: list[Event]) -> list[Event]:
        """The batch with its missing ids."""
        result: list[Event] = []
        for event in batch:
            kind = event["type"]
            if kind == "region_open":
                self._first = None
                self._unnamed.clear()
            elif kind == "region_delta":
                self._note_delta(event)
            elif kind == "region_close":
                result += self._complete(event)
            result.append(event)
        return result

    def finish(self) -> list[Event]:
        """Nothing: no region is left open."""
        return []

    def snapshot(self) -> dict[str, Any]:
        """The state as JSON-able data."""
        return {"seed": self._seed, "next": self._next, "first": self._first, "unnamed": sorted(self._unnamed)}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that :meth:`snapshot` gave."""
        self._seed, self._next, self._first = state["seed"], state["next"], state["first"]
        self._unnamed = set(state["unnamed"])

    def _made(self, index: int) -> str:
        return "call_" + hashlib.blake2b(f"{self._seed}/{index}".encode(), digest_size=12).hexdigest()

    def _note_delta(self, event: Event) -> None:
        index: int = event["index"]
        self._first = index if self._first is None else self._first
        self._next = max(self._next, index + 1)
        if "id" in event:
            self._unnamed.discard(index)
        elif "name" in event:
            if may_write_ids(self._template.fields[event["field"]]):
                self._unnamed.add(index)
            else:
                event["id"] = self._made(index)

    def _complete(self, event: Event) -> list[Event]:
        """Give the calls of a value their ids; the deltas that were waiting for that."""
        value = event["value"]
        calls = [
            call
            for call in (value if isinstance(value, list) else [value])
            if isinstance(call, dict) and isinstance(call.get("function"), dict)
        ]
        first = self._next if self._first is None else self._first
        deltas = []
        for index, call in enumerate(calls, first):
            if not call.get("id"):
                call["id"] = self._made(index)
                if index in self._unnamed:
                    deltas.append({"type": "region_delta", "field": event["field"], "index": index, "id": call["id"]})
        self._next = max(self._next, first + len(calls))
        return deltas


def may_write_ids(field: Field) -> bool:
    """Whether calls of the field may have an id that the model wrote."""
    shape = field.policy.calls
    if shape is not None:
        groups = (field.open.groups if field.open else frozenset()) | (
            field.close.groups if field.close else frozenset()
        )
        return bool(shape.id) or "id" in groups
    return "id" in str(field.transform)
