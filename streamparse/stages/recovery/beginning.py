"""A generation whose prompt is not known may begin inside a region: models whose prompt opens their reasoning.

What comes first is held until a delimiter tells: the region's close shows that it began inside, anything else that not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamparse.stages.body import Body
from streamparse.stages.recovery.mode import Seen
from streamparse.template.model import Field

if TYPE_CHECKING:
    from streamparse.stages.recovery.tokenizer import RecoveringTokenizer


class Beginning:
    """The first mode where the template says that generations start in a field, and there is no prefix."""

    name = "beginning"
    plain = False

    def __init__(self, core: RecoveringTokenizer, field: Field, held: str = "") -> None:
        self.core = core
        self._field = field
        self._held = Body()
        self._held.append(held)
        self.watched = core.watches.beginning(field)

    def take(self, text: str, seen: Seen | None) -> None:
        """Hold until a delimiter comes, or the limit."""
        core = self.core
        self._held.append(text)
        if seen is not None and seen.what == "close":
            core.open(self._field, "", {})
            core.talk(self._field)
            core.read_again(self._held.text() + seen.text)
        elif seen is not None or self._held.size > core.hold_limit:
            core.outside()
            core.read_again(self._held.text() + (seen.text if seen is not None else ""))

    def end(self) -> bool:
        """Nothing told: the generation did not begin inside."""
        self.core.outside()
        self.core.read_again(self._held.text())
        return False

    def state(self) -> dict[str, Any]:
        """The field and the held text."""
        return {"field": self._field.name, "held": self._held.text()}

    @classmethod
    def from_state(cls, core: RecoveringTokenizer, state: dict[str, Any]) -> Beginning:
        """From what :meth:`state` gave."""
        return cls(core, core.template.fields[state["field"]], state["held"])
