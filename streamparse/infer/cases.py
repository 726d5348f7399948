"""The turns that a response template is tried on: what the chat template renders, and the message that it means.

For each feature a turn is rendered under every switch that matters, behind its own prompt. What the model would have
written is what the whole conversation has beyond the prompt. Where the prompt opens reasoning that the history drops,
the reasoning and its close are put before it. A turn that does not show what was said is no case: the template can't
express it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from streamparse.infer.analysis import Analysis
from streamparse.infer.compare import common_beginning, is_mark, pieces
from streamparse.infer.conversation import USER, Call, Prober, Said, Switches, Tool, after_last, declarations
from streamparse.infer.envelope import Envelope
from streamparse.infer.reasoning import Reasoning
from streamparse.infer.sandbox import Refusal
from streamparse.infer.shown import unread

Message = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A rendered turn: the prompt, what the model would write, and the message that it means."""

    feature: str
    prefix: str
    output: str
    expected: Message
    tools: list[Tool] | None = field(default=None, compare=False)


TEXT = 'It is 21°C, "mild" & <b>dry</b>.\n\n- one {item}: {"a": [1]}\n- zwei, 三'
THOUGHT = "They ask for the weather.\nLet me see: {a} <b> 'c'."
WEATHER = Call("get_weather", {"city": "Paris", "days": 3}, "x7Yk2Qp9Z")
NOTE = Call("add_note", {"text": 'Buy "milk" & eggs\nthen <b>rest</b>'}, "b3Nv8Lm1W")
SCALARS = Call("set_values", {"text": "plain", "whole": 12, "real": 2.5, "yes": True, "no": False}, "x7Yk2Qp9Z")
NESTED = Call("set_values", {"list": ["a", "b"], "object": {"x": 1, "y": {"z": "w"}}}, "x7Yk2Qp9Z")
NULL = Call("set_values", {"nothing": None, "text": "plain"}, "x7Yk2Qp9Z")
LOOKALIKES = Call("run", {"code": "if a < b:\n    print('{x}', \"[y]\")", "number_text": "007"}, "x7Yk2Qp9Z")
NO_ARGUMENTS = Call("get_time", {}, "x7Yk2Qp9Z")

CALL = "a call"
REASONING = "reasoning and content"
DECLARED = "content where tools are declared"
"""Features that are treated apart: two show whether calls and reasoning are read at all, one has tools and no call."""

SAID: dict[str, Said] = {
    "content": Said("It is sunny today."),
    DECLARED: Said("It is sunny today."),
    "content with markup, quotes and other scripts": Said(TEXT),
    REASONING: Said("It is sunny today.", THOUGHT),
    CALL: Said(calls=(WEATHER,)),
    "a call with awkward text": Said(calls=(NOTE,)),
    "a call with code": Said(calls=(LOOKALIKES,)),
    "numbers and truth values": Said(calls=(SCALARS,)),
    "lists and objects": Said(calls=(NESTED,)),
    "null": Said(calls=(NULL,)),
    "a call without arguments": Said(calls=(NO_ARGUMENTS,)),
    "two calls": Said(calls=(WEATHER, NOTE)),
    "reasoning and a call": Said(None, THOUGHT, (WEATHER,)),
    "content and a call": Said("It is sunny today.", None, (WEATHER,)),
    "content and two calls": Said("It is sunny today.", None, (WEATHER, NOTE)),
    "reasoning, content and a call": Said("It is sunny today.", THOUGHT, (WEATHER,)),
}

LONGEST_HEADER = 4
"""Most pieces of a header of the turn."""
MAX_OUTPUT = 4000
"""Longest turn that is tried, in characters."""

WITH_EVERY_SWITCH = frozenset(["content", DECLARED, REASONING, CALL, "reasoning and a call"])
"""Features that are tried under every setting of the switches that change the generation prompt."""


