"""Tries a response template on what the chat template itself renders.

For each feature the chat template is made to render a turn; the response template must give back the message that went in,
parsed in one piece and one character at a time. ``Check`` is the evidence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from streamparse.infer.compare import common_beginning, pieces
from streamparse.infer.conversation import Call, Prober, Said, Switches, Tool, after_last, declarations
from streamparse.infer.envelope import Envelope
from streamparse.infer.reasoning import Reasoning
from streamparse.infer.sandbox import Refusal
from streamparse.infer.tools.observe import Observed
from streamparse.parser import ErrorMode, ResponseParser
from streamparse.template import load_response_template
from streamparse.template.model import ResponseTemplate

Status = Literal["verified", "differs", "not expressible"]
Message = dict[str, Any]


@dataclass(frozen=True)
class Check:
    """One feature tried: what came back, in lenient (``status``) and in strict mode, and the renderings it rests on."""

    feature: str
    status: Status
    strict: Status
    difference: str = ""
    cases: tuple[Case, ...] = ()


@dataclass(frozen=True)
class Case:
    """A rendered turn: the prompt, what the model would write, and the message that it means."""

    feature: str
    prefix: str
    output: str
    expected: Message
    tools: list[Tool] | None = field(default=None, compare=False)


TEXT = "It is 21°C, \"mild\" & <b>dry</b>.\n\n- one {item}\n- zwei, 三"
THOUGHT = "They ask for the weather.\nLet me see: {a} <b> 'c'."
WEATHER = Call("get_weather", {"city": "Paris", "days": 3})
NOTE = Call("add_note", {"text": 'Buy "milk" & eggs\nthen <b>rest</b>'}, "kcallidw2")
TYPES = Call(
    "set_values",
    {
        "text": "plain",
        "whole": 12,
        "real": 2.5,
        "yes": True,
        "nothing": None,
        "list": ["a", "b"],
        "object": {"x": 1, "y": {"z": "w"}},
    },
)
LOOKALIKES = Call("run", {"code": "if a < b:\n    print('{x}', \"[y]\")", "number_text": "007"})
NO_ARGUMENTS = Call("get_time", {})

SAID: dict[str, Said] = {
    "content": Said("It is sunny today."),
    "content with markup, quotes and other scripts": Said(TEXT),
    "reasoning and content": Said("It is sunny today.", THOUGHT),
    "a call": Said(calls=(WEATHER,)),
    "a call with awkward text": Said(calls=(NOTE,)),
    "a call with code": Said(calls=(LOOKALIKES,)),
    "arguments of every type": Said(calls=(TYPES,)),
    "a call without arguments": Said(calls=(NO_ARGUMENTS,)),
    "two calls": Said(calls=(WEATHER, NOTE)),
    "reasoning and a call": Said(None, THOUGHT, (WEATHER,)),
    "content and a call": Said("It is sunny today.", None, (WEATHER,)),
    "content and two calls": Said("It is sunny today.", None, (WEATHER, NOTE)),
    "reasoning, content and a call": Said("It is sunny today.", THOUGHT, (WEATHER,)),
}


def cases_of(feature: str, said: Said, prober: Prober, envelope: Envelope, reasoning: Reasoning) -> Iterator[Case]:
    """The turn rendered under each setting of the switches that the generation prompt depends on."""
    settings: list[Switches] = [prompt.switches for prompt in envelope.prompts]
    if said.reasoning is not None and reasoning.switches and reasoning.switches not in settings:
        settings.insert(0, reasoning.switches)
    for switches in settings:
        tools = declarations(said.calls) if said.calls else None
        speaker = prober if said.reasoning is None or not reasoning.key else prober.rephrased(reasoning=reasoning.key)
        try:
            prompt = speaker.render(None, tools=tools, switches=switches, generation_prompt=True)
            full = speaker.render(said, tools=tools, switches=switches)
        except Refusal:
            continue
        yield from _cases(feature, said, prompt, full, envelope, reasoning, tools)


def _cases(
    feature: str,
    said: Said,
    prompt: str,
    full: str,
    envelope: Envelope,
    reasoning: Reasoning,
    tools: list[Tool] | None,
) -> Iterator[Case]:
    """The cases that a prompt and a full conversation make, if the turn shows what was said: with its end and without."""
    output = _output(said, prompt, full, envelope, reasoning)
    if output is None or not _shows(said, output) or _is_said_as_reasoning(said, output, reasoning):
        return
    expected: Message = {}
    if said.content:
        expected["content"] = said.content
    if said.reasoning:
        expected["reasoning_content"] = said.reasoning
    if said.calls:
        expected["tool_calls"] = [[call.name, dict(call.arguments)] for call in said.calls]
    output = _up_to_end(said, output, envelope.ends)
    for text in dict.fromkeys(_with_end_and_without(output, envelope.ends)):
        yield Case(feature, prompt, text, expected, tools)


def _output(said: Said, prompt: str, full: str, envelope: Envelope, reasoning: Reasoning) -> str | None:
    """What the model would write after the prompt so that the conversation becomes this one."""
    opened = _opens_reasoning(prompt, envelope, reasoning)
    if full.startswith(prompt) and (said.reasoning is None or said.reasoning.strip() in full[len(prompt) :]):
        output = full[len(prompt) :]
        if not opened or reasoning.close in output:
            return output
    try:
        spoken = envelope.spoken(after_last(full, _last_word(prompt, full)))
    except Refusal:
        return None
    prefill = _prefill(prompt, envelope)
    shared = common_beginning(spoken, [prefill])
    if shared.strip() == prefill.strip() and (not opened or reasoning.close in spoken[len(shared) :]):
        return spoken[len(shared) :]
    if opened and reasoning.mode == "dropped" or (opened and said.reasoning is None):
        return f"{said.reasoning or ''}\n{reasoning.close}\n\n{spoken.lstrip()}"
    return None


def _last_word(prompt: str, full: str) -> str:
    """The question, after which the assistant's turn begins."""
    from streamparse.infer.conversation import USER

    return USER if USER in prompt and USER in full else "\0"


