"""The table in which the structure reader of each content parser is found by the parser's name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from streamparse.stages.content.json_dialect import string_delimiters
from streamparse.stages.structure.lines import LineStructure
from streamparse.stages.structure.nested import PLAIN_QUOTES, Grammar, NestedStructure, Quote
from streamparse.stages.structure.protocol import MakeStructure, Structure
from streamparse.stages.structure.tag_outline import tag_outline
from streamparse.stages.structure.tags import TagStructure


@lru_cache(64)
def _grammar(
    quotes: tuple[Quote, ...] = (), *, calls: bool = False, scalars: bool = False, brackets: bool = True
) -> Grammar:
    """The grammar with these ``quotes`` before the plain ones: the same one for all regions that are written so."""
    return Grammar(quotes=quotes + PLAIN_QUOTES, calls=calls, scalars=scalars, brackets=brackets)


def json_structure(arguments: Mapping[str, Any], *, scalars: bool = False) -> NestedStructure:
    """The reader of ``json``; only with ``scalars`` can a string, a number or a name be the whole value."""
    pairs = string_delimiters(arguments.get("string_delims", ()))
    quotes = tuple(Quote(opening, closing, False) for opening, closing in pairs if opening and closing)
    return NestedStructure(_grammar(quotes, scalars=scalars))


def tags_structure(arguments: Mapping[str, Any], *, ends: tuple[str, ...] = ()) -> Structure:
    """The reader of ``xml-inline``; ``ends`` are literals that come where the body ends."""
    outline = tag_outline(arguments.get("tag_pattern", ""))
    return LineStructure(None) if outline is None else TagStructure(outline, ends)


def lines_structure(arguments: Mapping[str, Any]) -> LineStructure:
    """The reader of ``kv-lines``."""
    return LineStructure(arguments.get("line_sep", "\n"))


def calls_structure(arguments: Mapping[str, Any]) -> NestedStructure:
    """The reader of ``python-call-list``."""
    return NestedStructure(_grammar(calls=True, brackets=bool(arguments.get("brackets", True))))


STRUCTURES: dict[str, MakeStructure] = {
    "json": json_structure,
    "xml-inline": tags_structure,
    "kv-lines": lines_structure,
    "python-call-list": calls_structure,
}
"""The structure readers by the name of the content parser whose text they follow."""
