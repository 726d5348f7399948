"""The content parsing stage: collects the text of each region and, when the region ends, parses it.

In: batches of what the region tokenizer gives out. Out: the same, each :class:`RegionEnd` with its text and with a
value, or, in the lenient modes, with the error that kept it from having one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from streamparse.errors import ContentError, LimitError, ParseError
from streamparse.limits import DEFAULT_LIMITS, Limits, how_to_raise
from streamparse.repair import Damaged, Unmended, check_tags, mend, read_quoting_tags
from streamparse.stages.body import Body
from streamparse.stages.deltas.plan import is_call_field
from streamparse.stages.recovery.terminators import terminators_of
from streamparse.stages.region import Prefill, RegionEnd
from streamparse.stages.region_writer import Item
from streamparse.stages.structure.literal import overlap
from streamparse.stages.structure.tag_outline import tag_outline
from streamparse.stages.whole_calls import whole_calls
from streamparse.template.model import Field

OPEN_ENDED = ("xml-inline", "kv-lines")
"""The content parsers whose text may always go on with another argument."""


class ContentStage:
    """Parses the text of regions; ``lenient`` puts errors on the region instead of raising them, and ``repair``
    first mends what is safe to mend.

    In the lenient modes a text longer than its limit is not kept any further, and has no value.
    """

    def __init__(
        self,
        fields: Mapping[str, Field],
        *,
        lenient: bool = False,
        repair: bool = False,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._structured = frozenset(name for name, field in fields.items() if not field.streams)
        self._lenient = lenient
        self._repair = repair
        self._limits = limits
        self._body = Body()
        self._limit = limits.region_text  # of the open region
        self._too_long = False

    def feed(self, batch: list[Item]) -> list[Item]:
        """The batch with its ended regions parsed; the very same list where it has only events."""
        body = self._body
        parsed: list[Item] | None = None
        for index, item in enumerate(batch):
            if type(item) is dict:
                kind = item["type"]
                if kind == "region_chunk":
                    self.take(item["text"], item["field"])
                elif kind == "region_open":
                    self._clear()
                    self._begin(item["field"])
                if parsed is not None:
                    parsed.append(item)
                continue
            if parsed is None:
                parsed = batch[:index]
            if isinstance(item, Prefill):
                body.append(item.text)
            else:
                assert isinstance(item, RegionEnd), "the tokenizer gives out events, region ends and prefill"
                item.text = body.text()
                if self._too_long:
                    item.error = located(self._error(), item)
                else:
                    self._parse(item)
                self._clear()
                parsed.append(item)
        return batch if parsed is None else parsed

    @property
    def too_long(self) -> bool:
        """Whether the text of the open region is longer than its limit, so that the rest of it is not kept."""
        return self._too_long

    @property
    def room(self) -> int:
        """How many characters may still come; those of a text that is too long already are not counted."""
        return self._limit - (0 if self._too_long else self._body.size)

    def take(self, text: str, field: str) -> None:
        """Text of the open region, of that field; raises LimitError in the strict mode if that makes it too long."""
        if not self._too_long:
            self._body.append(text)
            if self._body.size > self._limit:
                self._cut_off(field)

    def snapshot(self) -> dict[str, Any]:
        """The state as JSON-able data."""
        return {"body": self._body.text(), "too_long": self._too_long}

    def restore(self, state: dict[str, Any], open_field: Field | None) -> None:
        """Take up a state that :meth:`snapshot` gave while a region of ``open_field`` was open."""
        self._clear()
        if open_field is not None:
            self._begin(open_field.name)
        self._body.append(state["body"])
        self._too_long = state["too_long"]

    def _parse(self, region: RegionEnd) -> None:
        field = region.field
        ended_inside = not region.closed and field.close is not None
        if self._lenient and ended_inside and field.content in OPEN_ENDED and region.finish_reason != "length":
            half = half_close(field, region.text)
            if half:
                self._parse_before_half_close(region, len(half))
                return
            region.may_go_on = True
        if self._lenient and not region.closed and (not field.streams or is_call_field(field)):
            cut_off = region.complete is False or (region.complete is None and region.finish_reason is None)
            region.incomplete = region.finish_reason == "length" or (ended_inside and cut_off)
        if region.incomplete and self._read_whole_calls(region):
            return
        if region.incomplete:
            region.error = ParseError(
                "the generation ended inside the region",
                field=field.name,
                position=region.start,
                excerpt=region.text[-40:],
            )
            return
        try:
            region.value = self._lenient_value(region) if self._lenient else field.parse(region.text)
        except ParseError as error:
            if not self._lenient:
                raise located(error, region) from error  # not kept: the error's traceback has the region
            region.error = located(error, region)
            region.incomplete = ended_inside
            return
        if self._lenient and ended_inside and not field.streams:
            region.repaired.append("the close delimiter is missing")

    def _parse_before_half_close(self, region: RegionEnd, size: int) -> None:
        """Parse a region that ends with half of its close, which is ``size`` characters: its text ended before that."""
        part = replace(region, text=region.text[:-size], closed=True, repaired=[], faults=[])
        try:
            region.value = self._lenient_value(part)
        except ParseError as error:
            region.error, region.incomplete = located(error, region), True
            return
        region.reading, region.faults = part.reading, part.faults
        region.repaired += [*part.repaired, "the close delimiter is not whole"]

    def _read_whole_calls(self, region: RegionEnd) -> bool:
        """Read the calls of a list that were whole when the generation ended, if there are any; the rest is a fault."""
        whole = whole_calls(region.field, region.text, cut_off=region.finish_reason == "length")
        if whole is None:
            return False
        part = replace(region, text=whole.text, repaired=[], faults=[])
        try:
            region.value = self._lenient_value(part)
        except ParseError:
            return False
        region.repaired += part.repaired
        region.faults += part.faults
        region.incomplete = False
        if whole.size == len(region.text):
            region.repaired.append("a missing closing bracket")
            return True
        error = ContentError("the generation ended inside the call", position=whole.size)
        place = len(region.value) + len(part.faults)
        rest = Unmended(place, "", region.text[whole.size :], whole.size, error, {}, incomplete=True)
        region.faults.append(rest)
        return True

    def _lenient_value(self, region: RegionEnd) -> Any:
        """The value by one of the field's readings; where none has one, or its markup says otherwise, a mended one."""
        field, text = region.field, region.text
        try:
            return self._read(region)
        except ContentError as error:
            mended = mend(
                field,
                text,
                allow_truncated=region.closed,
                settled=region.settled,
                unreadable=None if field.content == "xml-inline" else error,  # there its markup may contradict it
            )
            if mended.repaired and not self._repair:
                raise  # one call of a list that can't be read is left out in either mode
            region.repaired += mended.repaired
            region.faults += mended.faults
            return mended.value

    def _read(self, region: RegionEnd) -> Any:
        """The value by the field's own reading, or else by the first of its other readings that has one.

        A call whose name stands in its delimiters may say by no text at all that it has no arguments.
        """
        field = region.field
        if field.policy.calls is not None and region.captures.get("name") and not region.text.strip():
            return {}
        try:
            value = field.parse_with_source(region.text)
            return self._checked_tags(region, value) if field.content == "xml-inline" else value
        except ParseError as first:
            for number, reading in enumerate(field.policy.alternatives, 1):
                try:
                    value = reading.parse(region.text)
                except ParseError:
                    continue
                region.reading = number
                return value
            raise first

    def _checked_tags(self, region: RegionEnd, value: Any) -> Any:
        """The value of a text of tags; raises ContentError where its markup says otherwise."""
        reason = check_tags(region.text, region.field.content_arguments)
        if reason is None:
            return value
        quoting = read_quoting_tags(Damaged(region.text, region.field.content_arguments, limits=region.field.limits))
        if quoting is None:
            raise ContentError(reason)
        region.repaired += quoting.repaired
        return quoting.value

    def _begin(self, field: str) -> None:
        """Choose the limit of a region of that field."""
        limits = self._limits
        structured = field in self._structured
        self._limit = min(limits.region_text, limits.structured_text) if structured else limits.region_text

    def _clear(self) -> None:
        """Keep no text any more."""
        self._body.clear()
        self._too_long = False

    def _cut_off(self, field: str) -> None:
        """Keep the first characters of a text that is too long, in the lenient modes: parsing goes on after it."""
        limit = self._limit
        if not self._lenient:
            raise self._error(field)
        text = self._body.text()[:limit]
        self._body.clear()
        self._body.append(text)
        self._too_long = True

    def _error(self, field: str | None = None) -> LimitError:
        limit = self._limit
        kind, name = ("region", "region_text")
        if limit < self._limits.region_text:
            kind, name = ("structured region", "structured_text")
        reason = f"a {kind} has more than {limit} characters; {how_to_raise(name)}"
        return LimitError(reason, limit=name, field=field, position=None if field is not None else limit)


def half_close(field: Field, text: str) -> str:
    """Give what a text ends with of the field's close, with the white space before it; empty where that is nothing.

    What the next tag may begin with as well is not counted.
    """
    outline = tag_outline(str(field.content_arguments.get("tag_pattern", "")))
    start = outline.start if outline is not None else ""
    longest = max(
        (overlap(text, literal) for literal in terminators_of(field.close)),
        default=0,
    )
    half = text[len(text) - longest :]
    return text[len(text[: len(text) - longest].rstrip()) :] if half and not start.startswith(half) else ""


def located(error: ParseError, region: RegionEnd) -> ParseError:
    """The same error with its field, its place in the generation and a short piece of the text there."""
    at = error.position
    position = region.body_start if at is None else region.body_start + at
    excerpt = error.excerpt or region.text[max(0, (at or 0) - 20) : (at or 0) + 20]
    if isinstance(error, LimitError):
        return LimitError(error.reason, limit=error.limit, field=region.field.name, position=position)
    return ParseError(error.reason, field=region.field.name, position=position, excerpt=excerpt)
