r"""Recognises tag patterns whose tags can be found without searching back and forth.

In comes a ``tag_pattern``; out goes a ``TagShape``, or None for a pattern of another shape. The shape is that of nearly
all tags that models write::

    opening text  key  text between  white space  value  white space  closing text
    <parameter=   \w+  >             \s*          .*?    \s*          </parameter>

Every part but the value ends where one look at the next character says so, so that there is only one way to match. That
is checked here; whoever scans by a shape may rely on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import regex

from streamparse.matching.syntax import (
    Alternatives,
    BackReference,
    Chars,
    Group,
    Node,
    Repeat,
    Sequence,
    UnsupportedSyntax,
    literal_text,
    parse,
    walk,
)
from streamparse.stages.content.tag_parts import (
    Edge,
    LineBreak,
    Literal,
    NotDetermined,
    OneOf,
    Optional,
    Part,
    Run,
    determined,
    may_begin,
)

ANYTHING = Chars(r"[\s\S]", int(regex.DOTALL))
ANY_CHARACTER = (r"[\s\S]", r"[\S\s]", r"[\d\D]", r"[\D\d]", r"[\w\W]", r"[\W\w]")


@dataclass(frozen=True)
class TagShape:
    """What a tag is made of, in order; see the parts of the module's sketch.

    ``key`` is None where a key is any text, of ``key_minimum`` characters at least, up to where ``between`` matches.
    The closing text is ``closing``; if ``closing_end`` is not None, it is ``closing``, the key once more, and
    ``closing_end``.
    """

    opening: tuple[Part, ...]
    key: Run | None
    key_minimum: int
    between: tuple[Part, ...]
    before_value: Edge
    after_value: Edge
    closing: str
    closing_end: str | None


class AnotherShape(Exception):
    """The pattern has a shape that can't be scanned by."""


def recognise(pattern: str) -> TagShape | None:
    r"""Find the shape of a tag pattern that ``regex`` compiles; None where it has another.

    >>> shape = recognise(r"<p=(?P<key>\w+)>\s*(?P<value>.*?)\s*</p>")
    >>> shape.opening, shape.between, shape.closing
    ((Literal(text='<p='),), (Literal(text='>'),), '</p>')
    >>> recognise(r"(?P<key>\w+)=(?P<value>\S+)") is None
    True
    """
    try:
        tree = parse(pattern)
        key_number = sole_group(tree, "key").index
        sole_group(tree, "value")
        return shape_of(flattened(tree), key_number)
    except (UnsupportedSyntax, AnotherShape, NotDetermined, RecursionError):
        return None


def sole_group(tree: Node, name: str) -> Group:
    """Give the one group of a name; what other groups capture is of no interest."""
    found = [node for node in walk(tree) if isinstance(node, Group) and node.name == name]
    if len(found) != 1:
        raise AnotherShape
    return found[0]


def flattened(node: Node) -> list[Node]:
    """Give the items of sequences, and of groups other than ``key`` and ``value``, as one list."""
    if isinstance(node, Sequence):
        return [inner for item in node.items for inner in flattened(item)]
    if isinstance(node, Group) and node.name not in ("key", "value"):
        return flattened(node.body)
    return [node]


def shape_of(items: list[Node], key_number: int) -> TagShape:
    """Take a pattern's items apart; raises AnotherShape or NotDetermined."""
    names = [item.name if isinstance(item, Group) else None for item in items]
    if "key" not in names or "value" not in names[names.index("key") :]:
        raise AnotherShape
    key_at, value_at = names.index("key"), names.index("value")
    key, key_minimum = key_of(items[key_at])
    if not is_any_text(items[value_at]):
        raise AnotherShape
    between, before_value = split_last_run(items[key_at + 1 : value_at])
    parts = parts_of(between)
    if key is not None and determined([key, *parts], [ANYTHING])[0] != key:
        raise AnotherShape
    after_opening: list[str | Chars] = [ANYTHING] if key is None else list(may_begin([key, *parts], [ANYTHING]))
    opening = determined(parts_of(without_leading_runs(items[:key_at])), after_opening)
    after_value, closing, closing_end = closing_of(items[value_at + 1 :], key_number, begins_with(opening))
    if any(isinstance(run, Run) and run.chars.contains(closing[0]) for run in (before_value, after_value)):
        raise AnotherShape
    if closing_end is not None:
        # Closing texts of all keys are found in one pass, for which no key may reach into another tag.
        ends = (begins_with(opening)[0], closing[0], closing_end[0])
        if key is None or any(map(key.chars.contains, ends)):
            raise AnotherShape
    between_parts = determined(parts, [ANYTHING])
    if key is None:
        begins_with(between_parts)
    return TagShape(opening, key, key_minimum, between_parts, before_value, after_value, closing, closing_end)


def begins_with(parts: tuple[Part, ...]) -> str:
    """Give the fixed text that a sequence of parts has to begin with."""
    if not parts or not isinstance(parts[0], Literal):
        raise AnotherShape
    return parts[0].text


