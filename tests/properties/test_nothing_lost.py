"""In the lenient modes nothing raises and nothing is lost: the events, in order, give back the input."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse import ResponseParser
from tests.properties.outcomes import loaded
from tests.properties.policies import familiar_samples, lenient_samples
from tests.properties.templates import TOOLS, Sample
from tests.properties.texts import cut_up, cuts, prefixes, texts
from tests.properties.time_limit import ended_in_time

Event = dict[str, Any]

each_lenient_mode = pytest.mark.parametrize("errors", ["report", "repair"])


def all_events(sample: Sample, pieces: list[str], prefix: str, errors: str) -> list[Event]:
    """The events with spans of a parse in pieces; a region_open and its region's end come one after the other."""
    with ended_in_time():
        parser = ResponseParser(loaded(sample.template), prefix, tools=TOOLS, errors=errors, spans=True)
        events = list(parser.initial_events)
        for piece in pieces:
            events += parser.feed(piece)
        return events + parser.finalize()[1]


def assert_gives_back(events: list[Event], text: str) -> None:
    """The spans that events consumed lie side by side, and the text of each is that of its span."""
    position = None
    for event in events:
        start, end = event["start"], event["end"]
        if end < 0 or (end == 0 and start < 0):
            continue  # the prefix's
        if position is None:
            assert start <= 0, f"the first characters are in no event: {events}"
        else:
            assert start == position, f"{event} does not begin at {position}: {events}"
        position = end
        if "text" in event and event["type"] != "region_malformed":
            assert event["text"][-end:] == text[max(start, 0) : end][-end:], event
    assert (position or 0) == len(text), f"the last characters are in no event: {events}"


def assert_well_formed(events: list[Event]) -> None:
    """Each region opens, has chunks of its own, and ends once; its raw text is that of its chunks."""
    field: str | None = None
    body, begun_in_prefix = "", False
    for event in events:
        kind = event["type"]
        if kind == "region_open":
            assert field is None, f"a region opens inside another: {events}"
            field, body, begun_in_prefix = event["field"], "", event["end"] < 0
        elif kind == "region_unclaimed":
            continue
        else:
            assert event["field"] == field, f"{event} is not of the open region: {events}"
            if kind == "region_chunk":
                assert event["text"], "an empty chunk"
                body += event["text"]
            else:
                field = None
            if kind == "region_malformed":
                assert event["error"]
                # text that was undecided at the end of the prefix is in no chunk
                assert event["text"] == body or begun_in_prefix
    assert field is None, f"a region is left open: {events}"


@each_lenient_mode
@given(data=st.data(), sample=st.one_of(lenient_samples(), familiar_samples()), places=cuts())
def test_the_events_give_back_the_input(errors: str, data: st.DataObject, sample: Sample, places: list[int]) -> None:
    text, prefix = data.draw(texts(sample), "text"), data.draw(prefixes(sample), "prefix")
    for pieces in ([text], list(text), cut_up(text, places)):
        events = all_events(sample, pieces, prefix, errors)
        assert_gives_back(events, text)
        assert_well_formed(events)
