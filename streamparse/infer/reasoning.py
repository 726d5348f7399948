"""How the model's reasoning is set off: its delimiters, and where the template shows it.

Comparisons, in the order in which they are trusted:

- a turn with reasoning against the same without: what stands around the reasoning (``shown``);
- a generation prompt that opens reasoning against one that opens and closes it, under a thinking switch;
- a content that quotes one of the template's own texts, against plain content: the text before which everything
  vanishes is what ends reasoning (``dropped``: the template cuts reasoning out of the history);
- a generation prompt against the turns: what the prompt has beyond all turns was written to open reasoning.

Where an end or a beginning was not seen, it is the mirror image of the other (``<think>`` and ``</think>``), which the
result says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from streamparse.infer.compare import common_suffix, is_mark, pieces
from streamparse.infer.conversation import (
    CONTENT,
    DECOY,
    EARLIER,
    FIRST,
    REASONING,
    REASONING_KEYS,
    Prober,
    Said,
    Switches,
)
from streamparse.infer.envelope import MAX_SWITCHES, Envelope

Mode = Literal["none", "shown", "beside calls", "dropped"]

MAX_QUOTES = 60
"""Most of the template's own texts that are tried as an end of reasoning."""


@dataclass(frozen=True)
class Reasoning:
    """The delimiters of reasoning and how they became known.

    ``mode``: ``none``; ``shown`` in turns; shown only ``beside calls``; or ``dropped`` from the history. ``key`` is the
    message's key, ``switches`` what must be set for the template to show it. ``lead`` is the template's own text
    before the reasoning, ``between`` that up to the content. ``mirrored`` lists what was not seen but concluded;
    ``unread`` says why reasoning that is shown can't be read.
    """

    mode: Mode = "none"
    open: str = ""
    close: str = ""
    key: str = ""
    switches: Switches = field(default_factory=dict)
    lead: str = ""
    between: str = ""
    evidence: str = "no turn shows reasoning, and no generation prompt opens it"
    mirrored: tuple[str, ...] = ()
    unread: str = ""


def find_reasoning(prober: Prober, envelope: Envelope) -> tuple[Reasoning, Envelope]:
    """Read the delimiters of reasoning; the envelope comes back with an anchor that leaves them out."""
    seen = _seen_in_turn(prober, envelope)
    reasoning, envelope = seen if seen is not None else (_from_prompt_and_history(prober, envelope), envelope)
    for mark in (reasoning.open, reasoning.close):
        envelope = envelope.begun_before(mark)
    return reasoning, envelope


def _attempts(prober: Prober, envelope: Envelope) -> Iterator[tuple[Mode, str, Switches, Said]]:
    """Ways in which a template may show reasoning, the plainest first."""
    settings: list[Switches] = [{}, *(prompt.switches for prompt in envelope.prompts[1:])]
    for switches in settings:
        for key in REASONING_KEYS:
            yield "shown", key, switches, Said(CONTENT, REASONING)
    for key in REASONING_KEYS:
        yield "beside calls", key, {}, Said(None, REASONING, (FIRST,))
    single = [(name, value) for name, values in prober.renderer.switches.items() for value in values]
    for name, value in single[:MAX_SWITCHES]:
        for key in REASONING_KEYS[: 3 if "think" in name or "reason" in name else 1]:
            yield "shown", key, {name: value}, Said(CONTENT, REASONING)


def _seen_in_turn(prober: Prober, envelope: Envelope) -> tuple[Reasoning, Envelope] | None:
    """The first way in which the template shows reasoning, with what stands around it."""
    for mode, key, switches, said in _attempts(prober, envelope):
        tail = prober.rephrased(reasoning=key).attempt(said, switches=switches)
        if tail is None or tail.count(REASONING) != 1 or DECOY in tail:
            continue
        before, _, rest = tail.partition(REASONING)
        if CONTENT in before or FIRST.name in before:
            continue
        end = min((rest.find(word) for word in (CONTENT, FIRST.name) if word in rest), default=len(rest))
        between = rest[:end]
        frame = envelope.fitting(before)
        lead = frame.spoken(before)
        close = _close(prober, frame, before, between, mode, switches)
        opening = _open(frame, lead, before, close)
        if opening == frame.anchor.strip():
            return Reasoning(unread="reasoning is written, but nothing opens it", evidence="nothing opens it"), frame
        if is_mark(close) and is_mark(opening):
            comparison = "turns with and without reasoning" + (" beside calls" if mode == "beside calls" else "")
            return Reasoning(mode, opening, close, key, switches, lead, between, comparison), frame
    return None


