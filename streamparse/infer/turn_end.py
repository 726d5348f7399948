"""What ends a turn of the assistant: read behind a content, at the end of a conversation and before another question.

In: a prober, and the anchor that turns begin with. Out: the texts that end a turn, and whether a template prints them
behind the last turn of a conversation too. Some print the end of a turn only where another turn follows, or a
generation prompt: the model writes it all the same.
"""

from __future__ import annotations

from streamparse.infer.compare import common_prefix, common_suffix, is_mark, outermost, pieces
from streamparse.infer.conversation import CONTENT, USER, Prober, Said, after_last
from streamparse.infer.sandbox import Refusal

FOLLOWING = "Wnextquestionw"


def find_ends(prober: Prober, anchor: str, *, own: bool) -> tuple[tuple[str, ...], bool]:
    """What ends a turn, and whether it is printed behind the last one; ``own``: the anchor is the turn's own header."""
    at_end = after_last(prober.turn(Said(CONTENT)), CONTENT)
    in_between = _before_another_question(prober) or at_end
    end = common_prefix([at_end, in_between])
    if not end.strip() and is_mark(at_end):
        firsts = [next((piece for piece in pieces(text) if is_mark(piece)), "") for text in (at_end, in_between)]
        return tuple(outermost(firsts)), True
    end = _without_next_header(end, anchor, own=own)
    if is_mark(end):
        return (end.strip(),), True
    if at_end.strip():
        return (), True
    for generation_prompt in (False, True):
        in_between = _before_another_question(prober, generation_prompt=generation_prompt)
        if unprinted := _only_in_between(prober, in_between, anchor, own=own):
            return (unprinted,), False
    return (), True


def _before_another_question(prober: Prober, *, generation_prompt: bool = False) -> str:
    """What stands between a content and the question after it; empty where the template refuses."""
    question = {"role": "user", "content": prober.worded(FOLLOWING)}
    try:
        followed = prober.turn(Said(CONTENT), after=[question], generation_prompt=generation_prompt)
    except Refusal:
        return ""
    return after_last(followed.partition(FOLLOWING)[0], CONTENT)


def _only_in_between(prober: Prober, in_between: str, anchor: str, *, own: bool) -> str:
    """The end of a turn that is printed only where something follows: before a question, or a generation prompt.

    What stands before a question that follows is the end of the turn and the question's header. The header is also
    what stands before the first question. If that has more before it (a system message that ends in the same way),
    the end is what a question's own turn ends with.
    """
    header = common_suffix([in_between, prober.render(None).partition(USER)[0]])
    behind_question = common_prefix([in_between, prober.prompt()])
    ways = (in_between[: len(in_between) - len(header)], _without_next_header(behind_question, anchor, own=own))
    return next((way.strip() for way in ways if _begins_with_a_tag(way)), "")


def _begins_with_a_tag(text: str) -> bool:
    first = next(iter(pieces(text.strip())), "")
    return len(first) >= 3 and is_mark(first)


def _without_next_header(end: str, anchor: str, *, own: bool) -> str:
    """What ends a turn, without the beginning of the next turn's header."""
    parts = pieces(anchor)
    first = 0 if own else 1
    for last in range(len(parts), first, -1):
        begun = "".join(parts[first:last]).strip()
        if begun and end.rstrip().endswith(begun) and end.strip() != begun:
            return end.rstrip()[: -len(begun)]
    return end
