"""A structured region is open, such as a tool call; a reader follows the structure of its text.

A delimiter ends the region unless it stands inside a value, where it may be a part of the value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamparse.stages.recovery.doubting import Doubting
from streamparse.stages.recovery.mode import Seen, structure_of
from streamparse.stages.recovery.trailing import Trailing
from streamparse.stages.structure import Structure
from streamparse.template.model import Field

if TYPE_CHECKING:
    from streamparse.stages.recovery.tokenizer import RecoveringTokenizer


class Calling:
    """In a structured region; ``reader`` has read all of its text, of which ``written`` characters are given out."""

    name = "calling"

    def __init__(
        self, core: RecoveringTokenizer, field: Field, reader: Structure | None = None, written: int = 0
    ) -> None:
        self.core = core
        self._field = field
        self.reader = structure_of(field) if reader is None else reader
        self._written = written
        self.watched = core.watches.calling(field)

    @property
    def plain(self) -> bool:
        """Until the value may be whole; a piece that can make it so is never plain (see ``watches.py``)."""
        return self.reader.end is None

    def take(self, text: str, seen: Seen | None) -> None:
        """Text is the region's, up to the end of its value where that ends it."""
        if text:
            self.reader.feed(text)
            if self.take_read(text, seen):
                return
        if seen is not None:
            self._take_delimiter(seen)

    def take_read(self, text: str, seen: Seen | None) -> bool:
        """Write text that the reader has had already; True where the region ended in it, and ``seen`` is read again."""
        core, field, end = self.core, self._field, self.reader.end
        if end is not None and (field.policy.ends_with_value or (field.close is not None and core.may_hold)):
            cut = end - self._written
            core.writer.text(text[:cut], None)
            trailing = Trailing(core, field, self.reader, end)
            core.go(trailing)
            trailing.hold(text[cut:], seen)
            return True
        core.writer.text(text, None)
        self._written += len(text)
        return False

    def skip(self, text: str) -> None:
        """The reader follows, all the same."""
        self.reader.feed(text)
        self._written += len(text)

    def end(self) -> bool:
        """The generation ends inside the region, unless nothing but the end closes it."""
        complete = None if self._complete and self.reader.open_ended else self._complete
        self.core.writer.end_unclosed(closed=self._field.close is None, complete=complete)
        return True

    def state(self) -> dict[str, Any]:
        """The field and what its reader knows."""
        return {"field": self._field.name, "reader": self.reader.snapshot(), "written": self._written}

    @classmethod
    def from_state(cls, core: RecoveringTokenizer, state: dict[str, Any]) -> Calling:
        """From what :meth:`state` gave."""
        calling = cls(core, core.template.fields[state["field"]], written=state["written"])
        calling.reader.restore(state["reader"])
        return calling

    @property
    def _complete(self) -> bool:
        """Whether the text is a value; no text at all may be that of a call without arguments, but nothing says so."""
        return self.reader.complete and not self.reader.broken and self.reader.begins is not None

    def _take_delimiter(self, seen: Seen) -> None:
        core = self.core
        if self.reader.inside and not self.reader.broken and core.may_hold:
            core.go(Doubting(core, self._field, self.reader, seen, self._written))
        elif seen.what == "open" and self._goes_on_with(seen.text):
            self.take(seen.text, None)
        elif seen.what == "close":
            core.writer.close(seen.text, seen.captures)
            core.outside()
        else:
            core.writer.end_unclosed(closed=False, complete=self._complete)
            core.outside()
            core.read_next(seen.text)

    def _goes_on_with(self, delimiter: str) -> bool:
        """Whether an open delimiter is what stands between the calls of the list that is open, as a comma is."""
        reader = self.reader.copy()
        reader.feed(delimiter)
        return not reader.broken and reader.whole_items != self.reader.whole_items
