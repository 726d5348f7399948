"""The deltas of one region: its reader, what has been given out of each call, and what is left at its end."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from streamparse.errors import ContentError
from streamparse.stages.deltas.compact import Passing, compact
from streamparse.stages.deltas.document import Call, CallDocument, NotCertain
from streamparse.stages.deltas.plan import call_source
from streamparse.stages.deltas.readers import READERS, Reader, readings_of
from streamparse.stages.schema_typing import ToolSchemas
from streamparse.template.model import Field

Event = dict[str, Any]


@dataclass(slots=True)
class PassingDelta:
    """How text goes out that is simply more of a string (see ``Passing``): in a copy of ``event``, and ``note``d."""

    search: Callable[[str], Any]
    encode: Callable[[str], str | None]
    note: Callable[[str], None]
    event: Event


class RegionDeltas:
    """Gives out the calls of one region; ``next_index`` is that of the next call that is not yet given out."""

    def __init__(
        self, field: Field, captures: dict[str, str], schemas: ToolSchemas, next_index: int, *, lenient: bool
    ) -> None:
        self.field = field
        self.captures = captures
        self.next_index = next_index
        self._schemas = schemas
        self._lenient = lenient
        self._readings = list(readings_of(field, lenient=lenient))
        self._unread: list[str] = []  # the text so far, while another reading may come to it
        self._taken = 0  # calls before this one have ended, and all of them has been given out
        self._calls: list[Call] = []
        self._document: CallDocument | None = None
        self._reader: Reader | None = None
        self._passing: PassingDelta | None = None
        self._passed: tuple[Call, Passing] | None = None
        self._begin_reading()

    @property
    def passing(self) -> PassingDelta | None:
        """How text goes out that is simply more of the present string; None where no text does."""
        passing = None if self._reader is None else self._reader.passing
        if passing is None or self._document is None:
            return None
        written, call = self._document.arguments, self._calls[-1]
        if written is None or written is not call.arguments or not written.passes_on or call.index is None:
            return None
        if self._passing is None or self._passed != (call, passing):
            self._passed = call, passing
            self._passing = PassingDelta(*passing, call.given.append, self._event(call, {"arguments": ""}))
        return self._passing

    def feed(self, text: str) -> list[Event]:
        """The events that the next piece of the region's text makes certain."""
        if self._readings:
            if self._has_given():
                self._readings.clear()
                self._unread.clear()
            else:
                self._unread.append(text)
        self._read(text)
        calls = self._calls
        events = [self._event(call, delta) for call in calls[self._taken :] if (delta := call.delta())]
        self._taken = max(0, len(calls) - 1)
        return events

    def rest(self, value: Any, faults: Collection[int] = ()) -> list[Event]:
        """The events that are left when the region has its value; raises ContentError where they can't continue it.

        ``faults`` are the places of calls that are not in the value.
        """
        if self._reader is not None:
            with suppress(NotCertain):
                self._reader.finish()
        finals = list(_functions(value))
        whole = [call for place, call in enumerate(self._calls) if place not in faults]
        if len(finals) < sum(call.index is not None for call in whole):
            raise _conflict("it has fewer calls")
        missing = [Call(None, None) for _ in finals[len(whole) :]]
        calls = zip(whole + missing, finals, strict=False)
        return [self._event(call, delta) for call, final in calls if (delta := _rest_of(call, *final))]

    def _read(self, text: str) -> None:
        """Let the reader follow the text; where it can't, the next reading begins, unless anything was given out."""
        while self._reader is not None:
            try:
                self._reader.feed(text)
            except NotCertain:
                self._reader = None
                if not self._has_given():
                    self._begin_reading()
                text = "".join(self._unread)
            else:
                return

    def _has_given(self) -> bool:
        """Whether anything is given out: a call is, as soon as it has a name."""
        return any(call.name is not None for call in self._calls)

    def _begin_reading(self) -> None:
        """Begin with the first of the readings left that can be followed; whatever was found before is forgotten."""
        while self._readings and self._reader is None:
            reading = self._readings.pop(0)
            source = call_source(self.field, reading.content, self.captures, lenient=self._lenient)
            if source is not None and reading.content in READERS:
                self._document = CallDocument(source, self._schemas, lenient=self._lenient)
                self._calls = self._document.calls
                with suppress(NotCertain):
                    self._reader = READERS[reading.content](reading, self._document, self._lenient)

    def _event(self, call: Call, delta: dict[str, Any]) -> Event:
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


def _rest_of(call: Call, function: dict[str, Any], id: Any) -> dict[str, Any]:
    """What is left of a call whose final form is known."""
    call_id = None if id in (None, "") else str(id)
    if (call.name_given and call.name != function["name"]) or (call.id_given and call.id != call_id):
        raise _conflict("its name or id is another")
    call.name, call.id = function["name"], call_id
    waiting = "" if call.arguments is None else "".join(call.arguments.out)
    if call.arguments is not None:
        call.arguments.out.clear()
    delta = call.delta()
    given = "".join(call.given)
    rest = _continuation(given, waiting, function)
    if rest:
        delta["arguments"] = rest
    return delta


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
