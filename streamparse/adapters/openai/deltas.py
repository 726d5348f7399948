"""Events as the deltas of a chat message: the one step that all of the formats for clients share.

In:  the events of ``ResponseParser`` or ``parse_stream``, one at a time.
Out: deltas as OpenAI's chat completions have them, each a dict with one of

     - ``content``: a piece of the answer's text;
     - ``reasoning_content``: a piece of the reasoning;
     - the name of another text field of the template: a piece of that;
     - ``tool_calls``: entries of calls, see ``calls.py``.

     Put together they are the message, whatever the cuts. ``finish_reason`` says why the generation ended in the words
     of that API, and ``problems`` lists what was malformed.

What a model wrote wrongly reaches the client too: the raw text of a malformed region goes out as content, unless it is
a call that has been announced already. A call's text has its delimiters around it then, so that nobody takes the JSON
inside for the answer.
"""

from __future__ import annotations

from typing import Any

from streamparse.adapters.openai.calls import CallDeltas
from streamparse.adapters.openai.texts import TextField, text_field
from streamparse.events import RawEvent
from streamparse.formats.compact import compact
from streamparse.stages.deltas.plan import is_call_field
from streamparse.template import ResponseTemplate, TemplateSource, load_response_template
from streamparse.template.model import Field

Event = RawEvent
Delta = dict[str, Any]

_REASONING = ("reasoning_content", "reasoning", "thinking")
"""The names under which templates have the reasoning."""

_TAKEN = ("role", "refusal", "audio", "function_call", "tool_calls")
"""Keys of a delta that are not for texts of a model."""

_KEPT_REASONS = ("length", "content_filter")
"""The finish reasons of an engine that a client is told as they are, whatever the model wrote."""

_PLACED = ("content", "reasoning_content")
"""The texts that every format for clients has a place for."""

_PROBLEM = ("field", "error", "position", "text", "incomplete")


class MessageDeltas:
    """Turns events into deltas; ``template`` is the one that the events were parsed with.

    With ``whole_calls`` a call goes out only when it is whole and known to be well-formed, also where the events have
    deltas.

    >>> deltas = MessageDeltas("qwen3")
    >>> deltas.feed({"type": "region_chunk", "field": "content", "text": "Hi", "dirty": False})
    [{'content': 'Hi'}]
    """

    def __init__(self, template: TemplateSource, *, whole_calls: bool = False) -> None:
        loaded = load_response_template(template)
        self._calls = CallDeltas()
        self._whole_calls = whole_calls
        self._call_malformed = False
        self._call_fields = {field.name for field in loaded.fields.values() if is_call_field(field)}
        self._texts = _text_fields(loaded)
        self._is_dirty = {field.name for field in loaded.fields.values() if not field.streams}
        self.problems: list[dict[str, Any]] = []

    def feed(self, event: Event) -> list[Delta]:
        """Give the deltas of the next event."""
        kind = event["type"]
        if kind == "region_chunk":
            return [] if event["dirty"] else self._text(event["field"], event["text"])
        if kind == "region_delta":
            return [] if self._whole_calls else _calls(self._calls.delta(event))
        if kind == "region_open":
            return self._end()
        if kind == "region_close":
            return self._close(event["field"], event["value"])
        if kind == "region_malformed":
            return self._malformed(event)
        return self._end() if kind == "message" else []

    def finish(self) -> list[Delta]:
        """Give the last deltas, if the events end without a ``message``: calls that are still open were malformed."""
        return self._end()

    def settled(self) -> list[tuple[int, bool]]:
        """Give the calls that have been settled since this was last asked: their index, and whether they are sound."""
        settled, self._calls.settled = self._calls.settled, []
        return settled

    def finish_reason(self, reason: str | None) -> str:
        """Say why the generation ended, in OpenAI's words; ``reason`` is what the engine said, if it did.

        ``length`` and ``content_filter`` where the engine says so; ``tool_calls`` if a call is well-formed; ``length``
        if there are only malformed ones: of the four reasons that clients know it is the one that says that the answer
        is not whole, where ``stop`` would say that it is, and ``tool_calls`` that there is something to run; otherwise
        ``stop``.
        """
        if reason in _KEPT_REASONS:
            return str(reason)
        if self._calls.sound:
            return "tool_calls"
        return "length" if self._call_malformed or self._calls.count else "stop"

    def beside(self, event: Event) -> tuple[str, Any] | None:
        """Give what an event says that a chat message has no place for, as a name and data.

        These are the values of fields that are neither content nor reasoning nor calls, under their names; and
        ``malformed``, ``repaired`` and ``unclaimed``.

        >>> MessageDeltas("qwen3").beside({"type": "region_unclaimed", "text": "??", "start": 0, "end": 2})
        ('unclaimed', {'text': '??'})
        """
        kind = event["type"]
        if kind == "region_unclaimed":
            return "unclaimed", {"text": event["text"]}
        if kind == "region_malformed":
            return "malformed", {key: event[key] for key in _PROBLEM}
        if kind != "region_close":
            return None
        field = event["field"]
        if field not in self._call_fields and self._texts.get(field, ("", None))[0] not in _PLACED:
            return field, event["value"]
        return ("repaired", {"field": field, "repaired": event["repaired"]}) if event.get("repaired") else None

    def _text(self, field: str, text: str) -> list[Delta]:
        known = self._texts.get(field)
        if known is None:
            return []
        key, texts = known
        piece = texts.feed(text)
        return [{key: piece}] if piece else []

    def _close(self, field: str, value: Any) -> list[Delta]:
        if field in self._call_fields:
            return _calls(self._calls.close(value))
        deltas = []
        if field in self._is_dirty:
            deltas = self._text(field, value if isinstance(value, str) else compact(value))
        self._end_text(field)
        return deltas

    def _malformed(self, event: Event) -> list[Delta]:
        self.problems.append({key: event[key] for key in _PROBLEM})
        text = event["text"]
        if event["field"] in self._call_fields:
            self._call_malformed = True
            if self._calls.malformed():
                return []
            text = event["open"] + text + event["close"]
        deltas = self._text("content", text)
        self._end_text("content")
        return deltas

    def _end(self) -> list[Delta]:
        """The calls of the region before, if they are still open, were malformed."""
        return _calls(self._calls.end())

    def _end_text(self, field: str) -> None:
        if field in self._texts:
            self._texts[field][1].end()


def _calls(entries: list[dict[str, Any]]) -> list[Delta]:
    return [{"tool_calls": entries}] if entries else []


def _text_fields(template: ResponseTemplate) -> dict[str, tuple[str, TextField]]:
    """The fields whose texts go out, with their keys; there is always one for content.

    A field that is neither text nor calls, such as a number, goes out only if it is the content or the reasoning.
    """
    fields = {name: field for name, field in template.fields.items() if not is_call_field(field)}
    texts = {name: (_key(name), text_field(field)) for name, field in fields.items() if _goes_out(field)}
    return {"content": ("content", TextField()), **texts}


def _goes_out(field: Field) -> bool:
    if field.name in _TAKEN:
        return False
    return field.content == "text" or _key(field.name) in ("content", "reasoning_content")


def _key(name: str) -> str:
    return "reasoning_content" if name in _REASONING else name
