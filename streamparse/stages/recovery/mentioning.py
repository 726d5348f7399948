"""An open delimiter was seen where an answer may only mention it: in code, or in the middle of a sentence.

In code, such as a Markdown fence, an open is quoted if it opens a text, such as reasoning, or a call that has no mark
of its own. The marks of calls count in code, too, as models put fences around their calls. In the middle of a sentence
the next character tells what an open of a text is: a mention stands there as a word does, while reasoning begins on a
line of its own, behind a sentence, or with what is thought. A delimiter that is the model's own token is no mention.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from streamparse.stages.recovery.mode import Seen, has_token
from streamparse.stages.recovery.prose import AFTER_WORD
from streamparse.stages.recovery.talking import Talking
from streamparse.stages.recovery.terminators import MARK

if TYPE_CHECKING:
    from streamparse.stages.recovery.tokenizer import RecoveringTokenizer


UNMARKED = re.compile(r"[\s;,]*+(?:\Z|\{|\[\s*+(?:\Z|[{\"]|[\w.-]++\())")
"""An open that has no mark of its own: it begins with a call, or is only seen to stand before one."""


def is_quoted(core: RecoveringTokenizer, opened: Seen) -> bool:
    """Whether an open stands in code, where the answer quotes what it would open, or behind a mark that is spelled."""
    if core.prose.after_spelled_mark and not has_token(core, opened):
        return True
    could_be = _is_mark(core, opened) if opened.field.streams else UNMARKED.match(opened.text) is not None
    return could_be and core.prose.in_code


def may_be_a_word(core: RecoveringTokenizer, opened: Seen) -> bool:
    """Whether the open of a text stands where a word of a sentence may stand."""
    return _is_mark(core, opened) and core.prose.in_sentence and not opened.text.endswith("\n")


def _is_mark(core: RecoveringTokenizer, opened: Seen) -> bool:
    """Whether an open is a mark that text can mention, and has no token in it."""
    return _begins_with_mark(opened.text) and not has_token(core, opened)


@lru_cache(256)
def _begins_with_mark(text: str) -> bool:
    return MARK.match(text) is not None


class Mentioning:
    """Holds the open of a text, in the middle of a sentence, until the next character."""

    name = "mentioning"
    plain = False

    def __init__(self, core: RecoveringTokenizer, delimiter: Seen) -> None:
        self.core = core
        self._delimiter = delimiter
        self.watched = core.watches.outside

    def take(self, text: str, seen: Seen | None) -> None:
        """The first character of what follows decides; nothing is thought where a close or the turn's end follows."""
        core, delimiter = self.core, self._delimiter
        nothing = not text and seen is not None and seen.what != "open"
        if nothing or text.startswith(AFTER_WORD):
            core.outside()
            core.mention(delimiter.text)
            core.mode.take(text, seen)
            return
        core.open(delimiter.field, delimiter.text, delimiter.captures)
        core.go(Talking(core, delimiter.field))
        core.read_next(text + (seen.text if seen is not None else ""))

    def end(self) -> bool:
        """Nothing follows: it is the last word of a sentence."""
        self.core.outside()
        self.core.mention(self._delimiter.text)
        return False

    def state(self) -> dict[str, Any]:
        """The delimiter."""
        return {"delimiter": self._delimiter.state()}

    @classmethod
    def from_state(cls, core: RecoveringTokenizer, state: dict[str, Any]) -> Mentioning:
        """From what :meth:`state` gave."""
        return cls(core, Seen.from_state(core, state["delimiter"]))
