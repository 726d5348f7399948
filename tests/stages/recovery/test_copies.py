"""Many delimiters in one long piece: each is taken out of it without a copy of all that follows."""

from __future__ import annotations

from typing import Any, SupportsIndex

import pytest

from streamparse import load_response_template
from streamparse.stages.recovery import RecoveringTokenizer
from streamparse.stages.region import RegionEnd
from streamparse.stages.regions import RegionTokenizer

LOOKS_BACK = {
    "start_anchor": "@@",
    "fields": {
        "content": {},
        "calls": {
            "open_pattern": r"(?<![a-z])<(?P<name>\w+)>",
            "close": "</>",
            "content": "json",
            "repeats": True,
            "transform": {"function": {"name": "{name}", "arguments": "{content}"}},
        },
    },
}
COUNT = 400


class MeasuredText(str):
    """Text that counts the characters that are copied out of it."""

    copied = 0

    def __getitem__(self, index: SupportsIndex | slice) -> str:
        part = super().__getitem__(index)
        self.copied += len(part) if isinstance(index, slice) else 0
        return part

    def __add__(self, other: str) -> str:
        self.copied += len(self)
        return super().__add__(other)

    def __radd__(self, other: str) -> str:
        self.copied += len(self)
        return other + str(self)


@pytest.mark.parametrize("tokenizer_class", [RegionTokenizer, RecoveringTokenizer])
@pytest.mark.parametrize(
    ("template", "unit", "regions"),
    [
        ("mistral", '[TOOL_CALLS]f{"a": 1}', 1),
        ("mistral", "<think>\n[TOOL_CALLS] -..:{", 0),
        ("qwen3", '<tool_call>{"name": "f", "arguments": {}}</tool_call>\n', 1),
        ("qwen3", "<think> a </think> b", 2),
        ("llama3_json", '{"name": "f", "parameters": {}}', 1),
        (LOOKS_BACK, "\n<f>{}</>", 1),
        (LOOKS_BACK, "\n<f>{}</>x", 2),
    ],
)
def test_what_is_copied_is_in_proportion_to_the_text(
    tokenizer_class: type[RegionTokenizer] | type[RecoveringTokenizer], template: Any, unit: str, regions: int
) -> None:
    loaded = load_response_template(template)
    copied = []
    for count in (COUNT, 4 * COUNT):
        tokenizer = tokenizer_class(loaded)
        text = MeasuredText(unit * count)
        items = tokenizer.feed(text) + tokenizer.finish()
        copied.append(text.copied)
        if tokenizer_class is RecoveringTokenizer:
            assert sum(isinstance(item, RegionEnd) for item in items) >= regions * count
    assert copied[1] <= 5 * copied[0] + 10_000
