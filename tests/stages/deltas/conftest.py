"""The stages of the core that deltas have to do with, composed as the parser composes them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from streamparse.stages.content_stage import ContentStage
from streamparse.stages.deltas import DeltaStage
from streamparse.stages.recovery import RecoveringTokenizer
from streamparse.stages.region import up_to_each_end
from streamparse.stages.regions import RegionTokenizer
from streamparse.stages.schema_typing import ToolSchemas
from streamparse.stages.transform_stage import TransformStage
from streamparse.template import ResponseTemplate

Event = dict[str, Any]

WHOLE_ESCAPE = re.compile(r"\\(?:[\"\\/bfnrt]|u[0-9a-f]{4})")


class Core:
    """Text in, events out."""

    def __init__(
        self,
        template: ResponseTemplate,
        tools: Any = None,
        *,
        lenient: bool = False,
        deltas: bool = True,
        made_id: Callable[[int], str] | None = None,
    ) -> None:
        schemas = ToolSchemas.from_tools(tools)
        self.regions = (RecoveringTokenizer if lenient else RegionTokenizer)(template, captures=True)
        self.deltas = DeltaStage(template, schemas, lenient=lenient, made_id=made_id) if deltas else None
        self.content = ContentStage(template.fields, lenient=lenient)
        self.transform = TransformStage(schemas, lenient=lenient, deltas=self.deltas)

    def feed(self, text: str) -> list[Event]:
        return self.through(self.regions.feed(text))

    def finish(self) -> list[Event]:
        return self.through(self.regions.finish())

    def run(self, pieces: Iterable[str]) -> list[Event]:
        return [event for piece in pieces for event in self.feed(piece)] + self.finish()

    def through(self, items: list[Any]) -> list[Event]:
        events: list[Event] = []
        for batch in up_to_each_end(items):
            events += self.transform.feed(self.content.feed(self.with_deltas(batch)))
        return events

    def with_deltas(self, items: list[Any]) -> list[Any]:
        if self.deltas is None:
            return items
        if len(items) == 1 and isinstance(items[0], dict) and items[0]["type"] == "region_chunk":
            return self.deltas.chunk(items[0])
        return self.deltas.feed(items)

    def snapshot(self) -> str:
        assert self.deltas is not None
        return json.dumps([self.regions.snapshot(), self.deltas.snapshot(), self.content.snapshot()])

    def restore(self, data: str) -> None:
        assert self.deltas is not None
        regions, deltas, content = json.loads(data)
        self.regions.restore(regions)
        self.content.restore(content, self.regions.writer.open_field)
        self.deltas.restore(deltas, content["body"])


def calls_in(events: list[Event]) -> list[dict[str, Any]]:
    values = [event["value"] for event in events if event["type"] == "region_close" and event["field"] == "tool_calls"]
    return [call for value in values for call in (value if isinstance(value, list) else [value])]


def put_together(events: Iterable[Event]) -> list[dict[str, Any]]:
    """What a client makes of the deltas: calls by their index."""
    calls: list[dict[str, Any]] = []
    for event in events:
        if event["type"] != "region_delta":
            continue
        assert set(event) <= {"type", "field", "index", "id", "name", "arguments"}
        assert len(event) > 3
        if event["index"] == len(calls):
            assert "name" in event
            calls.append({"arguments": ""})
        call = calls[event["index"]]
        assert not {"id", "name"} & event.keys() & call.keys()
        call |= {key: event[key] for key in ("id", "name") if key in event}
        call["arguments"] += event.get("arguments", "")
        assert "\\" not in WHOLE_ESCAPE.sub("", event.get("arguments", ""))
    return calls


def check_deltas(
    template: ResponseTemplate, pieces: list[str], tools: Any = None, *, lenient: bool = False
) -> list[Event]:
    """The events of a generation, after a check that its deltas add up to its calls and change no other event.

    They do so too where the generation comes twice, and what is known of its pieces the first time is made use of.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("streamparse.stages.deltas.walk.READ_BEFORE", 0)
        add_up(template, [*pieces, *pieces], tools, lenient=lenient)
    return add_up(template, pieces, tools, lenient=lenient)


def add_up(template: ResponseTemplate, pieces: list[str], tools: Any = None, *, lenient: bool = False) -> list[Event]:
    """The events of a generation whose deltas add up to its calls and change no other event."""
    events = Core(template, tools, lenient=lenient).run(pieces)
    plain = Core(template, tools, lenient=lenient, deltas=False).run(pieces)
    assert [event for event in events if event["type"] != "region_delta"] == without_captures(plain)
    given_out, calls = put_together(events), calls_in(events)
    assert len(given_out) == len(calls)
    for delta, call in zip(given_out, calls, strict=True):
        assert delta["name"] == call["function"]["name"]
        assert delta.get("id") == call.get("id")
        arguments = call["function"]["arguments"]
        assert json.loads(delta["arguments"]) == arguments
        assert delta["arguments"] == compact(arguments) or repeats_a_key(delta["arguments"])
    return events


def without_captures(events: list[Event]) -> list[Event]:
    return [{key: value for key, value in event.items() if key != "captures"} for event in events]


def repeats_a_key(text: str) -> bool:
    repeated = []

    def see(members: list[tuple[str, Any]]) -> None:
        repeated.append(len({key for key, _ in members}) < len(members))

    json.loads(text, object_pairs_hook=see)
    return any(repeated)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.fixture(scope="session")
def core() -> type[Core]:
    return Core


@pytest.fixture(scope="session")
def check() -> Callable[..., list[Event]]:
    return check_deltas


@pytest.fixture(scope="session")
def put_deltas_together() -> Callable[..., list[dict[str, Any]]]:
    return put_together
