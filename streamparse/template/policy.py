"""What a template may say beyond version 1 of the format, under its key ``streamparse``.

It matters in the lenient modes only: how to read what models write although the format has no words for it. A template
without the key has the defaults. transformers' loader refuses the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

EXTENSION_KEY = "streamparse"

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallShape:
    """Where a value that is a call, or a list of calls, has its name, arguments and id: the first path that exists."""

    name: tuple[Path, ...]
    arguments: tuple[Path, ...]
    id: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """Another way to read a region's text, for when the first fails: a content parser and its arguments."""

    content: str
    content_args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FieldPolicy:
    """What the lenient modes do with one field.

    ``ends_with_value``: the region also ends where its value is complete by its own syntax. ``alternatives``: other
    readings, tried in order. ``calls``: used instead of the transform. ``strip``: which white space at the edges of a
    text value goes: ``all``, one ``newline`` a side, or ``none``. ``join``: what stands between several texts.
    """

    ends_with_value: bool = False
    alternatives: tuple[Reading, ...] = ()
    calls: CallShape | None = None
    strip: str = "all"
    join: str = "\n"


@dataclass(frozen=True, slots=True)
class Policy:
    """What the lenient modes do with a template's generations.

    ``starts_in``: the field in which a generation may begin when its prompt is not known. ``calls_in_reasoning``: a
    call inside a region of text is held (``hold``) until it is clear whether the region closes, or is always
    ``text``.
    """

    description: str = ""
    aliases: tuple[str, ...] = ()
    starts_in: str | None = None
    calls_in_reasoning: str = "hold"


DEFAULT_FIELD_POLICY = FieldPolicy()
DEFAULT_POLICY = Policy()


def read_policy(source: Mapping[str, Any]) -> Policy:
    """The policy of a template that the schema has found to be well-formed."""
    raw = source.get(EXTENSION_KEY, {})
    return Policy(
        description=raw.get("description", ""),
        aliases=tuple(raw.get("aliases", ())),
        starts_in=raw.get("starts_in"),
        calls_in_reasoning=raw.get("calls_in_reasoning", "hold"),
    )


def read_field_policy(source: Mapping[str, Any], name: str) -> FieldPolicy:
    """The policy of one of its fields."""
    raw = source.get(EXTENSION_KEY, {}).get("fields", {}).get(name)
    if raw is None:
        return DEFAULT_FIELD_POLICY
    calls = raw.get("calls")
    return FieldPolicy(
        ends_with_value=raw.get("ends_with_value", False),
        alternatives=tuple(
            Reading(item["content"], item.get("content_args", {})) for item in raw.get("alternatives", ())
        ),
        calls=None
        if calls is None
        else CallShape(*(_paths(calls.get(key, ())) for key in ("name", "arguments", "id"))),
        strip=raw.get("strip", "all"),
        join=raw.get("join", "\n"),
    )


def _paths(dotted: Any) -> tuple[Path, ...]:
    return tuple(tuple(path.split(".")) for path in dotted)
