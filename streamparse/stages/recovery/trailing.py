"""The value of a structured region is whole, and the region's close, or something else, follows.

Models forget the close, write another one, or go on talking first. What follows is held until it is clear: where the
close comes after all, it belongs to the region; where anything else comes, the region ended with its value. In a field
whose regions end with their values, the first word of anything else is enough to tell.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from streamparse.stages.body import Body
from streamparse.stages.recovery.mode import Seen, structure_of
from streamparse.stages.recovery.next_call import may_become_next_call, next_call
from streamparse.stages.structure import Structure
from streamparse.template.model import Field

if TYPE_CHECKING:
    from streamparse.stages.recovery.tokenizer import RecoveringTokenizer

STRAY = re.compile(r"(?:\s*+(?:</[^\s<>]*+(?:>|\Z)|<[|｜][^\s<>]*+(?:(?<=[|｜])>|\Z)|[\]}]|```))*+\s*+")
"""Closing tags, marks, brackets and fences right behind a value, whole or cut off: a close that went wrong."""

STRAY_IN_FENCE = re.compile(STRAY.pattern.replace("|```", ""))
"""The same where the text has a fence open, which is for the text to close."""

STRAY_BRACKETS = re.compile(r"[\s\]}]*+")
STRAY_PARENTHESES = re.compile(r"[\s\]})]*+")


class Trailing:
    """Holds what follows a value of ``size`` characters, which have been given out; ``reader`` has read all of it."""

    name = "trailing"
    plain = False

    def __init__(self, core: RecoveringTokenizer, field: Field, reader: Structure, size: int) -> None:
        self.core = core
        self._field = field
        self.reader = reader
        self._size = size
        self._stray = self._stray_of(field)
        self._held = Body()
        self.watched = core.watches.calling(field)

    def _stray_of(self, field: Field) -> re.Pattern[str]:
        """What a call of the field may leave behind its value: only what may belong to it, and not to the text."""
        if field.policy.ends_with_value:
            return STRAY_PARENTHESES if field.content == "python-call-list" else STRAY_BRACKETS
        return STRAY_IN_FENCE if self.core.prose.in_fence else STRAY

    def hold(self, held: str, seen: Seen | None) -> None:
        """What came with the value's end."""
        self._held.append(held)
        self._decide(held, seen)

    def take(self, text: str, seen: Seen | None) -> None:
        """Hold, until a delimiter decides or the value turns out to go on."""
        if text:
            self._held.append(text)
            self.reader.feed(text)
        self._decide(text, seen)

    def end(self) -> bool:
        """The close never came."""
        self._end_with_value(None)
        return False

    def state(self) -> dict[str, Any]:
        """The field, the held text, and what the reader knows."""
        return {
            "field": self._field.name,
            "reader": self.reader.snapshot(),
            "size": self._size,
            "held": self._held.text(),
        }

    @classmethod
    def from_state(cls, core: RecoveringTokenizer, state: dict[str, Any]) -> Trailing:
        """From what :meth:`state` gave."""
        field = core.template.fields[state["field"]]
        trailing = cls(core, field, structure_of(field), state["size"])
        trailing.reader.restore(state["reader"])
        trailing._held.append(state["held"])
        return trailing

    def _decide(self, text: str, seen: Seen | None) -> None:
        core = self.core
        if self.reader.end != self._size:
            held = self._held.text()
            calling = core.call(self._field, self.reader, self._size)
            if not calling.take_read(held, seen) and seen is not None:
                calling.take("", seen)
        elif self._held.size > core.hold_limit or self._goes_on(text):
            if seen is not None or not may_become_next_call(self._field, self._held.text()):
                self._end_with_value(seen)
        elif seen is not None and seen.what == "close":
            if not self._begin_next(seen):
                self._close(seen)
                core.outside()
        elif seen is not None:
            self._end_with_value(seen)

    def _close(self, seen: Seen) -> None:
        writer, held = self.core.writer, self._held.text()
        if self._field.policy.ends_with_value and held.strip():
            writer.end_unclosed()
            writer.unclaimed(held + seen.text)
        else:
            writer.text(held, None)
            writer.close(seen.text, seen.captures)

    def _goes_on(self, text: str) -> bool:
        """Whether something else follows a value that ends its region."""
        return self._field.policy.ends_with_value and self._stray.fullmatch(text) is None

    def _begin_next(self, seen: Seen | None) -> bool:
        """Begin the next call of the same marks, if what is held begins one."""
        core, held = self.core, self._held.text()
        call = next_call(self._field, held) if held.strip() else None
        if call is None:
            return False
        core.writer.end_unclosed()  # as if closed: what follows shows that nothing of it is missing
        core.outside()
        if call.start:
            core.writer.unclaimed(held[: call.start])
        core.open(self._field, held[call.start : call.end], call.captures)
        core.call(self._field, structure_of(self._field), 0)
        core.read_again(held[call.end :] + (seen.text if seen is not None else ""))
        return True

    def _end_with_value(self, seen: Seen | None) -> None:
        if self._begin_next(seen):
            return
        core, held = self.core, self._held.text()
        core.writer.end_unclosed(closed=self._field.policy.ends_with_value, complete=True)
        core.outside()
        stray = held[: self._stray.match(held).end()]  # type: ignore[union-attr]
        if not stray.isspace():
            core.writer.unclaimed(stray)
            held = held[len(stray) :]
        core.read_next(held + (seen.text if seen is not None else ""))
