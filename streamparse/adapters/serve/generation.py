"""One generation of the upstream, from where its answer begins to where it may end.

In:  a ``RawCompletion``, and the text that the answer has begun with in the prompt.
Out: a source of ``parse_stream``; and ``FirstCall``, which passes the events of an answer up to its first whole call.
"""

from __future__ import annotations

from typing import Self

from streamparse.adapters.openai import RawCompletion
from streamparse.events import RawEvent
from streamparse.stages.deltas.plan import is_call_field
from streamparse.stream import End
from streamparse.template import ResponseTemplate

Event = RawEvent


class Generation:
    """The text of an answer: what it begins with, then what the upstream writes, until it is stopped.

    An end without a finish reason is that of an answer that may not be whole, and so has the reason ``length``.
    """

    def __init__(self, completion: RawCompletion, begun: str = "") -> None:
        self._completion = completion
        self._begun = begun
        self._stopped = False

    async def open(self) -> None:
        """Ask the upstream, and return when it has begun to answer; raises CompletionError."""
        await self._completion.open()

    async def stop(self) -> None:
        """End the answer here: the connection to the upstream is closed."""
        self._stopped = True
        await self._completion.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str | End:
        """Give the next piece of text, or, last of all, the ``End``."""
        if self._begun:
            begun, self._begun = self._begun, ""
            return begun
        if self._stopped:
            return End("stop", self._completion.usage)
        piece = await anext(self._completion)
        return End("length", piece.usage) if isinstance(piece, End) and piece.finish_reason is None else piece

    async def aclose(self) -> None:
        """Close the connection; the upstream stops generating."""
        await self._completion.aclose()


class FirstCall:
    """Passes the events of an answer up to the end of its first whole call; ``found`` says that it has come.

    >>> from streamparse.template import load_response_template
    >>> calls = FirstCall(load_response_template("hunyuan_a13b"))
    >>> two = [{"type": "function", "function": {"name": name, "arguments": {}}} for name in "fg"]
    >>> calls.passed({"type": "region_close", "field": "tool_calls", "value": two})["value"] == two[:1]
    True
    >>> calls.found, calls.passed({"type": "region_chunk", "field": "content", "text": "Hi", "dirty": False})
    (True, None)
    """

    def __init__(self, template: ResponseTemplate) -> None:
        self._fields = {field.name for field in template.fields.values() if is_call_field(field)}
        self._index: int | None = None
        self._others = False
        self.found = False

    def passed(self, event: Event) -> Event | None:
        """Give the event, or as much of it as counts; None for one that comes too late."""
        kind = event["type"]
        if kind == "message":
            return event
        if self.found:
            return None
        if event.get("field") not in self._fields:
            return event
        if kind == "region_open":
            self._index, self._others = None, False
        elif kind == "region_delta":
            self._index = event["index"] if self._index is None else self._index
            self._others = self._others or event["index"] != self._index
            return event if event["index"] == self._index else None
        elif kind == "region_malformed" and self._others:
            return None
        elif kind == "region_close" and event["value"]:
            self.found = True
            value = event["value"]
            return {**event, "value": value[:1] if isinstance(value, list) else value}
        return event
