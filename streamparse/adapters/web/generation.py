"""One input on its way through the parser, with the raw text that each event stands for.

In:  an input, and the turns at which its pieces may come.
Out: the events of ``ResponseParser``, then a ``message`` event, as ``parse_stream`` gives them, with more in them:

``source``     in every event with a span but chunks, whose text it is: the raw text from ``start`` to ``end``
``ends_turn``  in ``region_unclaimed``: true where the text is only the mark that ends the implicit field
``fault_at``   in ``region_malformed``: where in ``text`` the error is, or null

and events of its own: ``held`` (``text``: what the parser has read but not decided, whenever that changes), ``dropped``
(``source``: what strict mode drops) and, for an input with an expected message, ``compared`` (``same``) at the end.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from contextlib import aclosing

from streamparse.adapters.web.inputs import Input
from streamparse.adapters.web.pace import Turns
from streamparse.errors import StreamparseError
from streamparse.events import RawEvent as Event
from streamparse.events import message_event
from streamparse.parser import ResponseParser
from streamparse.template import ResponseTemplate
from streamparse.template.end_mark import is_end_mark


async def events_of(made: Input, turns: Turns) -> AsyncIterator[Event]:
    """Parse an input, each piece at its turn. What strict mode can't parse, or a failing model, is a problem."""
    parser = made.parser()
    spelling = Spelling(made.template)
    for event in spelling.spell(parser.initial_events):
        yield event
    problems = parser.problems
    try:
        async with aclosing(_pieces(made)) as pieces:
            async for piece in pieces:
                await turns.next()
                for event in spelling.feed(parser, piece):
                    yield event
        _, events = parser.finalize()
        for event in spelling.spell(events):
            yield event
    except StreamparseError as error:
        problems = [*problems, {"type": "stopped", "error": f"It stopped here: {error}"}]
    yield message_event(parser.message, problems, None)
    if made.expected is not None:
        yield {"type": "compared", "same": parser.message == made.expected}


async def _pieces(made: Input) -> AsyncGenerator[str, None]:
    """The pieces that there are; or, where a model has yet to write them, those, which are kept."""
    if made.writes is None or made.pieces:
        for piece in made.pieces:
            yield piece
        return
    assert isinstance(made.pieces, list), "the pieces that a model writes go into a list"
    async with aclosing(made.writes()) as written:
        async for piece in written:
            made.pieces.append(piece)
            yield piece


class Spelling:
    """Keeps the raw text until events say what became of it, and writes it into them."""

    def __init__(self, template: ResponseTemplate) -> None:
        self._template = template
        self._text = ""  # fed, but in no event yet
        self._end = 0  # the character that it begins with
        self._held = ""  # of it, what the last ``held`` event had

    def feed(self, parser: ResponseParser, piece: str) -> list[Event]:
        """Feed a piece to the parser: its events, and a ``held`` event where what is undecided has changed."""
        self._text += piece
        events = list(self.spell(parser.feed(piece)))
        if self._text != self._held:
            self._held = self._text
            events.append({"type": "held", "text": self._held})
        return events

    def spell(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events, with the raw text that they stand for."""
        for event in events:
            if "end" in event:
                dropped = self._take(event["start"])
                if dropped:
                    yield {"type": "dropped", "source": dropped}
                source = self._take(event["end"])
                event = event if event["type"] == "region_chunk" else {**event, "source": source, **self._more(event)}
            yield event

    def _take(self, end: int) -> str:
        """Take the raw text up to a character of the generation."""
        length = max(end - self._end, 0)
        taken, self._text = self._text[:length], self._text[length:]
        self._end += length
        return taken

    def _more(self, event: Event) -> Event:
        """What the page wants to know of an event that is no chunk."""
        if event["type"] == "region_unclaimed":
            return {"ends_turn": is_end_mark(self._template, event["text"])}
        if event["type"] == "region_malformed":
            begin = event["start"] - len(event["text"])
            return {"fault_at": None if event["position"] is None else max(event["position"] - begin, 0)}
        return {}
