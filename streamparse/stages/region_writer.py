"""Writes what a region tokenizer decides: events of open regions and their text, and the end of each region.

In: calls of a tokenizer, which knows the delimiters. Out: the items, in order. The writer knows which region is open
and where in the generation it stands; positions count the characters of the generation, the prefix has negative ones.
"""

from __future__ import annotations

from typing import Any

from streamparse.errors import LimitError
from streamparse.limits import Limits, how_to_raise
from streamparse.stages.region import Prefill, RegionEnd
from streamparse.template.model import Field

Item = dict[str, Any] | RegionEnd | Prefill


class RegionWriter:
    """The regions of one generation, as they are written.

    With ``keep_all`` (the lenient modes) white space alone opens no implicit region, text that no field claims is
    reported, and text of the prefix that was undecided at its end is not given out as the model's. With ``spans``
    events carry ``start`` and ``end``, and ``region_open`` its captures. ``before`` is the end of the text that has
    been written, ``context`` characters of it.
    """

    def __init__(self, *, keep_all: bool, spans: bool, captures: bool, limits: Limits, context: int = 0) -> None:
        self._keep_all = keep_all
        self._spans = spans
        self._give_captures = captures
        self._most_regions = limits.regions
        self._regions = 0
        self._blank: list[str] | tuple[()] = ()
        self._captures: dict[str, str] = {}
        self._opened_by = ""
        self._body_start = 0
        self._in_prefix = False
        self._context = context
        self._origin = 0
        self.before = ""
        self.position = 0
        self.open_field: Field | None = None
        self._items: list[Item] | tuple[()] = ()

    def begin_prefix(self, length: int) -> None:
        """The next ``length`` characters are the prefix's."""
        self.position = self._origin = -length
        self._in_prefix = True

    def end_prefix(self) -> None:
        """What comes from here on is decided by what the model writes."""
        self._in_prefix = False

    @property
    def written(self) -> int:
        """How many characters have been written, the prefix's among them."""
        return self.position - self._origin

    @property
    def plain_field(self) -> Field | None:
        """The field of which more text is just a chunk event, with nothing else to mind; None where there is more."""
        field = self.open_field
        if field is None or self._spans:
            return None
        return None if self._keep_all and self.position < 0 else field

    def skip(self, text: str) -> None:
        """Text of the open region whose chunk has been given out already."""
        self._pass(text)

    def take_items(self) -> list[Item]:
        """What has been written since the last call."""
        items, self._items = self._items, ()
        return items or []

    def text(self, text: str, implicit: Field | None) -> None:
        """Text between delimiters: a piece of the open region, or of the implicit one, which it opens, or of none."""
        if not text:
            return
        start = self.position
        self._pass(text)
        if self.open_field is None:
            if implicit is None:
                self._report_unclaimed(text, start)
                return
            if self._keep_all and text.isspace():
                self._blank = blank = self._blank or []
                blank.append(text)
                return
            text = "".join(self._blank) + text
            self._blank = ()
            start = self.position - len(text)
            self._open(implicit, "", start, start, {})
        self._chunk(text, start)

    def open(self, field: Field, delimiter: str, captures: dict[str, str]) -> None:
        """An explicit region opens; the implicit one ends, if it is open."""
        self.end_unclosed()
        start = self.position
        self._pass(delimiter)
        self._open(field, delimiter, start, self.position, captures)

    def close(self, delimiter: str, captures: dict[str, str], *, settled: bool = False) -> None:
        """The open region ends at its close delimiter, ``settled`` by what follows it."""
        start = self.position
        self._pass(delimiter)
        self._end(start, delimiter, self._captures | captures, closed=True, settled=settled)

    def end_unclosed(self, *, closed: bool = True, complete: bool | None = False) -> None:
        """The open region, if one is, ends here, without a close delimiter.

        ``closed=False`` where it should have had one; ``complete`` then says whether its text is complete by itself,
        None that it is if the model meant to stop there.
        """
        if self._blank:
            blank = "".join(self._blank)
            self._blank = ()
            self._report_unclaimed(blank, self.position - len(blank))
        if self.open_field is not None:
            self._end(self.position, "", self._captures, closed=closed, complete=complete)

    def unclaimed(self, text: str) -> None:
        """Text that belongs to no region, such as a delimiter where nothing is open."""
        start = self.position
        self._pass(text)
        self._report_unclaimed(text, start)

    def drop_mark(self, mark: str) -> None:
        """A mark of the family that delimits nothing: it belongs to no region, and is something that went wrong."""
        start = self.position
        self._pass(mark)
        self._report_unclaimed(mark, start, mark=True)

    def snapshot(self) -> dict[str, Any]:
        """The state as JSON-able data."""
        return {
            "regions": self._regions,
            "blank": "".join(self._blank),
            "captures": self._captures,
            "opened_by": self._opened_by,
            "body_start": self._body_start,
            "position": self.position,
            "origin": self._origin,
            "before": self.before,
            "open_field": None if self.open_field is None else self.open_field.name,
        }

    def restore(self, state: dict[str, Any], fields: dict[str, Field]) -> None:
        """Take up a state that :meth:`snapshot` gave; ``fields`` are the template's."""
        self._regions = state["regions"]
        self._blank = [state["blank"]] if state["blank"] else ()
        self._captures = dict(state["captures"])
        self._opened_by = state["opened_by"]
        self._body_start = state["body_start"]
        self.position = state["position"]
        self._origin = state["origin"]
        self.before = state["before"]
        self.open_field = None if state["open_field"] is None else fields[state["open_field"]]

    def _write(self, item: Item) -> None:
        self._items = items = self._items or []
        items.append(item)

    def _pass(self, text: str) -> None:
        """Go on behind text that is written."""
        self.position += len(text)
        if self._context and text:
            self.before = (self.before + text)[-self._context :]

    def _open(self, field: Field, delimiter: str, start: int, end: int, captures: dict[str, str]) -> None:
        self._regions += 1
        if self._regions > self._most_regions:
            raise LimitError(
                f"more than {self._most_regions} regions; {how_to_raise('regions')}",
                limit="regions",
                position=start,
            )
        self.open_field = field
        self._captures = captures
        self._opened_by = delimiter
        self._body_start = end
        event: dict[str, Any] = {"type": "region_open", "field": field.name}
        if self._spans:
            event |= {"start": start, "end": end}
        if self._give_captures:
            event["captures"] = dict(captures)
        self._write(event)

    def _chunk(self, text: str, start: int) -> None:
        field = self.open_field
        assert field is not None, "text without a region is unclaimed"
        if start < 0 and self._keep_all and not self._in_prefix:
            self._write(Prefill(text[:-start]))
            text, start = text[-start:], 0
        if not text:
            return
        event: dict[str, Any] = {"type": "region_chunk", "field": field.name, "text": text, "dirty": not field.streams}
        if self._spans:
            event |= {"start": start, "end": self.position}
        self._write(event)

    def _end(
        self,
        start: int,
        delimiter: str,
        captures: dict[str, str],
        *,
        closed: bool,
        complete: bool | None = True,
        settled: bool = False,
    ) -> None:
        field = self.open_field
        assert field is not None, "only an open region ends"
        self._write(
            RegionEnd(
                field,
                captures,
                self._body_start,
                start,
                start + len(delimiter),
                closed,
                complete,
                settled,
                delimiters=(self._opened_by, delimiter),
            )
        )
        self.open_field = None

    def _report_unclaimed(self, text: str, start: int, *, mark: bool = False) -> None:
        if start < 0 and not self._in_prefix:
            text, start = text[-start:], 0
        if self._keep_all and text:
            event: dict[str, Any] = {"type": "region_unclaimed", "text": text, "start": start, "end": start + len(text)}
            self._write(event | {"mark": True} if mark else event)
