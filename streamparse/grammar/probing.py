"""Which forms of calls a template's parser reads: each is written once and parsed.

In: a template and its candidate forms. Out: those whose calls come back whole, and what may stand around them. Nothing
is assumed of a pattern that its parser doesn't confirm; a form that loses a call, an argument or a character is none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from streamparse.errors import StreamparseError
from streamparse.grammar import nodes
from streamparse.grammar.characters import contains
from streamparse.grammar.derived import delimiter_ways, derived_forms
from streamparse.grammar.forms import Form, Maybe, Parts, Slot, Space, written_form
from streamparse.grammar.marks import heads, leading, reasoning_marks
from streamparse.grammar.nodes import Chars, Choice, Node, Repeat, Text
from streamparse.grammar.tags import type_of
from streamparse.parser import ResponseParser
from streamparse.template.model import ResponseTemplate

TOOLS = [
    {"name": "probe_nothing"},
    {
        "name": "probe_tool",
        "parameters": {
            "type": "object",
            "properties": {"text": {"type": "string"}, "number": {"type": "integer"}},
            "required": ["text", "number"],
        },
    },
]
TALK = ('Some "words", {said} [so].', "{said}")

MOST_FORMS = 2
"""Forms that are kept of those that patterns allow, the plainest first."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What may stand around a form's sections, and in them.

    ``text_before`` and ``text_behind`` a section, ``further`` sections; ``unquotable`` are the marks that no value
    can have in it; ``misread`` are the begins of calls that text can't have in it before a call;
    ``needs_prompted`` says that what the prompt may have written has to be written but at the beginning of an answer.
    """

    text_before: bool
    text_behind: bool
    further: bool
    unquotable: tuple[str, ...] = ()
    misread: tuple[str, ...] = ()
    needs_prompted: bool = False


@dataclass(frozen=True, slots=True)
class Probe:
    """A call to be tried: its tool and its arguments."""

    tool: str
    arguments: tuple[tuple[str, Any], ...]


FULL = Probe("probe_tool", (("text", "two words"), ("number", 7)))
EMPTY = Probe("probe_nothing", ())


def readable(template: ResponseTemplate, field: str, form: Form) -> bool:
    """Whether a form's calls come back, with little white space and with much, with arguments and without."""
    return all(
        comes_back(template, field, section(form, many, space, probe), many, probe)
        for probe in (FULL, EMPTY)
        for many, space in _WAYS
    )


_WAYS = ((1, ""), (1, "\n"), (1, " "), (2, ""), (2, "\n"))


def surroundings(template: ResponseTemplate, field: str, form: Form, marks: Sequence[str]) -> Surroundings:
    """What may stand around the sections of a readable form; of ``marks`` each is tried within a value."""
    one = section(form, 1, "")

    def reads(text: str, calls: int) -> bool:
        return comes_back(template, field, text, calls)

    unquotable = []
    for mark in marks:
        probe = Probe(FULL.tool, (("text", f"two {mark} words"), ("number", 7)))
        if not comes_back(template, field, section(form, 1, "", probe), 1, probe):
            unquotable.append(mark)
    begins = {leading(way, spaces=False) for way in delimiter_ways(template, field, "open")} - {""}
    return Surroundings(
        all(reads(f"{talk}{space}{one}", 1) for talk in TALK for space in ("", "\n")),
        all(reads(f"{one}{space}{talk}", 1) for talk in TALK for space in ("", "\n")),
        reads(one + one, 2) and reads(f"{one}\n{one}", 2),
        tuple(unquotable),
        tuple(sorted(begin for begin in begins if not _is_text(begin, reads, one))),
        bool(form.prompted) and not reads("so " + section(replace(form, prompted=""), 1, ""), 1),
    )


def _is_text(begin: str, reads: Callable[[str, int], bool], one: str) -> bool:
    """Whether text may have the begin of a call in it that is none."""
    return all(reads(f"so {begin}{text}{one}", 1) for text in ("", "x", " x\n"))


def section(form: Form, calls: int, space: str, probe: Probe = FULL) -> str:
    """A section with a number of calls; where a section has one only, so many sections."""
    one = written(form.call, form, space, probe)
    begin = form.prompted + written(form.begin, form, space, probe)
    end = written(form.end, form, space, probe)
    if form.between is None:
        return "".join(begin + one + end for _ in range(calls))
    return begin + written(form.between, form, space, probe).join([one] * calls) + end


