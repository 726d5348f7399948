r"""The shape of a tag, read from a ``tag_pattern``, so that tags can be followed while they are being written.

The shape is a literal, the key, literals with or without blanks between them, the value as short as it can be, and a
literal, with or without blanks around the value: ``<parameter=(?P<key>[^>\n]+)>\s*(?P<value>.*?)\s*</parameter>``.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...matching.syntax import Chars, Group, Node, Repeat, Sequence, UnsupportedSyntax, parse


@dataclass(frozen=True)
class TagShape:
    r"""What a tag is made of; between the literals of ``middle`` blanks may stand.

    >>> tag_shape(r"<k>(?P<key>.*?)</k>\s*<v>(?P<value>.*?)\s*</v>")
    TagShape(opening='<k>', middle=('</k>', '<v>'), closing='</v>', skips_blanks=False, drops_blanks=True)
    """

    opening: str
    middle: tuple[str, ...]
    closing: str
    skips_blanks: bool
    drops_blanks: bool


def tag_shape(pattern: str) -> TagShape | None:
    """The shape of a pattern's tags, or None where they have another one."""
    try:
        tree = parse(pattern)
    except (UnsupportedSyntax, ValueError):
        return None
    items = list(tree.items) if isinstance(tree, Sequence) else []
    places = {item.name: place for place, item in enumerate(items) if isinstance(item, Group)}
    if set(places) != {"key", "value"} or places["key"] > places["value"] or not _is_any_text(items[places["value"]]):
        return None
    opening, opening_blanks = _literals(items[: places["key"]])
    middle, middle_blanks = _literals(items[places["key"] + 1 : places["value"]])
    closing, closing_blanks = _literals(items[places["value"] + 1 :])
    if len(opening) != 1 or opening_blanks != (False, False) or not middle or middle_blanks[0]:
        return None
    if len(closing) != 1 or closing_blanks[1]:
        return None
    return TagShape(opening[0], tuple(middle), closing[0], middle_blanks[1], closing_blanks[0])


def _is_any_text(group: Node) -> bool:
    """Whether a group is ``(.*?)``."""
    body = group.body if isinstance(group, Group) else None
    if not isinstance(body, Repeat) or (body.minimum, body.maximum, body.mode) != (0, None, "lazy"):
        return False
    return isinstance(body.body, Chars) and body.body.contains("\n") and body.body.contains("<")


def _literals(items: list[Node]) -> tuple[list[str], tuple[bool, bool]]:
    """The literals that items are made of, and whether blanks may stand before the first and after the last.

    Nothing where there is more than literals and blanks.
    """
    texts = [""]
    for item in items:
        if isinstance(item, Chars) and item.literal is not None:
            texts[-1] += item.literal
        elif _is_blanks(item):
            texts.append("")
        else:
            return [], (False, False)
    before, after = len(texts) > 1 and not texts[0], len(texts) > 1 and not texts[-1]
    return [text for text in texts if text], (before, after)


def _is_blanks(item: Node) -> bool:
    r"""Whether an item is ``\s*``."""
    if not isinstance(item, Repeat) or (item.minimum, item.maximum, item.mode) != (0, None, "greedy"):
        return False
    return isinstance(item.body, Chars) and item.body.source == r"\s"
