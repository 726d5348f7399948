"""Composes a response template (version 1) from what was found about a chat template."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from streamparse.infer.analysis import Analysis
from streamparse.infer.tools.reading import BEFORE_OBJECT, Reading, anything_but, either, flexible, noise, quoted
from streamparse.template.policy import EXTENSION_KEY

ResponseTemplateSource = dict[str, Any]

JOINED = {"repeats": True, "join": "\n\n"}
"""Several blocks of one text are one text."""


def compose(analysis: Analysis, reading: Reading | None, left_over: Sequence[str] = ()) -> ResponseTemplateSource:
    """The response template with this reading of tool calls; ``left_over`` are further marks that belong to no
    field.
    """
    reasoning = analysis.reasoning
    fields: dict[str, Any] = {}
    if reasoning.mode != "none":
        fields["reasoning_content"] = {"open": reasoning.open, "close_pattern": either([reasoning.close]), **JOINED}
    own_header = reading is not None and reading.opening.strip() == analysis.envelope.anchor.strip()
    header = f"(?:{flexible(analysis.envelope.anchor.strip())})?" if own_header else ""
    if reading is not None and header:
        reading = _with_optional_header(reading, header)
    fields["content"] = _content_field(analysis, reading, left_over, header)
    if reading is not None:
        fields["tool_calls"] = reading.field
    anchor = start_anchor([analysis.envelope.anchor, *analysis.anchors], analysis.closers)
    template = {"version": 1, "defaults": {"role": "assistant"}, **anchor, "fields": fields}
    policies = {"fields": {"tool_calls": dict(reading.policy)}} if reading is not None and reading.policy else None
    return {**template, EXTENSION_KEY: policies} if policies else template


def _with_optional_header(reading: Reading, header: str) -> Reading:
    """Calls that each have the turn's header: the first one has it in the prompt."""
    rest = reading.field["open_pattern"].removeprefix(header[3:-2])
    rest = re.sub(r"^\(\?P<name>\[[^\]]*\]\+\)", r"(?P<name>[\\w.\\-]+)", rest)
    if reading.field["content"] == "json" and not rest.endswith(BEFORE_OBJECT):
        rest += BEFORE_OBJECT
    return replace(reading, field={**reading.field, "open_pattern": header + rest})


def start_anchor(begins: Sequence[str], closers: Sequence[str]) -> dict[str, Any]:
    """The start anchor: behind what begins a turn of the model; or else, behind a closed turn, up to the next of those.

    A prompt may go on behind the model's last turn without beginning another one. All that follows a closer is then
    none of the model's. Where nothing marks a turn, the anchor is the end of the prompt.

    >>> start_anchor(["<|bot|>"], [])
    {'start_anchor': '<|bot|>'}
    >>> start_anchor(["<|bot|>"], ["<|end|>"])
    {'start_anchor_pattern': '<\\\\|bot\\\\|>|<\\\\|end\\\\|>(?:[^<]++|(?!<\\\\|bot\\\\|>)<)*+'}
    """
    texts = sorted(dict.fromkeys(text for text in begins if text.strip()), key=len, reverse=True)
    if not texts:
        return {"start_anchor_pattern": r"\Z"}
    if not closers:
        return {"start_anchor": texts[0] if len(texts) == 1 else texts}
    any_of_them = "|".join(map(quoted, texts))
    first = anything_but(*texts)
    closed = "|".join(map(quoted, sorted(closers, key=len, reverse=True)))
    closed = f"(?:{closed})" if len(closers) > 1 else closed
    return {"start_anchor_pattern": rf"{any_of_them}|{closed}(?:{first}++|(?!{any_of_them}){_one_of(first)})*+"}


def _one_of(others: str) -> str:
    """The characters that a class leaves out."""
    chars = others[2:-1]
    return chars if len(chars) == 1 and chars not in "()[]{}.*+?^$|" else f"[{chars}]"


def _content_field(
    analysis: Analysis, reading: Reading | None, left_over: Sequence[str], header: str
) -> dict[str, Any]:
    """Content: the implicit field that drops marks which belong to nothing, or a field with its own marks."""
    content, ends = analysis.content, (*analysis.content.ends, *noise(*analysis.content.ends))
    if content.mode == "wrapped":
        opening = {"open": content.open} if not header else {"open_pattern": header + flexible(content.open)}
        close = _content_close(analysis, [*content.closes, *ends], reading)
        return {**opening, **({"close_pattern": close} if close else {}), **JOINED}
    loose = [*ends, *content.noise, *left_over, *(reading.noise if reading is not None else ())]
    taken = {analysis.reasoning.open, reading.field.get("open") if reading is not None else None}
    dropped = either([text for text in loose if text not in taken])
    return {**({"close_pattern": dropped} if dropped else {}), **JOINED}


def _content_close(analysis: Analysis, closes: Sequence[str], reading: Reading | None) -> str:
    """What ends a wrapped content: its close, or the opening of a call that follows it directly."""
    opening = reading.opening.strip() if reading is not None else ""
    follows = analysis.observed.after_content if analysis.observed is not None else None
    before_call = [close for close in closes if opening and opening.startswith(close)]
    close = either([close for close in closes if close not in before_call])
    directly = bool(opening) and follows is not None and follows.lstrip().startswith(opening)
    if reading is None or "open_pattern" not in reading.field or not (before_call or directly):
        return close
    following = re.sub(r"\(\?P<\w+>", "(?:", reading.field["open_pattern"])
    return "|".join([rf"(?=\s*{following})" if directly else f"(?={following})", *([close] if close else [])])
