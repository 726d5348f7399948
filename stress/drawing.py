"""Texts drawn at random from a grammar, through llguidance's token masks over a vocabulary of bytes.

In: a grammar in Lark, and a source of randomness. Out: texts that the grammar accepts whole. The draw prefers short
texts: after a number of bytes it takes whatever ends strings, lists and tags, if the mask has it.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import llguidance
import llguidance.numpy
import numpy as np

ENDING = b"\"'}])>/<\n"
INTERESTING = b"\"\\'{}[]()<>/|=:,. \n0a-_e\xc3\xe4"


@cache
def tokenizer() -> Any:
    """The vocabulary: every byte, and tokens for control."""
    return llguidance.LLTokenizer("byte")


class Drawer:
    """Draws texts of one grammar; ``marks`` are texts that are tried as a whole, to come by what ends values."""

    def __init__(self, lark: str, marks: tuple[str, ...] = (), most_bytes: int = 400) -> None:
        problem = llguidance.LLMatcher.validate_grammar(lark, tokenizer())
        assert not problem, problem
        self._matcher = llguidance.LLMatcher(tokenizer(), lark)
        assert not self._matcher.get_error(), self._matcher.get_error()
        self._marks = [mark.encode() for mark in marks if mark]
        self._most = most_bytes
        self._mask = llguidance.numpy.allocate_token_bitmask(1, tokenizer().vocab_size)

    def accepts(self, text: str) -> bool:
        """Whether the grammar has the text, whole."""
        self._matcher.reset()
        data = list(text.encode())
        return self._matcher.validate_tokens(data) == len(data) and self._ends_after(data)

    def _ends_after(self, data: list[int]) -> bool:
        return (not data or self._matcher.consume_tokens(data)) and self._matcher.is_accepting()

    def draw(self, random_: random.Random) -> str | None:
        """A text; None where it would get too long."""
        self._matcher.reset()
        written = bytearray()
        talkative = random_.random()
        while len(written) < 4 * self._most:
            ending = len(written) > self._most * talkative
            if self._marks and random_.random() < (0.5 if ending else 0.1):
                mark = random_.choice(self._marks)
                if not ending:
                    mark = mark[: random_.randrange(1, len(mark) + 1)]
                if self._matcher.validate_tokens(list(mark)) == len(mark):
                    self._matcher.consume_tokens(list(mark))
                    written += mark
                    if self._matcher.is_stopped():
                        break
                    continue
            llguidance.numpy.fill_next_token_bitmask(self._matcher, self._mask, 0)
            allowed = np.flatnonzero(np.unpackbits(self._mask.view(np.uint8), bitorder="little")[:256])
            if self._matcher.is_accepting() and (len(allowed) == 0 or ending or random_.random() < 0.2):
                break
            assert len(allowed), (bytes(written), self._matcher.get_error())
            byte = self._choose(allowed, random_, ending)
            self._matcher.consume_token(byte)
            assert not self._matcher.get_error(), self._matcher.get_error()
            written.append(byte)
            if self._matcher.is_stopped():
                break
        if not self._matcher.is_accepting() and not self._matcher.is_stopped():
            return None
        return written.decode()

    def _choose(self, allowed: Any, random_: random.Random, ending: bool) -> int:
        preferred = ENDING if ending else INTERESTING
        if random_.random() < (0.9 if ending else 0.4):
            found = [byte for byte in preferred if byte in allowed]
            if found:
                return int(found[0] if ending and random_.random() < 0.7 else random_.choice(found))
        if random_.random() < 0.6:
            plain = [byte for byte in allowed.tolist() if 0x20 <= byte < 0x7F]
            if plain:
                return int(random_.choice(plain))
        return int(random_.choice(allowed.tolist()))
