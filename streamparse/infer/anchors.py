"""Where the model's turn begins in prompts of every kind, and with what the other turns of a prompt begin and end.

Comparisons: the prompt with tools, and behind a tool's result, against the anchor; an answer against the same before
another question; a call against the same with its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from streamparse.infer.compare import common_prefix, is_mark, loosely, pieces
from streamparse.infer.conversation import (
    CONTENT,
    FIRST,
    PROBE_WORDS,
    REASONING,
    RESULT,
    USER,
    Prober,
    Said,
    after_last,
    declarations,
)
from streamparse.infer.envelope import Envelope
from streamparse.infer.reasoning import Reasoning
from streamparse.infer.sandbox import Refusal
from streamparse.infer.turn_end import FOLLOWING

LONGEST_CLOSER = 100
"""Longest text, in characters, that is taken for the beginning of another turn."""


def find_further_anchors(prober: Prober, envelope: Envelope, reasoning: Reasoning) -> list[str]:
    """Where the turn begins in prompts that the anchor is not in: with tools, and behind a tool's result."""
    found: dict[str, None] = {}
    for tail in _other_prompts(prober):
        if not envelope.anchor or loosely(envelope.anchor).search(tail) is None:
            parts = pieces(_without_reasoning(tail, reasoning))
            tags = [at for at, part in enumerate(parts) if len(part) >= 3 and is_mark(part)]
            if tags:
                found["".join(parts[tags[-1] :])] = None
    return list(found)


def _without_reasoning(tail: str, reasoning: Reasoning) -> str:
    """The end of a prompt, less the marks of reasoning that it writes for the model."""
    marks = [mark for mark in (reasoning.open, reasoning.close) if mark]
    return tail[: min((at for mark in marks if (at := tail.find(mark)) >= 0), default=len(tail))]


def _other_prompts(prober: Prober) -> Iterable[str]:
    """What follows the question, or the result, in prompts of other kinds."""
    calling = prober.message(Said(calls=(FIRST,)))
    for word, after, tools in ((USER, [], declarations((FIRST,))), (RESULT, [calling, prober.result(FIRST)], None)):
        try:
            yield after_last(prober.render(None, after=after, tools=tools, generation_prompt=True), word)
        except Refusal:
            continue


def find_closers(prober: Prober, envelope: Envelope, ends: Iterable[str], anchors: Sequence[str]) -> list[str]:
    """The marks behind which nothing of a prompt is the model's, up to the next anchor.

    These are what ends a turn, and what begins a question or a tool's result. Some templates end no turn; others write
    one behind the anchor and end it (a content that belongs to the call before the result, for example). A mark that
    the model's own turn has before its end, or that a generation prompt writes for the model, is none.
    """
    own = [*_own_texts(prober, envelope), *(text for _, text in envelope.prefills())]
    marks = dict.fromkeys(text.strip() for text in (*ends, *_other_turns(prober)))
    begins = {text.strip() for text in (envelope.anchor, *anchors)}
    found = [
        mark
        for mark in marks
        if is_mark(mark)
        and mark not in begins
        and not any(mark in text for text in own)
        and not any(word in mark for word in PROBE_WORDS)
    ]
    return [mark for mark in found if not any(other in mark for other in found if other != mark)]


def _own_texts(prober: Prober, envelope: Envelope) -> Iterator[str]:
    """The model's turns up to the last word that it says."""
    for said in (Said(CONTENT), Said(calls=(FIRST,)), Said(CONTENT, REASONING), Said(CONTENT, calls=(FIRST,))):
        turn = prober.attempt(said)
        spoken = envelope.spoken(turn) if turn is not None else ""
        last = max((spoken.rfind(word) for word in PROBE_WORDS), default=-1)
        yield spoken[: max(last, 0)]


def _other_turns(prober: Prober) -> Iterator[str]:
    """What begins a question behind an answer, and a tool's result behind a call."""
    question = {"role": "user", "content": prober.worded(FOLLOWING)}
    for said, after, first, word in (
        (Said(CONTENT), question, CONTENT, FOLLOWING),
        (Said(calls=(FIRST,)), prober.result(FIRST), FIRST.name, RESULT),
        (Said(CONTENT, calls=(FIRST,)), prober.result(FIRST), CONTENT, RESULT),
    ):
        try:
            closed = after_last(prober.turn(said), first)
            whole = prober.turn(said, after=[after]).partition(word)
        except Refusal:
            continue
        if not whole[1] or first not in whole[0]:
            continue
        goes_on = after_last(whole[0], first)
        beyond = goes_on[len(common_prefix([closed, goes_on])) :].lstrip()
        for probe in PROBE_WORDS:
            beyond = beyond.partition(probe)[0]
        yield from _marks_of(beyond) if is_mark(beyond) else _marks_of(goes_on)[-1:]


def _marks_of(text: str) -> list[str]:
    """The tags of a text, each for itself and with the words up to the next, and the whole text."""
    parts = pieces(text)
    tags = [at for at, part in enumerate(parts) if len(part) >= 3 and is_mark(part)]
    spans = zip(tags, [*tags[1:], len(parts)], strict=False)
    marks = [mark for at, end in spans for mark in (parts[at], "".join(parts[at:end]))]
    return [mark for mark in (text, *marks) if len(mark) <= LONGEST_CLOSER]
