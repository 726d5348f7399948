"""The region tokenizer: text in, regions out.

In: text, in any pieces. Out: ``region_open`` and ``region_chunk`` events as they happen, and a :class:`RegionEnd` for
each region that ends. The lenient modes have a tokenizer of their own (``recovery/``).

The rules (``docs/response-template.md``): in an explicit region only its own close is watched; elsewhere every open,
and the implicit field's close. An open ends the implicit region. An explicit region opens at its delimiter, the
implicit one with its first character.
"""

from __future__ import annotations

from typing import Any

from streamparse.limits import DEFAULT_LIMITS, Limits
from streamparse.matching.plain import PlainText
from streamparse.matching.scanner import Match, Scanner
from streamparse.stages.region_writer import Item, RegionWriter
from streamparse.template.model import ResponseTemplate

_NO_STATES: frozenset[str | None] = frozenset()


class RegionTokenizer:
    """Splits a stream of text into the regions of a response template; the arguments are those of the writer."""

    def __init__(
        self,
        template: ResponseTemplate,
        *,
        spans: bool = False,
        captures: bool = False,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._template = template
        self._writer = RegionWriter(keep_all=False, spans=spans, captures=captures, limits=limits)
        self._scanner = Scanner(
            template.idle.watch,
            limits.held_text,
            context=template.context,
            pattern_steps=limits.pattern_steps,
            pattern_seconds=limits.pattern_seconds,
        )
        self._watched = template.idle
        self._state: str | None = None
        self._discarding = False
        self._zero_width_at: int | None = None
        self._zero_width_states = _NO_STATES

    def feed_prefix(self, text: str) -> list[Item]:
        """The items of the prefix (what the prompt already has of the message); to be fed first."""
        self._writer.begin_prefix(len(text))
        items = self.feed(text)
        self._writer.end_prefix()
        return items

    def feed(self, text: str) -> list[Item]:
        """The items that the next piece of text decides."""
        if self._discarding:
            return []
        scanner, writer = self._scanner, self._writer
        released, match, text, resume = scanner.scan(text, 0)
        while True:
            writer.text(released, self._template.implicit)
            if match is None:
                break
            self._take_delimiter(match)
            if self._discarding:
                break
            released, match, text, resume = scanner.scan(text, resume)
        return writer.take_items()

    def plain_text(self) -> PlainText | None:
        """What the next pieces of text become if they are plain; None where they have to be fed in any case."""
        field = self._writer.plain_field
        if field is None or self._scanner.held or not self._scanner.position:
            return None
        return self._watched.plain_text(field)

    def skip(self, text: str) -> None:
        """Text that was passed by as plain."""
        self._scanner.skip(text)
        self._writer.skip(text)

    def finish(self) -> list[Item]:
        """The items that the end of the generation decides; every region is ended."""
        scanner, writer = self._scanner, self._writer
        while not self._discarding:
            released, match, text, resume = scanner.finish()
            writer.text(released, self._template.implicit)
            # as in transformers, nothing opens or closes at the very end: everything ends there anyway
            if match is None or (not match.text and resume == len(text)):
                writer.end_unclosed(closed=self._state is None)
                break
            while match is not None and not self._discarding:
                self._take_delimiter(match)
                released, match, text, resume = scanner.scan(text, resume)
                writer.text(released, self._template.implicit)
        return writer.take_items()

    @property
    def writer(self) -> RegionWriter:
        """What writes the regions; it knows where the generation stands and which region is open."""
        return self._writer

    @property
    def held(self) -> int:
        """Characters held back because they may become part of a delimiter."""
        return self._scanner.held

    def snapshot(self) -> dict[str, Any]:
        """The state as JSON-able data."""
        return {
            "state": self._state,
            "scanner": self._scanner.snapshot(),
            "writer": self._writer.snapshot(),
            "discarding": self._discarding,
            "zero_width_at": self._zero_width_at,
            "zero_width_states": sorted(self._zero_width_states, key=str),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state that :meth:`snapshot` gave."""
        self._enter(state["state"])
        self._scanner.restore(state["scanner"])
        self._writer.restore(state["writer"], self._template.fields)
        self._discarding = state["discarding"]
        self._zero_width_at = state["zero_width_at"]
        self._zero_width_states = frozenset(state["zero_width_states"])

    def _enter(self, state: str | None) -> None:
        """Go into the explicit region of a field, or, with None, to where the implicit field takes what comes."""
        self._state = state
        self._watched = self._template.idle if state is None else self._template.inside[state]
        self._scanner.switch(self._watched.watch)

    def _take_delimiter(self, match: Match) -> None:
        kind, field = self._watched.actions[match.index]
        writer, came_from = self._writer, self._state
        position, was_open = writer.position, writer.open_field is not None
        if kind == "open":
            writer.open(field, match.text, match.captures)
            self._enter(field.name)
        elif was_open:
            writer.close(match.text, match.captures)
            self._enter(None)
        else:
            writer.end_unclosed()
            writer.unclaimed(match.text)
        if not match.text:
            self._guard_progress(position, came_from, closed_nothing=kind == "close" and not was_open)

    def _guard_progress(self, position: int, came_from: str | None, *, closed_nothing: bool) -> None:
        """After a zero-width match: never come twice through the same state at one position.

        Where a zero-width close meets an implicit region that is not open, transformers stops for good and drops the
        rest; so does the strict mode, and so it must get there.
        """
        if closed_nothing:
            self._discarding = True
            return
        if self._zero_width_at != position:
            self._zero_width_at = position
            self._zero_width_states = frozenset([came_from])
            if came_from is None and self._state is None:
                return
        if self._state in self._zero_width_states:
            self._scanner.forbid_zero_width_here()
        self._zero_width_states |= {self._state}
