"""Composes a response template (version 1) from what was found about a chat template."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from streamparse.infer.content import Content
from streamparse.infer.envelope import Envelope
from streamparse.infer.reasoning import Reasoning
from streamparse.infer.tools.reading import Reading, either, noise
from streamparse.template.policy import EXTENSION_KEY

ResponseTemplateSource = dict[str, Any]

JOINED = {"repeats": True, "join": "\n\n"}
"""Several blocks of one text are one text."""


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
        fields["reasoning_content"] = {"open": reasoning.open, "close_pattern": either([reasoning.close]), **JOINED}
    fields["content"] = _content_field(content, reading, reasoning)
    if reading is not None:
        fields["tool_calls"] = reading.field
    template = {"version": 1, "defaults": {"role": "assistant"}, **_anchor([envelope.anchor, *anchors]), "fields": fields}
    policies = {"fields": {"tool_calls": dict(reading.policy)}} if reading is not None and reading.policy else None
    return {**template, EXTENSION_KEY: policies} if policies else template


def _anchor(anchors: Sequence[str]) -> dict[str, Any]:
    """The start anchor: literals, or the end of the prompt where nothing marks the turn."""
    texts = [text for text in anchors if text.strip()]
    if not texts:
        return {"start_anchor_pattern": r"\Z"}
    return {"start_anchor": texts[0] if len(texts) == 1 else texts}


def _content_field(content: Content, reading: Reading | None, reasoning: Reasoning) -> dict[str, Any]:
    """Content: the implicit field that drops marks which belong to nothing, or a field with its own marks."""
    if content.mode != "wrapped":
        loose = [*content.ends, *noise(*content.ends), *content.noise, *(reading.noise if reading is not None else ())]
        taken = {reasoning.open, reading.field.get("open") if reading is not None else None}
        dropped = either([text for text in loose if text not in taken])
        return {**({"close_pattern": dropped} if dropped else {}), **JOINED}
    closes = [*content.closes, *content.ends, *noise(*content.ends)]
    opening = reading.opening.strip() if reading is not None else ""
    before_call = [close for close in closes if opening and opening.startswith(close)]
    close = either([close for close in closes if close not in before_call])
    if before_call and reading is not None and "open_pattern" in reading.field:
        following = re.sub(r"\(\?P<\w+>", "(?:", reading.field["open_pattern"])
        close = "|".join([f"(?={following})", *([close] if close else [])])
    return {"open": content.open, **({"close_pattern": close} if close else {}), **JOINED}
