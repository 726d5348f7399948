"""How content is set off: bare, always wrapped in marks, or wrapped in some turns only.

Comparisons, of what the template writes between the turn's beginning and a content: without tools, with tools, before a
call, after reasoning. What closes a wrapped content is what follows it both at the end of a turn and before a call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from streamparse.infer.compare import common_prefix, common_suffix, is_mark, outermost, pieces
from streamparse.infer.conversation import CONTENT, FIRST, REASONING, SECOND, Prober, Said, declarations
from streamparse.infer.envelope import Envelope
from streamparse.infer.reasoning import Reasoning, mirrored
from streamparse.infer.tools.observe import without_reasoning
from streamparse.infer.tools.reading import noise

Mode = Literal["plain", "wrapped", "sometimes wrapped"]


@dataclass(frozen=True)
class Content:
    """How content is set off. ``noise`` are marks around it that belong to no field; ``ends`` what ends the turn."""

    mode: Mode
    open: str = ""
    closes: tuple[str, ...] = ()
    noise: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()


def _sharp(lead: str) -> str:
    """A lead without the white space behind a mark; behind a word it is what tells the word from a longer one."""
    bare = lead.rstrip()
    last = next(reversed(pieces(bare)), "")
    return bare if is_mark(last) and len(last) >= 3 else bare + lead[len(bare) :][:1]


@dataclass(frozen=True)
class _Seen:
    """A content in a turn: what leads to it (without reasoning) and what follows it."""

    lead: str
    after: str
    before_call: bool = False
    closes_only: bool = False


def find_content(prober: Prober, envelope: Envelope, reasoning: Reasoning) -> Content:
    """Read how content is set off."""
    seen = list(_turns_with_content(prober, envelope, reasoning))
    leads = [turn.lead.strip() for turn in seen]
    prefills = [text.strip() for _, text in envelope.prefills()]
    closes_alone = any(turn.closes_only for turn in seen) or any(text.startswith(reasoning.close) for text in prefills)
    stray = (reasoning.close,) if reasoning.close and closes_alone else ()
    if not any(is_mark(lead) for lead in leads):
        return Content("plain", noise=stray, ends=envelope.ends)
    if all(is_mark(lead) for lead in leads):
        opening = common_suffix([_sharp(turn.lead) for turn in seen]).lstrip()
        if is_mark(opening):
            closes = _closes(seen, opening, envelope.ends)
            return Content("wrapped", opening, closes, stray, _after(closes, envelope.ends))
    marks = [text for turn in seen if is_mark(turn.lead) for text in _marks_around(turn)]
    return Content("sometimes wrapped", noise=tuple(dict.fromkeys([*stray, *marks])), ends=envelope.ends)


def _turns_with_content(prober: Prober, envelope: Envelope, reasoning: Reasoning) -> Iterator[_Seen]:
    tools = declarations((FIRST, SECOND))
    with_reasoning = prober.rephrased(reasoning=reasoning.key) if reasoning.key else prober
    turns = [
        (prober, Said(CONTENT), {}, None),
        (prober, Said(CONTENT), {}, tools),
        (prober, Said(CONTENT, None, (FIRST,)), {}, None),
        (with_reasoning, Said(CONTENT, REASONING), reasoning.switches, None),
    ]
    for speaker, said, switches, declared in turns:
        tail = speaker.attempt(said, tools=declared, switches=switches)
        if tail is None or CONTENT not in tail or (said.calls and FIRST.name not in tail):
            continue
        before, _, after = tail.partition(CONTENT)
        if FIRST.name in before:
            continue
        lead = envelope.spoken(before)
        if REASONING in lead:
            lead = lead.partition(REASONING)[2].strip().removeprefix(reasoning.close)
            anchor = envelope.anchor.strip()
            lead = lead.partition(anchor)[2] if anchor and anchor in lead else lead
            yield _Seen(lead, after)
            continue
        if reasoning.open and lead.rstrip().endswith(reasoning.open):
            continue
        rest = without_reasoning(lead, reasoning)
        closes_only = bool(reasoning.close) and lead.strip().startswith(reasoning.close)
        yield _Seen(rest, after.partition(FIRST.name)[0] if said.calls else after, bool(said.calls), closes_only)


def _closes(seen: list[_Seen], opening: str, ends: tuple[str, ...]) -> tuple[str, ...]:
    """What closes a wrapped content."""
    at_end = next((turn.after for turn in seen if not turn.before_call), "")
    before_call = next((turn.after for turn in seen if turn.before_call), None)
    if before_call is not None:
        shared = common_prefix([at_end, before_call]).strip()
        if is_mark(shared):
            return (shared,)
        return tuple(outermost([*ends, *_first_mark(at_end), *_first_mark(before_call)]))
    image = mirrored(opening)
    if image and image in at_end:
        return (image,)
    return tuple(outermost(_first_mark(at_end) or ends))


def _first_mark(text: str) -> list[str]:
    """The mark that a text begins with."""
    stripped = text.strip()
    first = next(iter(pieces(stripped)), "")
    if len(first) >= 3 and is_mark(first):
        return [first]
    run = stripped[: len(stripped) - len(stripped.lstrip(stripped[:1] or None))]
    return [run] if is_mark(run) else []


def _after(closes: tuple[str, ...], ends: tuple[str, ...]) -> tuple[str, ...]:
    """What ends the turn behind the content's own close."""
    rest = []
    for end in ends:
        close = next((close for close in closes if end.startswith(close)), "")
        rest.append(end[len(close) :].strip())
    return tuple(end for end in rest if end and end not in closes)


def _marks_around(turn: _Seen) -> list[str]:
    """The marks that stand around a content, one by one."""
    return [*noise(turn.lead), *(noise(turn.after.partition("{")[0].partition("[")[0]) if turn.before_call else ())]
