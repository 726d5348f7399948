"""Composes a response template (version 1) from what was found about a chat template."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from streamparse.infer.content import Content
from streamparse.infer.envelope import Envelope
from streamparse.infer.reasoning import Reasoning
from streamparse.infer.tools.reading import Reading, noise, quoted

ResponseTemplateSource = dict[str, Any]


def compose(
    envelope: Envelope,
    anchors: Sequence[str],
    reasoning: Reasoning,
    content: Content,
    reading: Reading | None,
) -> ResponseTemplateSource:
    """The response template; ``anchors`` are further texts after which a turn may begin."""
    fields: dict[str, Any] = {}
    if reasoning.mode != "none":
        fields["reasoning_content"] = {"open": reasoning.open, "close": reasoning.close}
    fields["content"] = _content_field(content, reading, reasoning)
    if reading is not None:
        fields["tool_calls"] = reading.field
    return {"version": 1, "defaults": {"role": "assistant"}, **_anchor([envelope.anchor, *anchors]), "fields": fields}


def _anchor(anchors: Sequence[str]) -> dict[str, str]:
    """The start anchor: a literal, a pattern for several, or the end of the prompt where nothing marks the turn."""
    texts = [text for text in anchors if text.strip()]
    if not texts:
        return {"start_anchor_pattern": r"\Z"}
    if len(texts) == 1:
        return {"start_anchor": texts[0]}
    return {"start_anchor_pattern": "|".join(quoted(text) for text in texts)}


def _content_field(content: Content, reading: Reading | None, reasoning: Reasoning) -> dict[str, Any]:
    """Content: the implicit field that drops marks which belong to nothing, or a field with its own marks."""
    loose = [*content.ends, *noise(*content.ends), *content.noise, *(reading.noise if reading is not None else ())]
    taken = {reasoning.open, *_literals(reading)}
    if content.mode != "wrapped":
        dropped = [text for text in dict.fromkeys(loose) if text and text not in taken]
        return {} if not dropped else {"close": dropped[0] if len(dropped) == 1 else dropped}
    closes = [*dict.fromkeys([*content.closes, *content.ends])]
    opening = reading.opening.strip() if reading is not None else ""
    shared = [close for close in closes if opening and opening.startswith(close)]
    if shared and reading is not None and "open_pattern" in reading.field:
        following = re.sub(r"\(\?P<\w+>", "(?:", reading.field["open_pattern"])
        others = [quoted(close) for close in closes if close not in shared]
        return {"open": content.open, "close_pattern": "|".join([f"(?={following})", *others])}
    return {"open": content.open, **({"close": closes[0] if len(closes) == 1 else closes} if closes else {})}


def _literals(reading: Reading | None) -> set[str]:
    """The literal that opens the calls' region."""
    opening = reading.field.get("open") if reading is not None else None
    return {opening} if isinstance(opening, str) else set(opening or ())