def _open(envelope: Envelope, lead: str, whole_lead: str, close: str) -> str:
    """The opening: what the turn has before the reasoning; where the prompt has it already, what the prompt writes
    last.
    """
    opening = lead.strip()
    if not opening:
        written = [text.strip() for _, text in envelope.prefills() if text.strip() and close not in text]
        opening = min(written, key=len, default="")
    mirror, alike = _mirror_by_shape(whole_lead, close)
    overshot = alike and lead.strip() and len(opening) < len(mirror)
    return opening if is_mark(opening) and not overshot else mirror


def _mirror_by_shape(lead: str, close: str) -> tuple[str, bool]:
    """The end of a text that looks like the opening to a close, and whether the two end alike."""
    lead_pieces, close_pieces = pieces(lead.rstrip()), pieces(close.strip())
    shared = 0
    while shared < min(len(lead_pieces), len(close_pieces)) and lead_pieces[-1 - shared] == close_pieces[-1 - shared]:
        shared += 1
    for at in range(len(lead_pieces) - 1 - shared, -1, -1):
        if is_mark(lead_pieces[at]) and len(lead_pieces[at]) >= 3:
            return "".join(lead_pieces[at:]), shared > 0
    return "".join(lead_pieces[-len(close_pieces) :]), shared > 0


def _close(prober: Prober, envelope: Envelope, before: str, between: str, mode: Mode, switches: Switches) -> str:
    """What closes reasoning: what follows it, less what opens the content (or the calls) that comes next."""
    lead = envelope.spoken(before)
    if mode == "beside calls":
        without = prober.attempt(Said(None, None, (FIRST,)), switches=switches)
        leads = [envelope.spoken(without).partition(FIRST.name)[0]] if without else []
    else:
        leads = list(_content_leads(prober, envelope, switches))
    text = between.strip()
    openings = [shared for leading in leads if (shared := _opening_behind(leading, lead, text))]
    close = text.removesuffix(min(openings, key=len)).strip() if openings else _close_by_shape(before, text)
    header = envelope.anchor.strip()
    return close.partition(header)[0].strip() if header and header in close else close


def _opening_behind(leading: str, lead: str, between: str) -> str:
    """What opens the next part, if the text that leads to it without reasoning (``leading``) tells it from the
    close.
    """
    opening = lead.strip()
    if opening and leading.strip().startswith(opening):
        return ""
    shared = common_suffix([leading.strip(), between])
    return shared if shared.strip() != between else ""


def _close_by_shape(before: str, between: str) -> str:
    """So much of the text behind the reasoning as looks like the text before it: up to a mark that both end with,
    or one mark.
    """
    opening, following = pieces(before.rstrip()), pieces(between)
    if not opening or not following or len(following[0]) < 3 or not is_mark(following[0]):
        return between
    if opening[-1] in following[1:-1]:
        return "".join(following[: following.index(opening[-1], 1) + 1])
    return following[0] if len(opening[-1]) >= 3 and is_mark(opening[-1]) else between


def _content_leads(prober: Prober, envelope: Envelope, switches: Switches) -> Iterator[str]:
    """What the template writes between the header and a content without reasoning: in the last turn, and in an
    older one.
    """
    last = prober.attempt(Said(CONTENT), switches=switches)
    if last is not None:
        yield envelope.spoken(last).partition(CONTENT)[0]
    older = [{"role": "user", "content": prober.worded("Wbeforew")}, prober.message(Said(EARLIER))]
    try:
        text = prober.render(None, before=older, switches=switches)
    except Exception:
        return
    _, found, rest = text.partition("Wbeforew")
    if found and EARLIER in rest:
        yield envelope.spoken(rest.partition(EARLIER)[0])


