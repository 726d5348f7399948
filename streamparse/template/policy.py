"""What a template may say beyond version 1 of the format, under its key ``streamparse``.

It matters in the lenient modes only: how to read what models write although the format has no words for it. A template
without the key has the defaults. transformers' loader refuses the key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from streamparse.errors import Fault
from streamparse.limits import DEFAULT_LIMITS, Limits
from streamparse.matching.compiling import FaultyPattern
from streamparse.matching.delimiter import Delimiter
from streamparse.stages.content import CONTENT_PARSERS
from streamparse.stages.content.table import Preparation

EXTENSION_KEY = "streamparse"

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallShape:
    """Where a value that is a call, or a list of calls, has its name, arguments and id: the first path that exists.

    With ``by_key`` a call without a name there is an object with one key, which is the name, and the arguments its
    value. ``writes_ids`` says that the family's models write ids of their own. ``name_endings`` are what models glue
    to a name by mistake; it goes where only that gives a declared tool's name.
    """

    name: tuple[Path, ...]
    arguments: tuple[Path, ...]
    id: tuple[Path, ...] = ()
    by_key: bool = False
    writes_ids: bool = False
    name_endings: tuple[str, ...] = ()

    def names_by(self, key: str) -> bool:
        """Whether a call's first key is its name where an object stands behind it: it is none of the call's parts."""
        return self.by_key and all(path[0] != key for path in (*self.name, *self.arguments, *self.id))


@dataclass(frozen=True, slots=True)
class Reading:
    """Another way to read a region's text, for when the first fails: a content parser, prepared with its arguments."""

    content: str
    arguments: Mapping[str, Any]
    parse: Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class FieldPolicy:
    """What the lenient modes do with one field.

    ``ends_with_value``: the region also ends where its value is complete by its own syntax. ``alternatives``: other
    readings, tried in order. ``calls``: used instead of the transform. ``strip``: which white space at the edges of a
    text value goes: ``all``, one ``newline`` a side, or ``none``. ``join``: what stands between several texts.
    ``written``: how the family writes its regions, for grammars (``streamparse.grammar.forms``).
    """

    ends_with_value: bool = False
    alternatives: tuple[Reading, ...] = ()
    calls: CallShape | None = None
    strip: str = "all"
    join: str = "\n"
    written: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Policy:
    """What the lenient modes do with a template's generations.

    ``starts_in``: the field in which a generation may begin when its prompt is not known. ``calls_in_reasoning``: a
    call inside a region of text is held (``hold``) until it is clear whether the region closes, is always ``text``, or
    always a ``call``, after which the region goes on. ``marks`` and ``marks_pattern``: marks of the family beside those
    that its fields' delimiters are made of; no text unless they are quoted.
    """

    description: str = ""
    aliases: tuple[str, ...] = ()
    starts_in: str | None = None
    calls_in_reasoning: str = "hold"
    marks: tuple[str, ...] = ()
    marks_pattern: str | None = None


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
        marks=tuple(raw.get("marks", ())),
        marks_pattern=raw.get("marks_pattern"),
    )


def read_field_policy(source: Mapping[str, Any], name: str, limits: Limits = DEFAULT_LIMITS) -> FieldPolicy:
    """The policy of one of its fields, whose readings keep within ``limits``."""
    raw = source.get(EXTENSION_KEY, {}).get("fields", {}).get(name)
    if raw is None:
        return DEFAULT_FIELD_POLICY
    calls = raw.get("calls")
    return FieldPolicy(
        ends_with_value=raw.get("ends_with_value", False),
        alternatives=tuple(_reading(item, limits) for item in raw.get("alternatives", ())),
        calls=None if calls is None else _call_shape(calls),
        strip=raw.get("strip", "all"),
        join=raw.get("join", "\n"),
        written=tuple(raw.get("written", ())),
    )


def check_policy(source: Mapping[str, Any]) -> tuple[list[Fault], list[Fault]]:
    """What is wrong with a template's policy beyond its form, as faults and warnings."""
    policy, fields = source.get(EXTENSION_KEY), source.get("fields")
    if not isinstance(policy, dict) or not isinstance(fields, dict):
        return [], []
    faults, warnings = [], []
    starts_in = policy.get("starts_in")
    if isinstance(starts_in, str):
        field = fields.get(starts_in)
        if not isinstance(field, dict) or not {"open", "open_pattern"} & field.keys():
            faults.append(Fault(f"{EXTENSION_KEY}.starts_in", f"{starts_in!r} is no field with an open delimiter"))
        elif not {"close", "close_pattern"} & field.keys():
            faults.append(Fault(f"{EXTENSION_KEY}.starts_in", f"{starts_in!r} has no close delimiter to tell it by"))
    if isinstance(pattern := policy.get("marks_pattern"), str):
        try:
            if Delimiter.of_pattern(pattern).compiled.match("") is not None:
                faults.append(Fault(f"{EXTENSION_KEY}.marks_pattern", "matches no text at all; a mark has some"))
        except FaultyPattern as error:
            faults.append(Fault(f"{EXTENSION_KEY}.marks_pattern", str(error)))
    field_policies = policy.get("fields")
    for name, raw in (field_policies if isinstance(field_policies, dict) else {}).items():
        path = f"{EXTENSION_KEY}.fields.{name}"
        if name not in fields:
            faults.append(Fault(path, f"there is no such field; there are {', '.join(map(str, fields))}"))
        readings = raw.get("alternatives") if isinstance(raw, dict) else None
        for index, reading in enumerate(readings if isinstance(readings, list) else []):
            found = _check_reading(reading, f"{path}.alternatives.{index}")
            faults += found[0]
            warnings += found[1]
    return faults, warnings


def _check_reading(raw: Any, path: str) -> tuple[list[Fault], list[Fault]]:
    name, arguments = (raw.get("content"), raw.get("content_args", {})) if isinstance(raw, dict) else (None, None)
    if not isinstance(name, str) or name not in CONTENT_PARSERS or not isinstance(arguments, dict):
        return [], []
    return CONTENT_PARSERS[name].check(arguments, f"{path}.content_args")


def _reading(raw: Mapping[str, Any], limits: Limits) -> Reading:
    parser = CONTENT_PARSERS[raw["content"]]
    arguments = raw.get("content_args", {})
    return Reading(parser.name, arguments, parser.prepare(arguments, Preparation(limits, keep_source=True)))


def _call_shape(raw: Mapping[str, Any]) -> CallShape:
    name, arguments, call_id = (_paths(raw.get(key, ())) for key in ("name", "arguments", "id"))
    return CallShape(
        name,
        arguments,
        call_id,
        by_key=raw.get("by_key", False),
        writes_ids=raw.get("writes_ids", False),
        name_endings=tuple(raw.get("name_endings", ())),
    )


def _paths(dotted: Any) -> tuple[Path, ...]:
    return tuple(tuple(path.split(".")) for path in dotted)