def comes_back(template: ResponseTemplate, field: str, text: str, calls: int, probe: Probe = FULL) -> bool:
    """Whether a text parses into so many calls of the probe, and nothing else is wrong with it."""
    try:
        parser = ResponseParser(template, "", tools=TOOLS, errors="report")
        parser.feed(text)
        message, _ = parser.finalize("stop")
    except StreamparseError:
        return False
    found = message.get(field) or []
    functions = [call.get("function") for call in (found if isinstance(found, list) else [found])]
    return functions == [{"name": probe.tool, "arguments": dict(probe.arguments)}] * calls and not parser.problems


def written(parts: Parts, form: Form, space: str, probe: Probe) -> str:
    """Parts with the probe's name and arguments in them."""
    return "".join(_part(part, form, space, probe) for part in parts)


def _part(part: Any, form: Form, space: str, probe: Probe) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Space):
        return space
    if isinstance(part, Maybe):
        return written(part.parts, form, space, probe) if bool(space) == part.usual else ""
    if part.kind == "name":
        return probe.tool
    if part.kind == "arguments":
        return _arguments(form, space, probe)
    return "0" if part.kind == "index" else sample(part.node)


@lru_cache(maxsize=256)
def forms_of(template: ResponseTemplate, field: str) -> tuple[tuple[Form, Surroundings], ...]:
    """The forms of a template's calls: those that it gives, or those that its patterns allow and its parser reads.

    Trying them takes some ten milliseconds, once a template.
    """
    policy = template.fields[field].policy
    if policy.written:
        arguments = template.fields[field].content_arguments
        forms = [written_form(raw, arguments) for raw in policy.written]
    else:
        forms = kept(template, field, derived_forms(template, template.fields[field]), MOST_FORMS)
    marks = [*heads(template, field), *reasoning_marks(template)]
    return tuple((form, surroundings(template, field, form, marks)) for form in forms)


def _arguments(form: Form, space: str, probe: Probe) -> str:
    if form.content == "python":
        return ", ".join(f"{key}={value!r}" for key, value in probe.arguments)
    if form.argument is not None:
        argument = form.argument
        texts = []
        for key, value in probe.arguments:
            # White space within a value's marks is part of the value, but for a line break.
            inner = replace(argument, parts=_without_blanks(argument.parts)) if space == " " else argument
            is_text = isinstance(value, str)
            shown = {"key": key, "value": str(value), "kind": "true" if is_text else "false", "type": type_of(value)}
            texts.append(
                "".join(
                    shown[part.kind]
                    if isinstance(part, Slot) and part.kind in shown
                    else _part(part, form, space, probe)
                    for part in inner.parts
                )
            )
        return written(argument.separator, form, space, probe).join(texts)
    members = [f'"{key}": {json.dumps(value)}' for key, value in probe.arguments]
    if form.delimiters is not None:
        opening, closing = form.delimiters
        members = [
            f'"{key}": {opening}{value}{closing}' if isinstance(value, str) else f'"{key}": {value}'
            for key, value in probe.arguments
        ]
    return f"{{{', '.join(members)}}}"


def _without_blanks(parts: Parts) -> Parts:
    """An argument's parts without the white space that stands around its value."""
    at = next(at for at, part in enumerate(parts) if isinstance(part, Slot) and part.kind == "value")
    return tuple(part for i, part in enumerate(parts) if abs(i - at) != 1 or not isinstance(part, Space))


def sample(node: Node) -> str:
    """A text of a node, a short one."""
    match node:
        case Text(text):
            return text
        case Chars(ranges):
            return next((c for c in "a0 " if contains(ranges, c)), chr(ranges[0][0]))
        case nodes.Sequence(items):
            return "".join(map(sample, items))
        case Choice(branches):
            return sample(branches[0])
        case Repeat(body, minimum, _):
            return sample(body) * minimum
    return ""


def _is_like(form: Form, other: Form) -> bool:
    """Whether two forms differ in white space that may be left out at most."""

    def plain(parts: Parts) -> Parts:
        return tuple(part for part in parts if not isinstance(part, Space))

    return (plain(form.opening), plain(form.end), form.argument) == (
        plain(other.opening),
        plain(other.end),
        other.argument,
    )


def kept(template: ResponseTemplate, field: str, forms: Iterable[Form], most: int) -> list[Form]:
    """The first readable forms, at most so many."""
    found: list[Form] = []
    for form in forms:
        if not any(_is_like(form, other) for other in found) and readable(template, field, form):
            found.append(form)
            if len(found) == most:
                break
    return found
