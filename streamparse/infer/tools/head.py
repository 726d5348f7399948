"""The head of a call whose name stands outside its arguments: a pattern that captures name and id.

What teaches what: the probe's name and id show where they stand; one call against two shows what the head begins with
and which parts of it change from call to call (an index, say).
"""

from __future__ import annotations

from dataclasses import dataclass

from streamparse.infer.conversation import FIRST, SECOND, Call
from streamparse.infer.tools.observe import Observed, slots
from streamparse.infer.tools.reading import anything_but, flexible, varying


@dataclass(frozen=True)
class Head:
    """A call's head: the texts around its slots, and what each slot holds (``name`` or ``id``)."""

    texts: tuple[str, ...]
    kinds: tuple[str, ...]

    @property
    def before(self) -> str:
        """What stands before the first slot."""
        return self.texts[0]


def head_of(text: str, call: Call, start: int, body: int) -> Head | None:
    """The head of a call between two places of a text; None if the name is not in it."""
    found = [slot for slot in slots(text, {call.name: "name", call.id: "id"}) if start <= slot[0] and slot[1] <= body]
    if not any(kind == "name" for _, _, kind in found):
        return None
    edges = [start, *(edge for slot in found for edge in slot[:2]), body]
    texts = tuple(text[edges[at] : edges[at + 1]] for at in range(0, len(edges), 2))
    return Head(texts, tuple(kind for _, _, kind in found))


def head_pattern(call_open: str, head: Head, other: Head | None, followers: list[str]) -> str:
    """The pattern of a head that begins with ``call_open``; ``followers`` are what may come right behind it.

    ``other`` is the head of another call, which tells what varies.
    """
    last_name = len(head.kinds) - 1 - head.kinds[::-1].index("name")
    first_id = head.kinds.index("id") if "id" in head.kinds else -1
    pattern = flexible(call_open.lstrip())
    for at, kind in enumerate(head.kinds):
        behind = head.texts[at + 1]
        same = other is not None and other.kinds == head.kinds
        literal = varying(behind, other.texts[at + 1]) if same and other is not None else flexible(behind)
        stops = [behind] if behind else []
        if at == len(head.kinds) - 1:
            stops += [text for text in followers if not behind.strip() or not text.startswith(behind)]
        one = anything_but(*stops, *(["\n"] if any("\n" in stop for stop in stops) else []))
        captured = at in (last_name, first_id)
        pattern += (f"(?P<{kind}>{one}+)" if captured else f"{one}*") + literal
    ends_line = bool(head.texts[-1]) and not head.texts[-1].strip() and followers == ["{"]
    return pattern.removesuffix(r"\s*") + (r"\n" if ends_line and "\n" in head.texts[-1] else "")


def second_start(observed: Observed) -> int:
    """Where the second call's first slot is in the turn with two calls; -1 if there is no such turn."""
    if observed.two is None:
        return -1
    places = slots(observed.two, {SECOND.name: "name", SECOND.id: "id"})
    return places[0][0] if places else -1


def first_start(observed: Observed) -> int:
    """Where the call's first slot is in the turn with one call."""
    return slots(observed.one, {FIRST.name: "name", FIRST.id: "id"})[0][0]

