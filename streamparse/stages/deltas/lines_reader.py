"""Reads ``kv-lines`` line by line while the text is being written.

In: a region's text, in any pieces. Out: the lines as members of an object, to a ``CallDocument``. A line is read by the
content parser itself, once it is whole.
"""

from __future__ import annotations

from typing import Any

from streamparse.errors import ParseError
from streamparse.formats.reader import NotCertain
from streamparse.stages.deltas.document import CallDocument
from streamparse.stages.structure.literal import overlap


class LinesReader:
    """Follows lines that ``separator`` separates; ``parse`` is the field's content parser."""

    def __init__(self, document: CallDocument, parse: Any, separator: str) -> None:
        self._document = document
        self._parse = parse
        self._separator = separator
        self._line: list[str] = []
        self._held = ""
        document.begin("{")
        if document.arguments is None or not document.arguments.passes_on:
            raise NotCertain

    def feed(self, text: str) -> None:
        """Follow the next piece of text; raises NotCertain where it can't be followed."""
        text = self._held + text
        *lines, rest = text.split(self._separator)
        for line in lines:
            self._line.append(line)
            self._line_ends()
        cut = len(rest) - overlap(rest, self._separator)
        self._line.append(rest[:cut])
        self._held = rest[cut:]

    def finish(self) -> None:
        """The text has ended, and the last line with it."""
        self._line.append(self._held)
        self._line_ends()
        self._document.end()

    def _line_ends(self) -> None:
        line = "".join(self._line)
        self._line.clear()
        try:
            members = self._document.cast_members(self._parse(line))
        except ParseError:
            raise NotCertain from None
        for key, value in members.items():
            self._document.key(key)
            self._document.value(value)