def _cases_of(
    feature: str, said: Said, switches: Switches, prober: Prober, envelope: Envelope, reasoning: Reasoning
) -> Iterator[Case]:
    """The cases of a turn that is rendered under one setting of the switches."""
    declared = bool(said.calls) or feature == DECLARED
    tools = declarations((*said.calls, WEATHER, NOTE)) if declared else None
    speaker = prober if said.reasoning is None or not reasoning.key else prober.rephrased(reasoning=reasoning.key)
    try:
        prompt = speaker.render(None, tools=tools, switches=switches, generation_prompt=True)
        full = speaker.conversation(said, tools=tools, switches=switches)
    except Refusal:
        return
    yield from _cases(feature, said, prompt, full.removesuffix(envelope.appended), envelope, reasoning, tools)


def _cases(
    feature: str,
    said: Said,
    prompt: str,
    full: str,
    envelope: Envelope,
    reasoning: Reasoning,
    tools: list[Tool] | None,
) -> Iterator[Case]:
    """The cases that a prompt and a full conversation make, if the turn shows what was said: with its end and
    without.
    """
    output = _output(said, prompt, full, envelope, reasoning)
    if (
        output is None
        or len(output) > MAX_OUTPUT
        or not _shows(said, output)
        or _is_said_as_reasoning(said, output, reasoning)
        or _repeats_the_prompt(prompt, output)
    ):
        return
    output = _up_to_end(said, output, envelope.ends)
    if envelope.own and any(end + envelope.anchor in output for end in envelope.ends[:1]):
        return
    expected: Message = {}
    if thought := _prefilled_reasoning(prompt, envelope, reasoning):
        expected["reasoning_content"] = thought
    if said.content:
        expected["content"] = said.content
    if said.reasoning:
        expected["reasoning_content"] = said.reasoning
    if said.calls:
        expected["tool_calls"] = [[call.name, dict(call.arguments)] for call in said.calls]
    for text in dict.fromkeys(_with_end_and_without(output, envelope)):
        yield Case(feature, prompt, text, expected, tools)


def _output(said: Said, prompt: str, full: str, envelope: Envelope, reasoning: Reasoning) -> str | None:
    """What the model would write after the prompt so that the conversation becomes this one."""
    opened = _opens_reasoning(prompt, envelope, reasoning)
    if full.startswith(prompt):
        output = full[len(prompt) :]
        if (not opened or reasoning.close in output) and (said.reasoning or "").strip() in output:
            return output
    try:
        spoken = envelope.spoken(after_last(full, USER))
    except Refusal:
        return None
    prefill = _prefill(prompt, envelope)
    shared = common_beginning(spoken, [prefill])
    output, unseen = spoken[len(shared) :], prefill.strip()[len(shared.strip()) :].strip()
    if not unseen and (not opened or reasoning.close in output):
        return output
    if opened and (said.reasoning is None or reasoning.mode == "dropped"):
        return f"{said.reasoning or ''}\n{reasoning.close}\n\n{spoken.lstrip()}"
    closed = unseen.startswith(reasoning.open) and unseen.endswith(reasoning.close) if reasoning.open else False
    return spoken if closed and said.reasoning is None and not shared.strip() else None


def _prefill(prompt: str, envelope: Envelope) -> str:
    """What the prompt has after the anchor."""
    return prompt.rpartition(envelope.anchor)[2] if envelope.anchor and envelope.anchor in prompt else ""


def _prefilled_reasoning(prompt: str, envelope: Envelope, reasoning: Reasoning) -> str:
    """Reasoning that the prompt itself writes from beginning to end."""
    if not reasoning.open:
        return ""
    thought, closed, _ = _prefill(prompt, envelope).partition(reasoning.open)[2].partition(reasoning.close)
    return thought.strip() if closed else ""


def _opens_reasoning(prompt: str, envelope: Envelope, reasoning: Reasoning) -> bool:
    """Whether the prompt leaves reasoning open."""
    behind = _prefill(prompt, envelope).rpartition(reasoning.open) if reasoning.open else ("", "", "")
    return bool(behind[1]) and reasoning.close not in behind[2]


def _shows(said: Said, output: str) -> bool:
    """Whether a turn shows all that was said in it."""
    texts = [said.content or "", said.reasoning or "", *(call.name for call in said.calls)]
    if any(text.strip() not in output for text in texts):
        return False
    values = [value for call in said.calls for value in call.arguments.values() if isinstance(value, str)]
    return all(_shows_text(value, output) for value in values)


