"""Chooses among the readings of a chat template by what comes back, and mends what only the round trip shows.

Every reading is composed and tried on the cases. The first that gives back everything is taken, else the one that gives
back most. A reading that gives back no call at all is none, nor is one that holds a probe's word. Marks that are left
over as content in turns without content belong to no field: they become noise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from streamparse.infer.analysis import Analysis
from streamparse.infer.cases import Case, Message
from streamparse.infer.compare import loosely
from streamparse.infer.compose import compose, start_anchor
from streamparse.infer.content import Content
from streamparse.infer.conversation import PROBE_WORDS
from streamparse.infer.reasoning import Reasoning
from streamparse.infer.tools.reading import BEFORE_OBJECT, Reading, noise
from streamparse.infer.verify import failures
from streamparse.short_forms import parse_response
from streamparse.template import ResponseTemplate, load_response_template

Candidate = tuple[dict[str, Any], Reading | None]


def choose(analysis: Analysis, cases: Mapping[str, Sequence[Case]]) -> Candidate:
    """The response template whose round trips come back best, and the reading of tool calls that it rests on."""
    best: Candidate | None = None
    fewest = 0
    for way, reading in _candidates(analysis):
        template, failed = _tried(way, cases, reading)
        if _holds_probe(json.dumps(template)) or (reading is not None and not _reads(cases, failed)):
            continue
        if best is None or len(failed) < fewest:
            best, fewest = (template, reading), len(failed)
        if not failed:
            break
    template, reading = best if best is not None else (compose(_bare(analysis), None), None)
    return _without_prefilled_text(analysis, template), reading


def _without_prefilled_text(analysis: Analysis, template: dict[str, Any]) -> dict[str, Any]:
    """The same with anchors that take in what a generation prompt writes for the model and that would be read as text.

    What a prompt opens, the model goes on with. What it opens and closes (``<think>`` and a word that there will be
    none), or writes without marks, was never generated.
    """
    envelope = analysis.envelope
    loaded = load_response_template(template)
    texts = []
    for prompt in envelope.prompts:
        begin = loosely(envelope.anchor).search(prompt.tail) if envelope.anchor else None
        if begin is not None and any(_text_of_prompt(loaded, prompt.tail)):
            texts.append(prompt.tail[begin.start() :])
    if not texts:
        return template
    others = {key: value for key, value in template.items() if not key.startswith("start_anchor")}
    return {**others, **start_anchor([envelope.anchor, *analysis.anchors, *texts], analysis.closers)}


def _text_of_prompt(template: ResponseTemplate, prompt: str) -> Iterator[str]:
    """The texts that a message has by its prompt alone."""
    message = parse_response("", template, prefix=prompt, errors="report")
    yield from (text for key in ("content", "reasoning_content") if (text := str(message.get(key) or "").strip()))


def _candidates(analysis: Analysis) -> Iterator[tuple[Analysis, Reading | None]]:
    """The readings in the order of preference: in the words of version 1, with an end where the value ends, with a
    content
    that is not a field of its own, and none."""
    for reading in analysis.readings:
        yield analysis, reading
    for reading in analysis.readings:
        if reading.field["content"] in ("json", "python-call-list"):
            yield analysis, replace(reading, policy={**reading.policy, "ends_with_value": True})
    if analysis.content.mode == "wrapped":
        for reading in analysis.readings:
            yield _unwrapped(analysis), _before_objects(reading)
    yield analysis, None


def _unwrapped(analysis: Analysis) -> Analysis:
    """The same with a content that is whatever is no other field, its marks dropped."""
    content = analysis.content
    marks = (content.open, *content.closes, *content.noise)
    return replace(analysis, content=replace(content, mode="sometimes wrapped", noise=tuple(dict.fromkeys(marks))))


def _before_objects(reading: Reading) -> Reading:
    """Calls that begin only where an object follows their name, so that a content's mark is none."""
    pattern = reading.field.get("open_pattern", "")
    if reading.field["content"] != "json" or not pattern or pattern.endswith(BEFORE_OBJECT):
        return reading
    return replace(reading, field={**reading.field, "open_pattern": pattern + BEFORE_OBJECT})


def _bare(analysis: Analysis) -> Analysis:
    """The same without whatever holds a probe's word: what remains is content, and where it begins."""
    safe = [anchor for anchor in (analysis.envelope.anchor, *analysis.anchors) if not _holds_probe(anchor)]
    envelope = replace(analysis.envelope, anchor=safe[0] if safe else "", ends=())
    ends = tuple(end for end in analysis.content.ends if not _holds_probe(end))
    content = Content("plain", ends=ends)
    return replace(analysis, envelope=envelope, reasoning=Reasoning(), content=content, anchors=(), closers=())


def _holds_probe(text: str) -> bool:
    return any(word in text for word in PROBE_WORDS)


def _tried(
    analysis: Analysis, cases: Mapping[str, Sequence[Case]], reading: Reading | None
) -> tuple[dict[str, Any], list[tuple[Case, Message]]]:
    """A composed reading and what fails with it, once left-over marks are noise."""
    template = compose(analysis, reading)
    failed = failures(template, cases)
    left_over = [
        mark for case, got in failed if "content" not in case.expected for mark in _marks(got.get("content", ""))
    ]
    if left_over and analysis.content.mode != "wrapped":
        mended = compose(analysis, reading, tuple(dict.fromkeys(left_over)))
        failed_then = failures(mended, cases)
        if len(failed_then) < len(failed):
            return mended, failed_then
    return template, failed


def _reads(cases: Mapping[str, Sequence[Case]], failed: Sequence[tuple[Case, Message]]) -> bool:
    """Whether at least one call with arguments came back."""
    lost = [case for case, _ in failed]
    calling = [
        case
        for tried in cases.values()
        for case in tried
        if any(call[1] for call in case.expected.get("tool_calls", []))
    ]
    return any(case not in lost for case in calling)


def _marks(text: str) -> tuple[str, ...]:
    """The marks that a text consists of; empty if it holds anything else."""
    marks = noise(text)
    rest = text
    for mark in marks:
        rest = rest.replace(mark, "")
    return marks if not rest.strip() else ()
