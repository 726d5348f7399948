"""Calls whose name stands outside their arguments: the head with name and id, and the marks around call and section.

What teaches what: the probe's name and id show where they stand; one call against two shows what the head begins with,
what belongs to all calls, and which parts of a head change from call to call (an index, say).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from streamparse.infer.compare import common_prefix, is_mark
from streamparse.infer.conversation import FIRST, SECOND, Call
from streamparse.infer.tools.observe import Observed, slots, surroundings
from streamparse.infer.tools.reading import (
    BEFORE_OBJECT,
    Reading,
    Surroundings,
    anything_but,
    call_transform,
    closing_keys,
    flexible,
    noise,
    varying,
)


@dataclass(frozen=True)
class Body:
    """Where a call's arguments begin and end in a turn."""

    start: int
    end: int


@dataclass(frozen=True)
class NamedCall:
    """How a call with a name outside its arguments is set off."""

    around: Surroundings
    opening: str
    keys: dict[str, Any]
    identifier: str | None

    def reading(self, construct: str, arguments: dict[str, Any], markers: dict[str, str] | None = None) -> Reading:
        """The reading, given how the arguments are parsed (``content`` and ``content_args``)."""
        around = self.around
        transform = call_transform("{name}", "{content}", self.identifier)
        field = {**self.keys, **arguments, "repeats": True, "transform": transform}
        before_first = around.section_open if around.call_open.strip() else ""
        named = {
            "section open": around.section_open,
            "call open": around.call_open,
            **(markers or {}),
            "call close": around.call_close,
            "between calls": around.separator,
            "section close": around.section_close,
        }
        loose = noise(before_first, around.section_close)
        beyond = "the close repeats the call's name" if FIRST.name in around.call_close else ""
        return Reading(construct, field, loose, self.opening.lstrip(), named, beyond=beyond)


def named_call(
    observed: Observed,
    body: Body,
    bodies: tuple[Body, Body] | None,
    followers: Sequence[str],
    *,
    argument_close: str = "",
) -> NamedCall | None:
    """What sets a call off, given where its arguments are in the turn with one call and in that with two (None: not
    seen).

    ``followers`` are what may come right behind the head; ``argument_close`` belongs to the last argument, not to the
    call.
    """
    start = _first_slot(observed.one, FIRST)
    head = _head(observed.one, FIRST, start, body.start) if 0 <= start <= body.start else None
    if head is None:
        return None
    between, other = None, None
    if observed.two is not None and bodies is not None:
        second = _first_slot(observed.two, SECOND)
        if bodies[0].end <= second <= bodies[1].start:
            between = observed.two[bodies[0].end : second]
            other = _head(observed.two, SECOND, second, bodies[1].start)
    around = surroundings(observed.one[:start], between, observed.one[body.end :], observed.ends)
    close = around.call_close[len(common_prefix([argument_close, around.call_close])) :]
    around = replace(around, call_close=close)
    opening = next((text for text in (around.call_open, around.section_open, around.separator) if text.strip()), "")
    pattern = _head_pattern(opening, head, other, followers)
    again = flexible(opening.strip())
    identifier = "{id}" if "id" in head.kinds or FIRST.id in close else None
    return NamedCall(
        around, opening, {"open_pattern": pattern, **closing_keys(around, observed.ends, again)}, identifier
    )


@dataclass(frozen=True)
class _Head:
    """A call's head: the texts around its slots, and what each slot holds (``name`` or ``id``)."""

    texts: tuple[str, ...]
    kinds: tuple[str, ...]


def _first_slot(text: str, call: Call) -> int:
    """Where a call's name or id stands first; -1 if neither does."""
    places = slots(text, {call.name: "name", call.id: "id"})
    return places[0][0] if places else -1


def _head(text: str, call: Call, start: int, body: int) -> _Head | None:
    """The head of a call between two places of a text; None if the name is not in it."""
    found = [slot for slot in slots(text, {call.name: "name", call.id: "id"}) if start <= slot[0] and slot[1] <= body]
    if not any(kind == "name" for _, _, kind in found):
        return None
    edges = [start, *(edge for slot in found for edge in slot[:2]), body]
    texts = tuple(text[edges[at] : edges[at + 1]] for at in range(0, len(edges), 2))
    return _Head(texts, tuple(kind for _, _, kind in found))


def _head_pattern(opening: str, head: _Head, other: _Head | None, followers: Sequence[str]) -> str:
    """The pattern of a head; ``other``, that of another call, tells what varies. The last name and the first id
    count.
    """
    captured = {len(head.kinds) - 1 - head.kinds[::-1].index("name")}
    captured |= {head.kinds.index("id")} if "id" in head.kinds else set()
    comparable = other is not None and other.kinds == head.kinds
    pattern = flexible(opening.lstrip())
    for at, kind in enumerate(head.kinds):
        behind = head.texts[at + 1]
        stops = [behind] if behind else []
        if at == len(head.kinds) - 1:
            stops += [text for text in followers if not behind.strip() or not text.startswith(behind)]
        one = anything_but(*stops, *["\n"] * any("\n" in stop for stop in stops))
        one = one if pattern else r"[\w.\-]"
        pattern += f"(?P<{kind}>{one}+)" if at in captured else f"{one}*"
        pattern += varying(behind, other.texts[at + 1]) if comparable and other is not None else flexible(behind)
    ends_line = not head.texts[-1].strip() and "\n" in head.texts[-1] and list(followers) == ["{"]
    pattern = pattern.removesuffix(r"\s*") + (r"\n" if ends_line else "")
    return pattern if is_mark(opening) or list(followers) != ["{"] else pattern + BEFORE_OBJECT
