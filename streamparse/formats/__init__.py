"""The structured content formats: ``FORMATS`` has the one reader of each by the name of its content parser.

``reader.py`` is the contract. In comes a region's text, in any pieces; out goes what is known of it so far.

>>> reader = FORMATS["json"].new_reader({}, ())
>>> reader.feed('{"a": "x')
>>> reader.begins, reader.inside, reader.complete
(True, True, False)
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from streamparse.formats.bracket_grammar import Grammar, Tolerates
from streamparse.formats.brackets import BracketReader
from streamparse.formats.reader import Format, Handler, MakeReader, Reader
from streamparse.formats.strings import PLAIN_QUOTES, Quote
from streamparse.stages.content import CONTENT_PARSERS
from streamparse.stages.content.json_dialect import string_delimiters
from streamparse.stages.structure.lines import LineStructure
from streamparse.stages.structure.tag_outline import tag_outline
from streamparse.stages.structure.tags import TagStructure

__all__ = ["FORMATS", "Format", "Handler", "MakeReader", "Reader", "calls_reader", "json_reader", "tags_reader"]


@lru_cache(64)
def _grammar(
    quotes: tuple[Quote, ...] = (),
    *,
    calls: bool = False,
    scalars: bool = False,
    brackets: bool = True,
    unquoted_keys: bool = False,
) -> Grammar:
    """The grammar with these ``quotes`` before the plain ones: the same one for all regions that are written so."""
    return Grammar(quotes + PLAIN_QUOTES, calls, scalars, brackets, unquoted_keys)


def json_reader(
    arguments: Mapping[str, Any],
    _ends: tuple[str, ...] = (),
    *,
    scalars: bool = False,
    handler: Handler | None = None,
    tolerates: Tolerates | None = None,
    exact: bool = False,
) -> BracketReader:
    """The reader of ``json``; only with ``scalars`` can a string, a number or a name be the whole value."""
    pairs = string_delimiters(arguments["string_delims"]) if "string_delims" in arguments else ()
    quotes = tuple(Quote(opening, closing, False) for opening, closing in pairs if opening and closing)
    grammar = _grammar(quotes, scalars=scalars, unquoted_keys=bool(arguments.get("unquoted_keys")))
    return BracketReader(grammar, handler, tolerates, exact=exact)


def calls_reader(
    arguments: Mapping[str, Any],
    _ends: tuple[str, ...] = (),
    *,
    handler: Handler | None = None,
    tolerates: Tolerates | None = None,
    exact: bool = False,
) -> BracketReader:
    """The reader of ``python-call-list``."""
    grammar = _grammar(calls=True, brackets=bool(arguments.get("brackets", True)))
    return BracketReader(grammar, handler, tolerates, exact=exact)


def tags_reader(arguments: Mapping[str, Any], ends: tuple[str, ...] = ()) -> Reader:
    """The reader of ``xml-inline``; ``ends`` are literals that come where the body ends."""
    outline = tag_outline(arguments.get("tag_pattern", ""))
    return LineStructure(None) if outline is None else TagStructure(outline, ends)


def lines_reader(arguments: Mapping[str, Any], _ends: tuple[str, ...] = ()) -> LineStructure:
    """The reader of ``kv-lines``."""
    return LineStructure(arguments.get("line_sep", "\n"))


def _format(name: str, new_reader: MakeReader) -> Format:
    parser = CONTENT_PARSERS[name]
    return Format(new_reader, parser.prepare, parser.check)


FORMATS: dict[str, Format] = {
    "json": _format("json", json_reader),
    "xml-inline": _format("xml-inline", tags_reader),
    "kv-lines": _format("kv-lines", lines_reader),
    "python-call-list": _format("python-call-list", calls_reader),
}
"""The structured formats by the name of the content parser whose text they read."""
