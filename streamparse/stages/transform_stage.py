"""The transform and schema typing stage: reshapes the value of an ended region and casts tool arguments.

In: batches in which ended regions carry their parsed value or an error. Out: batches of events only: each ended region
has become a ``region_close``, or, in the lenient modes, a ``region_malformed``.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from streamparse.errors import ContentError, LimitError, ParseError
from streamparse.limits import DEFAULT_LIMITS, Limits
from streamparse.repair.outcome import Unmended
from streamparse.stages.calls import as_calls, check_calls, without_lists_in_lists
from streamparse.stages.content_stage import located
from streamparse.stages.deltas import DeltaStage
from streamparse.stages.deltas.partial import partial_calls
from streamparse.stages.deltas.plan import is_call_field
from streamparse.stages.region import RegionEnd
from streamparse.stages.region_writer import Item
from streamparse.stages.schema_typing import ToolSchemas, calls
from streamparse.stages.transform import too_many_calls, transform_value
from streamparse.template.policy import CallShape

Event = dict[str, Any]


class TransformStage:
    """Turns ended regions into events; ``lenient`` reports what can't be reshaped instead of raising.

    With ``deltas`` the deltas that are left when a region ends go before its ``region_close``.
    """

    def __init__(
        self,
        schemas: ToolSchemas,
        *,
        lenient: bool = False,
        spans: bool = False,
        deltas: DeltaStage | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._schemas = schemas
        self._deltas = deltas
        self._lenient = lenient
        self._spans = spans
        self._most_calls = limits.calls
        self._calls = 0

    def feed(self, batch: list[Item]) -> list[Event]:
        """The events of a batch."""
        events: list[Event] = []
        for item in batch:
            if isinstance(item, dict):
                events.append(item)
            else:
                assert isinstance(item, RegionEnd), "prefill ends in the content stage"
                events += self._events(item)
        return events

    def snapshot(self) -> dict[str, Any]:
        """The state as JSON-able data."""
        return {"calls": self._calls}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that :meth:`snapshot` gave."""
        self._calls = state["calls"]

    def _events(self, region: RegionEnd) -> list[Event]:
        if region.error is None:
            try:
                close = self._close(region)
                faults = [self._fault(region, fault) for fault in region.faults]
                return [
                    *faults,
                    *(self._deltas.rest(region, close["value"]) if self._deltas is not None else ()),
                    close,
                ]
            except ParseError as error:
                if not self._lenient:
                    raise located(error, region) from error  # not kept: the error's traceback has the region
                region.error = located(error, region)
        return [self._malformed(region, region.error)]

    def _close(self, region: RegionEnd) -> Event:
        field, value = region.field, region.value
        if field.transform is not None or field.policy.calls is not None or not isinstance(value, str):
            value = self._lenient_value(region) if self._lenient else self._strict_value(region)
            self._count_calls(value)
        if field.join is not None and not isinstance(value, str):
            raise ParseError(f"'join' needs each value to be a string, and this one is a {type(value).__name__}")
        event: Event = {"type": "region_close", "field": field.name, "value": value}
        if region.repaired:
            event["repaired"] = region.repaired
        if self._lenient and field.streams and not region.closed:
            event["unclosed"] = True
        return self._with_span(event, region)

    def _strict_value(self, region: RegionEnd) -> Any:
        field, value = region.field, region.value
        if field.transform is not None:
            value = transform_value(
                value, region.captures, field.transform, field.transform_each, most=self._most_calls
            )
        return self._schemas.cast(value, lenient=False)

    def _lenient_value(self, region: RegionEnd) -> Any:
        field, value = region.field, region.value
        self._schemas.take_repaired()
        if field.policy.calls is not None and isinstance(value, list) and not region.captures.get("name"):
            return self._calls_of(region, value, field.policy.calls)
        if field.policy.calls is not None:
            value = as_calls(value, region.captures, field.policy.calls, self._schemas.names)
            if not field.repeats and isinstance(value, dict):
                value = [value]
                region.repaired.append("one call stands where a list of calls is expected")
        elif field.transform is not None:
            value = transform_value(
                value, region.captures, field.transform, field.transform_each, lenient=True, most=self._most_calls
            )
        value = self._schemas.cast(value, lenient=True)
        region.repaired += self._schemas.take_repaired()
        check_calls(value)
        if region.may_go_on:
            self._refuse_half_calls(region, value)
        return value

    def _refuse_half_calls(self, region: RegionEnd, value: Any) -> None:
        """Raise ContentError for a call that never ended and lacks arguments that its tool requires."""
        for function in calls(value):
            if missing := self._schemas.missing(function):
                region.incomplete = True
                raise ContentError(
                    f"the generation ended inside the call: {function['name']} requires {', '.join(missing)}, "
                    "and the call has no close delimiter"
                )

    def _count_calls(self, value: Any) -> None:
        """Count the calls that a value has, unless there are too many."""
        count = sum(1 for _ in calls(value))
        if self._calls + count > self._most_calls:
            raise too_many_calls(self._most_calls)
        self._calls += count

    def _calls_of(self, region: RegionEnd, items: list[Any], shape: CallShape) -> list[Any]:
        """The calls of a list; one that is no call is a fault of the region, unless there are no others."""
        found: list[Any] = []
        faults: list[Unmended] = []
        left_out = {fault.index for fault in region.faults}
        places = (place for place in count() if place not in left_out)
        for item, place in zip(without_lists_in_lists(items), places, strict=False):
            try:
                call = self._schemas.cast(as_calls(item, region.captures, shape, self._schemas.names), lenient=True)
                check_calls(call)
                found.append(call)
            except ContentError as error:
                faults.append(Unmended(place, "", region.text, 0, error, {}))
        if faults and not found:
            raise faults.pop(0).error  # not kept: the error's traceback has the list
        region.faults = sorted([*region.faults, *faults], key=lambda fault: fault.index)
        region.repaired += self._schemas.take_repaired()
        return found

    def _malformed(self, region: RegionEnd, error: ParseError) -> Event:
        event: Event = {
            "type": "region_malformed",
            "field": region.field.name,
            "text": region.text,
            "open": region.delimiters[0],
            "close": region.delimiters[1],
            "error": error.reason,
            "position": error.position,
            "captures": region.captures,
            "partial": self._partial(region),
            "incomplete": region.incomplete,
        }
        return self._with_span(event, region)

    def _partial(self, region: RegionEnd, place: int = 0) -> Any:
        """What could be read of a region's call, or of its calls if there are several; None where it has none."""
        if not is_call_field(region.field) or isinstance(region.error, LimitError):
            return None
        partial = partial_calls(region.field, region.captures, region.text, self._schemas, lenient=self._lenient)
        if not partial:
            return None
        return partial if place == 0 and len(partial) > 1 else partial[place]

    def _partial_of(self, region: RegionEnd, fault: Unmended) -> Any:
        """What could be read of a call that is left out."""
        if fault.name:
            return {"name": fault.name, "arguments": fault.arguments}
        return self._partial(region, -1) if fault.incomplete else None

    def _fault(self, region: RegionEnd, fault: Unmended) -> Event:
        """One call of a list that is malformed or cut off, although the others are not."""
        event: Event = {
            "type": "region_malformed",
            "field": region.field.name,
            "text": fault.text,
            "open": region.delimiters[0],
            "close": region.delimiters[1],
            "error": fault.error.reason,
            "position": region.body_start + fault.position,
            "captures": region.captures,
            "partial": self._partial_of(region, fault),
            "incomplete": fault.incomplete,
        }
        if self._spans:
            event |= {"start": region.start, "end": region.start}
        return event

    def _with_span(self, event: Event, region: RegionEnd) -> Event:
        if self._spans:
            event |= {"start": region.start, "end": region.end}
            if region.token_span is not None:
                event["token_start"], event["token_end"] = region.token_span
        return event
