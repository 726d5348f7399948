"""A stream gives what the parser gives: on each event loop, chained into one coroutine or a task for each stage."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse import parse_stream
from tests.properties.outcomes import assert_same, joined, loaded, outcome
from tests.properties.policies import familiar_samples, lenient_samples
from tests.properties.templates import Sample
from tests.properties.texts import cut_up, cuts, prefixes, texts
from tests.properties.time_limit import ended_in_time


async def arriving(pieces: list[str]) -> AsyncIterator[str]:
    """The pieces, one after the other, with a moment between some of them."""
    for number, piece in enumerate(pieces):
        if number % 3 == 0:
            await anyio.lowlevel.checkpoint()
        yield piece


async def stream_outcome(template: Any, pieces: list[str], *, prefix: str, chaining: bool) -> dict[str, Any]:
    """What a stream comes to, in the form of ``outcome``, without a line between prefill and generation."""
    events = []
    async with parse_stream(arriving(pieces), loaded(template), prefix=prefix, chaining=chaining) as stream:
        async for event in stream:
            events.append(event)
    last = events.pop()
    assert last["type"] == "message"
    return {"message": last["message"], "events": joined(events), "problems": last["problems"]}


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("chaining", [True, False], ids=["chained", "unchained"])
@given(data=st.data(), sample=st.one_of(lenient_samples(), familiar_samples()), places=cuts())
def test_a_stream_gives_what_the_parser_gives(
    backend: str, chaining: bool, data: st.DataObject, sample: Sample, places: list[int]
) -> None:
    text, prefix = data.draw(texts(sample), "text"), data.draw(prefixes(sample), "prefix")
    expected = outcome(sample.template, [text], prefix=prefix, errors="report")
    expected["events"] = joined(expected.pop("initial") + expected["events"])
    for pieces in (list(text), cut_up(text, places)):
        with ended_in_time():
            found = anyio.run(
                lambda pieces=pieces: stream_outcome(sample.template, pieces, prefix=prefix, chaining=chaining),
                backend=backend,
            )
        assert_same(found, expected, "streamed")