def without_leading_runs(items: list[Node]) -> list[Node]:
    """Leave out optional runs before a tag's first text; a match with them has the same key and value as without."""
    start = next((index for index, item in enumerate(items) if literal_text(item)), 0)
    first = literal_text(items[start]) if items else None
    if not first or not all(is_skippable(item, first[0]) for item in items[:start]):
        raise AnotherShape
    return items[start:]


def is_skippable(node: Node, character: str) -> bool:
    """Whether a node is an optional run that can't take in ``character``."""
    if not isinstance(node, Repeat) or not isinstance(node.body, Chars):
        return False
    return node.minimum == 0 and not node.body.contains(character)


def key_of(group: Node) -> tuple[Run | None, int]:
    """Give the run that a key is, or None where it is any text, and its least length."""
    run, chars = sole_run(group)
    if run.maximum is not None or (is_any(chars) and run.mode != "lazy"):
        raise AnotherShape
    return (None if is_any(chars) else Run(chars, run.minimum, None)), run.minimum


def sole_run(group: Node) -> tuple[Repeat, Chars]:
    """Give the run that is all of a group, and its class; raises AnotherShape."""
    body = flattened(group.body) if isinstance(group, Group) else []
    if len(body) == 1 and isinstance(run := body[0], Repeat) and isinstance(run.body, Chars):
        return run, run.body
    raise AnotherShape


def is_line_break(node: Node) -> bool:
    r"""Whether a node is ``(?:\r?\n)?``."""
    if not isinstance(node, Repeat) or (node.minimum, node.maximum, node.mode) != (0, 1, "greedy"):
        return False
    parts = flattened(node.body)
    if len(parts) != 2 or literal_text(parts[1]) != "\n" or not isinstance(first := parts[0], Repeat):
        return False
    return (first.minimum, first.maximum, first.mode) == (0, 1, "greedy") and literal_text(first.body) == "\r"


def split_last_run(items: list[Node]) -> tuple[list[Node], Edge]:
    """Take off the run that stands right before the value; a lazy one leaves everything to the value."""
    if items and is_line_break(items[-1]):
        return items[:-1], LineBreak()
    if not items or not isinstance(last := items[-1], Repeat) or not isinstance(chars := last.body, Chars):
        return items, None
    if last.mode != "lazy":
        return items[:-1], Run(chars, last.minimum, last.maximum)
    if last.minimum:
        raise AnotherShape
    return items[:-1], None


def parts_of(items: list[Node]) -> list[Part]:
    """Turn nodes into parts, neighbouring texts into one; raises AnotherShape for what is no part."""
    parts: list[Part] = []
    for item in items:
        part = part_of(item)
        if isinstance(part, Literal) and parts and isinstance(parts[-1], Literal):
            parts[-1] = Literal(parts[-1].text + part.text)
        else:
            parts.append(part)
    return parts


def part_of(node: Node) -> Part:
    """Turn a node into a part; raises AnotherShape."""
    text = literal_text(node)
    if text:
        return Literal(text)
    if isinstance(node, Repeat) and isinstance(node.body, Chars):
        return Run(node.body, node.minimum, node.maximum)
    if isinstance(node, Repeat) and (node.minimum, node.maximum) == (0, 1):
        inner = parts_of(flattened(node.body))
        return Optional(tuple(inner))
    if isinstance(node, Alternatives):
        texts = [literal_text(branch) for branch in node.branches]
        fixed = tuple(text for text in texts if text)
        if len(fixed) == len(texts) and not any(a != b and a.startswith(b) for a in fixed for b in fixed):
            return OneOf(fixed)
    raise AnotherShape


def closing_of(items: list[Node], key_number: int, opening: str) -> tuple[Edge, str, str | None]:
    """Take apart what follows the value: a run, a text, maybe the key and a text, and what can be left out."""
    after_value: Edge = None
    if items and is_line_break(items[0]):
        after_value, items = LineBreak(), items[1:]
    elif items and isinstance(run := items[0], Repeat) and isinstance(run.body, Chars):
        if run.minimum:
            raise AnotherShape
        after_value, items = Run(run.body, 0, run.maximum), items[1:]
    closing, items = leading_text(items)
    closing_end = None
    if items and isinstance(reference := items[0], BackReference):
        if reference.key not in (key_number, "key") or reference.flags & regex.IGNORECASE:
            raise AnotherShape
        closing_end, items = leading_text(items[1:])
    if not closing or closing_end == "" or not all(is_skippable(item, opening[0]) for item in items):
        raise AnotherShape
    return after_value, closing, closing_end


def leading_text(items: list[Node]) -> tuple[str, list[Node]]:
    """Split items into the fixed text that they begin with and the rest."""
    text = ""
    for index, item in enumerate(items):
        fixed = literal_text(item)
        if fixed is None:
            return text, items[index:]
        text += fixed
    return text, []


def is_any_text(group: Node) -> bool:
    """Whether a group takes any text, as little of it as will do."""
    run, chars = sole_run(group)
    return run.mode == "lazy" and (run.minimum, run.maximum) == (0, None) and is_any(chars)


def is_any(chars: Chars) -> bool:
    """Whether a class is known to hold every character."""
    if chars.source == ".":
        return bool(chars.flags & regex.DOTALL)
    return chars.source in ANY_CHARACTER
