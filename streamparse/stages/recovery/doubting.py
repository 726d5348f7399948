"""A delimiter was seen inside a value of a structured region: part of the value, or the end of one never ended.

Text is held from that delimiter on until the structure decides: if the value goes on and the region closes where its
structure allows, the delimiter was part of the value; if what follows can't belong to the value, it was the region's
end.

An open delimiter that a call follows is the beginning of the next call, or a call that the value quotes. Where values
have escapes, their quotes tell. In tags, the marks of that call end nothing of the value around it, which goes on after
the call if it was quoted; if nothing ever ends the value, the call was the next one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamparse.stages.body import Body
from streamparse.stages.recovery.mode import Seen, has_token, structure_of
from streamparse.stages.structure import Structure
from streamparse.template.model import Field

if TYPE_CHECKING:
    from streamparse.stages.recovery.tokenizer import RecoveringTokenizer

# Values written in tags have no escapes: there, a close that is followed by what follows a region is the region's end.
_SETTLED_BY_WHAT_FOLLOWS = frozenset({"xml-inline", "kv-lines"})


class Doubting:
    """Holds from the first doubtful delimiter on; ``latest`` is a close with only white space after it, so far."""

    name = "doubting"
    plain = False

    def __init__(self, core: RecoveringTokenizer, field: Field, reader: Structure, first: Seen, written: int) -> None:
        self.core = core
        self._field = field
        self.reader = reader
        self._first = first
        self._written = written
        self._held = Body()
        self._latest: tuple[int, Seen] | None = None
        # The reader of a call that began inside the value, where in the held text its own text begins, and the value's
        # reader as it was there: that one takes the call for blanks, until it turns out to be none.
        self._inner: Structure | None = None
        self._inner_start = 0
        self._before_inner: Structure | None = None
        self._tolerances = reader.tolerances
        self.watched = core.watches.calling(field)
        self._hold_delimiter(first)

    def take(self, text: str, seen: Seen | None) -> None:
        """Hold, and decide where the structure does."""
        if text:
            self._held.append(text)
            self._follow(text)
            if text.strip():
                self._latest = None
        # what goes wrong after the delimiter shows that it was one: the value was never ended
        failed = self.reader.tolerances > self._tolerances or self.reader.broken_inside
        if failed or self._held.size > self.core.hold_limit:
            self._end_at_first(seen)
        elif self.reader.end is not None:
            self._value_ends(seen)
        elif seen is not None:
            self._take_delimiter(seen)

    def end(self) -> bool:
        """No structure settled it: the latest close that nothing but white space follows was one, or else the first.

        Where the generation was cut off, it was cut off in the value, of which all this may be a part.
        """
        if self.core.cut_off:
            self.core.writer.text(self._held.text(), None)
            self.core.writer.end_unclosed(closed=False, complete=False)
            return True
        if self._latest is not None:
            self._end_at_latest(None)
        else:
            self._end_at_first(None)
        return False

    def state(self) -> dict[str, Any]:
        """The held text and what the reader knows."""
        latest = None if self._latest is None else [self._latest[0], self._latest[1].state()]
        return {
            "field": self._field.name,
            "reader": self.reader.snapshot(),
            "first": self._first.state(),
            "written": self._written,
            "held": self._held.text(),
            "latest": latest,
            "tolerances": self._tolerances,
            "inner": None if self._inner is None else self._inner.snapshot(),
            "inner start": self._inner_start,
            "before inner": None if self._before_inner is None else self._before_inner.snapshot(),
        }

    @classmethod
    def from_state(cls, core: RecoveringTokenizer, state: dict[str, Any]) -> Doubting:
        """From what :meth:`state` gave."""
        field = core.template.fields[state["field"]]
        doubting = cls(core, field, structure_of(field), Seen.from_state(core, state["first"]), state["written"])
        doubting.reader.restore(state["reader"])
        doubting._held.clear()
        doubting._held.append(state["held"])
        doubting._tolerances = state["tolerances"]
        doubting._inner = reader_from(field, state["inner"])
        doubting._inner_start = state["inner start"]
        doubting._before_inner = reader_from(field, state["before inner"])
        latest = state["latest"]
        doubting._latest = None if latest is None else (latest[0], Seen.from_state(core, latest[1]))
        return doubting

    def _follow(self, text: str) -> None:
        """Let the readers read the next piece."""
        if self._inner is None:
            self.reader.feed(text)
            return
        self._inner.feed(text)
        if self._inner.broken or self._inner.begins is False:
            assert self._before_inner is not None, "the value's reader as it was before the call"
            self.reader = self._before_inner
            self._inner = self._before_inner = None
            self.reader.feed(self._held.text()[self._inner_start :])
        else:
            self.reader.feed(" " * len(text))

    def _hold_delimiter(self, seen: Seen) -> None:
        in_tags = self._field.content in _SETTLED_BY_WHAT_FOLLOWS
        self._held.append(seen.text)
        if seen.what == "close" and self._inner is not None and not self._inner.inside:
            self._inner = self._before_inner = self._latest = None
            self.reader.feed(" " * len(seen.text))
            return
        self._latest = (self._held.size - len(seen.text), seen) if seen.what == "close" and in_tags else None
        self._follow(seen.text)
        if in_tags and self._inner is None and self.reader.inside and self._may_be_a_call(seen):
            self._inner, self._before_inner = structure_of(self._field), self.reader.copy()
            self._inner_start = self._held.size

    def _may_be_a_call(self, seen: Seen) -> bool:
        """Whether an open may be that of another call; where opens have tokens, that of the first one has to."""
        if seen.what != "open" or seen.field is not self._field:
            return False
        return not self.core.tokens or self._inner_start > 0 or has_token(self.core, seen)

    def _take_delimiter(self, seen: Seen) -> None:
        core = self.core
        if self._inner is not None:
            self._hold_delimiter(seen)
        elif not self.reader.inside:
            core.writer.text(self._held.text(), None)
            if seen.what == "close":
                core.writer.close(seen.text, seen.captures)
                core.outside()
            else:
                core.writer.end_unclosed(closed=False, complete=self.reader.complete)
                core.outside()
                core.read_next(seen.text)
        elif self._latest is not None and seen.what != "close":
            self._end_at_latest(seen)
        else:
            self._hold_delimiter(seen)

    def _value_ends(self, seen: Seen | None) -> None:
        """The value is whole: what was held is part of it, and the region goes on, or ends where its value ends."""
        core = self.core
        calling = core.call(self._field, self.reader, self._written)
        if not calling.take_read(self._held.text(), seen) and seen is not None:
            calling.take("", seen)

    def _end_at_first(self, seen: Seen | None) -> None:
        core, first, held = self.core, self._first, self._held.text()
        if first.what == "close":
            core.writer.close(first.text, first.captures)
            held = held[len(first.text) :]
        else:
            core.writer.end_unclosed(closed=False, complete=False)
        core.outside()
        core.read_again(held + (seen.text if seen is not None else ""))

    def _end_at_latest(self, seen: Seen | None) -> None:
        assert self._latest is not None, "there is a latest close"
        core, held = self.core, self._held.text()
        offset, close = self._latest
        core.writer.text(held[:offset], None)
        core.writer.close(close.text, close.captures, settled=True)
        core.outside()
        core.read_again(held[offset + len(close.text) :] + (seen.text if seen is not None else ""))


def reader_from(field: Field, state: dict[str, Any] | None) -> Structure | None:
    """Make a reader for the field's text, with the state that its ``snapshot`` gave; None for None."""
    if state is None:
        return None
    reader = structure_of(field)
    reader.restore(state)
    return reader
