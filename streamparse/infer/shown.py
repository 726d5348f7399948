"""Whether a chat template writes what it is told, in whatever form: the part is varied, and the turn varies with it.

In: what the assistant says in one turn. Out: whether all of it leaves a trace. A turn for which there is no case (the
words of the probe don't stand in it as they were said) may still be written: in capitals, cut short, escaped, between
marks that can't be told apart. Such a feature has not come back, and must not count as one that can't be expressed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from streamparse.infer.conversation import DECOY, REASONING_KEYS, Call, Prober, Said, Switches, declarations

OTHER_TEXT = "Something quite different."

UNREAD = {
    "content": "content is written, but not so that it can be read",
    "reasoning": "reasoning is written, but not so that it can be told apart",
    "call": "calls are written, but can't be told apart",
}


def unread(said: Said, prober: Prober, settings: Sequence[Switches], declared: Sequence[Call] = ()) -> str:
    """Why a turn that has no case counts as unread; empty where no way of putting it has all of its parts written.

    ``declared`` are calls whose tools are declared beside those of the turn's own.
    """
    parts = _variants(said)
    for speaker, switches in product(_speakers(said, prober), settings):
        if parts and all(_leaves_a_trace(said, others, speaker, switches, declared) for _, others in parts):
            return UNREAD[parts[-1][0]]
    return ""


def _variants(said: Said) -> list[tuple[str, list[Said]]]:
    """Each part of a turn with turns that differ in it alone; of a call, its name, or the values of its arguments."""
    parts: list[tuple[str, list[Said]]] = []
    if said.content:
        parts.append(("content", [replace(said, content=OTHER_TEXT)]))
    if said.reasoning:
        parts.append(("reasoning", [replace(said, reasoning=OTHER_TEXT)]))
    for place, call in enumerate(said.calls):
        others = [replace(call, name=f"other_{call.name}")]
        if call.arguments:
            others.append(replace(call, arguments=dict.fromkeys(call.arguments, OTHER_TEXT)))
        parts.append(("call", [_with_call(said, place, other) for other in others]))
    return parts


def _with_call(said: Said, place: int, call: Call) -> Said:
    return replace(said, calls=(*said.calls[:place], call, *said.calls[place + 1 :]))


def _leaves_a_trace(
    said: Said, others: Sequence[Said], speaker: Prober, switches: Switches, declared: Sequence[Call]
) -> bool:
    """Whether the turn differs from one of the others; not if the template only prints the message's own structure."""
    for other in others:
        tools = declarations((*said.calls, *other.calls, *declared)) or None
        turn, varied = (speaker.attempt(one, tools=tools, switches=switches) for one in (said, other))
        if turn is not None and varied is not None and turn != varied and DECOY not in turn:
            return True
    return False


def _speakers(said: Said, prober: Prober) -> Iterator[Prober]:
    keys: Sequence[Any] = REASONING_KEYS if said.reasoning else (prober.phrasing.reasoning,)
    as_text = (False, True) if said.calls else (prober.phrasing.arguments_as_text,)
    for key, text in product(keys, as_text):
        yield prober.rephrased(reasoning=key, arguments_as_text=text)
