"""No explicit region is open: the implicit field takes what comes, and every open is watched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamparse.stages.recovery.calling import Calling
from streamparse.stages.recovery.mode import Seen
from streamparse.stages.recovery.opening import Opening
from streamparse.stages.recovery.talking import Talking

if TYPE_CHECKING:
    from streamparse.stages.recovery.tokenizer import RecoveringTokenizer


class Outside:
    """The tokenizer's mode at the start and after every close."""

    name = "outside"
    plain = True

    def __init__(self, core: RecoveringTokenizer) -> None:
        self._core = core
        self.watched = core.watches.outside

    def take(self, text: str, seen: Seen | None) -> None:
        """Text is the implicit field's; an open opens, but a call only if what follows begins like one."""
        core, writer = self._core, self._core.writer
        writer.text(text, core.template.implicit)
        if seen is None:
            return
        field = seen.field
        if seen.what == "stray":
            if writer.open_field is None:
                writer.end_unclosed()
                writer.unclaimed(seen.text)
            else:
                writer.text(seen.text, None)
        elif seen.what == "close":
            if writer.open_field is not None:
                writer.close(seen.text, seen.captures)
            else:
                writer.end_unclosed()
                writer.unclaimed(seen.text)
        elif field.streams:
            writer.open(field, seen.text, seen.captures)
            core.go(Talking(core, field))
        elif seen.captures:
            writer.open(field, seen.text, seen.captures)
            core.go(Calling(core, field))
        else:
            core.go(Opening(core, seen))

    def end(self) -> bool:
        """The implicit region ends."""
        self._core.writer.end_unclosed()
        return True

    def state(self) -> dict[str, Any]:
        """Nothing of its own."""
        return {}

    @classmethod
    def from_state(cls, core: RecoveringTokenizer, _state: dict[str, Any]) -> Outside:
        """From what :meth:`state` gave."""
        return cls(core)
