"""The text of a region is collected from its chunks and parsed when the region ends."""

from __future__ import annotations

from typing import Any

import pytest

from streamparse import LimitError, Limits, ParseError, load_response_template
from streamparse.stages.content_stage import ContentStage
from streamparse.stages.region import Prefill, RegionEnd
from streamparse.template import Field


def field(**more: Any) -> Field:
    template = {"start_anchor": "@", "fields": {"x": {"open": "<x>", "close": "</x>", **more}}}
    return load_response_template(template).fields["x"]


JSON = field(content="json")
OPEN = {"type": "region_open", "field": "x"}


def chunk(text: str) -> dict[str, Any]:
    return {"type": "region_chunk", "field": "x", "text": text, "dirty": True}


def end(of: Field, **how: Any) -> RegionEnd:
    return RegionEnd(of, {}, body_start=10, start=20, end=24, **{"closed": True, **how})


def ended(stage: ContentStage, of: Field, *texts: str, **how: Any) -> RegionEnd:
    """The end of a region with these texts, as the stage gives it out."""
    *_, region = stage.feed([OPEN, *map(chunk, texts), end(of, **how)])
    assert isinstance(region, RegionEnd)
    return region


def test_the_value_is_that_of_all_chunks_together() -> None:
    region = ended(ContentStage({"x": JSON}), JSON, '{"a"', ": ", "[1]}")
    assert (region.text, region.value) == ('{"a": [1]}', {"a": [1]})


def test_each_region_has_its_own_text() -> None:
    stage = ContentStage({"x": JSON})
    ended(stage, JSON, "1")
    assert ended(stage, JSON, "2").value == 2


def test_a_batch_of_events_alone_is_given_back_as_it_is() -> None:
    batch: list[Any] = [OPEN, chunk("a")]
    assert ContentStage({"x": JSON}).feed(batch) is batch


def test_text_that_was_undecided_in_the_prefix_is_part_of_the_value_and_is_not_given_out() -> None:
    stage = ContentStage({"x": JSON})
    *others, region = stage.feed([OPEN, Prefill("1"), chunk("2"), end(JSON)])
    assert others == [OPEN, chunk("2")]
    assert isinstance(region, RegionEnd)
    assert region.value == 12


def test_text_that_went_past_the_stage_is_part_of_the_value() -> None:
    stage = ContentStage({"x": JSON})
    stage.feed([OPEN, chunk("1")])
    stage.take("23", "x")
    *_, region = stage.feed([chunk("4"), end(JSON)])
    assert isinstance(region, RegionEnd)
    assert region.value == 1234


def test_an_error_says_where_in_the_generation_it_is() -> None:
    with pytest.raises(ParseError) as caught:
        ended(ContentStage({"x": JSON}), JSON, '{"a": }')
    assert (caught.value.field, caught.value.position) == ("x", 16)
    assert '{"a": }' in str(caught.value)


def test_a_limit_within_a_content_parser_stays_one() -> None:
    with pytest.raises(LimitError, match="json_depth") as caught:
        ended(ContentStage({"x": JSON}), JSON, "[" * 1_000)
    assert (caught.value.field, caught.value.limit) == ("x", "json_depth")


def test_the_lenient_modes_put_the_error_on_the_region() -> None:
    region = ended(ContentStage({"x": JSON}, lenient=True), JSON, "{")
    assert region.error is not None
    assert region.error.field == "x"
    assert not region.incomplete


@pytest.mark.parametrize(
    ("complete", "finish_reason", "incomplete"),
    [(True, None, False), (True, "stop", False), (True, "length", True), (False, "stop", True), (False, None, True)],
)
def test_a_region_without_its_close_counts_if_it_is_complete_and_was_not_cut_off(
    complete: bool, finish_reason: str | None, incomplete: bool
) -> None:
    stage = ContentStage({"x": JSON}, lenient=True)
    region = ended(stage, JSON, "{}", closed=False, complete=complete, finish_reason=finish_reason)
    assert region.incomplete is incomplete
    assert (region.error is not None) is incomplete
    assert region.repaired == ([] if incomplete else ["the close delimiter is missing"])


def test_text_without_its_close_is_text() -> None:
    region = ended(
        ContentStage({"x": JSON}, lenient=True), field(), "abc", closed=False, complete=False, finish_reason="length"
    )
    assert (region.value, region.incomplete, region.repaired) == ("abc", False, [])


def test_a_region_is_limited() -> None:
    stage = ContentStage({"x": JSON}, limits=Limits(region_text=5))
    stage.feed([OPEN, chunk("abcde")])
    with pytest.raises(LimitError, match=r"Limits\.region_text"):
        stage.feed([chunk("f")])


def test_a_structured_region_has_a_limit_of_its_own() -> None:
    limits = Limits(structured_text=5)
    structured = ContentStage({"x": JSON}, limits=limits)
    structured.feed([OPEN, chunk("abcde")])
    with pytest.raises(LimitError, match=r"a structured region has more than 5 .* raise Limits\.structured_text"):
        structured.feed([chunk("f")])
    region = ended(ContentStage({"x": field()}, limits=limits), field(), "abcdef")
    assert region.value == "abcdef", "text is not parsed"


def test_the_limit_of_a_structured_region_holds_after_a_snapshot() -> None:
    limits = Limits(structured_text=5)
    stage, again = (ContentStage({"x": JSON}, lenient=True, limits=limits) for _ in range(2))
    stage.feed([OPEN, chunk("[1,2")])
    again.restore(stage.snapshot(), JSON)
    *_, region = again.feed([chunk(",3]"), end(JSON)])
    assert isinstance(region, RegionEnd)
    assert region.text == "[1,2,"
    assert region.error is not None
    assert "Limits.structured_text" in str(region.error)


def test_the_text_so_far_is_saved() -> None:
    stage = ContentStage({"x": JSON})
    stage.feed([OPEN, chunk("[1")])
    again = ContentStage({"x": JSON})
    again.restore(stage.snapshot(), JSON)
    *_, region = again.feed([chunk("]"), end(JSON)])
    assert isinstance(region, RegionEnd)
    assert region.value == [1]
