"""The account of an inference: as data for those who port it, as text for those who read it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from streamparse.infer.analysis import Analysis
from streamparse.infer.compare import pieces
from streamparse.infer.tools.reading import Reading
from streamparse.infer.verify import Check


def as_data(analysis: Analysis, reading: Reading | None, template: Mapping[str, Any]) -> dict[str, Any]:
    """What was found, as JSON-able data.

    ``preserved_tokens`` are the marks that must survive decoding, or the response template can't see them.
    """
    reasoning, content, envelope = analysis.reasoning, analysis.content, analysis.envelope
    marks = [reasoning.open, reasoning.close, content.open, *content.closes, *content.noise]
    marks += [*reading.markers.values(), *reading.noise] if reading is not None else []
    return {
        "phrasing": _phrasing(analysis),
        "anchor": envelope.anchor,
        "further_anchors": list(analysis.anchors),
        "closers": list(analysis.closers),
        "generation_prompts": [
            {"switches": dict(switches), "prefill": prefill} for switches, prefill in envelope.prefills()
        ],
        "unanchored_switches": [dict(switches) for switches in envelope.unanchored()],
        "ends_of_turn": list(content.ends),
        "reasoning": {**asdict(reasoning), "switches": dict(reasoning.switches)},
        "content": asdict(content),
        "tool_calls": _tool_calls(analysis, reading),
        "preserved_tokens": list(dict.fromkeys(tag for mark in marks for tag in pieces(mark) if _is_tag(tag))),
        "renderings": analysis.prober.renderer.renderings,
        "extended": "streamparse" in template,
    }


def _phrasing(analysis: Analysis) -> dict[str, Any]:
    """How the conversation had to be put."""
    speaker = analysis.observed.prober if analysis.observed is not None else analysis.prober
    phrasing = asdict(speaker.phrasing)
    return {**phrasing, "reasoning": analysis.reasoning.key or None, "switches": dict(speaker.phrasing.switches)}


def _tool_calls(analysis: Analysis, reading: Reading | None) -> dict[str, Any]:
    """The construct of tool calls and its markers, or why there is none."""
    if reading is None:
        shown = analysis.observed is not None
        why = "calls are written, but can't be told apart" if shown else "the chat template writes no calls"
        return {"construct": None, "why": why}
    observed = analysis.observed
    return {
        "construct": reading.construct,
        "markers": dict(reading.markers),
        "noise": list(reading.noise),
        "beyond": reading.beyond,
        "writes_id": observed is not None and observed.writes_id,
        "parallel": observed is not None and observed.two is not None,
    }


def _is_tag(piece: str) -> bool:
    return len(piece) >= 3 and piece[0] in "<[" and piece[-1] in ">]"


def explain(checks: Sequence[Check], analysis: Mapping[str, Any], *, verified: bool, bundled: str | None = None) -> str:
    """The account as text; ``bundled`` is the bundled template that is taken instead of what was inferred."""
    lines = ["Verified: " + ("everything that the chat template can express came back" if verified else "NO")]
    if bundled is not None:
        lines += [f"Taken: the bundled template {bundled!r}; it gives back every turn that could be tried."]
    lines += ["", f"Found in {analysis['renderings']} renderings:"]
    lines += [f"  {line}" for line in _findings(analysis)]
    lines += ["", f"{'feature':46} {'repair':16} strict"]
    for check in checks:
        lines.append(f"{check.feature:46} {check.status:16} {check.strict}")
        if found := check.difference or check.strict_difference:
            lines.append(f"    {re.sub(chr(10), ' ', found)[:200]}")
    if beyond := analysis["tool_calls"].get("beyond"):
        lines += ["", f"Strict mode can't read the calls: {beyond}."]
    if analysis["extended"]:
        lines += ["", "The template uses the key 'streamparse': transformers' loader refuses it."]
    return "\n".join(lines)


def _findings(analysis: Mapping[str, Any]) -> list[str]:
    """What was found, a line each, with the comparison that taught it."""
    anchors = [analysis["anchor"], *analysis["further_anchors"]]
    lines = [f"the turn begins behind {' or '.join(map(repr, anchors))}: what prompts and turns begin with"]
    if closers := " or ".join(map(repr, analysis["closers"])):
        lines.append(f"behind {closers} nothing of a prompt is the model's, up to where the next turn begins")
    for prompt in analysis["generation_prompts"]:
        if prompt["prefill"].strip():
            under = f" with {prompt['switches']}" if prompt["switches"] else ""
            lines.append(f"the prompt writes {prompt['prefill']!r} for the model{under}")
    for switches in analysis["unanchored_switches"]:
        lines.append(f"with {switches} the prompt does not have the anchor: not read")
    ends = " or ".join(map(repr, analysis["ends_of_turn"])) or "nothing that is printed"
    lines.append(f"the turn ends with {ends}: the same turn at the end and before another question")
    lines.extend([_reasoning_line(analysis["reasoning"]), _content_line(analysis["content"])])
    lines.extend(_call_lines(analysis["tool_calls"]))
    return lines


def _reasoning_line(reasoning: Mapping[str, Any]) -> str:
    if reasoning["mode"] == "none":
        return f"reasoning: none; {reasoning['evidence']}"
    mirrored = f" (the {reasoning['mirrored'][0]} is its mirror image, not seen)" if reasoning["mirrored"] else ""
    marks = f"{reasoning['open']!r} to {reasoning['close']!r}{mirrored}"
    return f"reasoning ({reasoning['mode']}): {marks}: {reasoning['evidence']}"


def _content_line(content: Mapping[str, Any]) -> str:
    wrapped = f": {content['open']!r} to {' or '.join(map(repr, content['closes']))}" if content["open"] else ""
    return f"content ({content['mode']}){wrapped}: turns with and without tools, calls and reasoning"


def _call_lines(calls: Mapping[str, Any]) -> list[str]:
    if calls["construct"] is None:
        return [f"tool calls: none; {calls['why']}"]
    markers = [f"  {name}: {text!r}" for name, text in calls["markers"].items() if text.strip()]
    return [f"tool calls: {calls['construct']}: one call against two, another name, no arguments, a number", *markers]
