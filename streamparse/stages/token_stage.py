"""What only token ids tell, put on the regions: whether text is a delimiter's token, and which tokens it came from.

In: batches of the region tokenizer, of text in which look-alikes of delimiters are marked (``tokens/marks.py``). Out:
the same with the marks turned back, and, with ``offsets``, with ``token_start`` and ``token_end`` beside ``start``
and ``end``.
"""

from __future__ import annotations

from typing import Any

from streamparse.stages.region import Prefill, RegionEnd
from streamparse.stages.region_writer import Item
from streamparse.tokens.marks import TokenMarks
from streamparse.tokens.offsets import TokenOffsets


class TokenStage:
    """Stands after the region tokenizer where the source gives token ids; both arguments may be None."""

    def __init__(self, marks: TokenMarks | None, offsets: TokenOffsets | None) -> None:
        self._marks = marks
        self._offsets = offsets

    def feed(self, batch: list[Item], *, marked: bool) -> list[Item]:
        """The batch, unmarked where anything is ``marked``, and with token spans."""
        if marked and self._marks is not None:
            batch = [self._unmarked(item, self._marks) for item in batch]
        if self._offsets is not None:
            for item in batch:
                self._add_span(item, self._offsets)
        return batch

    def _unmarked(self, item: Item, marks: TokenMarks) -> Item:
        if isinstance(item, dict):
            unmarked: dict[str, Any] = marks.unmark_value(item)
            return unmarked
        if isinstance(item, RegionEnd):
            item.captures = marks.unmark_value(item.captures)
            return item
        return Prefill(marks.unmark(item.text))

    def _add_span(self, item: Item, offsets: TokenOffsets) -> None:
        if isinstance(item, dict):
            if item["start"] >= 0:
                item["token_start"], item["token_end"] = offsets.span(item["start"], item["end"])
                offsets.forget(item["end"])
        elif isinstance(item, RegionEnd) and item.start >= 0:
            item.token_span = offsets.span(item.start, item.end)
            offsets.forget(item.end)
