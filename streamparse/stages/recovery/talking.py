"""A region of text is open, such as reasoning: its close is watched, and calls and the end of the turn inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamparse.stages.body import Body
from streamparse.stages.recovery.aside import Aside
from streamparse.stages.recovery.marking import take_mark
from streamparse.stages.recovery.mode import Seen
from streamparse.stages.recovery.quoting import Quoting, quotation_of
from streamparse.template.model import Field

if TYPE_CHECKING:
    from streamparse.stages.recovery.tokenizer import RecoveringTokenizer


class Talking:
    """In a region of text; ``begun`` once it has had more than white space."""

    name = "talking"

    def __init__(self, core: RecoveringTokenizer, field: Field, *, begun: bool = False) -> None:
        self.core = core
        self._field = field
        self.plain = begun
        self.watched = core.watches.talking(field)

    def take(self, text: str, seen: Seen | None) -> None:
        """Text is the region's; a repeated open at its beginning is dropped, calls and ends of turn are looked into."""
        core, writer = self.core, self.core.writer
        writer.text(text, None)
        core.thought.feed(text)
        self.plain = self.plain or bool(text.strip())
        if seen is None:
            return
        if seen.what == "close":
            writer.close(seen.text, seen.captures)
            core.thought.begin()  # nothing of what was thought has to be kept any more
            core.outside()
        elif seen.what == "again" and not self.plain:
            writer.unclaimed(seen.text)
        elif seen.what == "open" and (closed_by := quotation_of(core, seen, self._field)):
            core.go(Quoting(core, seen, closed_by, self._field))
        elif seen.what == "open":
            self.take_open(seen)
        elif seen.what in ("own", "again") or (seen.what == "turn" and seen.text.strip() in core.watches.own_texts):
            take_mark(core, seen, self._field)
        elif seen.what == "turn" and core.may_hold:
            core.go(Parting(core, self._field, seen.text))
        else:
            self._keep(seen.text)

    def take_open(self, seen: Seen) -> None:
        """The open of a call that is not quoted: what it is, is for the template to say."""
        core, policy = self.core, self.core.template.policy.calls_in_reasoning
        if policy == "call":
            core.interrupt(self._field, seen.text)
        elif policy == "hold" and core.may_hold:
            core.go(Aside(core, self._field, seen))
        else:
            self._keep(seen.text)

    def _keep(self, mark: str) -> None:
        self.core.writer.text(mark, None)
        self.core.thought.mention(mark)
        self.plain = True

    def skip(self, text: str) -> None:
        """What the text says about what follows counts, all the same."""
        self.core.thought.feed(text)

    def end(self) -> bool:
        """The region ends without its close, if it has one."""
        self.core.writer.end_unclosed(closed=self._field.close is None)
        return True

    def state(self) -> dict[str, Any]:
        """The field, and whether more than white space has come."""
        return {"field": self._field.name, "begun": self.plain}

    @classmethod
    def from_state(cls, core: RecoveringTokenizer, state: dict[str, Any]) -> Talking:
        """From what :meth:`state` gave."""
        return cls(core, core.template.fields[state["field"]], begun=state["begun"])


class Parting:
    """The end of the turn was seen inside a region of text: it ends the region unless more text follows."""

    name = "parting"
    plain = False

    def __init__(self, core: RecoveringTokenizer, field: Field, held: str) -> None:
        self.core = core
        self._field = field
        self._held = Body()
        self._held.append(held)
        self.watched = core.watches.talking(field)

    def take(self, text: str, seen: Seen | None) -> None:
        """More text shows that the region goes on, and so does its close; another delimiter that it has ended."""
        if text.strip() or (seen is not None and seen.what == "close") or self._held.size > self.core.hold_limit:
            talking = Talking(self.core, self._field, begun=True)
            self.core.go(talking)
            talking.take(self._held.text() + text, seen)
            return
        self._held.append(text)
        if seen is not None:
            self._held.append(seen.text)
            self.end()

    def end(self) -> bool:
        """The region ends where the turn ended."""
        self.core.writer.end_unclosed(closed=False)
        self.core.outside()
        self.core.read_again(self._held.text())
        return False

    def state(self) -> dict[str, Any]:
        """The field and the held text."""
        return {"field": self._field.name, "held": self._held.text()}

    @classmethod
    def from_state(cls, core: RecoveringTokenizer, state: dict[str, Any]) -> Parting:
        """From what :meth:`state` gave."""
        return cls(core, core.template.fields[state["field"]], state["held"])
