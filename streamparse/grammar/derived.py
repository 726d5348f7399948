r"""Forms from a template's patterns: what its open and close patterns, transform and content parser say of a call.

In: a field whose regions are calls. Out: candidate forms, the likeliest first; which of them the parser reads is for
``probing`` to find out. A pattern allows more than a family writes, so each alternative is taken in its plainest form:
white space is optional, optional groups are tried written and left out, captures become slots.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from streamparse.grammar.characters import class_ranges, contains, intersection
from streamparse.grammar.forms import ArgumentText, Form, Maybe, Part, Parts, Slot, Space, dialect
from streamparse.grammar.nodes import Chars, Node, Repeat
from streamparse.grammar.patterns import Inexpressible, chars_of
from streamparse.matching import syntax
from streamparse.template.model import Field, ResponseTemplate

MOST_WAYS = 24
"""Ways to write one delimiter that are looked at."""

MOST_FREE = 40
"""How long a run gets that a pattern leaves to the model, such as ``\\w+`` for an id."""


def derived_forms(template: ResponseTemplate, field: Field) -> Iterator[Form]:
    """The forms that a field's patterns allow."""
    opens = [each for way in delimiter_ways(template, field.name, "open") for each in name_ends(way)]
    closes = [_without_edge(way) for way in delimiter_ways(template, field.name, "close")] or [()]
    for opening, closing in itertools.product(opens, closes):
        named = any(isinstance(part, Slot) and part.kind == "name" for part in _flat(opening))
        for content, content_args in _readings(field):
            yield from _with_content(field, opening, closing, content, content_args, named)


def name_ends(way: Parts) -> list[Parts]:
    """A way with white space behind the name, or with one line break or none there, which may be part of the name."""
    for at, part in enumerate(way[:-1]):
        if isinstance(part, Slot) and part.kind == "name" and isinstance(way[at + 1], Space):
            return [way, _joined([*way[: at + 1], "\n", *way[at + 2 :]]), (*way[: at + 1], *way[at + 2 :])]
    return [way]


def _readings(field: Field) -> Iterator[tuple[str, Any]]:
    yield field.content, field.content_arguments
    for reading in field.policy.alternatives:
        yield reading.content, reading.arguments


def _with_content(
    field: Field, opening: Parts, closing: Parts, content: str, arguments: Any, named: bool
) -> Iterator[Form]:
    if content == "json" and named:
        before: tuple[Parts, ...] = ((Space(""),), ())
        for edge in before:
            yield Form((*opening, *edge, Slot("arguments")), end=(Space(""), *closing), **dialect(arguments))
    elif content == "json":
        yield from _with_calls_inside(field, opening, closing, dialect(arguments))
    elif content == "python-call-list":
        call: Parts = (Slot("name"), "(", Slot("arguments"), ")")
        if arguments.get("brackets", True):
            yield Form(call, (*opening, "["), (",", Space(" ")), ("]", *closing), content="python")
        else:
            yield Form(call, opening, ("\n",), closing, content="python")
    elif content == "xml-inline" and named:
        lines: tuple[Parts, ...] = ((Space("\n"),), (), ("\n",))
        behind: tuple[Parts, ...] = ((Space("\n"),), ())
        for argument, line, edge in itertools.product(_tag_ways(arguments), lines, behind):
            call = (*opening, *line, Slot("arguments"))
            yield Form(call, end=(*edge, *closing), content="marks", argument=argument)
    elif content == "kv-lines" and named and arguments.get("line_sep", "\n") == "\n":
        parts: Parts = (Slot("key"), arguments.get("kv_sep", ":"), Slot("value"), "\n")
        argument = ArgumentText(parts, trimmed=bool(arguments.get("strip", True)))
        yield Form((*opening, "\n", Slot("arguments")), end=closing, content="marks", argument=argument)


def _with_calls_inside(field: Field, opening: Parts, closing: Parts, written: dict[str, Any]) -> Iterator[Form]:
    """Forms whose content is a call, or a list of calls, with its name in it."""
    edge = Space("")
    for lists, inner in _inner_calls(field):
        if lists:
            begin, end = (*opening, edge, "[", edge), (edge, "]", edge, *closing)
            yield Form(inner, begin, (edge, ",", Space(" ")), end, quoted=True, **written)
        else:
            yield Form((*opening, edge, *inner), end=(edge, *closing), quoted=True, **written)


