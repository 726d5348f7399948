"""What the modes of the lenient tokenizer have in common: what they are given, and what they may ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from streamparse.formats import FORMATS
from streamparse.stages.recovery.either import EitherStructure
from streamparse.stages.recovery.terminators import terminators_of
from streamparse.stages.structure import Structure
from streamparse.template.model import Field, Watched

if TYPE_CHECKING:
    from streamparse.stages.recovery.tokenizer import RecoveringTokenizer


class Seen(NamedTuple):
    """A delimiter that was seen: what it is (see ``watches.py``), of which field, its text and its captures."""

    what: str
    field: Field
    text: str
    captures: dict[str, str]

    def state(self) -> list[Any]:
        """As JSON-able data."""
        return [self.what, self.field.name, self.text, self.captures]

    @classmethod
    def from_state(cls, core: RecoveringTokenizer, state: list[Any]) -> Seen:
        """From what :meth:`state` gave."""
        return cls(state[0], core.template.fields[state[1]], state[2], state[3])


def has_token(core: RecoveringTokenizer, seen: Seen) -> bool:
    """Whether a token that only delimiters are written with stands in it."""
    return bool(core.tokens) and any(token in seen.text for token in core.tokens)


class Mode(Protocol):
    """Where the tokenizer is: what is watched there, and what becomes of text and delimiters."""

    name: str
    watched: Watched
    core: RecoveringTokenizer

    @property
    def plain(self) -> bool:
        """Whether text without a delimiter is simply a chunk of the open region."""

    def take(self, text: str, seen: Seen | None) -> None:
        """Text that has no delimiter in it, and the delimiter that follows, if one does."""

    def end(self) -> bool:
        """The generation ends here. False where text was given back to be read again, which then ends again."""

    def state(self) -> dict[str, Any]:
        """The mode's own state as JSON-able data."""


def structure_of(field: Field) -> Structure:
    """A reader for the text of one region of the field, by whichever of its readings the text fits."""
    first = _reader(field, field.content, field.content_arguments)
    readings = (reading for reading in field.policy.alternatives if reading.content in FORMATS)
    others = [_reader(field, reading.content, reading.arguments) for reading in readings]
    return EitherStructure([first, *others]) if others else first


def _reader(field: Field, content: str, arguments: Mapping[str, Any]) -> Structure:
    return FORMATS[content].new_reader(arguments, terminators_of(field.close))
