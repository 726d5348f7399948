"""From a chat template to a response template, with evidence: ``infer_response_template``."""

from __future__ import annotations

import copy
import json
import warnings
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from streamparse.infer.analysis import Analysis, analyze
from streamparse.infer.cases import CALL, REASONING, all_cases, unread_features
from streamparse.infer.choose import choose
from streamparse.infer.explain import as_data, explain
from streamparse.infer.known import known_templates
from streamparse.infer.render import Renderer
from streamparse.infer.source import read_chat_template
from streamparse.infer.verify import Check, check_all
from streamparse.template.bundled import bundled_source

CACHED = 64
"""How many inferences are kept, by content."""


class UnverifiedWarning(UserWarning):
    """A response template is used although not everything that its chat template renders came back."""


@dataclass(frozen=True)
class Inference:
    """What was inferred from a chat template.

    ``template`` is the response template (JSON-able; transformers' loader takes it unless it has the key
    ``streamparse``), ``checks`` the evidence for each feature, ``analysis`` what was found, as data. ``bundled`` is
    the name of the bundled template that is taken because it reads everything back; None where ``template`` was
    inferred.
    """

    template: dict[str, Any]
    checks: tuple[Check, ...]
    analysis: dict[str, Any]
    bundled: str | None = None

    @property
    def verified(self) -> bool:
        """Whether everything that the chat template can express came back, whole and one character at a time.

        In the lenient mode always; in strict mode too, unless version 1 has no words for how the calls are written.
        """
        if not any(check.status == "verified" for check in self.checks):
            return False
        beyond_version_1 = self.analysis["extended"] or bool(self.analysis["tool_calls"].get("beyond"))
        return not any(
            check.status == "differs" or (check.strict == "differs" and not beyond_version_1) for check in self.checks
        )

    @property
    def tool_calls(self) -> bool:
        """Whether the response template reads tool calls."""
        return "tool_calls" in self.template["fields"]

    def explain(self) -> str:
        """A readable account: what was found, from which comparison, and what came back."""
        return explain(self.checks, self.analysis, verified=self.verified, bundled=self.bundled)

    def to_use(self) -> dict[str, Any]:
        """The response template, for use; warns with ``UnverifiedWarning`` if not everything came back."""
        if not self.verified:
            differing = ", ".join(check.feature for check in self.checks if check.status == "differs")
            warnings.warn(
                f"the response template inferred from the chat template is not verified ({differing or 'strict mode'})",
                UnverifiedWarning,
                stacklevel=2,
            )
        return copy.deepcopy(self.template)


_cache: OrderedDict[str, Inference] = OrderedDict()
_cache_lock = Lock()


def infer_response_template(
    source: Any,
    *,
    bos_token: str | None = None,
    eos_token: str | None = None,
    chat_template_kwargs: Mapping[str, Any] | None = None,
    bundled: bool = True,
) -> Inference:
    """Infer how the output of a model is read from how its chat template writes it.

    ``source`` is the chat template: Jinja text, a path (``chat_template.jinja``, ``tokenizer_config.json``, a model's
    folder) or a tokenizer. ``bos_token`` and ``eos_token`` are what it may print; ``chat_template_kwargs`` what will
    be given to ``apply_chat_template`` beside the conversation. The result is kept by content.

    Where a bundled template reads all that the chat template renders, calls among it, that one is taken: it also reads
    what the family's models write and the chat template doesn't show. With ``bundled=False`` the template is always
    inferred.

    Raises InferenceError, which says where, for a chat template that can't be read, compiled or rendered at all.

    >>> inference = infer_response_template(
    ...     "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    ...     "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    ... )
    >>> inference.verified
    True
    >>> inference.analysis["anchor"], inference.template["fields"]["content"]["close_pattern"]
    ('<|assistant|>', '<\\\\|end\\\\|>\\\\s*')
    """
    chat_template = read_chat_template(source)
    bos, eos = bos_token or chat_template.bos_token, eos_token or chat_template.eos_token
    switches = dict(chat_template_kwargs or {})
    key = json.dumps([chat_template.text, bos, eos, switches, bundled], sort_keys=True, default=repr)
    with _cache_lock:
        if key in _cache:
            _cache.move_to_end(key)
            return _cache[key]
    renderer = Renderer(chat_template.text, bos_token=bos, eos_token=eos, switches=switches)
    inference = _infer(renderer, bundled=bundled)
    with _cache_lock:
        _cache[key] = inference
        while len(_cache) > CACHED:
            _cache.popitem(last=False)
    return inference


def _infer(renderer: Renderer, *, bundled: bool) -> Inference:
    """Analyze, compose, choose, check."""
    analysis: Analysis = analyze(renderer)
    cases = all_cases(analysis)
    template, reading = choose(analysis, cases)
    unread = unread_features(analysis, cases)
    if analysis.reasoning.unread:
        unread[REASONING] = analysis.reasoning.unread
    if analysis.observed is not None and reading is None:
        unread[CALL] = "calls are written, but can't be told apart"
    for name in known_templates(analysis, cases) if bundled else ():
        source = bundled_source(name)
        checks = tuple(check_all(source, cases, unread))
        if all(check.status == "verified" for check in checks if check.cases):
            return Inference(source, checks, as_data(analysis, reading, source), name)
    return Inference(template, tuple(check_all(template, cases, unread)), as_data(analysis, reading, template))
