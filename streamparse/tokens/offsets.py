"""Which tokens a stretch of text came from: character offsets in, token counts out.

For each piece of text that was given out, the ledger keeps where it ended, in characters and in tokens. Its reader says
up to where it is done, and what lies before is dropped: memory is that of the text still undecided.
"""

from __future__ import annotations

from bisect import bisect_left

# Entries are dropped in one go when this many have gathered, and are at least half of the ledger: O(1) each on average.
_DROP_AT_ONCE = 64


class TokenOffsets:
    """Counts the tokens of a stream by the characters that they became.

    A token belongs to the text that has its first character, so neighbouring stretches share no token, and their
    counts add up to the whole. Tokens that only together make a character (an emoji over three ids) go together.

    >>> offsets = TokenOffsets()
    >>> for tokens, text in [(1, "Hel"), (1, "lo "), (3, "🦜"), (1, "<end>")]:
    ...     offsets.add(tokens, len(text))
    >>> offsets.span(0, 6), offsets.span(6, 7), offsets.span(7, 12)
    ((0, 2), (2, 5), (5, 6))
    """

    def __init__(self) -> None:
        self._characters: list[int] = []  # where each piece ended, in characters of the stream
        self._tokens: list[int] = []  # how many tokens had become text by then
        self._last: tuple[int, int] = (0, 0)  # both, for the last piece

    @property
    def characters(self) -> int:
        """How many characters the tokens so far have become."""
        return self._last[0]

    @property
    def tokens(self) -> int:
        """How many tokens have become text."""
        return self._last[1]

    def add(self, tokens: int, characters: int) -> None:
        """Note a piece of text: how many further tokens it took, and how many characters it has."""
        self._last = (self._last[0] + characters, self._last[1] + tokens)
        self._characters.append(self._last[0])
        self._tokens.append(self._last[1])

    def before(self, character: int) -> int:
        """How many tokens begin before this character, an offset in the stream that was not forgotten."""
        if character <= 0:
            return 0
        place = bisect_left(self._characters, character)
        return self._tokens[place] if place < len(self._tokens) else self._last[1]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The tokens of the characters from start up to end: the index of the first, and of the one after the last."""
        return self.before(start), self.before(end)

    def forget(self, character: int) -> None:
        """Drop what lies before this character: no offset below it will be asked for."""
        done = bisect_left(self._characters, character)
        if done >= _DROP_AT_ONCE and 2 * done >= len(self._characters):
            del self._characters[:done]
            del self._tokens[:done]

    def snapshot(self) -> dict[str, list[int]]:
        """The ledger as plain data."""
        return {"characters": list(self._characters), "tokens": list(self._tokens), "last": list(self._last)}

    def restore(self, state: dict[str, list[int]]) -> None:
        """Go on from a snapshot."""
        self._characters, self._tokens = list(state["characters"]), list(state["tokens"])
        self._last = (state["last"][0], state["last"][1])
