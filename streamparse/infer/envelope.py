"""Where the assistant's turn begins and ends: the anchor in the prompt, the generation prompt, the end of turn.

Comparisons, each of texts that follow the same question:

- prompts (with every switch that changes them) against turns: what they share is the *header*, the start anchor's
  text; what a prompt has beyond it, the template writes for the model (*prefill*);
- the same prompt with and without generation prompt: what comes before the header belongs to the user's turn;
- a turn at the end against one that is followed by another question: what they share behind the content ends a turn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from streamparse.infer.compare import (
    boundaries,
    common_beginning,
    common_prefix,
    common_suffix,
    is_mark,
    loosely,
    pieces,
)
from streamparse.infer.conversation import (
    CONTENT,
    FIRST,
    REASONING,
    Prober,
    Said,
    Switches,
    after_last,
)
from streamparse.infer.sandbox import Refusal
from streamparse.infer.turn_end import find_ends

MAX_SWITCHES = 24
"""Most switch settings that are tried on the generation prompt."""
MAX_PROMPTS = 8
"""Most different generation prompts that are kept."""
MANY_WORDS = 12
"""From so many words on, what a prompt has beyond all turns is no prefill but an instruction of the template."""


@dataclass(frozen=True)
class GenerationPrompt:
    """What follows the question in a prompt, under these switches."""

    switches: Switches
    tail: str


@dataclass(frozen=True)
class Envelope:
    """The frame of the assistant's turn.

    ``anchor`` is the text in the prompt after which the turn begins (empty where there is none); ``prompts`` the
    generation prompts, the default first; ``ends`` what ends a turn. ``own`` says that the anchor is the turn's own
    header, not the end of what comes before it. ``appended`` is what the template writes behind every conversation,
    whoever spoke last and whether or not a generation prompt was asked for. ``end_printed``: the last turn of a
    conversation shows its end, as those do that another turn follows.
    """

    anchor: str
    prompts: tuple[GenerationPrompt, ...]
    own: bool = True
    ends: tuple[str, ...] = ()
    appended: str = ""
    end_printed: bool = True

    def spoken(self, tail: str) -> str:
        """What the assistant says: the turn without what opens it, and without what follows every conversation."""
        found = loosely(self.anchor).search(tail)
        return (tail[found.end() :] if found else tail).removesuffix(self.appended)

    def prefills(self) -> list[tuple[Switches, str]]:
        """What the template writes for the model after the anchor, under each setting of the switches."""
        bare = replace(self, appended="")
        return [(prompt.switches, bare.spoken(prompt.tail)) for prompt in self.prompts if self._begins(prompt)]

    def unanchored(self) -> list[Switches]:
        """Settings of the switches under which the prompt does not have the anchor."""
        return [prompt.switches for prompt in self.prompts if not self._begins(prompt)]

    def _begins(self, prompt: GenerationPrompt) -> bool:
        return loosely(self.anchor).search(prompt.tail) is not None

    def fitting(self, tail: str) -> Envelope:
        """The same frame with an anchor that this turn or prompt has too, if it opens in the same way."""
        found = loosely(self.anchor).search(tail)
        start = next((at for at in range(len(tail)) if self.anchor and tail.startswith(pieces(self.anchor)[0], at)), -1)
        if found or start < 0:
            return self
        shared = common_beginning(self.anchor, [tail[start:]])
        lost = self.anchor[len(shared) :].strip()
        return replace(self, anchor=shared) if is_mark(shared) and lost not in tail else self

    def begun_before(self, opening: str) -> Envelope:
        """The same frame with an anchor that ends before this opening, where the anchor had taken it in."""
        tail = self.prompts[0].tail
        start = tail.find(self.anchor)
        end = start + len(self.anchor)
        places = (at for at in sorted(boundaries(tail)) if start <= at < end and tail.startswith(opening, at))
        at = next(places, -1)
        if not is_mark(opening) or opening.strip() == self.anchor.strip() or at < 0 or not tail[:at].strip():
            return self
        anchor = tail[:at] if not self.anchor[: at - end].strip() else self.anchor[: at - end]
        return replace(self, anchor=anchor)


def find_envelope(prober: Prober) -> Envelope:
    """Read the anchor, the generation prompts and what ends a turn."""
    prompts = tuple(_generation_prompts(prober))
    anchor, own = _find_anchor(prober, prompts[0].tail)
    frame = Envelope(_trimmed(anchor), prompts, own)
    for prompt in prompts[1:]:
        frame = frame.fitting(prompt.tail)
    ends, printed = find_ends(prober, frame.anchor, own=own)
    frame = replace(frame, ends=ends, end_printed=printed)
    return frame if own else replace(frame, appended=_find_appended(prober, frame))


def _find_appended(prober: Prober, frame: Envelope) -> str:
    """What both a question and an answer are followed by at the end of a conversation, less the end of the turn."""
    shared = common_suffix([prober.bare(), after_last(prober.turn(Said(CONTENT)), CONTENT)])
    end = next((end for end in frame.ends if shared.lstrip().startswith(end)), "")
    return shared.lstrip()[len(end) :] if end else shared


def _find_anchor(prober: Prober, prompt: str) -> tuple[str, bool]:
    """What the prompt and all turns begin with, less the end of the user's turn if anything is left then."""
    shared = common_beginning(prompt, list(_turns(prober)))
    if len(prompt[len(shared) :].split()) >= MANY_WORDS:
        before_content = prober.turn(Said(CONTENT)).partition(CONTENT)[0]
        ending = common_suffix([prompt, before_content])
        return (ending if is_mark(ending) else _last_marks(prompt)), False
    bare = prober.bare()
    header = shared[len(bare) :] if prompt.startswith(bare) and shared.startswith(bare) else ""
    return (header, True) if header.strip() else (shared, False)


def _last_marks(text: str) -> str:
    """The end of a text from the first mark of its last line that has one."""
    for line in reversed(text.strip().splitlines()):
        parts = pieces(line)
        marks = [at for at, part in enumerate(parts) if len(part) >= 3 and is_mark(part)]
        if marks:
            return "".join(parts[marks[0] :])
    return text


def _trimmed(text: str) -> str:
    """Without the white space before a mark, which other prompts may not have."""
    bare = text.lstrip()
    return bare if is_mark(bare) else text


def _generation_prompts(prober: Prober) -> Iterable[GenerationPrompt]:
    """The default prompt, and one for every switch setting that changes it."""
    default = prober.prompt()
    yield GenerationPrompt({}, default)
    seen = {default}
    bare = prober.bare()
    begun = len(common_prefix([default, bare])) - (default == bare)  # without a generation prompt, one may add text
    settings = [(name, value) for name, values in prober.renderer.switches.items() for value in values]
    for name, value in settings[:MAX_SWITCHES]:
        if len(seen) > MAX_PROMPTS:
            return
        try:
            tail = prober.prompt(switches={name: value})
        except Refusal:
            continue
        if tail not in seen and len(common_prefix([default, tail])) > begun:
            seen.add(tail)
            yield GenerationPrompt({name: value}, tail)


def _turns(prober: Prober) -> Iterable[str]:
    """Turns that show what they were asked to."""
    for said, word in (
        (Said(CONTENT), CONTENT),
        (Said(calls=(FIRST,)), FIRST.name),
        (Said(CONTENT, REASONING), REASONING),
        (Said(None, REASONING, (FIRST,)), REASONING),
    ):
        tail = prober.attempt(said)
        if tail is not None and word in tail:
            yield tail
