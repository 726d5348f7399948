"""A call inside a region of text: if the region closes after it, it was a draft; if it never closes, it is a call.

Models forget ``</think>`` before a call, and they also write drafts of calls while thinking. Which it is shows only
later, so everything from the call's open on is held, up to the limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamparse.stages.body import Body
from streamparse.stages.recovery.marking import take_open_of_nothing
from streamparse.stages.recovery.mode import Seen, structure_of
from streamparse.stages.structure import Structure
from streamparse.template.model import Field

if TYPE_CHECKING:
    from streamparse.stages.recovery.tokenizer import RecoveringTokenizer


class Aside:
    """Holds a region's text from the open of a call on; ``well_formed`` once a call in it has come whole."""

    name = "aside"
    plain = False

    def __init__(self, core: RecoveringTokenizer, field: Field, opened: Seen, *, rest: str = "") -> None:
        self.core = core
        self._field = field
        self._opened = opened
        self._held = Body()
        self._held.append(opened.text)
        self._held.append(rest)
        self._well_formed = False
        self._call: tuple[Field, Structure] | None = (opened.field, structure_of(opened.field))
        self.watched = core.watches.aside(field)

    def take(self, text: str, seen: Seen | None) -> None:
        """Hold what comes; the region's close, a call that is none, or the limit, makes it all the region's text."""
        if text:
            self._held.append(text)
            self._read(text)
        if seen is not None and not self._is_quotation:
            if seen.what == "close" and seen.field is self._field:
                self.core.writer.text(self._held.text(), None)
                self.core.writer.close(seen.text, seen.captures)
                self.core.outside()
                return
            self._held.append(seen.text)
            self._take_delimiter(seen)
            seen = None
        if self._is_quotation:
            self._give_up(seen)
        elif self._held.size > self.core.hold_limit:
            self.core.writer.text(self._held.text(), None)
            self.core.thought.mention(self._held.text())
            self.core.talk(self._field)

    def end(self) -> bool:
        """The region never closed: it ends before a whole call, which counts."""
        if not self._well_formed and not self._is_whole:
            self.core.writer.text(self._held.text(), None)
            self.core.writer.end_unclosed(closed=False)
            return True
        self.core.writer.end_unclosed(closed=False)
        self.core.outside()
        self.core.read_again(self._held.text())
        return False

    def state(self) -> dict[str, Any]:
        """The held text, and the call that is open in it."""
        return {
            "field": self._field.name,
            "opened": self._opened.state(),
            "rest": self._held.text()[len(self._opened.text) :],
            "well_formed": self._well_formed,
            "call": None if self._call is None else [self._call[0].name, self._call[1].snapshot()],
        }

    @classmethod
    def from_state(cls, core: RecoveringTokenizer, state: dict[str, Any]) -> Aside:
        """From what :meth:`state` gave."""
        fields = core.template.fields
        aside = cls(core, fields[state["field"]], Seen.from_state(core, state["opened"]), rest=state["rest"])
        aside._well_formed = state["well_formed"]
        aside._call = None
        if state["call"] is not None:
            field = fields[state["call"][0]]
            structure = structure_of(field)
            structure.restore(state["call"][1])
            aside._call = (field, structure)
        return aside

    @property
    def _is_whole(self) -> bool:
        """Whether the open call has nothing more to come."""
        return self._call is not None and self._call[1].complete and not self._call[1].open_ended

    @property
    def _is_quotation(self) -> bool:
        """Whether what began like a call turned out to be none."""
        return self._call is None and not self._well_formed

    def _read(self, text: str) -> None:
        """What the text means for the call that is open."""
        if self._call is None:
            return
        field, structure = self._call
        structure.feed(text)
        if structure.end is not None and not structure.broken:
            self._well_formed = True
            if field.policy.ends_with_value:
                self._call = None
        elif structure.begins is False or structure.broken:
            self._call = None

    def _take_delimiter(self, seen: Seen) -> None:
        if self._call is None:
            if seen.what == "open":
                self._call = (seen.field, structure_of(seen.field))
            return
        field, structure = self._call
        if seen.what == "close" and seen.field is field and not structure.inside:
            self._well_formed = self._well_formed or structure.complete
            self._call = None
        else:
            self._read(seen.text)

    def _give_up(self, seen: Seen | None) -> None:
        """The open delimiter was quoted: it is text, and what follows it is read again."""
        text = self._held.text() + (seen.text if seen is not None else "")
        self.core.talk(self._field)
        self.core.read_again(text[len(self._opened.text) :])
        take_open_of_nothing(self.core, self._opened, self._field)
