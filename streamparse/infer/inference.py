"""From a chat template to a response template: the analyzers in order, the composer, the verifier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from streamparse.infer.compose import compose
from streamparse.infer.content import Content, find_content
from streamparse.infer.conversation import CONTENT, USER, Phrasing, Prober, Said
from streamparse.infer.envelope import Envelope, anchors_after_results, find_envelope
from streamparse.infer.errors import InferenceError
from streamparse.infer.reasoning import Reasoning, find_reasoning
from streamparse.infer.render import Renderer
from streamparse.infer.sandbox import Refusal
from streamparse.infer.tools.dialect import read_dialect
from streamparse.infer.tools.json_calls import read_json_calls
from streamparse.infer.tools.named_json import read_named_json
from streamparse.infer.tools.observe import Observed, observe_calls
from streamparse.infer.tools.pythonic import read_pythonic
from streamparse.infer.tools.reading import Reading
from streamparse.infer.tools.tagged import read_tagged
from streamparse.template import load_response_template
from streamparse.infer.verify import Check, all_cases, check_all, difference

READERS = (read_json_calls, read_named_json, read_dialect, read_pythonic, read_tagged)


@dataclass(frozen=True)
class Inference:
    template: dict[str, Any]
    checks: list[Check]
    envelope: Envelope
    reasoning: Reasoning
    content: Content
    reading: Reading | None

    @property
    def verified(self) -> bool:
        return all(check.status != "differs" for check in self.checks)


def infer_response_template(source: str, *, bos_token=None, eos_token=None, chat_template_kwargs=None) -> Inference:
    renderer = Renderer(source, bos_token=bos_token, eos_token=eos_token, switches=chat_template_kwargs)
    prober = find_phrasing(renderer)
    envelope = find_envelope(prober)
    reasoning, envelope = find_reasoning(prober, envelope)
    observed = observe_calls(prober, envelope, reasoning)
    content = find_content(observed.prober if observed else prober, envelope, reasoning)
    readings = _readings(observed, content)
    if any(envelope.begun_before(reading.opening.strip()) != envelope for reading in readings):
        for reading in readings:
            envelope = envelope.begun_before(reading.opening.strip())
        observed = observe_calls(prober, envelope, reasoning)
        content = find_content(observed.prober if observed else prober, envelope, reasoning)
        readings = _readings(observed, content)
    anchors = anchors_after_results(observed.prober if observed else prober, envelope.anchor)
    cases = all_cases(prober, envelope, reasoning, observed)
    best, best_score = None, None
    for reading in [*readings, None]:
        template = compose(envelope, anchors, reasoning, content, reading)
        loaded = load_response_template(template)
        score = sum(
            not difference(loaded, case, "repair", by_character=False) for tried in cases.values() for case in tried
        )
        if best_score is None or score > best_score:
            best, best_score, chosen = template, score, reading
    return Inference(best, check_all(best, cases), envelope, reasoning, content, chosen)


def _readings(observed: Observed | None, content: Content) -> list[Reading]:
    if observed is None:
        return []
    observed = replace(observed, ends=content.ends)
    return [reading for reader in READERS for reading in reader(observed)]


def find_phrasing(renderer: Renderer) -> Prober:
    """The plainest way to speak to this chat template that it renders."""
    refusals = []
    for phrasing in _phrasings():
        filled = dict(phrasing.switches)
        for _ in range(8):
            prober = Prober(renderer, Phrasing(**{**vars(phrasing), "switches": filled}))
            try:
                tail = prober.turn(Said(CONTENT))
                prober.prompt()
                if CONTENT in tail:
                    return prober
                refusals.append("the chat template does not show what the assistant says")
                break
            except Refusal as refusal:
                refusals.append(str(refusal))
                name = str(refusal).partition("' is undefined")[0].strip("'")
                if "is undefined" not in str(refusal) or name not in renderer.variables or name in filled:
                    break
                filled[name] = ""
    raise InferenceError(f"the chat template does not render a conversation: {refusals[0]}")


def _phrasings() -> Iterator[Phrasing]:
    for parts in (False, True):
        for tools in (False, True):
            for system in (False, True):
                yield Phrasing(tools=tools, parts=parts, system=system)
