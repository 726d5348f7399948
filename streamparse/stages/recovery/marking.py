"""A mark of the family's own was seen where it delimits nothing: dropped from the text, unless it is quoted.

In code it is a quotation, and so it is behind another quoted one in the same paragraph. In the middle of a sentence it
may be a word of it (``end with <|im_end|>, then stop``), which shows where the line goes on. The token of a mark, where
the source gives tokens, is no quotation anywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamparse.stages.recovery.mode import Seen, has_token
from streamparse.stages.recovery.terminators import MARK
from streamparse.template.model import Field

if TYPE_CHECKING:
    from streamparse.stages.recovery.tokenizer import RecoveringTokenizer


def take_mark(core: RecoveringTokenizer, mark: Seen, field: Field | None) -> None:
    """Take a mark inside the open region of text of ``field``, None for the implicit one's."""
    prose = core.prose if field is None else core.thought
    if has_token(core, mark):
        _drop(core, mark)
    elif prose.in_code or prose.closed_by or prose.mentions_marks or prose.after_spelled_mark:
        _quote(core, mark, field)
    elif prose.in_sentence:
        core.go(Marking(core, mark, field))
    else:
        _drop(core, mark)


def take_open_of_nothing(core: RecoveringTokenizer, opened: Seen, field: Field | None) -> None:
    """Take the open of a call that none follows, as in ``take_mark``; behind other text in its line it is text."""
    prose = core.prose if field is None else core.thought
    is_mark = all(MARK.fullmatch(part) for part in opened.text.split())
    if not is_mark or (not has_token(core, opened) and (prose.in_code or prose.in_line or prose.mentions_marks)):
        _quote(core, opened, field)
    else:
        _drop(core, opened)


def _drop(core: RecoveringTokenizer, mark: Seen) -> None:
    if core.writer.open_field is None:
        core.writer.end_unclosed()  # blanks that stand before the mark are no beginning of an answer
        if mark.what == "stray":
            core.writer.unclaimed(mark.text)  # closed twice, or closed what the prompt opened: nothing went wrong
            return
    core.writer.drop_mark(mark.text)


def _quote(core: RecoveringTokenizer, mark: Seen, field: Field | None) -> None:
    if field is None:
        core.mention(mark.text)
    else:
        core.writer.text(mark.text, None)
        core.thought.mention(mark.text)


class Marking:
    """Holds a mark in the middle of a sentence until the next character."""

    name = "marking"
    plain = False

    def __init__(self, core: RecoveringTokenizer, mark: Seen, field: Field | None) -> None:
        self.core = core
        self._mark = mark
        self._field = field
        self.watched = core.watches.outside if field is None else core.watches.talking(field)

    def take(self, text: str, seen: Seen | None) -> None:
        """Where the line goes on the mark is a word of it, and so is a mark of no close at the end of the text."""
        if text:
            quoted = not text.startswith(("\n", "\r"))
        else:
            quoted = self._mark.what == "own" and (seen is None or seen.what != "open")
        self._decide(quoted=quoted)
        self.core.mode.take(text, seen)

    def end(self) -> bool:
        """Nothing follows: a close ends nothing, and another mark is the last word of the sentence."""
        self._decide(quoted=self._mark.what != "stray")
        return False

    def state(self) -> dict[str, Any]:
        """The mark, and the field of the open region."""
        return {"mark": self._mark.state(), "field": None if self._field is None else self._field.name}

    @classmethod
    def from_state(cls, core: RecoveringTokenizer, state: dict[str, Any]) -> Marking:
        """From what :meth:`state` gave."""
        field = None if state["field"] is None else core.template.fields[state["field"]]
        return cls(core, Seen.from_state(core, state["mark"]), field)

    def _decide(self, *, quoted: bool) -> None:
        core, mark = self.core, self._mark
        if self._field is None:
            core.outside()
        else:
            core.talk(self._field)
        if quoted:
            _quote(core, mark, self._field)
        else:
            _drop(core, mark)