def _prefill(prompt: str, envelope: Envelope) -> str:
    """What the prompt has after the anchor."""
    return prompt.rpartition(envelope.anchor)[2] if envelope.anchor and envelope.anchor in prompt else ""


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


def _shows_text(value: str, output: str) -> bool:
    """Whether a text stands in the output: as it is, or as one of the usual ways to write strings down."""
    forms = {value, json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(json.dumps(value))[3:-3], repr(value)[1:-1]}
    return any(form in output for form in forms)


def _up_to_end(said: Said, output: str, ends: tuple[str, ...]) -> str:
    """The turn alone: some templates write the next turn's header behind it, whatever they are asked."""
    words = [said.content or "", said.reasoning or "", *(word for call in said.calls for word in (call.name, *call.arguments))]
    for end in ends:
        at = output.find(end)
        while at >= 0:
            rest = output[at + len(end) :]
            if not any(word and word.strip() in rest for word in words):
                return output[: at + len(end)]
            at = output.find(end, at + 1)
    return output


def _with_end_and_without(output: str, ends: tuple[str, ...]) -> list[str]:
    """The output with the token that ends it, and as a server hands it on, without."""
    end = next((end for end in ends if output.endswith(end)), "")
    last = next(reversed(pieces(end)), "")
    token = last if len(last) >= 3 else end
    return [output[: len(output) - len(token)], output] if token else [output]


def parsed(template: ResponseTemplate, case: Case, cut: list[str], mode: ErrorMode) -> Message:
    """The message that a response template gives for a case, in the form in which cases expect it."""
    message = _parse(template, case.prefix, case.tools, cut, mode)
    calls = message.get("tool_calls") or []
    shown: Message = {}
    for key in ("content", "reasoning_content"):
        if text := str(message.get(key) or "").strip():
            shown[key] = text
    if calls:
        shown["tool_calls"] = [[call["function"]["name"], call["function"]["arguments"]] for call in calls]
    return shown


def _parse(template: ResponseTemplate, prefix: str, tools: Any, cut: list[str], mode: ErrorMode) -> Message:
    """The one place that knows the engine."""
    parser = ResponseParser(template, prefix=prefix, tools=tools, errors=mode)
    for piece in cut:
        parser.feed(piece)
    message, _ = parser.finalize()
    return message


def difference(template: ResponseTemplate, case: Case, mode: ErrorMode, *, by_character: bool = True) -> str:
    """The first way in which a case comes back differently, or an empty text."""
    expected = {key: value.strip() if isinstance(value, str) else value for key, value in case.expected.items()}
    ways = [("in one piece", [case.output])] + ([("by character", list(case.output))] if by_character else [])
    for way, cut in ways:
        try:
            got = parsed(template, case, cut, mode)
        except Exception as error:
            return f"{way}: {type(error).__name__}: {error}"
        for key in ("reasoning_content", "content", "tool_calls"):
            if json.dumps(got.get(key), sort_keys=True) != json.dumps(expected.get(key), sort_keys=True):
                return f"{way}: {key} is {got.get(key)!r}, not {expected.get(key)!r}"
    return ""


def all_cases(prober: Prober, envelope: Envelope, reasoning: Reasoning, observed: Observed | None) -> dict[str, list[Case]]:
    """The cases of every feature; a feature without cases is not expressible."""
    cases: dict[str, list[Case]] = {}
    for feature, said in SAID.items():
        speaker = observed.prober if said.calls and observed is not None else prober
        skip = (said.calls and observed is None) or (said.reasoning is not None and reasoning.mode == "none")
        cases[feature] = [] if skip else list(cases_of(feature, said, speaker, envelope, reasoning))
    return cases


def check_all(source: Mapping[str, Any], cases: Mapping[str, list[Case]]) -> list[Check]:
    """One check for each feature."""
    template = load_response_template(dict(source))
    checks = []
    for feature, tried in cases.items():
        if not tried:
            checks.append(Check(feature, "not expressible", "not expressible"))
            continue
        lenient = next((found for case in tried if (found := difference(template, case, "repair"))), "")
        strict = next((found for case in tried if (found := difference(template, case, "strict"))), "")
        checks.append(
            Check(feature, "differs" if lenient else "verified", "differs" if strict else "verified", lenient, tuple(tried))
        )
    return checks
