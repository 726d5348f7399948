"""The deltas of one region: its reader, what has been given out of each call, and what is left at its end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from streamparse.errors import ContentError
from streamparse.stages.deltas.compact import compact
from streamparse.stages.deltas.document import Call, CallDocument, NotCertain
from streamparse.stages.deltas.plan import call_source
from streamparse.stages.deltas.readers import READERS, Reader
from streamparse.stages.schema_typing import ToolSchemas
from streamparse.template.model import Field

Event = dict[str, Any]


class RegionDeltas:
    """Gives out the calls of one region; ``next_index`` is that of the next call that is not yet given out."""

    def __init__(
        self, field: Field, captures: dict[str, str], schemas: ToolSchemas, next_index: int, *, lenient: bool
    ) -> None:
        self.field = field
        self.captures = captures
        self.next_index = next_index
        self._calls: list[Call] = []
        self._document: CallDocument | None = None
        self._reader: Reader | None = None
        self._taken = 0  # calls before this one have ended, and all of them has been given out
        source = call_source(field, captures, lenient=lenient)
        if source is not None:
            self._document = CallDocument(source, schemas, lenient=lenient)
            self._calls = self._document.calls
            try:
                self._reader = READERS[field.content](field, self._document, lenient)
            except NotCertain:
                self._reader = None

    def piece(self, text: str) -> Event | None:
        """The event of a piece of text that goes out as it is; None for any other, which has not been read then."""
        reader, document = self._reader, self._document
        if reader is None or document is None or not text or not reader.is_piece(text):
            return None
        arguments, call = document.arguments, document.calls[-1]
        if arguments is None or arguments is not call.arguments or call.index is None:
            return None
        if not arguments.passes_on or arguments.out:
            return None
        call.given.append(text)
        return {"type": "region_delta", "field": self.field.name, "index": call.index, "arguments": text}

    def feed(self, text: str) -> list[Event]:
        """The events that the next piece of the region's text makes certain."""
        if self._reader is not None:
            try:
                self._reader.feed(text)
            except NotCertain:
                self._reader = None
        calls = self._calls
        events = [event for call in calls[self._taken :] if (event := self._event(call, call.delta())) is not None]
        self._taken = max(0, len(calls) - 1)
        return events

    def rest(self, value: Any) -> list[Event]:
        """The events that are left when the region has its value; raises ContentError where they can't continue it."""
        if self._reader is not None:
            with suppress(NotCertain):
                self._reader.finish()
        finals = list(_functions(value))
        if len(finals) < sum(call.index is not None for call in self._calls):
            raise _conflict("it has fewer calls")
        missing = [Call(None, None) for _ in finals[len(self._calls) :]]
        events = [
            self._event(call, _rest_of(call, *final))
            for call, final in zip(self._calls + missing, finals, strict=False)
        ]
        return [event for event in events if event is not None]

    def _event(self, call: Call, delta: dict[str, Any] | None) -> Event | None:
        if delta is None:
            return None
        if call.index is None:
            call.index = self.next_index
            self.next_index += 1
        return {"type": "region_delta", "field": self.field.name, "index": call.index, **delta}


def _functions(value: Any) -> Iterator[tuple[dict[str, Any], Any]]:
    """Each call of a value, as its function part and its id."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, list):
            yield from _functions(item)
        elif isinstance(item, dict):
            function = item.get("function", item)
            if isinstance(function, dict) and isinstance(function.get("name"), str):
                yield function, item.get("id")


def _rest_of(call: Call, function: dict[str, Any], id: Any) -> dict[str, Any] | None:
    """What is left of a call whose final form is known."""
    call_id = None if id in (None, "") else str(id)
    if (call.name_given and call.name != function["name"]) or (call.id_given and call.id != call_id):
        raise _conflict("its name or id is another")
    call.name, call.id = function["name"], call_id
    waiting = "" if call.arguments is None else "".join(call.arguments.out)
    if call.arguments is not None:
        call.arguments.out.clear()
    delta = call.delta() or {}
    given = "".join(call.given)
    rest = _continuation(given, waiting, function)
    if rest:
        delta["arguments"] = rest
    return delta or None


def _continuation(given: str, waiting: str, function: dict[str, Any]) -> str:
    """The text that makes what was given out the text of the call's arguments."""
    if "arguments" not in function:
        if given:
            raise _conflict("it has no arguments")
        return ""
    final = compact(function["arguments"])
    if final.startswith(given):
        return final[len(given) :]
    try:
        is_same = json.loads(given + waiting) == function["arguments"]
    except ValueError:
        is_same = False
    if not is_same:
        raise _conflict("its arguments are others")
    return waiting


def _conflict(what: str) -> ContentError:
    return ContentError(f"the call is not what was given out while it was written: {what}")
