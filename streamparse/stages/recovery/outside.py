"""No explicit region is open: the implicit field takes what comes, and every open is watched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamparse.stages.recovery.calling import Calling
from streamparse.stages.recovery.marking import take_mark
from streamparse.stages.recovery.mentioning import Mentioning, is_quoted, may_be_a_word
from streamparse.stages.recovery.mode import Seen
from streamparse.stages.recovery.opening import Opening
from streamparse.stages.recovery.quoting import Quoting, quotation_of
from streamparse.stages.recovery.talking import Talking

if TYPE_CHECKING:
    from streamparse.stages.recovery.tokenizer import RecoveringTokenizer


class Outside:
    """The tokenizer's mode at the start and after every close."""

    name = "outside"
    plain = True

    def __init__(self, core: RecoveringTokenizer) -> None:
        self.core = core
        self.watched = core.watches.outside

    def take(self, text: str, seen: Seen | None) -> None:
        """Text is the implicit field's; an open opens, but a call only if what follows begins like one."""
        self.core.say(text)
        if seen is None:
            return
        if seen.what == "open":
            self._take_open(seen)
        elif seen.what in ("own", "stray") or self._is_own(seen):
            take_mark(self.core, seen, None)
        else:
            self._take_close(seen)

    def skip(self, text: str) -> None:
        """What the text says about what follows counts, all the same."""
        self.core.prose.feed(text)

    def end(self) -> bool:
        """The implicit region ends."""
        self.core.writer.end_unclosed()
        return True

    def state(self) -> dict[str, Any]:
        """Nothing of its own."""
        return {}

    @classmethod
    def from_state(cls, core: RecoveringTokenizer, _state: dict[str, Any]) -> Outside:
        """From what :meth:`state` gave."""
        return cls(core)

    def _take_open(self, seen: Seen) -> None:
        core = self.core
        if is_quoted(core, seen):
            core.mention(seen.text)
        elif closed_by := quotation_of(core, seen, None):
            core.go(Quoting(core, seen, closed_by, None))
        else:
            self.take_open(seen)

    def take_open(self, seen: Seen) -> None:
        """An open that is not quoted opens, if what follows it is as it should be."""
        core, field = self.core, seen.field
        if field.streams and may_be_a_word(core, seen):
            core.go(Mentioning(core, seen))
        elif field.streams or seen.captures:
            core.open(field, seen.text, seen.captures)
            core.go(Talking(core, field) if field.streams else Calling(core, field))
        else:
            core.go(Opening(core, seen))

    def _is_own(self, seen: Seen) -> bool:
        """Whether what closes an answer is a mark of calls, which ends no turn."""
        return self.core.writer.open_field is not None and seen.text.strip() in self.core.watches.own_texts

    def _take_close(self, seen: Seen) -> None:
        """The turn ends, even where there is no answer."""
        core, writer = self.core, self.core.writer
        if writer.open_field is None:
            writer.end_unclosed()
            writer.unclaimed(seen.text)
        else:
            writer.close(seen.text, seen.captures)
            core.prose.begin()
