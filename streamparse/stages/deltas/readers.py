"""The table in which the reader of each content parser is found, for the deltas of its regions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from streamparse.formats import calls_reader, json_reader
from streamparse.formats.bracket_grammar import Tolerates
from streamparse.stages.content.json_dialect import string_delimiters
from streamparse.stages.deltas.document import CallDocument
from streamparse.stages.deltas.lines_reader import LinesReader
from streamparse.stages.deltas.tag_values import TagValues
from streamparse.stages.deltas.tags_reader import TagsReader
from streamparse.stages.structure.tag_outline import tag_outline
from streamparse.template.model import Field
from streamparse.template.policy import Reading


class Reader(Protocol):
    """Follows a region's text and tells a ``CallDocument`` the parts of its value."""

    def feed(self, text: str) -> None:
        """Follow the next piece of text; raises NotCertain where it can't be followed."""

    def finish(self) -> None:
        """The text has ended; raises NotCertain where that leaves the value open."""


MakeReader = Callable[[Reading, CallDocument, bool, Tolerates], Reader | None]
"""A reading, the document, whether reading is lenient, and what is tolerated, to a new reader.

None where only the whole text tells.
"""


def readings_of(field: Field, *, lenient: bool) -> tuple[Reading, ...]:
    """How a field's text is read, and, in the lenient modes, how it is read where that fails."""
    parse = field.parse_with_source if lenient else field.parse
    own = Reading(field.content, field.content_arguments, parse)
    return (own, *field.policy.alternatives) if lenient else (own,)


def json_parts(reading: Reading, document: CallDocument, lenient: bool, tolerates: Tolerates) -> Reader | None:
    """The reader of ``json``. Strictly, text that need not be JSON is not followed: arguments may be any text then."""
    arguments = reading.arguments
    if arguments.get("allow_non_json") and not lenient:
        return None
    delimiters = string_delimiters(arguments.get("string_delims", ()))
    if not all(opening and closing for opening, closing in delimiters):
        return None
    return json_reader(arguments, scalars=True, handler=document, tolerates=tolerates, exact=not lenient)


def call_list_parts(reading: Reading, document: CallDocument, lenient: bool, tolerates: Tolerates) -> Reader:
    """The reader of ``python-call-list``."""
    return calls_reader(reading.arguments, handler=document, tolerates=tolerates, exact=not lenient)


def tags_reader(reading: Reading, document: CallDocument, lenient: bool, _tolerates: Tolerates) -> Reader | None:
    """The reader of ``xml-inline``; where repeated keys are collected, or the shape is unknown, there is none."""
    arguments = reading.arguments
    outline = tag_outline(arguments.get("tag_pattern", ""))
    if outline is None or arguments.get("merge_duplicates") or not document.takes_arguments:
        return None
    if outline.shape.before_value is not None and outline.shape.before_value.minimum:
        return None
    values = TagValues(document, outline.shape, arguments, reading.parse, lenient=lenient)
    return TagsReader(document, values, outline, lenient=lenient)


def lines_reader(reading: Reading, document: CallDocument, _lenient: bool, _tolerates: Tolerates) -> Reader | None:
    """The reader of ``kv-lines``."""
    separator = reading.arguments.get("line_sep", "\n")
    return LinesReader(document, reading.parse, separator) if separator and document.takes_arguments else None


TOLERANT = frozenset({"json", "python-call-list"})
"""The content parsers whose readers go on where the text leaves the grammar, if that is tolerated."""

READERS: dict[str, MakeReader] = {
    "json": json_parts,
    "python-call-list": call_list_parts,
    "xml-inline": tags_reader,
    "kv-lines": lines_reader,
}
"""The readers by the name of the content parser whose text they follow."""
