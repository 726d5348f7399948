"""Nothing is held back longer than it must be: as soon as no continuation can change it, it is given out."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from streamparse import ResponseParser
from tests.properties.literal_oracle import Step, known_from
from tests.properties.outcomes import loaded
from tests.properties.templates import Sample, samples
from tests.properties.texts import cut_up, cuts, texts

Event = dict[str, Any]


def steps_of(events: list[Event], implicit: str | None) -> list[Step]:
    """The events as the steps of the oracle, without the texts of delimiters."""
    steps: list[Step] = []
    for event in events:
        field = event["field"]
        if event["type"] == "region_chunk":
            if steps and steps[-1][:2] == ("text", field):
                steps[-1] = ("text", field, steps[-1][2] + event["text"])
            else:
                steps.append(("text", field, event["text"]))
        elif event["type"] == "region_close":
            steps.append(("close", field, ""))
        elif field != implicit:
            steps.append(("open", field, ""))
    return steps


def without_delimiters(steps: list[Step]) -> list[Step]:
    return [step if step[0] == "text" else (step[0], step[1], "") for step in steps]


@given(data=st.data(), sample=samples(literal=True, contents=("text",)), places=cuts())
def test_after_each_piece_all_that_is_settled_is_out_and_only_the_rest_is_held(
    data: st.DataObject, sample: Sample, places: list[int]
) -> None:
    template = {**sample.template, "fields": {n: without_shape(f) for n, f in sample.template["fields"].items()}}
    template.pop("defaults", None)
    implicit = next((name for name, field in template["fields"].items() if "open" not in field), None)
    text = data.draw(texts(sample), "text")
    for pieces in (list(text), cut_up(text, places)):
        parser, so_far, events = ResponseParser(loaded(template), ""), "", []
        for piece in pieces:
            so_far += piece
            events += parser.feed(piece)
            known = known_from(template, so_far)
            assert steps_of(events, implicit) == without_delimiters(known.steps), so_far
            assert parser.held == len(known.held), so_far


def without_shape(field: dict[str, Any]) -> dict[str, Any]:
    """A field's delimiters alone: what becomes of its values does not matter here."""
    return {key: value for key, value in field.items() if key in ("open", "close")}
