"""Every stream is one that the protocols' own packages accept, and the message that each reads is the parser's.

In: random texts of all bundled families, with damage, cut anywhere, whole, failed or stopped in the middle.
``STREAMPARSE_EXAMPLES=10000`` tries as many (``make protocols``); the usual run is short and always the same.
"""

from __future__ import annotations

import json
import os
from typing import Any

import anthropic
import pytest
from ag_ui.core import Event as AgUiEvent
from anthropic.types import RawMessageStreamEvent
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from streamparse.adapters.ag_ui import RunEvents
from streamparse.adapters.ai_sdk import UIMessageChunks
from streamparse.adapters.anthropic import MessageEvents
from streamparse.adapters.openai import ResponseEvents
from streamparse.encode import encode_event
from tests.adapters.openai.messages import accumulated, chunked, parsed
from tests.adapters.protocols.official import Clients
from tests.adapters.protocols.validators import Validators, needs_packages
from tests.properties.policies import familiar_samples
from tests.properties.templates import TOOLS, Sample
from tests.properties.texts import cut_up, cuts, prefixes, texts
from tests.template.test_bundled import SAMPLES

AG_UI: TypeAdapter[Any] = TypeAdapter(AgUiEvent)
MESSAGES: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
RESPONSES: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)

random_streams = settings(
    max_examples=int(os.environ.get("STREAMPARSE_EXAMPLES", "100")),
    derandomize="STREAMPARSE_EXAMPLES" not in os.environ,
    print_blob=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)

Read = tuple[str, str, list[list[Any]]]
"""What a client reads: the content, the reasoning, and the calls that it takes for whole, by name and arguments."""

ENDS = ("finish", "finish", "fail", "abort")
USAGE = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}


@st.composite
def made(draw: st.DrawFn) -> tuple[Any, str, str]:
    """A template, a prefix and a text made of its delimiters, values and noise."""
    sample: Sample = draw(familiar_samples())
    return sample.template, draw(prefixes(sample)), draw(texts(sample))


@st.composite
def written(draw: st.DrawFn) -> tuple[Any, str, str]:
    """What a model of a family wrote, as it is or damaged: cut off, or with a stretch left out, doubled or replaced."""
    sample = draw(st.sampled_from(SAMPLES))
    text = sample.text
    for _ in range(draw(st.sampled_from([0, 1, 1, 2]))):
        start, length = draw(st.integers(0, len(text))), draw(st.integers(0, 12))
        before, stretch, after = text[:start], text[start : start + length], text[start + length :]
        text = before + draw(st.sampled_from(["", stretch * 2, '",}', "}", "\n", "<"])) + after
    if draw(st.booleans()):
        text = text[: draw(st.integers(0, len(text)))]
    return sample.template, sample.prefix, text


class Generation:
    """One random generation: its events, how it ends, and what clients should read."""

    def __init__(self, data: st.DataObject) -> None:
        self.template, prefix, text = data.draw(st.one_of(written(), written(), made()), "template, prefix, text")
        self.deltas = data.draw(st.booleans(), "deltas")
        self.end = data.draw(st.sampled_from(ENDS), "end")
        reason = data.draw(st.sampled_from([None, "stop", "length", "content_filter"]), "reason")
        errors = data.draw(st.sampled_from(["report", "repair"]), "errors")
        options = {"errors": errors, "deltas": self.deltas, "tools": TOOLS, "finish_reason": reason}
        pieces = cut_up(text, data.draw(cuts(), "cuts"))
        self.message, self.events = parsed(self.template, pieces, prefix, **options)
        self.whole = self.end == "finish"
        if not self.whole:
            self.events = self.events[: data.draw(st.integers(0, len(self.events) - 1), "events before the end")]

    def through(self, machine: Any) -> list[Any]:
        """What a machine makes of it, as a client gets it: through JSON."""
        made = [each for event in self.events for each in machine.feed(event)]
        if self.end == "fail":
            made += machine.fail("the upstream failed")
        elif self.end == "abort" and hasattr(machine, "abort"):
            made += machine.abort()
        else:  # a generation that was stopped is one that was cut off where a protocol has no word for it
            made += machine.finish(USAGE, None if self.whole else "length")
        return [json.loads(encode_event(each, standard=True)) for each in made]

    def check(self, found: Read, **options: Any) -> None:
        """Hold what a client reads against the message, or, of one that is not whole, against its beginning.

        ``options`` are those of the chunks that it is compared with where something is malformed.
        """
        content, reasoning, calls = found
        expected = json.loads(encode_event(self.message, standard=True))
        functions = [call["function"] for call in expected.get("tool_calls", [])]
        ours = [[each["name"], read(each.get("arguments", {}))] for each in functions]
        if self.whole:
            assert calls == ours
        else:
            assert calls == ours[: len(calls)]
        malformed = any(event["type"] == "region_malformed" for event in self.events)
        if self.whole and not malformed:
            assert content == text_of(expected.get("content"))
            assert reasoning == text_of(next((expected[key] for key in REASONING if key in expected), None))
        else:  # what is malformed is content, or not; and what comes of it is the same everywhere
            chunks = chunked(self.template, self.events, **options)
            deltas = [accumulated(chunks)] if chunks else [{}]
            assert content == deltas[0].get("content", "")
            assert reasoning == deltas[0].get("reasoning_content", "")


