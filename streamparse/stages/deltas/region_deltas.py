"""The deltas of one region: its reader, what has been given out of each call, and what is left at its end."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from streamparse.errors import ContentError
from streamparse.formats.brackets import BracketReader
from streamparse.formats.compact import compact
from streamparse.formats.reader import NotCertain
from streamparse.stages.calls import calls_in, function_of
from streamparse.stages.deltas.arguments import ToolArguments
from streamparse.stages.deltas.call import Call, id_of
from streamparse.stages.deltas.document import CallDocument
from streamparse.stages.deltas.plan import call_source
from streamparse.stages.deltas.readers import READERS, TOLERANT, Reader, readings_of
from streamparse.stages.deltas.tags_reader import TagsReader
from streamparse.stages.deltas.walk import PointReader, Steps, Walk
from streamparse.stages.region import RegionEnd
from streamparse.template.model import Field

Event = dict[str, Any]


class RegionDeltas:
    """Gives out the calls of one region; ``next_index`` is that of the next call that is not yet given out.

    ``made_id`` makes the id of the call with an index, for calls whose models write none, if ids are to be made.
    ``known`` is what the regions of the field know of each reading's arguments (see ``Walk``).
    """

    def __init__(
        self,
        field: Field,
        captures: dict[str, str],
        tools: ToolArguments,
        next_index: int,
        *,
        lenient: bool,
        made_id: Callable[[int], str] | None = None,
        known: dict[int, Steps] | None = None,
    ) -> None:
        self.field = field
        self.captures = captures
        self.next_index = next_index
        self._tools = tools
        self._made_id = made_id
        self._known: dict[int, Steps] = {} if known is None else known
        self._lenient = lenient
        readings = list(enumerate(readings_of(field, lenient=lenient)))
        again = [reading for reading in readings if lenient and reading[1].content in TOLERANT]
        self._readings = readings + again  # those whose readers tolerate faults, once none reads the text without any
        self._faultless = len(again)  # how many readings are left when faults are tolerated
        self._reading = -1  # which of them is followed
        self._unread: list[str] = []  # the text so far, while another reading may come to it
        self._taken = 0  # calls before this one have ended, and all of them has been given out
        self._calls: list[Call] = []
        self._document: CallDocument | None = None
        self._reader: Reader | None = None
        self._points: PointReader | None = None  # the reader, if it can be at points
        self._over = False  # nothing more will be found, as no reading goes on
        self.walk: Walk | None = None
        self._begin_reading()

    def feed(self, text: str) -> list[Event]:
        """The events that the next piece of the region's text makes certain."""
        walk = self.walk
        if walk is not None and (piece := walk.take(text)) is not None:
            return walk.events(piece)
        return self.follow(text)

    def follow(self, text: str) -> list[Event]:
        """The same for a piece of text of which the ``walk``, if there is one, does not know what it does."""
        walk = self.walk
        if self._over:
            return []
        if walk is None:
            self._keep_unread(text)
            self._read(text)
        else:
            walk.follow(text, self._read)
            written = walk.arguments
            if self._reader is not None and self._document is not None and self._document.arguments is written:
                piece = "".join(written.out)
                written.out.clear()
                return walk.events(piece)
        calls = self._calls
        events: list[Event] = []
        for call in calls[self._taken :] if self._taken else calls:
            if call.name is not None:  # before it has a name, nothing of it is given out
                events += self._events(call)
        self._taken = max(0, len(calls) - 1)
        self.walk = self._walk_here()
        self._over = self._reader is None
        return events

    def rest(self, end: RegionEnd, value: Any) -> list[Event]:
        """The events that are left when the region has its value, whose calls get the ids that were made for them.

        Raises ContentError where the value is no continuation of what was given out.
        """
        faults = {fault.index for fault in end.faults}
        finals = list(calls_in(value))
        is_as_read = (
            self._finish_reading()
            and end.reading == self._reading
            and not end.repaired
            and not faults
            and len(finals) == len(self._calls)
        )
        whole = [call for place, call in enumerate(self._calls) if place not in faults]
        if len(finals) < sum(call.index is not None for call in whole):
            raise _conflict("it has fewer calls")
        missing = [Call(None, None) for _ in finals[len(whole) :]]
        calls = list(zip(whole + missing, finals, strict=False))
        return [event for call, final in calls for event in self._rest_of(call, final, is_as_read=is_as_read)]

    def _finish_reading(self) -> bool:
        """Take the reading to the end of the region; whether it has come there."""
        if self.walk is not None:
            self.walk.settle()
        if self._reader is None:
            return False
        try:
            self._reader.finish()
        except NotCertain:
            return False
        return True

    def _keep_unread(self, text: str) -> None:
        """Keep the text while another reading may come to it."""
        if self._readings:
            if self._has_given():
                self._readings.clear()
                self._unread.clear()
            else:
                self._unread.append(text)

    def _walk_here(self) -> Walk | None:
        """The walk through the arguments that are being written, if any are that have a part given out."""
        written = None if self._document is None else self._document.arguments
        if written is None or self._reader is None or self._points is None:
            return None
        call = self._calls[-1]
        if written is not call.arguments or call.index is None:
            return None
        if self.walk is not None and self.walk.arguments is written:
            return self.walk
        steps = self._known.setdefault(self._reading, Steps())
        return Walk(steps, self._points, written, call.given.append, self._event(call, {"arguments": ""}))

    def _read(self, text: str) -> bool:
        """Let the reader follow the text; where it can't, the next reading begins, unless anything was given out.

        Returns whether any reading goes on.
        """
        while self._reader is not None:
            try:
                self._reader.feed(text)
            except NotCertain:
                self._reader = None
                if not self._has_given():
                    self._begin_reading()
                text = "".join(self._unread)
            else:
                return True
        return False

    def _has_given(self) -> bool:
        """Whether anything is given out: a call is, as soon as it has a name."""
        return any(call.name is not None for call in self._calls)

    def _begin_reading(self) -> None:
        """Begin with the first of the readings left that can be followed; whatever was found before is forgotten."""
        while self._readings and self._reader is None:
            self._reading, reading = self._readings.pop(0)
            source = call_source(self.field, reading.content, self.captures, lenient=self._lenient)
            if source is not None and reading.content in READERS:
                self._document = CallDocument(source, self._tools, makes_ids=self._made_id is not None)
                self._calls = self._document.calls
                with suppress(NotCertain):
                    self._reader = READERS[reading.content](reading, self._document, self._lenient, self._tolerates)
                    self._points = self._reader if isinstance(self._reader, BracketReader | TagsReader) else None

    def _tolerates(self, _fault: str) -> bool:
        """Whether to go on where the text leaves the grammar: where no reading reads it as it should be read."""
        return self._lenient and (self._has_given() or len(self._readings) < self._faultless)

    def _events(self, call: Call) -> Iterator[Event]:
        """The event of what is new of a call, if anything is."""
        waits = self._document is not None and self._document.may_get_id(call)
        if self._made_id is not None and call.name is not None and call.id is None and not waits:
            call.id = self._made_id(self._index(call))
            call.id_is_made = True
        delta = call.delta()
        if delta:
            yield self._event(call, delta)

    def _event(self, call: Call, delta: dict[str, Any]) -> Event:
        return {"type": "region_delta", "field": self.field.name, "index": self._index(call), **delta}

    def _index(self, call: Call) -> int:
        if call.index is None:
            call.index = self.next_index
            self.next_index += 1
        return call.index

    def _rest_of(self, call: Call, final: dict[str, Any], *, is_as_read: bool) -> Iterator[Event]:
        """What is left of a call whose final form is known; with ``is_as_read`` it is what was read."""
        function, id = function_of(final), final.get("id")
        call.ended = True
        if call.id_is_made:
            final["id"] = call.id
        elif call.id_given and call.id != id_of(id):
            raise _conflict("its id is another")
        else:
            call.id = id_of(id)
        if call.name_given and call.name != function["name"]:
            raise _conflict("its name is another")
        call.name = function["name"]
        written = call.arguments
        waiting = "" if written is None else "".join(written.out)
        if not (is_as_read and written is not None and written.complete):
            waiting = _continuation("".join(call.given), waiting, function)
        call.put_out(waiting)
        yield from self._events(call)
        if call.id_is_made:
            final["id"] = call.id


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
