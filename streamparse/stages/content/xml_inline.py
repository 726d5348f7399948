"""The content parser ``xml-inline``: a tag for each key, as a dictionary.

The argument ``tag_pattern`` is a pattern of the ``regex`` module (DOTALL) with the groups ``key`` and ``value``; text
between tags is passed over. A repeated key takes its last value, or with ``merge_duplicates`` a list of all of them.
A pattern whose shape allows it is searched for by a scanner in linear time (see ``tag_scanner``), any other by
``regex`` itself within a time bound.

Where sources are kept, that is in the lenient modes, a group ``string`` or ``type`` of the pattern says what a value
is: ``true`` or ``string`` keeps it as the text that it is, and anything else leaves it to the ``value_parser``. There a
text that has no tags but isn't blank, or the beginning of a tag that isn't one, is an error: a call must not run with
less than was written.

>>> pattern = r"<p=(?P<key>\\w+)>\\s*(?P<value>.*?)\\s*</p>"
>>> PARSER.prepare({"tag_pattern": pattern})("<p=a> 1 </p> and <p=b>2</p>")
{'a': '1', 'b': '2'}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from streamparse.errors import ContentError, Fault
from streamparse.stages.content.table import (
    STRICT,
    ContentParser,
    Findings,
    Parse,
    Preparation,
    content_error,
    kind_of,
    known_arguments,
)
from streamparse.stages.content.tag_parts import Literal
from streamparse.stages.content.tag_pattern import FaultyPattern, compile_tag_pattern
from streamparse.stages.content.tag_scanner import Tag, tag_finder
from streamparse.stages.content.tag_shape import recognise
from streamparse.stages.content.value_parser import SourcedDict, ValueParser, check_value_parser, failing

ARGUMENTS = {"tag_pattern": str, "value_parser": dict, "merge_duplicates": bool}


IS_TEXT = frozenset({"true", "string"})
"""What the groups ``string`` and ``type`` say of a value that is text."""


def prepare(arguments: Mapping[str, Any], preparation: Preparation = STRICT, /) -> Parse:
    """Make the parse function."""
    pattern = arguments.get("tag_pattern")
    if not isinstance(pattern, str):
        return failing("xml-inline needs the argument tag_pattern")
    try:
        tags_of = tag_finder(pattern, preparation.limits.pattern_seconds, kinds=preparation.keep_source)
    except FaultyPattern as error:
        return failing(f"tag_pattern can't be compiled: {error}")
    values_of_tags = assembler(arguments, preparation)
    if not preparation.keep_source:
        return lambda text: values_of_tags(tags_of(text))
    beginning = beginning_of_tags(pattern)
    return lambda text: values_of_tags(nothing_unread(text, tags_of(text), beginning))


def nothing_unread(text: str, tags: Iterable[Tag], beginning: str) -> Iterator[Tag]:
    """Pass tags on; raise ContentError where the text has something that should have been one."""
    at, empty = 0, True
    for tag in tags:
        refuse_beginnings(text, beginning, at, tag.start)
        at, empty = tag.end, False
        yield tag
    if empty and text.strip():
        raise content_error("there is no tag in it", text, len(text) - len(text.lstrip()))
    refuse_beginnings(text, beginning, at, len(text))


def refuse_beginnings(text: str, beginning: str, start: int, end: int) -> None:
    """Raise ContentError where a tag begins in a part of the text that is no tag."""
    found = text.find(beginning, start, end) if beginning else -1
    if found >= 0:
        raise content_error("a tag begins that is none", text, found)


def beginning_of_tags(pattern: str) -> str:
    """The literal text that every tag begins with; empty where there is none."""
    shape = recognise(pattern)
    first = shape.opening[0] if shape is not None else None
    return first.text if isinstance(first, Literal) else ""


def assembler(arguments: Mapping[str, Any], preparation: Preparation) -> Callable[[Iterable[Tag]], dict[str, Any]]:
    """Make the function from the tags of a text to the dictionary that they write."""
    values_of = ValueParser(arguments.get("value_parser"), preparation)
    collects = bool(arguments.get("merge_duplicates", False))

    def assemble(tags: Iterable[Tag]) -> dict[str, Any]:
        values: dict[str, Any] = SourcedDict() if values_of.keep_source else {}
        repeated: set[str] = set()
        for tag in tags:
            value = value_of(tag)
            was_read = values_of.keep_source and tag.value is not None and tag.kind not in IS_TEXT
            source = values_of.source(tag.value or "", value) if was_read else None
            if collects and tag.key in values:
                collect(values, repeated, tag.key, value, source)
            else:
                replace(values, tag.key, value, source, typed=tag.kind is not None)
        return values

    def value_of(tag: Tag) -> Any:
        if tag.kind in IS_TEXT:
            return tag.value
        if tag.value is not None:
            return values_of.parse(tag.value, tag.position)
        if values_of.parses:
            raise ContentError(f"the tag of {tag.key!r} has no value to parse", position=tag.position)
        return None

    return assemble


def replace(values: dict[str, Any], key: str, value: Any, source: str | None, *, typed: bool = False) -> None:
    """Store a value, and the text it was read from if that is to be remembered, in place of an earlier one.

    ``typed`` says that the tag itself names the value's type.
    """
    values[key] = value
    if isinstance(values, SourcedDict):
        values.sources.pop(key, None)
        values.typed.discard(key)
        if source is not None:
            values.sources[key] = source
            if typed:
                values.typed.add(key)


def collect(values: dict[str, Any], repeated: set[str], key: str, value: Any, source: str | None) -> None:
    """Add a value to those that the same key had before."""
    if key not in repeated:
        repeated.add(key)
        values[key] = [values[key]]
        if isinstance(values, SourcedDict):
            values.typed.discard(key)
            first = values.sources.get(key)
            values.sources[key] = [first if isinstance(first, str) else None]
    values[key].append(value)
    if isinstance(values, SourcedDict) and isinstance(sources := values.sources[key], list):
        sources.append(source)


def check(arguments: Mapping[str, Any], path: str, depth: int = 0, /) -> Findings:
    """Check the arguments."""
    errors, warnings = known_arguments("xml-inline", arguments, path, ARGUMENTS)
    pattern_errors, pattern_warnings = check_pattern(arguments.get("tag_pattern"), f"{path}.tag_pattern")
    value_errors, value_warnings = check_value_parser(arguments.get("value_parser"), f"{path}.value_parser", depth)
    return errors + pattern_errors + value_errors, warnings + pattern_warnings + value_warnings


def check_pattern(pattern: Any, path: str) -> Findings:
    """Check a ``tag_pattern``: it has to compile, and should have both groups."""
    if pattern is None:
        return [], [Fault(path, "xml-inline needs a tag_pattern; without it every text will fail")]
    if not isinstance(pattern, str):
        return [Fault(path, f"must be a string, not {kind_of(pattern)}")], []
    try:
        groups = compile_tag_pattern(pattern).groupindex
    except FaultyPattern as error:
        return [Fault(path, f"can't be compiled: {error}")], []
    warnings = []
    if "key" not in groups:
        warnings.append(Fault(path, "has no group (?P<key>…), so a text with a tag in it will fail"))
    if "value" not in groups:
        warnings.append(Fault(path, "has no group (?P<value>…), so every value will be empty"))
    return [], warnings


PARSER = ContentParser("xml-inline", streams=False, prepare=prepare, check=check)
