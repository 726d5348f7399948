"""How a generation of the keyed operator ends: its last events, of which the very last is ``message`` or ``error``.

In:  the generation's parser, and its end or its error.
Out: the events, and the error that ending came to. Touches nothing but the parser, so it may be done in any thread.
"""

from __future__ import annotations

from streamparse.errors import events_before
from streamparse.events import Event, error_event, message_event
from streamparse.graph.source import End
from streamparse.parser import ResponseParser

Outcome = tuple[list[Event], Exception | None]
"""The events of a step, and the error that it came to."""


def last_events(parser: ResponseParser, end: End) -> Outcome:
    """The last events of a generation that ends in the regular way, the message among them."""
    try:
        message, events = parser.finalize(end.for_parser)
    except Exception as error:
        return [*events_before(error), error_event(error, parser.message, parser.problems)], error
    last = message_event(message, parser.problems, end.finish_reason)
    if end.usage is not None:
        last["usage"] = end.usage
    return [*events, last], None


def failed_events(parser: ResponseParser, error: Exception) -> Outcome:
    """The last events of a generation that has failed; if its parser has not, the open region ends first."""
    try:
        events = parser.finalize("length")[1]
    except Exception:  # the parser has stopped already, or stops at what the first error left undone
        events = []
    return [*events_before(error), *events, error_event(error, parser.message, parser.problems)], error