def _inner_calls(field: Field) -> Iterator[tuple[bool, Parts]]:
    """The calls that the content has within it, by transform or policy, and whether they stand in a list."""
    shape = field.policy.calls
    transform = field.transform
    lists = field.transform_each
    if shape is not None and shape.by_key:
        by_key: Parts = ("{", Space(""), '"', Slot("name"), '":', Space(" "), Slot("arguments"), Space(""), "}")
        yield True, by_key
        yield False, by_key
    if isinstance(transform, dict) and isinstance(function := transform.get("function"), dict):
        paths = {key: _path(function.get(key)) for key in ("name", "arguments")}
        paths["id"] = _path(transform.get("id"))
        if paths["name"] and paths["arguments"]:
            yield lists, _json_call({key: path for key, path in paths.items() if path})
    if shape is not None and shape.name and not shape.by_key:
        name, arguments = shape.name[0], (shape.arguments or (("arguments",),))[0]
        for in_list in (True, False) if lists else (False, True):
            yield in_list, _json_call({"name": name, "arguments": arguments})
    elif transform in (None, "{content}") or (isinstance(transform, dict) and transform.get("function") == "{content}"):
        for in_list in (lists, not lists):
            yield in_list, _json_call({"name": ("name",), "arguments": ("arguments",)})


def _path(placeholder: Any) -> tuple[str, ...]:
    """The keys of a placeholder such as ``{content.name}``."""
    if not isinstance(placeholder, str) or not placeholder.startswith("{"):
        return ()
    keys = placeholder.strip("{}").split(".")
    return tuple(keys[1:] if keys[0] == "content" else keys)


def _json_call(paths: dict[str, tuple[str, ...]]) -> Parts:
    """A call as a JSON object with its parts at these paths.

    >>> "".join(p for p in _json_call({"name": ("f", "n"), "arguments": ("f", "a")}) if isinstance(p, str))
    '{"f":{"n":"","a":}}'
    """
    tree: dict[str, Any] = {}
    for part, path in paths.items():
        at = tree
        for key in path[:-1]:
            at = at.setdefault(key, {})
        at[path[-1]] = part
    return tuple(_written(tree))


def _written(tree: Any) -> Iterator[Part]:
    if isinstance(tree, str):
        yield from (Slot("arguments"),) if tree == "arguments" else ('"', Slot(tree), '"')
        return
    yield "{"
    for at, (key, inner) in enumerate(tree.items()):
        yield from ((",", Space(" ")) if at else (Space(""),))
        yield f"{json.dumps(key)}:"
        yield Space(" ")
        yield from _written(inner)
    yield Space("")
    yield "}"


def _tag_ways(arguments: Any) -> Iterator[ArgumentText]:
    """How ``xml-inline`` writes one argument, from its tag pattern."""
    pattern = arguments.get("tag_pattern")
    if not isinstance(pattern, str):
        return
    try:
        ways = list(ways_of(syntax.parse(pattern), value="value", key="key", string="kind"))
    except (syntax.UnsupportedSyntax, Inexpressible):
        return
    for way in sorted(ways, key=lambda way: sum(len(part) for part in way if isinstance(part, str)))[:MOST_WAYS]:
        slots = [part.kind for part in _flat(way) if isinstance(part, Slot)]
        if slots.count("value") == 1 and "key" in slots and _behind_is_text(way):
            yield ArgumentText(way, (Space("\n"),))


def _behind_is_text(way: Parts) -> bool:
    """Whether what closes a value is a fixed text, but for its key."""
    at = next(at for at, part in enumerate(way) if isinstance(part, Slot) and part.kind == "value")
    return all(
        isinstance(part, str | Space) or (isinstance(part, Slot) and part.kind == "key") for part in way[at + 1 :]
    )


