"""The region tokenizer of the lenient modes.

In and out as for the strict one (``regions.py``), but nothing is lost, and where delimiters alone mislead, structure
and what follows decide: text is then held, and may be read again under another reading. How much is held is limited,
and so is how much is read again, so that time stays linear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from streamparse.limits import DEFAULT_LIMITS, Limits
from streamparse.matching.plain import PlainText
from streamparse.matching.scanner import Match, Scanner
from streamparse.stages.recovery.aside import Aside
from streamparse.stages.recovery.beginning import Beginning
from streamparse.stages.recovery.calling import Calling
from streamparse.stages.recovery.doubting import Doubting
from streamparse.stages.recovery.marking import Marking
from streamparse.stages.recovery.mentioning import Mentioning
from streamparse.stages.recovery.mode import Mode, Seen
from streamparse.stages.recovery.opening import Opening
from streamparse.stages.recovery.outside import Outside
from streamparse.stages.recovery.prose import Prose
from streamparse.stages.recovery.quoting import Quoting
from streamparse.stages.recovery.talking import Parting, Talking
from streamparse.stages.recovery.trailing import Trailing
from streamparse.stages.recovery.watches import watches_of
from streamparse.stages.region_writer import Item, RegionWriter
from streamparse.stages.structure import Structure
from streamparse.template.model import Field, ResponseTemplate

MODES: dict[str, Any] = {
    mode.name: mode
    for mode in (
        Outside,
        Beginning,
        Mentioning,
        Opening,
        Talking,
        Parting,
        Aside,
        Calling,
        Doubting,
        Trailing,
        Marking,
        Quoting,
    )
}
_READ_AGAIN_FACTOR = 8
_NOWHERE: tuple[int, frozenset[str]] = (-1, frozenset())


@dataclass(slots=True)
class _Segment:
    """Text to be scanned next, from ``start`` on.

    With ``again`` it was scanned before, and follows what is written by the time when its turn comes; or it stands at
    a ``place``: a position, and the end of the text before it.
    """

    text: str
    start: int = 0
    again: bool = False
    place: tuple[int, str] | None = None

    def goes_back_over(self, text: str) -> bool:
        """Whether this is new text, with the given text right before it in the same piece."""
        start = self.start - len(text)
        return start >= 0 and not self.again and self.place is None and self.text.startswith(text, start)


class RecoveringTokenizer:
    """Splits a stream of text into regions, seeing through unclosed, quoted and half-written delimiters.

    ``tokens`` are delimiters that are only found where the model wrote their token, so that they are no quotations.
    """

    def __init__(
        self,
        template: ResponseTemplate,
        *,
        spans: bool = False,
        captures: bool = False,
        limits: Limits = DEFAULT_LIMITS,
        tokens: frozenset[str] = frozenset(),
    ) -> None:
        self.template = template
        self.tokens = tokens
        self.watches = watches_of(template)
        self.writer = RegionWriter(
            keep_all=True, spans=spans, captures=captures, limits=limits, context=template.context
        )
        self.hold_limit = limits.doubtful_text
        self._limits = limits
        self._read_again_left = _READ_AGAIN_FACTOR * limits.doubtful_text
        self._segments: list[_Segment] = []
        self._interrupted: Field | None = None
        self.prose = Prose()
        self.thought = Prose()
        """What stands before the present place in the region of text that is open."""
        self.cut_off = False
        """Whether the generation is known to be cut off; to be set before :meth:`finish`."""
        self._zero_width = _NOWHERE
        self.mode: Mode = Outside(self)
        self._scanner = Scanner(
            self.mode.watched.watch,
            limits.held_text,
            context=template.context,
            pattern_steps=limits.pattern_steps,
            pattern_seconds=limits.pattern_seconds,
        )

    def begin_unknown(self) -> None:
        """Say that there is no prefix, so that the generation may have begun inside a region."""
        if self.template.policy.starts_in is not None:
            self.go(Beginning(self, self.template.fields[self.template.policy.starts_in]))

    def feed_prefix(self, text: str) -> list[Item]:
        """The items of the prefix (what the prompt already has of the message); to be fed first."""
        self.writer.begin_prefix(len(text))
        items = self.feed(text)
        self.writer.end_prefix()
        return items

    def feed(self, text: str) -> list[Item]:
        """The items that the next piece of text decides."""
        released, match, text, resume = self._scanner.scan(text)
        if match is not None:
            self._take(released, match, text, resume)
        elif released:
            self.mode.take(released, None)
        if self._segments:
            self._read_segments()
        return self.writer.take_items()

    def plain_text(self) -> PlainText | None:
        """What the next pieces of text become if they are plain; None where they have to be fed in any case."""
        mode, scanner = self.mode, self._scanner
        if not scanner.idle or not mode.plain or not scanner.position:
            return None
        field = self.writer.plain_field
        return None if field is None else mode.watched.plain_text(field)

    def skip(self, text: str) -> None:
        """Text that was passed by as plain."""
        self._scanner.skip(text)
        self.writer.skip(text)
        if isinstance(self.mode, Calling | Outside | Talking):  # the modes that follow the text of their regions
            self.mode.skip(text)

    def finish(self) -> list[Item]:
        """The items that the end of the generation decides; every region is ended."""
        settled = False
        while not settled:
            released, match, text, resume = self._scanner.finish()
            if match is not None and not match.text and resume == len(text):
                match = None  # nothing opens or closes at the very end: everything ends there anyway
            self._take(released, match, text, resume)
            settled = match is None and not self._segments and self.mode.end()
            self._read_segments()
        del self.mode.core  # they hold each other, and of thousands that end none should wait for the garbage collector
        return self.writer.take_items()

    @property
    def held(self) -> int:
        """Characters held back because they may become part of a delimiter."""
        return self._scanner.held

    @property
    def may_hold(self) -> bool:
        """Whether text may still be held on suspicion; when too much was read again, delimiters count at face value."""
        return self._read_again_left > 0

    def go(self, mode: Mode) -> None:
        """Change the mode; what the scanner holds is read again under the new mode's watch."""
        if mode.watched is not self.mode.watched:
            if self._scanner.held:
                self._segments.append(_Segment(self._scanner.take_held()))
            self._scanner.switch(mode.watched.watch)
        self.mode = mode

    def outside(self) -> None:
        """Change to where no explicit region is open, or back to the region of text that a call interrupted."""
        if self._interrupted is None:
            self.go(Outside(self))
            return
        field, self._interrupted = self._interrupted, None
        self.open(field, "", {})
        self.talk(field)

    def say(self, text: str) -> None:
        """Give out text of the implicit field."""
        if text:
            self.prose.feed(text)
            self.writer.text(text, self.template.implicit)

    def mention(self, mark: str) -> None:
        """Give out a mark that is a word of the implicit field's text."""
        self.prose.mention(mark)
        self.writer.text(mark, self.template.implicit)

    def open(self, field: Field, delimiter: str, captures: dict[str, str]) -> None:
        """Open an explicit region."""
        self.prose.interrupt()
        if field.streams:
            self.thought.begin()
        self.writer.open(field, delimiter, captures)

    def interrupt(self, field: Field, text: str) -> None:
        """End a region of text for a call, whose open ``text`` is; the region goes on behind the call."""
        self.writer.end_unclosed()
        self.outside()
        self._interrupted = field
        self.read_next(text)

    def talk(self, field: Field) -> None:
        """Change to a region of text that has begun."""
        self.go(Talking(self, field, begun=True))

    def call(self, field: Field, reader: Structure, written: int) -> Calling:
        """Change to a structured region whose text so far the reader has read."""
        calling = Calling(self, field, reader, written)
        self.go(calling)
        return calling

    def forbid_zero_width(self) -> None:
        """Let no delimiter that takes no text be found right here."""
        self._scanner.forbid_zero_width_here()

    def read_next(self, text: str) -> None:
        """Read this text next: it was not looked at in the mode that is now.

        It mostly precedes what comes next in the same piece; to go back in that piece spares a copy of all of it.
        """
        if not text:
            return
        following = self._segments[-1] if self._segments else None
        if following is not None and following.goes_back_over(text):
            following.start -= len(text)
            following.again = True
        else:
            self._segments.append(_Segment(text, again=True))

    def read_again(self, text: str) -> None:
        """Read this text next, which was held under a reading that did not come true."""
        self._read_again_left -= len(text)
        self.read_next(text)

    def snapshot(self) -> dict[str, Any]:
        """The state as JSON-able data."""
        return {
            "mode": self.mode.name,
            "mode_state": self.mode.state(),
            "scanner": self._scanner.snapshot(),
            "writer": self.writer.snapshot(),
            "read_again_left": self._read_again_left,
            "interrupted": None if self._interrupted is None else self._interrupted.name,
            "prose": self.prose.state(),
            "thought": self.thought.state(),
            "zero_width": [self._zero_width[0], sorted(self._zero_width[1])],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that :meth:`snapshot` gave."""
        self.mode = MODES[state["mode"]].from_state(self, state["mode_state"])
        self._scanner.switch(self.mode.watched.watch)
        self._scanner.restore(state["scanner"])
        self.writer.restore(state["writer"], self.template.fields)
        self._read_again_left = state["read_again_left"]
        interrupted = state["interrupted"]
        self._interrupted = None if interrupted is None else self.template.fields[interrupted]
        self.prose.restore(state["prose"])
        self.thought.restore(state["thought"])
        self._zero_width = (state["zero_width"][0], frozenset(state["zero_width"][1]))

    def _read_segments(self) -> None:
        segments, scanner, writer = self._segments, self._scanner, self.writer
        while segments:
            segment = segments.pop()
            if not scanner.idle:
                pass  # what was read before this may be the beginning of a delimiter: this goes on behind it
            elif segment.place is not None:
                self._rewind(*segment.place)
            elif segment.again:
                self._rewind(writer.written, writer.before)
            self._take(*scanner.scan(segment.text, segment.start))

    def _rewind(self, position: int, before: str) -> None:
        """Go back to a place; what took no text there is not found there again in a mode that has been there."""
        self._scanner.rewind(position, before)
        if position == self._zero_width[0] and self.mode.name in self._zero_width[1]:
            self._scanner.forbid_zero_width_here()

    def _take(self, released: str, match: Match | None, text: str, resume: int) -> None:
        """Let the mode take what was scanned; what follows the match is read next."""
        if match is None:
            if released:
                self.mode.take(released, None)
            return
        if resume < len(text):
            self._segments.append(_Segment(text, resume))
        mode = self.mode
        what, field = mode.watched.actions[match.index]
        if what == "part":
            self._take_part(released, Seen("close", field, match.text, match.captures), (match.start, match.before))
            return
        if not match.text and what == "open" and mode.name != Outside.name:
            # an open that takes no text, such as a lookahead for JSON, says nothing inside another region
            if released:
                mode.take(released, None)
            if self.mode is mode:
                self._scanner.forbid_zero_width_here()
            return
        mode.take(released, Seen(what, field, match.text, match.captures))
        if not match.text:
            self._guard_progress(match.start, mode, opened=what == "open")

    def _take_part(self, released: str, part: Seen, place: tuple[int, str]) -> None:
        """A part of a close is text where only what follows a value tells that it has ended, and a close elsewhere."""
        depth, watched = len(self._segments), self.mode.watched
        if released:
            self.mode.take(released, None)
        mode = self.mode
        if mode.watched is not watched:
            self._segments.insert(depth, _Segment(part.text, place=place))
        elif isinstance(mode, Calling | Doubting | Trailing) and not mode.reader.open_ended:
            mode.take("", part)
        else:
            mode.take(part.text, None)

    def _guard_progress(self, position: int, came_from: Mode, *, opened: bool) -> None:
        """After a zero-width match: never come twice through the same mode at one position, nor open twice there."""
        if self._zero_width[0] != position:
            self._zero_width = (position, frozenset({came_from.name}))
        names = self._zero_width[1]
        if opened or self.mode.name in names:
            self._scanner.forbid_zero_width_here()
        self._zero_width = (position, names | {self.mode.name})
