"""Reads the values of ``xml-inline`` while they are being written, as far as their type is known.

A value is text, to be given out as it comes; or it is JSON or text, which shows while it comes; or what it is shows
only at its end. ``TagValues.begin`` says which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from streamparse.formats import json_reader
from streamparse.formats.compact import string_body
from streamparse.formats.reader import NotCertain, TooDeep
from streamparse.stages.content import tag_parts as parts
from streamparse.stages.content.tag_scanner import KIND_GROUPS, after_line_break, tag_finder, without_line_break
from streamparse.stages.content.tag_shape import TagShape
from streamparse.stages.content.xml_inline import IS_TEXT
from streamparse.stages.deltas.document import CallDocument, Nothing
from streamparse.stages.deltas.places import Place, TextFate

PYTHON_SPACE = "".join(character for character in map(chr, range(0x3001)) if character.isspace())


class TagValue(Protocol):
    """The value of an open tag."""

    def take(self, text: str) -> None:
        """The next piece of its text."""

    @property
    def waits(self) -> str | None:
        """The characters that wait at the end of a piece, of which the others go out; None where nothing goes out."""

    def end(self) -> None:
        """It has ended."""


class Edge(NamedTuple):
    """White space that is dropped at one edge of a value: which characters, and how many of them (None: all).

    With ``line_break`` it is one line break, whether that is one character or two.
    """

    characters: str
    most: int | None
    line_break: bool = False


Edges = tuple[Edge, Edge]
"""What is dropped before and after a value."""

NOTHING = Edge("", None)
LINE_BREAK = Edge("\r\n", None, line_break=True)

JSON_NAMES = ("true", "false", "null", "NaN", "Infinity")
LONGEST_START = 16
"""How much of a value's start tells whether it is one of JSON's names."""


class TextValue:
    """Text that is given out as it comes; white space that may be dropped at its end waits for what follows."""

    def __init__(self, document: CallDocument, leading: Edge, trailing: Edge, waits: str) -> None:
        self._document = document
        self._leading = leading
        self._trailing = trailing
        self._waits = waits  # the characters that wait at the end; those that may be dropped are among them
        self._waiting: list[str] = []
        document.string_begins()

    def take(self, text: str) -> None:
        """Give out all but the white space at the end."""
        if self._leading.characters:
            text = self._without_leading(text)
            if not text:
                return
        body = text.rstrip(self._waits) if self._waits else text
        if body:
            self._document.piece(string_body("".join(self._waiting) + body))
            self._waiting.clear()
        if len(body) < len(text):
            self._waiting.append(text[len(body) :])

    @property
    def waits(self) -> str | None:
        """The white space that waits; None while some is being dropped, or waits already."""
        return None if self._leading.characters or self._waiting else self._waits

    def end(self) -> None:
        """Give out what waited and is not dropped."""
        kept = without_trailing("".join(self._waiting), self._trailing)
        if kept:
            self._document.piece(string_body(kept))
        self._document.string_ends()

    def _without_leading(self, text: str) -> str:
        characters, most, line_break = self._leading
        if line_break:
            text = "".join(self._waiting) + text
            self._waiting = [text] if text == "\r" else []
            if self._waiting:
                return ""  # a line feed may follow
            self._leading = NOTHING
            return text[after_line_break(text, 0) :]
        rest = text.lstrip(characters)
        dropped = len(text) - len(rest)
        if most is not None and dropped > most:
            rest, dropped = text[most:], most
        self._leading = NOTHING if rest else Edge(characters, None if most is None else most - dropped)
        return rest


def without_trailing(rest: str, edge: Edge) -> str:
    """Give the white space at the end of a value without what is dropped there."""
    if edge.line_break:
        return rest[: without_line_break(rest, 0, len(rest))]
    kept = rest.rstrip(edge.characters) if edge.characters else rest
    return kept if edge.most is None else rest[: max(len(kept), len(rest) - edge.most)]


class WholeValue:
    """A value whose type shows only at its end."""

    def __init__(self, values: TagValues, head: str, closing: str) -> None:
        self._values = values
        self._head = head
        self._closing = closing
        self._pieces: list[str] = []

    def take(self, text: str) -> None:
        """Nothing is given out yet."""
        self._pieces.append(text)

    @property
    def waits(self) -> None:
        """Nothing goes out."""

    def end(self) -> None:
        """Parse and cast it."""
        self._values.write_whole(self._head, self.text, self._closing)

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._pieces)


class JsonOrText:
    """A value that is text unless it is JSON: as soon as it can't be JSON any more, it is text."""

    def __init__(self, values: TagValues, head: str, closing: str, edges: Edges) -> None:
        self._values = values
        self._edges = edges
        self._whole = WholeValue(values, head, closing)
        self._start = ""
        self._reader = json_reader({}, scalars=True, handler=Nothing(), exact=True)
        self._text: TextValue | None = None

    def take(self, text: str) -> None:
        """Follow it as JSON while it may be."""
        if self._text is not None:
            self._text.take(text)
            return
        self._whole.take(text)
        try:
            self._reader.feed(text)
            self._start = (self._start + text).lstrip()[:LONGEST_START]
            is_open = may_be_json(self._start)
        except TooDeep:
            raise
        except NotCertain:
            is_open = False
        if not is_open:
            self._text = self._values.text_value(self._edges)
            self._text.take(self._whole.text)

    @property
    def waits(self) -> str | None:
        """The white space that waits, once it is known to be text."""
        return None if self._text is None else self._text.waits

    def end(self) -> None:
        """Where it may still be JSON, the content parser tells."""
        (self._text or self._whole).end()