@lru_cache(maxsize=1024)
def delimiter_ways(template: ResponseTemplate, name: str, side: str) -> tuple[Parts, ...]:
    """The ways to write a field's open or close delimiter; none where it has none."""
    raw = template.source["fields"][name]
    if (literal := raw.get(side)) is not None:
        return tuple((text,) for text in ([literal] if isinstance(literal, str) else literal))
    pattern = raw.get(f"{side}_pattern")
    if pattern is None:
        return ()
    try:
        return tuple(itertools.islice(ways_of(syntax.parse(pattern)), MOST_WAYS))
    except (syntax.UnsupportedSyntax, Inexpressible):
        return ()


def ways_of(node: syntax.Node, **groups: str) -> Iterator[Parts]:
    """The plainest ways to write what a pattern matches; ``groups`` are texts for some of its captures."""
    match node:
        case syntax.Chars(literal=str(text)):
            yield (text,)
        case syntax.Chars(source, flags, None):
            chars = chars_of(source, flags, None, dot_is_any=True)
            yield (Space(""),) if _is_white(chars) else (Slot("free", _plain(chars)),)
        case syntax.Sequence(items):
            yield from _sequences(items, groups)
        case syntax.Alternatives(branches):
            for branch in branches:
                yield from ways_of(branch, **groups)
        case syntax.Group(body, _, name) if name in groups:
            yield (Slot(groups[name or ""]),)
        case syntax.BackReference(key) if key in groups:
            yield (Slot(groups[str(key)]),)
        case syntax.Group(body, _, name) if name in ("name", "id"):
            yield (Slot(name or "", _id_node(body)),)
        case syntax.Group(body=body) | syntax.Atomic(body=body):
            yield from ways_of(body, **groups)
        case syntax.Repeat():
            yield from _repeats(node, groups)
        case _:
            yield ()


def _sequences(items: tuple[syntax.Node, ...], groups: dict[str, str]) -> Iterator[Parts]:
    inner = [list(itertools.islice(ways_of(item, **groups), MOST_WAYS)) for item in items]
    for combination in itertools.islice(itertools.product(*inner), MOST_WAYS):
        yield _joined(part for parts in combination for part in parts)


def _joined(parts: Any) -> Parts:
    result: list[Part] = []
    for part in parts:
        if isinstance(part, str) and result and isinstance(result[-1], str):
            result[-1] += part
        elif part:
            result.append(part)
    return tuple(result)


def _repeats(node: syntax.Repeat, groups: dict[str, str]) -> Iterator[Parts]:
    body = node.body
    if isinstance(body, syntax.Chars) and body.literal is None:
        chars = chars_of(body.source, body.flags, None, dot_is_any=True)
        if _is_white(chars):
            yield (Space(""),) if node.minimum == 0 else (Space(" "),)
            if node.minimum:
                yield (" ",)
        else:
            run = Slot("free", Repeat(_plain(chars), max(node.minimum, 1), min(node.maximum or MOST_FREE, MOST_FREE)))
            yield (run,) if node.minimum else (Maybe((run,), False),)
        return
    if node.minimum == 0 and isinstance(body, syntax.Chars):
        yield (Space(body.literal or ""),) if (body.literal or "x").isspace() else ()
        return
    for way in ways_of(body, **groups):
        if node.minimum:
            yield way * node.minimum
        else:
            yield (Maybe(way, True),) if _flat_text(way) else way
    if node.minimum == 0:
        yield ()


def _flat_text(way: Parts) -> bool:
    return all(isinstance(part, str | Space) for part in way)


def _is_white(chars: Node) -> bool:
    return isinstance(chars, Chars) and contains(chars.ranges, " ") and not contains(chars.ranges, "a")


def _plain(chars: Node) -> Node:
    """Of a set of characters the letters, digits and signs that words have, if there are any."""
    assert isinstance(chars, Chars)
    return Chars(intersection(chars.ranges, class_ranges("[A-Za-z0-9_.-]", 0)) or chars.ranges)


def _id_node(body: syntax.Node) -> Node:
    """What an id may be: letters and digits, of those that the pattern allows."""
    word = class_ranges("[A-Za-z0-9]", 0)
    del body
    return Repeat(Chars(word), 9, 9)


def _without_edge(way: Parts) -> Parts:
    """A close without the white space that it takes in behind it."""
    return way[:-1] if way and isinstance(way[-1], Space) else way


def _flat(parts: Parts) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, Maybe):
            yield from _flat(part.parts)
        else:
            yield part
