"""A response template as the parser uses it: checked, compiled, and shared by every parser that runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from streamparse.errors import Fault
from streamparse.limits import DEFAULT_LIMITS, Limits
from streamparse.matching.delimiter import Delimiter
from streamparse.matching.delimiter_set import DelimiterSet
from streamparse.matching.plain import PlainText
from streamparse.matching.prefilter import Prefilter, prefilter_of
from streamparse.template.policy import DEFAULT_FIELD_POLICY, DEFAULT_POLICY, FieldPolicy, Policy


@dataclass(frozen=True, eq=False)
class Field:
    """One field of the message: how its regions open and close, and how their text becomes a value."""

    name: str
    open: Delimiter | None
    close: Delimiter | None
    content: str
    content_arguments: dict[str, Any]
    parse: Callable[[str], Any]
    parse_with_source: Callable[[str], Any]
    streams: bool
    repeats: bool
    join: str | None
    optional: bool
    transform: Any
    transform_each: bool
    policy: FieldPolicy = DEFAULT_FIELD_POLICY
    limits: Limits = DEFAULT_LIMITS

    @cached_property
    def chunk(self) -> dict[str, Any]:
        """A ``region_chunk`` event of this field without its text; to be copied, never changed."""
        return {"type": "region_chunk", "field": self.name, "text": "", "dirty": not self.streams}


@dataclass(frozen=True, eq=False)
class Watched:
    """The delimiters looked for in one state; ``actions[i]`` says what a match of the i-th is, and of which field.

    ``marks`` are texts that are no delimiters, but that text must not be passed over with.
    """

    watch: DelimiterSet
    actions: tuple[tuple[str, Field], ...]
    marks: tuple[str, ...] = ()
    _plain_texts: dict[str, PlainText | None] = field(init=False, default_factory=dict)

    @cached_property
    def prefilter(self) -> Prefilter | None:
        """What these delimiters can begin with, where that is literal text and needs no look at what stands before.

        None where some have to be tried: what that costs is counted for all of the text.
        """
        return None if self.watch.context or self.watch.bounded else prefilter_of(self.watch.entries, self.marks)

    def plain_text(self, owner: Field) -> PlainText | None:
        """What plain text of a field becomes in this state; None where no text can be told to be plain."""
        if owner.name not in self._plain_texts:
            self._plain_texts[owner.name] = None if self.prefilter is None else PlainText(self.prefilter, owner.chunk)
        return self._plain_texts[owner.name]


@dataclass(frozen=True, eq=False, repr=False)
class ResponseTemplate:
    """A loaded response template.

    ``source`` is the JSON that it was loaded from, ``digest`` a hash of it, ``warnings`` what is legal but suspicious.
    ``idle`` is what is watched outside explicit regions; ``inside[name]`` what is watched in a region of that field;
    ``context`` is how many characters before a place its delimiters look at.
    """

    source: dict[str, Any]
    digest: str
    defaults: dict[str, Any]
    fields: dict[str, Field]
    implicit: Field | None
    start_anchor: Delimiter
    policy: Policy = DEFAULT_POLICY
    warnings: tuple[Fault, ...] = ()
    idle: Watched = field(init=False)
    inside: dict[str, Watched] = field(init=False)
    context: int = field(init=False)
    recovery_watches: Any = field(init=False, default=None)

    @property
    def name(self) -> str:
        """The name of a bundled template; of others what their fields are, for people to read."""
        from streamparse.template.bundled import name_of  # it reads all templates, so not before somebody asks

        return name_of(self.source) or f"template of {', '.join(self.fields)}"

    def __repr__(self) -> str:
        return f"<ResponseTemplate {self.name}>"

    def __post_init__(self) -> None:
        """Compile the watched delimiters: an open goes before a close, a lower field name before a higher one."""
        by_name = sorted(self.fields.values(), key=lambda candidate: candidate.name)
        idle = [("open", candidate, candidate.open) for candidate in by_name if candidate.open is not None]
        if self.implicit is not None and self.implicit.close is not None:
            idle.append(("close", self.implicit, self.implicit.close))
        inside = {
            candidate.name: watched([("close", candidate, candidate.close)] if candidate.close is not None else [])
            for candidate in by_name
            if candidate is not self.implicit
        }
        object.__setattr__(self, "idle", watched(idle))
        object.__setattr__(self, "inside", inside)
        context = max(state.watch.context for state in (self.idle, *inside.values()))
        object.__setattr__(self, "context", context)


def watched(entries: list[tuple[str, Field, Delimiter]], marks: tuple[str, ...] = ()) -> Watched:
    """The entries (what a match is, of which field, the delimiter) as something to scan for, in order of preference."""
    return Watched(
        DelimiterSet([delimiter for _, _, delimiter in entries]),
        tuple((what, owner) for what, owner, _ in entries),
        marks,
    )
