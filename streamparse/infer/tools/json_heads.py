"""JSON objects that nothing sets off: the object's own beginning, up to its arguments, opens the region of a call.

What teaches what: the text of the probe's object, with its name cut out, is the pattern of the opening; what stands
between two objects, before the first and behind the last shows where a call ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamparse.infer.conversation import FIRST
from streamparse.infer.tools.json_values import Island, Shape, island_with
from streamparse.infer.tools.reading import quoted


def head_keys(
    text: str, call: Island, shape: Shape, *, separator: str, stops: Sequence[str], lead: str = "", trail: str = ""
) -> dict[str, Any] | None:
    """``open_pattern`` and ``close_pattern`` for calls that are objects like this one; None if the name is not at its
    beginning.

    ``lead`` and ``trail`` are the JSON around a list of them, ``separator`` stands between two, ``stops`` are what may
    follow the last.
    """
    name_at = text.find(FIRST.name, call.start)
    arguments = island_with(text, dict(FIRST.arguments), call.start + 1)
    if arguments is None or len(shape.name) != 1 or name_at > arguments.start:
        return None
    head = spaced(text[call.start : name_at])
    middle = spaced(text[name_at + len(FIRST.name) : arguments.start], in_string=True)
    tail = spaced(text[arguments.end : call.end])
    before = "|".join(part for part in (spaced(lead.strip()), quoted(separator.strip())) if part)
    before = rf"(?:(?:{before})\s*)?" if before else ""
    another = rf"(?:{quoted(separator.strip())}\s*)?" if separator.strip() else ""
    another += f'{head}[^"]+{middle}'
    last = "|".join([*map(quoted, dict.fromkeys(stop for stop in stops if stop)), "$"])
    close = rf"{tail}(?=\s*(?:{another}|{last}))"
    if trail:
        close = rf"{tail}(?=\s*{another})|{tail}\s*{spaced(trail.strip())}(?=\s*(?:{last}))"
    return {"open_pattern": f'{before}{head}(?P<name>[^"]+){middle}', "close_pattern": close}


def spaced(text: str, *, in_string: bool = False) -> str:
    """A pattern for a stretch of JSON syntax, with white space allowed around its signs."""
    parts: list[str] = []
    word = ""
    for char in text:
        if char == '"':
            in_string = not in_string
        if not in_string and char in "{}[]:,":
            parts.extend([word, char])
            word = ""
        elif in_string or not char.isspace():
            word += char
    parts.append(word)
    pattern = r"\s*".join(quoted(part) for part in parts if part)
    return pattern + r"\s*" * (text[-1:].isspace() and not in_string)
