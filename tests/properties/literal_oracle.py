"""What a template of literal delimiters says about a text of which only a beginning is known: by trying each place.

Slow and plain: the rules of ``docs/response-template.md``, written down once more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Step = tuple[str, str, str]
"""``open``, ``close`` or ``text``, the field, and the text that was consumed."""


class Known(NamedTuple):
    """What a beginning of a text settles: steps in order, with neighbouring text joined, and what has to wait."""

    steps: list[Step]
    held: str


class Watched(NamedTuple):
    """A delimiter that counts where the text is: its literals, what it does, and to which field."""

    literals: list[str]
    what: str
    field: str


def literals_of(field: dict[str, Any], key: str) -> list[str]:
    """The literals of a field's delimiter; none where it has none."""
    literals = field.get(key, [])
    return [literals] if isinstance(literals, str) else literals


def watched_in(fields: dict[str, Any], region: str | None) -> list[Watched]:
    """The delimiters that count in the explicit region of a field, or outside of any."""
    if region is not None:
        return [Watched(literals_of(fields[region], "close"), "close", region)]
    watched = [Watched(literals_of(field, "open"), "open", name) for name, field in fields.items() if "open" in field]
    return watched + [
        Watched(literals_of(field, "close"), "close", name) for name, field in fields.items() if "open" not in field
    ]


def first_place(watched: list[Watched], text: str) -> tuple[int, bool, str, Watched | None]:
    """The first place at which a delimiter is, or may begin: where, whether it is settled, its text and itself."""
    for place in range(len(text)):
        rest = text[place:]
        literals = [literal for each in watched for literal in each.literals]
        if any(literal.startswith(rest) and literal != rest for literal in literals):
            return place, False, "", None
        matches = [(literal, each) for each in watched for literal in each.literals if rest.startswith(literal)]
        if matches:
            # the longest, an open before a close, the lower name
            literal, best = min(matches, key=lambda match: (-len(match[0]), match[1].what == "close", match[1].field))
            return place, True, literal, best
    return len(text), False, "", None


def known_from(template: dict[str, Any], text: str) -> Known:
    """What is settled when ``text`` has come and more may follow."""
    fields: dict[str, Any] = template["fields"]
    implicit = next((name for name, field in fields.items() if "open" not in field), None)
    region: str | None = None
    steps: list[Step] = []

    def write(plain: str) -> None:
        field = implicit if region is None else region
        if plain and field is not None:
            if steps and steps[-1][:2] == ("text", field):
                plain = steps.pop()[2] + plain
            steps.append(("text", field, plain))

    while True:
        place, settled, literal, found = first_place(watched_in(fields, region), text)
        write(text[:place])
        if not settled:
            return Known(steps, text[place:])
        assert found is not None
        implicit_is_open = region is None and bool(steps) and steps[-1][0] == "text"
        if found.what == "open":
            if implicit_is_open and implicit is not None:
                steps.append(("close", implicit, ""))
            steps.append(("open", found.field, literal))
            region = found.field
        else:
            if region is not None or implicit_is_open:
                steps.append(("close", found.field, literal))
            region = None
        text = text[place + len(literal) :]
