"""Cuts a generation off before a text that ends it: ``stop_strings``, as users of completion servers know ``stop``.

In:  the token ids of a generation. Out: its text, up to the first stop string, which is left out.

``generate()`` stops at the token that completes the text, and leaves the text, and what else that token has, in its
output. What may become a stop string is held back until it is one or can't be.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streamparse.errors import ArgumentError
from streamparse.stages.detokenize import Detokenizer


def stop_strings_in(given: Any) -> tuple[str, ...]:
    """The texts that were asked for, one or several, as ``generate()`` takes them; raises ArgumentError for others.

    >>> stop_strings_in("."), stop_strings_in(["a", "b"]), stop_strings_in(None)
    (('.',), ('a', 'b'), ())
    """
    if given is None:
        return ()
    several = [given] if isinstance(given, str) else given
    if not isinstance(several, Iterable) or isinstance(several, bytes):
        raise ArgumentError(f"stop_strings must be a text or a list of texts, not {given!r}")
    texts = tuple(several)
    if not all(isinstance(text, str) and text for text in texts):
        raise ArgumentError(f"stop_strings must be texts that aren't empty, not {given!r}")
    return texts


class StopText:
    """A stage before the parser; ``tokenizer`` decodes the ids.

    >>> class Characters:
    ...     decode = staticmethod(lambda ids, **_: "".join(map(chr, ids)))
    >>> stage = StopText(Characters(), ["END"])
    >>> stage.feed([*map(ord, "Hi E")]), stage.feed([*map(ord, "NDs")]), stage.feed([*map(ord, "!")])
    (['Hi '], [], [])
    """

    name = "stop strings"

    def __init__(self, tokenizer: Any, stops: Iterable[str]) -> None:
        self._detokenizer = Detokenizer(tokenizer)
        self._stops = tuple(stops)
        self._held = ""
        self._over = False

    def feed(self, ids: Any) -> list[str]:
        """The text that is certain not to belong to a stop string."""
        return [text for piece in self._detokenizer.feed(ids) if (text := self._cut(piece))]

    def finish(self) -> list[str]:
        """What was held back and became no stop string."""
        texts = [self._cut(piece) for piece in self._detokenizer.finish()] + ([] if self._over else [self._held])
        return [text for text in texts if text]

    def _cut(self, piece: str) -> str:
        if self._over:
            return ""
        text = self._held + piece
        found = [(start + len(stop), start) for stop in self._stops if (start := text.find(stop)) >= 0]
        if found:
            self._over = True
            return text[: min(found)[1]]  # the one that is complete first, as in generate()
        held = max(_overlap(text, stop) for stop in self._stops)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]


def _overlap(text: str, stop: str) -> int:
    """How many characters at the end of a text may be the beginning of a stop string.

    >>> _overlap("an E", "END"), _overlap("none", "END")
    (1, 0)
    """
    most = min(len(text), len(stop) - 1)
    return next((size for size in range(most, 0, -1) if text.endswith(stop[:size])), 0)