REASONING = ("reasoning_content", "reasoning", "thinking")


def text_of(value: Any) -> str:
    """A field's value as it goes out: text, or the JSON of anything else."""
    return "" if value is None else value if isinstance(value, str) else encode_event(value, standard=True).decode()


def read(arguments: Any) -> Any:
    """Arguments as clients read them: text that is JSON is what it says."""
    try:
        return json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments


@needs_packages
@random_streams
@given(data=st.data())
def test_the_ai_sdk_and_ag_ui_accept_every_stream_and_read_the_message(
    packages: Validators, data: st.DataObject
) -> None:
    generation = Generation(data)
    chunks = generation.through(UIMessageChunks(generation.template, id="a"))
    events = generation.through(RunEvents(generation.template, thread_id="t", run_id="r"))
    found = packages.read(ui=chunks, agui=events)
    failed = ["the upstream failed"] if generation.end == "fail" else []
    for version in found["ui"].values():
        assert (version["faults"], version["errors"]) == ([], failed)
        generation.check(read_in_parts(version["parts"]))
    for event in events:
        AG_UI.validate_python(event)
    assert (found["agui"]["faults"], found["agui"]["errors"]) == ([], failed)
    generation.check(read_in_messages(found["agui"]["messages"], events))


@random_streams
@given(data=st.data())
def test_the_official_clients_accept_every_stream_and_read_the_message(clients: Clients, data: st.DataObject) -> None:
    generation = Generation(data)
    blocks = generation.through(MessageEvents(generation.template, model="m"))
    for event in blocks:
        MESSAGES.validate_python(event, strict=True) if event["type"] != "error" else None
    message, failure = read_by_anthropic(clients, blocks)
    assert failure == ("the upstream failed" if generation.end == "fail" else None)
    generation.check(read_in_blocks(message.content), whole_calls=True)
    events = generation.through(ResponseEvents(generation.template, model="m"))
    for event in events:
        RESPONSES.validate_python(event, strict=True)
    response = read_by_openai(clients, events)
    assert (response.error.message if response.error else None) == failure
    generation.check(read_in_items(response.output))


def read_by_anthropic(clients: Clients, events: list[Any]) -> tuple[Any, str | None]:
    """The message that the client has read when the stream ends, and the error that it raises then."""
    clients.answer(events)
    ask: Any = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    with clients.anthropic.messages.stream(**ask) as stream:
        try:
            stream.until_done()
        except anthropic.APIStatusError as error:
            return stream.current_message_snapshot, error.body["error"]["message"]
        return stream.current_message_snapshot, None


def read_by_openai(clients: Clients, events: list[Any]) -> Any:
    """The response that the client has read when the stream ends."""
    clients.answer(events)
    for event in clients.openai.responses.create(model="m", input="Hi", stream=True):
        if event.type in ("response.completed", "response.incomplete", "response.failed"):
            return event.response
    return None


def read_in_blocks(blocks: list[Any]) -> Read:
    """What a message of Anthropic's API says."""
    content = "".join(block.text for block in blocks if block.type == "text")
    reasoning = "".join(block.thinking for block in blocks if block.type == "thinking")
    return content, reasoning, [[block.name, read(block.input)] for block in blocks if block.type == "tool_use"]


def read_in_items(items: list[Any]) -> Read:
    """What a response's items say."""
    texts = {
        kind: "".join(part.text for item in items if item.type == kind for part in item.content)
        for kind in ("message", "reasoning")
    }
    calls = [item for item in items if item.type == "function_call" and item.status == "completed"]
    return texts["message"], texts["reasoning"], [[call.name, read(call.arguments)] for call in calls]


def read_in_parts(parts: list[Any]) -> Read:
    """What an AI SDK message says; a call that may be run has the state ``input-available``."""
    texts = {kind: "".join(part["text"] for part in parts if part["type"] == kind) for kind in ("text", "reasoning")}
    tools = [part for part in parts if part["type"].startswith("tool-")]
    assert {part["state"] for part in tools} <= {"input-available", "output-error"}
    calls = [
        [part["type"].removeprefix("tool-"), read(part["input"])]
        for part in tools
        if part["state"] == "input-available"
    ]
    return texts["text"], texts["reasoning"], calls


def read_in_messages(messages: list[Any], events: list[Any]) -> Read:
    """What the messages of an AG-UI client say."""
    assert len({message["id"] for message in messages}) == len(messages)
    malformed = {event["value"]["toolCallId"] for event in events if event.get("name") == "malformed_call"}
    texts = {
        role: "".join(message.get("content") or "" for message in messages if message["role"] == role)
        for role in ("assistant", "reasoning")
    }
    calls = [call for message in messages for call in message.get("toolCalls", [])]
    for call in calls:
        if call["id"] in malformed:
            with pytest.raises(ValueError, match=r"."):
                json.loads(call["function"]["arguments"])
    sound = [call["function"] for call in calls if call["id"] not in malformed]
    return texts["assistant"], texts["reasoning"], [[call["name"], read(call["arguments"])] for call in sound]
