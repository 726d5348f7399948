"""An open delimiter of a structured field was seen; whether it opens a region depends on what follows.

``Use <tool_call> to call`` quotes the delimiter: what follows does not begin like a call, so it is text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamparse.stages.body import Body
from streamparse.stages.recovery.calling import Calling
from streamparse.stages.recovery.marking import take_open_of_nothing
from streamparse.stages.recovery.mode import Seen

if TYPE_CHECKING:
    from streamparse.stages.recovery.tokenizer import RecoveringTokenizer


class Opening:
    """Holds the delimiter and what follows until it begins like a value of the field, or can't any more.

    ``before`` is text right before the delimiter that is the same open again, written once too often.
    """

    name = "opening"
    plain = False

    def __init__(self, core: RecoveringTokenizer, delimiter: Seen, held: str = "", before: str = "") -> None:
        self.core = core
        self._delimiter = delimiter
        self._before = before
        self._call = Calling(core, delimiter.field)
        self._held = Body()
        self.watched = self._call.watched
        self._hold(held)

    def take(self, text: str, seen: Seen | None) -> None:
        """Decide as soon as what came is not blank, or another delimiter shows that nothing begins here."""
        self._hold(text)
        begins = self._call.reader.begins
        if begins:
            if not self._open(seen) and seen is not None:
                self._call.take("", seen)
        elif seen is not None and self._is_doubled(seen):
            self.core.go(Opening(self.core, seen, before=self._text()))
        elif begins is False or seen is not None or self._held.size > self.core.hold_limit:
            self._quote(seen)

    def end(self) -> bool:
        """A call was begun and never came: it is reported as incomplete, not swallowed."""
        self._open(None)
        return self.core.mode.end()

    def state(self) -> dict[str, Any]:
        """The delimiter and the held text."""
        return {"delimiter": self._delimiter.state(), "held": self._held.text(), "before": self._before}

    @classmethod
    def from_state(cls, core: RecoveringTokenizer, state: dict[str, Any]) -> Opening:
        """From what :meth:`state` gave."""
        return cls(core, Seen.from_state(core, state["delimiter"]), state["held"], state["before"])

    def _hold(self, text: str) -> None:
        self._held.append(text)
        self._call.reader.feed(text)

    def _is_doubled(self, seen: Seen) -> bool:
        """Whether the same open comes again, with nothing between, so that the first one is one too many."""
        delimiter = self._delimiter
        is_same = seen.what == "open" and seen.field is delimiter.field and bool(seen.text and delimiter.text)
        return is_same and len(self._before) < self.core.hold_limit and not self._held.text().strip()

    def _text(self) -> str:
        return self._before + self._delimiter.text + self._held.text()

    def _open(self, seen: Seen | None) -> bool:
        core, delimiter = self.core, self._delimiter
        if self._before:
            core.writer.end_unclosed()
            core.writer.unclaimed(self._before)
        core.open(delimiter.field, delimiter.text, delimiter.captures)
        core.go(self._call)
        return self._call.take_read(self._held.text(), seen)

    def _quote(self, seen: Seen | None) -> None:
        core = self.core
        core.outside()
        if not self._delimiter.text:
            core.forbid_zero_width()  # the same open would be found here again, and again be a quotation
        core.read_again(self._held.text() + (seen.text if seen is not None else ""))
        take_open_of_nothing(core, self._delimiter._replace(text=self._before + self._delimiter.text), None)
