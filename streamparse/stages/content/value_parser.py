"""The argument ``value_parser`` of ``xml-inline`` and ``kv-lines``: a content parser for each value of a dictionary.

In comes ``{"name": …, "args": {…}}`` (or nothing, then values stay text); out goes a function from text to value. Where
the caller asks for it, values remember the text they were read from: that is what ``SourcedDict`` is for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from streamparse.errors import ContentError, Fault, LimitError, ParseError
from streamparse.stages.content.table import (
    CONTENT_PARSERS,
    MAX_NESTED_PARSERS,
    Findings,
    Parse,
    Preparation,
    check_content,
    kind_of,
    strips,
)


class SourcedDict(dict[str, Any]):
    """A dictionary of parsed values whose ``sources`` hold the texts that some of them were read from.

    It equals, prints and encodes as any dictionary. A key is in ``sources`` where the format doesn't say what type its
    value has: a text between tags that may be a number, or ``90210`` read as a number by a parser that guesses. A key
    that is missing there has a value whose type the format says, such as a JSON string. ``typed`` has the keys whose
    type the format says although their text is kept (``string="false"``). Where repeated keys were collected, the
    entry is a list beside the list of values, with None for a value whose type is known.
    """

    __slots__ = ("sources", "typed")

    def __init__(self) -> None:
        super().__init__()
        self.sources: dict[str, str | list[str | None]] = {}
        self.typed: set[str] = set()


class ValueParser:
    """Parses the values of a dictionary-shaped content parser, and tells which texts are worth remembering."""

    __slots__ = ("_guesses", "_parse", "_rescue", "_strip", "keep_source", "parses")

    def __init__(self, specification: Any, preparation: Preparation) -> None:
        self.keep_source = preparation.keep_source
        self._parse: Parse | None = None
        self._rescue: Parse | None = None
        self.parses = specification is not None
        self._strip = self._guesses = False
        if isinstance(specification, Mapping):
            given = specification.get("args", {})
            arguments = given if isinstance(given, Mapping) else {}
            name = specification.get("name", "text")
            self._parse = prepare_nested(name, arguments, preparation)
            if (rescue := preparation.rescue) is not None and isinstance(name, str):
                self._rescue = lambda text: rescue(name, arguments, text)
            self._guesses = bool(arguments.get("allow_non_json"))
            self._strip = strips(arguments) and not (self.keep_source and self._guesses)

    def parse(self, text: str, position: int | None) -> Any:
        """Parse one value, which stands at ``position`` in its region; raises what its content parser raises.

        In the lenient modes a text that a guessing parser leaves as it is keeps the white space at its edges.
        """
        if self._parse is None:
            return text
        try:
            value = self._parse(text)
        except ParseError as error:
            if self._rescue is not None and isinstance(error, ContentError):
                return self._rescue(text)
            if position is None or error.position is None:
                raise
            raise moved(error, position) from None
        return text if self.keep_source and self._guesses and value == text.strip() else value

    def source(self, text: str, value: Any) -> str | None:
        """Give the text that ``value`` was read from, or None where the value says the same."""
        if not self.parses:
            return text
        source = text.strip() if self._strip else text
        differs = self._guesses and value != source if isinstance(value, str) else True
        return source if differs else None


def moved(error: ParseError, offset: int) -> ParseError:
    """Make the same error with its position counted from ``offset`` characters earlier."""
    position = offset + (error.position or 0)
    if isinstance(error, LimitError):
        return LimitError(error.reason, limit=error.limit, position=position)
    return ContentError(error.reason, position=position, excerpt=error.excerpt)


def prepare_nested(name: Any, arguments: Mapping[str, Any], preparation: Preparation) -> Parse:
    """Prepare the parser of a ``value_parser``; one that there isn't, or too deep a nesting, fails when it is used."""
    parser = CONTENT_PARSERS.get(name) if isinstance(name, str) else None
    if parser is None:
        return failing(f"there is no content parser {name!r} (value_parser)")
    if preparation.depth >= MAX_NESTED_PARSERS:
        return failing(f"value_parser is nested more than {MAX_NESTED_PARSERS} levels deep")
    return parser.prepare(arguments, replace(preparation, depth=preparation.depth + 1, keep_source=False))


def failing(reason: str) -> Parse:
    """Make a parse function that always fails, for the ``reason`` that was known when the template was loaded."""

    def parse(_text: str) -> Any:
        raise ContentError(reason)

    return parse


def check_value_parser(specification: Any, path: str, depth: int) -> Findings:
    """Check a ``value_parser``: errors where no value could be parsed, warnings for what is ignored or may fail."""
    if specification is None:
        return [], []
    if not isinstance(specification, Mapping):
        return [Fault(path, f"must be an object with name and args, not {kind_of(specification)}")], []
    unknown = [
        Fault(f"{path}.{key}", f"{key!r} is not a part of value_parser and is ignored")
        for key in specification
        if key not in ("name", "args")
    ]
    name = specification.get("name", "text")
    if not isinstance(name, str) or name not in CONTENT_PARSERS:
        available = ", ".join(sorted(CONTENT_PARSERS))
        missing = Fault(
            f"{path}.name", f"there is no content parser {name!r}, so values will fail; there are {available}"
        )
        return ([], [missing, *unknown]) if name is None or isinstance(name, str) else ([missing], unknown)
    if depth >= MAX_NESTED_PARSERS:
        return [Fault(path, f"value_parser is nested more than {MAX_NESTED_PARSERS} levels deep")], unknown
    errors, warnings = check_content(name, specification.get("args", {}), f"{path}.args", depth + 1)
    return errors, unknown + warnings
