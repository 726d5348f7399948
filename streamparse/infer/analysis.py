"""All that is found out about a chat template before anything is composed: the analyzers, in order.

Order matters where one finding bounds the next: the anchor must end before what opens reasoning, calls or content, and
what ends a call is told from what ends a turn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from streamparse.infer.anchors import find_closers, find_further_anchors
from streamparse.infer.content import Content, find_content
from streamparse.infer.conversation import Prober
from streamparse.infer.envelope import Envelope, find_envelope
from streamparse.infer.phrasing import find_phrasing
from streamparse.infer.reasoning import Reasoning, find_reasoning
from streamparse.infer.render import Renderer
from streamparse.infer.tools.dialect import read_dialect
from streamparse.infer.tools.json_calls import read_json_calls
from streamparse.infer.tools.named_json import read_named_json
from streamparse.infer.tools.observe import Observed, observe_calls
from streamparse.infer.tools.pythonic import read_pythonic
from streamparse.infer.tools.reading import Reading
from streamparse.infer.tools.tagged import read_tagged

READERS = (read_json_calls, read_named_json, read_dialect, read_pythonic, read_tagged)
"""The constructs of tool calls, the one that needs the least interpretation first."""


@dataclass(frozen=True)
class Analysis:
    """What was found. ``readings`` are the ways to read tool calls, the likeliest first; ``anchors`` are further texts
    after which a turn may begin, ``closers`` those after which nothing is the model's up to the next anchor."""

    prober: Prober
    envelope: Envelope
    reasoning: Reasoning
    content: Content
    observed: Observed | None
    readings: tuple[Reading, ...]
    anchors: tuple[str, ...]
    closers: tuple[str, ...]

    @property
    def ends(self) -> tuple[str, ...]:
        """What ends a turn: behind the content's own close, or as it was read behind a content."""
        return tuple(dict.fromkeys((*self.content.ends, *self.envelope.ends)))


def analyze(renderer: Renderer) -> Analysis:
    """Run every analyzer; raises InferenceError if the template renders no conversation."""
    prober = find_phrasing(renderer)
    reasoning, envelope = find_reasoning(prober, find_envelope(prober))
    observed, content, readings = _calls_and_content(prober, envelope, reasoning)
    shortened = envelope
    for reading in readings:
        shortened = shortened.begun_before(reading.opening.strip())
    if shortened != envelope:
        envelope = shortened
        observed, content, readings = _calls_and_content(prober, envelope, reasoning)
    speaker = observed.prober if observed is not None else prober
    anchors = tuple(find_further_anchors(speaker, envelope, reasoning))
    closers = tuple(find_closers(speaker, envelope, (*content.ends, *envelope.ends), anchors))
    return Analysis(prober, envelope, reasoning, content, observed, readings, anchors, closers)


def _calls_and_content(
    prober: Prober, envelope: Envelope, reasoning: Reasoning
) -> tuple[Observed | None, Content, tuple[Reading, ...]]:
    """How calls and content are written, with an anchor that may still have to be shortened."""
    observed = observe_calls(prober, envelope, reasoning)
    content = find_content(observed.prober if observed is not None else prober, envelope, reasoning)
    if observed is None:
        return None, content, ()
    bounded = replace(observed, ends=content.ends)
    return observed, content, tuple(reading for reader in READERS for reading in reader(bounded))
