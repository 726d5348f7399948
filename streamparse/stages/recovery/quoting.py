"""The open of a call was seen in a code span, or right behind a quotation mark: the text may only quote it.

From that open on everything is held. A call that is whole counts, unless the quotation is closed right behind it. What
is never whole, or turns out to be no call, is text, with its open. So a quoted header doesn't take the rest of the
answer with it, and a stray quotation mark doesn't hide a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamparse.stages.body import Body
from streamparse.stages.recovery.mode import Seen, has_token, structure_of
from streamparse.stages.recovery.trailing import STRAY
from streamparse.template.model import Field

if TYPE_CHECKING:
    from streamparse.stages.recovery.tokenizer import RecoveringTokenizer

NEVER_IN_MARKUP = frozenset("`”’»")
"""What closes a quotation and is no part of any format."""


def quotation_of(core: RecoveringTokenizer, opened: Seen, field: Field | None) -> str:
    """What would close the quotation in which an open of a call stands; nothing where it is not quoted."""
    prose = core.prose if field is None else core.thought
    if opened.field.streams or has_token(core, opened) or not core.may_hold:
        return ""
    return prose.closed_by


class Quoting:
    """Holds a call that may be quoted; ``field`` is the text that it stands in, None for the implicit one."""

    name = "quoting"
    plain = False

    def __init__(self, core: RecoveringTokenizer, opened: Seen, closed_by: str, field: Field | None) -> None:
        self.core = core
        self._opened = opened
        self._closed_by = closed_by
        self._field = field
        self._held = Body()
        self._reader = structure_of(opened.field)
        self._whole = False
        self.watched = core.watches.calling(opened.field)

    def take(self, text: str, seen: Seen | None) -> None:
        """Hold until the call is whole, and then for what follows it; or until it can be none."""
        if self._whole and (text.strip() or (seen is not None and seen.what != "close")):
            self._decide(text, seen)
            return
        self._held.append(text)
        if not self._whole:
            self._reader.feed(text)
        behind = self._behind_value()
        if behind:
            self._give_back(seen, quoted=behind.startswith(self._closed_by))
        elif self._is_none and (seen is not None or self._is_closed):
            self._give_back(seen, quoted=True)
        elif self._held.size > self.core.hold_limit:
            self._give_back(seen, quoted=False)
        elif self._ends_in_its_line():
            self._give_back(seen, quoted=True)
        elif seen is not None:
            self._take_delimiter(seen)

    def end(self) -> bool:
        """A call that is not whole was never meant to be one, unless the generation was cut off in it."""
        self._give_back(None, quoted=not self._is_whole and not self.core.cut_off)
        return False

    def state(self) -> dict[str, Any]:
        """The open, the held text, and what the reader knows."""
        return {
            "opened": self._opened.state(),
            "closed by": self._closed_by,
            "field": None if self._field is None else self._field.name,
            "held": self._held.text(),
            "reader": self._reader.snapshot(),
            "whole": self._whole,
        }

    @classmethod
    def from_state(cls, core: RecoveringTokenizer, state: dict[str, Any]) -> Quoting:
        """From what :meth:`state` gave."""
        field = None if state["field"] is None else core.template.fields[state["field"]]
        quoting = cls(core, Seen.from_state(core, state["opened"]), state["closed by"], field)
        quoting._held.append(state["held"])
        quoting._reader.restore(state["reader"])
        quoting._whole = state["whole"]
        return quoting

    @property
    def _is_none(self) -> bool:
        """Whether no call can come of it any more."""
        return self._reader.broken or self._reader.begins is False

    @property
    def _is_closed(self) -> bool:
        """Whether the line has closed the quotation, or has ended."""
        line, line_break, _ = self._held.text().partition("\n")
        return bool(line_break) or self._closed_by in line

    @property
    def _is_whole(self) -> bool:
        return self._whole or self._reader.end is not None

    def _behind_value(self) -> str:
        """What stands behind a value that its own syntax ends, without what is left of the call's close."""
        end = self._reader.end
        if end is None:
            return ""
        behind = self._held.text()[end:]
        return behind[STRAY.match(behind).end() :]  # type: ignore[union-attr]

    def _decide(self, text: str, seen: Seen | None) -> None:
        """What follows a whole call closes the quotation around it, or doesn't."""
        self._held.append(text)
        self._give_back(seen, quoted=text.startswith(self._closed_by))

    def _ends_in_its_line(self) -> bool:
        """Whether the quotation was closed before the line ended, by what is no part of any format."""
        if self._closed_by[0] not in NEVER_IN_MARKUP or self._is_whole:
            return False
        line, line_break, _ = self._held.text().partition("\n")
        return bool(line_break) and self._closed_by in line

    def _take_delimiter(self, seen: Seen) -> None:
        reader = self._reader
        if seen.what == "close" and not self._whole and not (reader.inside and not reader.open_ended):
            self._whole = reader.complete
            self._held.append(seen.text)
            if not self._whole:
                self._give_back(None, quoted=True)
        elif seen.what == "open" and seen.field is self._opened.field:
            self._give_back(seen, quoted=self._closed_by in self._held.text())
        elif seen.what == "turn":
            self._give_back(seen, quoted=not self._is_whole)
        else:
            self._held.append(seen.text)
            reader.feed(seen.text)

    def _give_back(self, seen: Seen | None, *, quoted: bool) -> None:
        """Go back to the text around the open, which is a part of it or begins a call."""
        core, opened = self.core, self._opened
        held = self._held.text() + (seen.text if seen is not None else "")
        if self._field is None:
            core.outside()
        else:
            core.talk(self._field)
        mode: Any = core.mode
        if quoted and not opened.text:
            core.forbid_zero_width()  # the same open would be found here again
        if not quoted:
            core.read_again(held)
            mode.take_open(opened)
            return
        size = self._size_of_quotation(held)
        core.read_again(held[size:])
        if self._field is None:
            core.mention(opened.text + held[:size])
        else:
            core.writer.text(opened.text + held[:size], None)
            core.thought.mention(opened.text + held[:size])

    def _size_of_quotation(self, held: str) -> int:
        """How much of the held text is quoted, so that it is not to be read again."""
        if self._is_whole:
            return max(held.rfind(self._closed_by), 0)
        return max(held.partition("\n")[0].find(self._closed_by), 0)
