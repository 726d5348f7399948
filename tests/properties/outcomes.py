"""What a parse comes to, in a form in which two parses can be compared whatever their cuts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from hypothesis import reject

from streamparse import ParseError, ResponseParser, ResponseTemplate, TemplateError, load_response_template
from tests.properties.time_limit import ended_in_time

Event = dict[str, Any]
Outcome = dict[str, Any]


def outcome(
    source: dict[str, Any],
    pieces: Iterable[str | bytes],
    *,
    prefix: str = "",
    tools: list[Any] | None = None,
    finish_reason: str | None = None,
    restored_after: frozenset[int] = frozenset(),
    **options: Any,
) -> Outcome:
    """The message, the events and the problems of a parse, or the error that ended it.

    ``restored_after`` are the pieces (by number) after which the parser is replaced by one that is restored from its
    snapshot.
    """
    template = loaded(source)
    try:
        with ended_in_time():
            parser = ResponseParser(template, prefix, tools=tools, **options)
            initial, events = parser.initial_events, []
            for number, piece in enumerate(pieces):
                events += parser.feed(piece)
                if number in restored_after:
                    parser = ResponseParser.restore(parser.snapshot(), template, tools=tools)
            message, last = parser.finalize(finish_reason)
    except ParseError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {
        "message": message,
        "initial": joined(initial),
        "events": joined(events + last),
        "problems": parser.problems,
    }


def loaded(template: dict[str, Any]) -> ResponseTemplate:
    """The template, loaded; an example whose template has a fault does not count."""
    try:
        return load_response_template(template)
    except TemplateError:
        reject()


def joined(events: Iterable[Event]) -> list[Event]:
    """Events with neighbouring pieces of one text made one: only where these are cut may differ."""
    result: list[Event] = []
    for event in events:
        previous = result[-1] if result else {}
        if event["type"] in ("region_chunk", "region_unclaimed") and event["type"] == previous.get("type"):
            assert event.get("field") == previous.get("field"), "chunks of two regions with nothing between them"
            result[-1] = previous | {"text": previous["text"] + event["text"]}
            if "end" in event:
                result[-1]["end"] = event["end"]
        else:
            result.append(event)
    return result


def as_text(value: Any) -> str:
    """A value such that two are the same text if and only if they are the same JSON: 1, 1.0 and true differ."""
    return json.dumps(value, sort_keys=True)


def assert_same(found: Outcome, expected: Outcome, how: str) -> None:
    """Fail with both outcomes where they differ."""
    assert as_text(found) == as_text(expected), f"{how}:\n  {found}\nis not\n  {expected}"


def by_character(text: str) -> list[str]:
    """The smallest pieces."""
    return list(text)