def may_be_json(text: str) -> bool:
    """Whether a text that begins with a letter may still become one of JSON's names; any other text may be JSON.

    >>> may_be_json("nu"), may_be_json("no"), may_be_json("[no")
    (True, False, True)
    """
    return not text[:1].isalpha() or any(name.startswith(text) or text.startswith(name) for name in JSON_NAMES)


class TagValues:
    """Makes the values of one field's tags; ``parse`` is the field's content parser."""

    def __init__(
        self, document: CallDocument, shape: TagShape, arguments: Mapping[str, Any], parse: Any, *, lenient: bool
    ) -> None:
        self._document = document
        self._parse = parse
        self._lenient = lenient
        specification = arguments.get("value_parser")
        self._parser = None if specification is None else specification.get("name", "text")
        self._arguments: Mapping[str, Any] = {} if specification is None else specification.get("args") or {}
        keeps = self._parser is None or (lenient and bool(self._arguments.get("allow_non_json")))
        strips = not keeps and bool(self._arguments.get("strip", True))
        self._edges = _edges(shape, strips=strips)
        self._edges_of_text = _edges(shape, strips=False)
        says_kind = lenient and any(f"(?P<{group}>" in arguments["tag_pattern"] for group in KIND_GROUPS)
        self._tags = tag_finder(arguments["tag_pattern"], 1.0, kinds=True) if says_kind else None

    def begin(self, head: str, closing: str) -> TagValue:
        """The value of the member whose key has been written; ``head`` and ``closing`` are what stands around it."""
        written = self._document.arguments
        assert written is not None, "a tag's value is one of the arguments"
        place = written.place
        edges = self._edges
        kind = self._kind(head + closing)
        says_text = kind in IS_TEXT
        if says_text:
            edges = self._edges_of_text
        fate = TextFate.STAYS
        if place is not None:
            fate = place.text if says_text else place.untyped_text
        if fate is TextFate.SHOWS_AT_ITS_END or edges is None:
            return WholeValue(self, head, closing)
        if says_text or self._is_text(place):
            is_open = fate is TextFate.STAYS_UNLESS_JSON or not (says_text or kind is None)
            return JsonOrText(self, head, closing, edges) if is_open else self.text_value(edges)
        is_plain_json = self._parser == "json" and set(self._arguments) <= {"allow_non_json", "strip"}
        is_guessed = is_plain_json and self._arguments.get("allow_non_json")
        return JsonOrText(self, head, closing, edges) if is_guessed else WholeValue(self, head, closing)

    def _kind(self, tag: str) -> str | None:
        """What a tag says of its value's type."""
        return None if self._tags is None else next((found.kind for found in self._tags(tag)), None)

    def _is_text(self, place: Place | None) -> bool:
        """Whether a value is its text, because nothing else reads it or because the schema wants the text."""
        if self._parser in (None, "text"):
            return True
        return self._parser == "json" and place is not None and place.decides_text

    def text_value(self, edges: Edges) -> TextValue:
        """A value that is text."""
        leading, trailing = edges
        # Where a value's closing tag is missing, which may be mended, the next tag stands on the next line.
        waits = trailing.characters or ("\n" if self._lenient else "")
        return TextValue(self._document, leading, trailing, waits)

    def write_whole(self, head: str, text: str, closing: str) -> None:
        """Write the value of a tag that is there as a whole."""
        if closing in text:
            raise NotCertain
        for value in self._document.cast_members(self._parse(head + text + closing)).values():
            self._document.value(value)


def _edges(shape: TagShape, *, strips: bool) -> Edges | None:
    """What is dropped at the edges of a value; None where that is not just white space."""
    edges = [_edge(shape.before_value), _edge(shape.after_value)]
    if any(edge is None or edge.characters.strip() for edge in edges):
        return None
    leading, trailing = (Edge(PYTHON_SPACE, None) if strips else edge for edge in edges)
    assert leading is not None
    assert trailing is not None
    return leading, trailing


def _edge(run: parts.Edge) -> Edge | None:
    if run is None:
        return NOTHING
    if isinstance(run, parts.LineBreak):
        return LINE_BREAK
    characters = parts.members(run.chars)
    return None if characters is None or run.suffix else Edge("".join(characters), run.maximum)
