"""The table in which the reader of each content parser is found, for the deltas of its regions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from streamparse.stages.content.json_dialect import string_delimiters
from streamparse.stages.deltas.call_list_reader import CallListReader
from streamparse.stages.deltas.document import CallDocument
from streamparse.stages.deltas.json_reader import JsonReader
from streamparse.stages.deltas.lines_reader import LinesReader
from streamparse.stages.deltas.tag_values import TagValues
from streamparse.stages.deltas.tags_reader import TagsReader
from streamparse.stages.structure.tag_outline import tag_outline
from streamparse.template.model import Field


class Reader(Protocol):
    """Follows a region's text and tells a ``CallDocument`` the parts of its value."""

    def feed(self, text: str) -> None:
        """Follow the next piece of text; raises NotCertain where it can't be followed."""

    def is_piece(self, text: str) -> bool:
        """Whether a text, which is not empty, is all inside the present string and stands for itself there."""

    def finish(self) -> None:
        """The text has ended; raises NotCertain where that leaves the value open."""


MakeReader = Callable[[Field, CallDocument, bool], Reader | None]
"""A field, the document, and whether reading is lenient, to a new reader; None where only the whole text tells."""


def json_reader(field: Field, document: CallDocument, lenient: bool) -> Reader | None:
    """The reader of ``json``; text that may be no JSON at all is not followed."""
    arguments = field.content_arguments
    if arguments.get("allow_non_json"):
        return None
    delimiters = string_delimiters(arguments.get("string_delims", ()))
    if not all(opening and closing for opening, closing in delimiters):
        return None
    return JsonReader(document, delimiters, unquoted_keys=bool(arguments.get("unquoted_keys")), lenient=lenient)


def call_list_reader(_field: Field, document: CallDocument, lenient: bool) -> Reader:
    """The reader of ``python-call-list``."""
    return CallListReader(document, lenient=lenient)


def tags_reader(field: Field, document: CallDocument, lenient: bool) -> Reader | None:
    """The reader of ``xml-inline``; where repeated keys are collected, or the shape is unknown, there is none."""
    arguments = field.content_arguments
    outline = tag_outline(arguments.get("tag_pattern", ""))
    if outline is None or arguments.get("merge_duplicates") or not document.takes_arguments:
        return None
    if outline.shape.before_value is not None and outline.shape.before_value.minimum:
        return None
    parse = field.parse_with_source if lenient else field.parse
    values = TagValues(document, outline.shape, arguments, parse, lenient=lenient)
    return TagsReader(document, values, outline, lenient=lenient)


def lines_reader(field: Field, document: CallDocument, lenient: bool) -> Reader | None:
    """The reader of ``kv-lines``."""
    separator = field.content_arguments.get("line_sep", "\n")
    if not separator or not document.takes_arguments:
        return None
    return LinesReader(document, field.parse_with_source if lenient else field.parse, separator)


READERS: dict[str, MakeReader] = {
    "json": json_reader,
    "python-call-list": call_list_reader,
    "xml-inline": tags_reader,
    "kv-lines": lines_reader,
}
"""The readers by the name of the content parser whose text they follow."""
