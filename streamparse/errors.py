"""The errors that streamparse raises, one small family.

    StreamparseError
    ├── TemplateError         a response template is faulty (also a ValueError)
    ├── ParseError            what a model wrote can't be read (also a ValueError)
    │   ├── ContentError      … by one content parser; position counts within that text
    │   └── LimitError        … within a limit that guards against hostile input
    ├── ArgumentError         an argument is of a wrong kind (also a ValueError)
    ├── PrefixError           the prompt was not given, or can't be used (also a ValueError)
    ├── SourceError           the source of a stream is of a wrong kind, or failed
    ├── SnapshotError         saved state is damaged, or belongs to another template
    ├── FinalizedError        a parser was used after its end (also a RuntimeError)
    ├── ChannelClosedError    something was sent into a channel that no longer takes anything
    └── StageError            a stage of a graph failed; the cause is chained

Messages say what was wrong, where, and what to do about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class StreamparseError(Exception):
    """The root of all errors that streamparse raises."""


@dataclass(frozen=True)
class Fault:
    """One thing wrong in a template: where (a dotted path such as ``fields.content.open``) and what."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class TemplateError(StreamparseError, ValueError):
    """A response template is faulty; ``faults`` lists everything that is wrong with it, not only the first."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = faults
        heading = (
            "the response template has a fault"
            if len(faults) == 1
            else f"the response template has {len(faults)} faults"
        )
        super().__init__(heading + "".join(f"\n  {fault}" for fault in faults))


class ParseError(StreamparseError, ValueError):
    """What a model wrote can't be read as its template says.

    ``field`` is the template's field (None where no field is concerned), ``position`` the character at which
    it went wrong (None where there is no such place), ``reason`` what went wrong there. ``events`` are those of the
    call that raised it which come before the fault: with what earlier calls gave they are the same events however the
    text was cut. Streams and the keyed operator have given them out by the time that the error comes.
    """

    def __init__(
        self, reason: str, *, field: str | None = None, position: int | None = None, excerpt: str = ""
    ) -> None:
        self.reason = reason
        self.field = field
        self.position = position
        self.excerpt = excerpt
        self.events: list[Any] = []
        where = [f"field {field!r}"] if field is not None else []
        where += [f"position {position}"] if position is not None else []
        message = f"{', '.join(where)}: {reason}" if where else reason
        super().__init__(f"{message} (near {excerpt!r})" if excerpt else message)


def events_before(error: BaseException) -> list[Any]:
    """The events that an error carries, in their order; none for other errors."""
    return error.events if isinstance(error, ParseError) else []


class ContentError(ParseError):
    """A content parser can't read its text; ``position`` counts characters within that text."""


class LimitError(ParseError):
    """A limit was reached; ``limit`` is its name. The message says how to raise it."""

    def __init__(self, reason: str, *, limit: str, field: str | None = None, position: int | None = None) -> None:
        self.limit = limit
        super().__init__(reason, field=field, position=position)


class ArgumentError(StreamparseError, ValueError):
    """An argument is not what it has to be."""


class PrefixError(StreamparseError, ValueError):
    """The prefix (the prompt) was not given, or can't be used."""


class SourceError(StreamparseError):
    """The source of a stream is of a wrong kind, or failed."""


class SnapshotError(StreamparseError):
    """Saved state is damaged, of a newer version, or belongs to another template."""


class FinalizedError(StreamparseError, RuntimeError):
    """A parser was used after its end."""


class ChannelClosedError(StreamparseError):
    """Something was sent into a channel whose end was declared, or whose receiver has gone."""


class StageError(StreamparseError):
    """A stage of a graph failed; ``stage`` is its name and the cause is chained."""

    def __init__(self, stage: str, cause: BaseException) -> None:
        self.stage = stage
        super().__init__(f"stage {stage!r} failed: {type(cause).__name__}: {cause}")
