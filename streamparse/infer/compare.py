"""Compares renderings: what two texts share, where they part, and how text splits into marks and words.

A *mark* is what looks like a delimiter: ``<…>``, ``[…]`` in capitals, ``◁…▷``, or a run of punctuation. Cuts between
what two texts share and what they don't are moved so that they never fall inside a mark or a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate

_PIECE = re.compile(
    r"<[^<>\s][^<>\n]{0,80}>"  # <tag>, <|special|>, </close>
    r"|\[/?[A-Z][A-Z0-9_ ]{1,40}\]"  # [INST]
    r"|[◁⟨《【「][^\s◁▷⟨⟩《》【】「」]{1,40}[▷⟩》】」]"  # ◁think▷
    r"|\s+"
    r"|\w+"
    r"|[^\w\s]",
    re.DOTALL,
)


def pieces(text: str) -> list[str]:
    """The text in marks, words, runs of white space and single signs; joined they are the text again.

    >>> pieces('<|im_end|>\\n<tool_call>{"a"')
    ['<|im_end|>', '\\n', '<tool_call>', '{', '"', 'a', '"']
    """
    return _PIECE.findall(text)


def boundaries(text: str) -> set[int]:
    """The places where a text may be cut: between its pieces, and anywhere in white space."""
    places = {0, *accumulate(len(piece) for piece in pieces(text))}
    places.update(at + 1 for at, char in enumerate(text) if char.isspace())
    places.update(at for at, char in enumerate(text) if char.isspace())
    return places


def common_prefix(texts: Sequence[str]) -> str:
    """What all texts begin with, cut where each of them may be cut.

    >>> common_prefix(["<|end|>\\n<think>", "<|end|>\\n<tool>"])
    '<|end|>\\n'
    """
    if not texts:
        return ""
    low, high = min(texts), max(texts)
    length = next((at for at, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    allowed = [boundaries(text) for text in set(texts)]
    while not all(length in places for places in allowed):
        length -= 1
    return low[:length]


def common_suffix(texts: Sequence[str]) -> str:
    """What all texts end with, cut where each of them may be cut."""
    if not texts:
        return ""
    backwards = [text[::-1] for text in texts]
    low, high = min(backwards), max(backwards)
    length = next((at for at, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    allowed = [(len(text), boundaries(text)) for text in set(texts)]
    while not all(size - length in places for size, places in allowed):
        length -= 1
    text = texts[0]
    return text[len(text) - length :]


def common_beginning(text: str, others: Sequence[str]) -> str:
    """What ``text`` and all others begin with when white space may differ, as it stands in ``text``.

    >>> common_beginning("<|bot|>\\n<think>", ["  <|bot|>\\n\\nHello"])
    '<|bot|>\\n'
    """
    rows = [[piece for piece in pieces(other) if not piece.isspace()] for other in others]
    length, at, end = 0, 0, 0
    for piece in pieces(text):
        if not piece.isspace():
            if not all(at < len(row) and row[at] == piece for row in rows):
                break
            at += 1
            end = length + len(piece)
        length += len(piece)
    blank = text[end:length]
    positions = [_after_pieces(other, at) for other in others]
    while blank and not all(other.startswith(blank, place) for other, place in zip(others, positions, strict=True)):
        blank = blank[:-1]
    return text[:end] + blank


def _after_pieces(text: str, count: int) -> int:
    """The place behind the first ``count`` pieces that are not white space."""
    place = 0
    for piece in pieces(text):
        if count == 0:
            break
        place += len(piece)
        count -= not piece.isspace()
    return place


@lru_cache(maxsize=256)
def loosely(text: str) -> re.Pattern[str]:
    """A pattern for a text whose white space may be longer, shorter or missing."""
    return re.compile(r"\s*".join(re.escape(word) for word in re.split(r"\s+", text)))


def split_between(between: str, end: str, start: str) -> tuple[str, str, str]:
    """Split the text between two like things into the end of the first, a separator, and the start of the second.

    ``end`` is what follows a last thing, ``start`` what precedes a first one. Where both fit further than the text
    is long, the cut that leaves whole marks on both sides wins, and of those the one nearest the middle.

    >>> split_between("</call>\\n<call>", "</call></calls>", "<calls><call>")
    ('</call>', '\\n', '<call>')
    >>> split_between("</call><call>", "</call></calls>", "<calls><call>")
    ('</call>', '', '<call>')
    """
    closing = common_prefix([between, end])
    opening = common_suffix([between, start])
    if len(closing) + len(opening) <= len(between):
        return closing, between[len(closing) : len(between) - len(opening)], opening
    first, last = len(between) - len(opening), len(closing)
    places = [at for at in sorted(boundaries(between)) if first <= at <= last]
    if not places:
        return closing, "", between[len(closing) :]
    best = min(places, key=lambda at: (_cut_quality(between, at), abs(2 * at - first - last)))
    return between[:best], "", between[best:]


_CLOSERS = ">])}"
_OPENERS = "<[({"


def _cut_quality(text: str, at: int) -> int:
    """How bad a cut is: best at white space, then between a closing mark and an opening one."""
    at_space = text[at - 1 : at].isspace() or text[at : at + 1].isspace()
    before, behind = text[:at].rstrip(), text[at:].lstrip()
    good = (not before or before[-1] in _CLOSERS) + (not behind or behind[0] in _OPENERS)
    return 4 - good - 2 * at_space


def is_mark(text: str) -> bool:
    """Whether a text can stand for itself as a delimiter: it holds a tag, or signs beside its letters."""
    text = text.strip()
    return len(text) >= 3 and any(not char.isalnum() and not char.isspace() for char in text)


def outermost(texts: Iterable[str]) -> list[str]:
    """The texts without blanks and repeats, in the order given."""
    return list(dict.fromkeys(text for text in texts if text.strip()))
