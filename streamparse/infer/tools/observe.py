"""The turns that the readings of tool calls rest on, and what stands between the things said in them.

In: a prober and the envelope. Out: ``Observed``, the texts of turns that differ in one thing each: one call, two calls,
a call without arguments, with a number, with an awkward text, after a content.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from streamparse.infer.compare import common_prefix, split_between
from streamparse.infer.conversation import CONTENT, FIRST, SECOND, Call, CallForm, Prober, Said
from streamparse.infer.envelope import Envelope
from streamparse.infer.reasoning import Reasoning
from streamparse.infer.tools.reading import Surroundings

NUMBER = 41357
NUMBERED = Call(FIRST.name, {"wkeyonew": NUMBER}, FIRST.id)
WITHOUT_ARGUMENTS = Call(FIRST.name, {}, FIRST.id)
AWKWARD_TEXT = 'w<b> & "q"\nw'
AWKWARD = Call(FIRST.name, {"wkeyonew": AWKWARD_TEXT}, FIRST.id)


@dataclass(frozen=True)
class Observed:
    """What the assistant says in turns that differ in one thing each; None where the template does not show it."""

    prober: Prober
    ends: tuple[str, ...]
    one: str
    two: str | None
    bare: str | None
    number: str | None
    awkward: str | None
    after_content: str | None

    @property
    def writes_id(self) -> bool:
        """Whether the call's id shows in the turn."""
        return FIRST.id in self.one


def observe_calls(prober: Prober, envelope: Envelope, reasoning: Reasoning) -> Observed | None:
    """Render the turns, with arguments in the form (object or JSON text) that the template writes best."""
    best, form = UNREADABLE, prober
    for call_form in CALL_FORMS:
        forms = _forms(prober.rephrased(call_form=call_form))
        rated = [(quality(_spoken(one, envelope, reasoning, FIRST)), at) for at, one in enumerate(forms)]
        best, at = min((max(rating, WELL), at) for rating, at in rated)
        form = forms[at]
        if best < UNREADABLE:
            break
    one = _spoken(form, envelope, reasoning, FIRST)
    if one is None or best >= UNREADABLE:
        return None
    two = _spoken(form, envelope, reasoning, FIRST, SECOND)
    return Observed(
        form,
        (),
        one,
        two if two is not None and SECOND.name in two and FIRST.name in two else None,
        _spoken(form, envelope, reasoning, WITHOUT_ARGUMENTS),
        _spoken(form, envelope, reasoning, NUMBERED),
        _spoken(form, envelope, reasoning, AWKWARD),
        _after_content(form),
    )


def _forms(prober: Prober) -> list[Prober]:
    """Ways to say a call: arguments as an object or as text, and what the content is meanwhile."""
    return [
        prober.rephrased(arguments_as_text=as_text, no_content=content)
        for content in ("", None, "missing")
        for as_text in (False, True)
    ]


WELL, UNREADABLE = 1, 9
CALL_FORMS: tuple[CallForm, ...] = ("function", "id that names", "flat")


def quality(text: str | None) -> int:
    """How well a rendered call can be read.

    0: as JSON; 1: in a form of its own; 2: as JSON within JSON text; 3: as the print of a Python object; 4: as JSON
    text escaped twice; UNREADABLE: the call is not shown.
    """
    if text is None or FIRST.name not in text:
        return UNREADABLE
    if any(value not in text for value in FIRST.arguments.values()):
        return UNREADABLE
    if str(dict(FIRST.arguments)) in text:
        return 3
    before = text[: text.find("wvalonew")].removesuffix('"')
    escapes = len(before) - len(before.rstrip("\\"))
    if escapes:
        return 2 if escapes == 1 else 4
    return 0 if '"wvalonew"' in text and '"wkeyonew"' in text else 1


def _spoken(prober: Prober, envelope: Envelope, reasoning: Reasoning, *calls: Call) -> str | None:
    tail = prober.attempt(Said(calls=calls))
    if tail is None or calls[0].name not in tail:
        return None
    return without_reasoning(envelope.spoken(tail), reasoning)


def without_reasoning(text: str, reasoning: Reasoning) -> str:
    """A turn without the empty reasoning (or the close alone) that the template may write first."""
    rest = text.lstrip()
    if reasoning.open and rest.startswith(reasoning.open):
        inside, found, behind = rest[len(reasoning.open) :].partition(reasoning.close)
        return behind if found and not inside.strip() else text
    if reasoning.close and rest.startswith(reasoning.close):
        return rest[len(reasoning.close) :]
    return text


def _after_content(prober: Prober) -> str | None:
    """What follows a content when a call comes after it."""
    tail = prober.attempt(Said(CONTENT, None, (FIRST,)))
    if tail is None or CONTENT not in tail or FIRST.name not in tail:
        return None
    return tail.partition(CONTENT)[2]


def surroundings(before: str, between: str | None, after: str, ends: tuple[str, ...]) -> Surroundings:
    """Tell what belongs to each call from what belongs to all of them.

    ``before`` leads to the first call, ``after`` follows the last, ``between`` stands between two (None: never seen).
    """
    for end in ends:
        after = after.partition(end)[0] if end in after else after
    if between is None:
        return Surroundings("", before, after, "")
    closing, separator, opening = split_between(between, after, before)
    section_close = after[len(common_prefix([closing, after])) :] if closing else after
    return Surroundings(before[: len(before) - len(opening)], opening, closing, section_close, separator)


def slots(text: str, words: dict[str, Any]) -> list[tuple[int, int, Any]]:
    """Every occurrence of the words in a text, in order: start, end, what the word stands for."""
    found = []
    for word, meaning in words.items():
        at = text.find(word)
        while at >= 0:
            found.append((at, at + len(word), meaning))
            at = text.find(word, at + len(word))
    return sorted(found)