def _is_said_as_reasoning(said: Said, output: str, reasoning: Reasoning) -> bool:
    """Whether a template writes a content as if it were reasoning."""
    before = output.partition(said.content)[0] if said.content else ""
    return bool(reasoning.open) and before.rstrip().endswith(reasoning.open)


def _repeats_the_prompt(prompt: str, output: str) -> bool:
    """Whether a turn begins with the mark that the prompt ends with: its header was taken for something it says."""
    parts = pieces(output.strip())[:LONGEST_HEADER]
    begun = ("".join(parts[:count]).strip() for count in range(1, len(parts) + 1))
    return bool(parts) and len(parts[0]) >= 3 and is_mark(parts[0]) and prompt.rstrip().endswith(tuple(begun))


def _shows_text(value: str, output: str) -> bool:
    """Whether a text stands in the output: as it is, or as one of the usual ways to write strings down."""
    forms = {value, json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(json.dumps(value))[3:-3], repr(value)[1:-1]}
    return any(form in output for form in forms)


def _up_to_end(said: Said, output: str, ends: tuple[str, ...]) -> str:
    """The turn alone: some templates write the next turn's header behind it, whatever they are asked."""
    words = [
        said.content or "",
        said.reasoning or "",
        *(word for call in said.calls for word in (call.name, *call.arguments)),
    ]
    for end in ends:
        at = output.find(end)
        while at >= 0:
            rest = output[at + len(end) :]
            if not any(word and word.strip() in rest for word in words):
                return output[: at + len(end)]
            at = output.find(end, at + 1)
    return output


def _with_end_and_without(output: str, envelope: Envelope) -> list[str]:
    """The output with the token that ends it, and as a server hands it on, without.

    The model writes the end also where the template prints it only before another turn.
    """
    end = next((end for end in envelope.ends if output.endswith(end)), "")
    last = next(reversed(pieces(end)), "")
    token = last if len(last) >= 3 else end
    if not token and not envelope.end_printed:
        return [output, *(output + end for end in envelope.ends[:1])]
    return [output[: len(output) - len(token)], output] if token else [output]


def all_cases(analysis: Analysis) -> dict[str, list[Case]]:
    """The cases of every feature; a feature without cases is not expressible, or not read (``unread_features``)."""
    envelope = replace(analysis.envelope, ends=analysis.ends)
    cases: dict[str, list[Case]] = {}
    for feature, said in SAID.items():
        speaker = analysis.observed.prober if said.calls and analysis.observed is not None else analysis.prober
        settings: list[Switches] = [switches for switches, _ in envelope.prefills()]
        if said.reasoning is not None and analysis.reasoning.switches not in settings:
            settings.insert(0, analysis.reasoning.switches)
        if feature not in WITH_EVERY_SWITCH:
            first = settings[0] if said.reasoning is None else analysis.reasoning.switches
            settings = [first, *(switches for switches in settings if switches != first)]
        possible = analysis.observed is not None or not said.calls
        possible = possible and (said.reasoning is None or analysis.reasoning.mode != "none")
        cases[feature] = []
        for switches in settings if possible else ():
            if feature in WITH_EVERY_SWITCH or not cases[feature]:
                cases[feature] += _cases_of(feature, said, switches, speaker, envelope, analysis.reasoning)
    return cases


def unread_features(analysis: Analysis, cases: dict[str, list[Case]]) -> dict[str, str]:
    """The features without cases that the chat template writes nevertheless, and what is wrong with each."""
    settings = [switches for switches, _ in analysis.envelope.prefills()][:1] or [{}]
    speaker = analysis.prober if analysis.observed is None else analysis.observed.prober
    reasons = {
        feature: unread(SAID[feature], speaker, settings, (WEATHER, NOTE) if feature == DECLARED else ())
        for feature, found in cases.items()
        if not found
    }
    return {feature: reason for feature, reason in reasons.items() if reason}