def _from_prompt_and_history(prober: Prober, envelope: Envelope) -> Reasoning:
    """Reasoning that no turn shows: from what the prompts write, and from what the history drops."""
    constants = prober.renderer.constants
    prefills = sorted((text.strip() for _, text in envelope.prefills() if is_mark(text)), key=len)
    for opening in prefills:
        for closed in prefills:
            if closed != opening and closed.startswith(opening) and is_mark(closed[len(opening) :]):
                evidence = "a prompt that opens reasoning and one that also closes it"
                return Reasoning("dropped", opening, closed[len(opening) :].strip(), evidence=evidence)
    closer = _dropping_quote(prober)
    for prefill in prefills:
        opening, found, _ = prefill.partition(closer or mirrored(pieces(prefill)[0], constants) or "\0")
        if found and is_mark(opening):
            return Reasoning("dropped", opening.strip(), found, evidence="a prompt that opens and closes reasoning")
    opening = next((prefill for prefill in prefills if prefill != closer), "")
    if opening and closer:
        evidence = "what the prompt has beyond all turns, and the text before which the history is cut"
        return Reasoning("dropped", opening, closer, evidence=evidence)
    if opening and (mirror := mirrored(opening, constants)):
        evidence = "what the prompt has beyond all turns"
        return Reasoning("dropped", opening, mirror, evidence=evidence, mirrored=("close",))
    if closer and (mirror := mirrored(closer, constants)):
        evidence = "the text before which the history is cut"
        return Reasoning("dropped", mirror, closer, evidence=evidence, mirrored=("open",))
    return Reasoning()


def _dropping_quote(prober: Prober) -> str:
    """The one of the template's own texts that, quoted in a content, makes what stands before it vanish."""
    for quote in _quotable(prober.renderer.constants):
        tail = prober.attempt(Said(f"{EARLIER}{quote}{CONTENT}"))
        if tail is not None and CONTENT in tail and EARLIER not in tail:
            return quote
    return ""


def _quotable(constants: tuple[str, ...]) -> list[str]:
    """The template's texts that may be delimiters, those that look like an end first."""
    texts = dict.fromkeys(text.strip() for text in constants)
    marks = [text for text in texts if is_mark(text) and len(text) <= 60 and len(pieces(text)) <= 9]
    return sorted(marks, key=lambda text: (not _looks_like_an_end(text), len(text)))[:MAX_QUOTES]


def _looks_like_an_end(text: str) -> bool:
    return text[1:2] == "/" or re.search(r"end|final|close", text, re.IGNORECASE) is not None


_MIRRORS = (
    (re.compile(r"<(?![/|])([^<>]*)>"), (r"</\1>",)),
    (re.compile(r"\[(?!/)([^\[\]]*)\]"), (r"[/\1]",)),
    (re.compile(r"<\|begin_?of_?(\w+)\|>"), (r"<|end_of_\1|>",)),
    (re.compile(r"<\|(?:START|BEGIN)(\w*)\|>"), (r"<|END\1|>",)),
    (re.compile(r"<\|(?:start|begin)(\w*)\|>"), (r"<|end\1|>",)),
    (re.compile(r"<\|(?!/)(\w+)\|>"), (r"<|/\1|>", r"</|\1|>", r"<|end_\1|>", r"<|\1_end|>")),
    (re.compile(r"([^\w\s<>\[\]/])(\w+)([^\w\s<>\[\]/])"), (r"\1/\2\3",)),
    (re.compile(r"</([^<>]*)>"), (r"<\1>",)),
    (re.compile(r"\[/([^\[\]]*)\]"), (r"[\1]",)),
    (re.compile(r"<\|/(\w+)\|>"), (r"<|\1|>",)),
    (re.compile(r"<\|END(\w*)\|>"), (r"<|START\1|>",)),
    (re.compile(r"([^\w\s<>\[\]/])/(\w+)([^\w\s<>\[\]/])"), (r"\1\2\3",)),
)


def mirrored(mark: str, texts: Sequence[str] = ()) -> str:
    """The mark that mirrors another, or an empty text where the shape has no mirror image.

    Of several images one that occurs in ``texts`` (the template's own) is taken.

    >>> mirrored("<think>"), mirrored("[/THINK]"), mirrored("Thoughts:")
    ('</think>', '[THINK]', '')
    >>> mirrored("<|think|>", ["ends with <|end_think|>"])
    '<|end_think|>'
    """
    for shape, images in _MIRRORS:
        if shape.fullmatch(mark.strip()):
            made = [shape.sub(image, mark.strip()) for image in images]
            return next((image for image in made if any(image in text for text in texts)), made[0])
    return ""
