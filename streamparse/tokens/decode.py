"""Token ids in, text out, while they arrive: what has been given out never changes, and no character comes out half.

A tokenizer decodes a list of ids, and the text of an id depends on its neighbours: one character may be spread over
several ids, and many decoders drop the blank of the first word. So each id is decoded behind those before it, and what
the text has grown by is given out, unless it ends in U+FFFD, which stands for a character of which bytes are missing
(the sliding window of text-generation-inference and vLLM). `tokenizers` has this built in (DecodeStream, since 0.20)
and does the everyday ids here; the window does the rest, and all of it for other libraries:

- where the text still ends in U+FFFD after four ids, no character is arriving any more (UTF-8 has at most four bytes):
  the model wrote U+FFFD, or bytes that are no text. The library holds those for ever and decodes all of them again for
  each further id; the window settles the oldest id and moves on.
- where decoding more ids changes the text of earlier ones (a byte token that spoils the bytes before it), the library
  refuses to go on; the window keeps what was given out and adds what the new ids decode to by themselves.
"""

from __future__ import annotations

from typing import Any

from streamparse.tokens.tokenizer import decode_function, library_tokenizer

REPLACEMENT = "\ufffd"

# A character has at most four bytes, so an unfinished one is spread over at most three ids.
_LONGEST_UNFINISHED = 3
# Ids that decode to nothing can stand between a character's bytes; past this many the hope for it is given up.
_LONGEST_HELD = 8


class IncrementalDecode:
    """The text of token ids as it becomes certain.

    The pieces of ``step`` and ``finish`` joined are ``tokenizer.decode(all ids)``, special tokens kept, the blank of a
    first word dropped where that does it. Two things differ by intent. Blanks before punctuation are not cleaned up.
    And where a byte-fallback decoder turns a whole run of byte tokens into U+FFFD because its end is no valid UTF-8,
    the characters before that end stay. Time and memory per id are bounded.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._decode = decode_function(tokenizer)
        self._library = library_tokenizer(tokenizer)
        self._before: list[int] = []  # the ids of the text given out last, as context
        self._held: list[int] = []  # ids whose text is not complete
        self._stream = self._primed_stream()

    @property
    def held(self) -> int:
        """How many of the ids taken so far have not given their text yet."""
        return len(self._held)

    def step(self, token_id: int) -> str:
        """The text that this id completes; empty while a character is still arriving."""
        if self._stream is None:
            self._held.append(token_id)
            return self._through_window()
        try:
            text = self._stream.step(self._library, token_id)
        except Exception:  # the library's "invalid prefix": earlier text would change
            text, self._stream = None, None
        self._held.append(token_id)
        if text is None:
            stuck = self._stream is None or len(self._held) > _LONGEST_UNFINISHED
            return self._through_window() if stuck else ""
        self._before, self._held = self._held, []
        return text  # type: ignore[no-any-return]

    def finish(self) -> str:
        """The text of ids that were held for more to come; a character cut off at the end is U+FFFD."""
        text = self._new_text(self._held) if self._held else ""
        self._held = []
        return text

    def snapshot(self) -> dict[str, list[int]]:
        """The few ids that what follows depends on."""
        return {"before": list(self._before), "held": list(self._held)}

    def restore(self, state: dict[str, list[int]]) -> None:
        """Go on where the snapshot was taken, with the same tokenizer."""
        self._before, self._held = list(state["before"]), list(state["held"])
        self._stream = None if self._held else self._primed_stream()

    def _through_window(self) -> str:
        """The text that the held ids have become, if it is certain."""
        text = self._new_text(self._held)
        if text and not text.endswith(REPLACEMENT):
            self._before, self._held = self._held, []
            self._stream = self._primed_stream()
            return text
        self._stream = None
        return self._settle() if len(self._held) > _LONGEST_UNFINISHED else ""

    def _settle(self) -> str:
        """The text of the oldest held ids, up to the first place that no character spans.

        A character that is cut becomes two U+FFFD or more, so at such a place the two sides are shortest.
        """
        sides = [
            (self._new_text(self._held[:size]), self._decode(self._held[size:])) for size in range(1, len(self._held))
        ]
        lengths = [len(left) + len(right) for left, right in sides]
        size = lengths.index(min(lengths)) + 1
        if min(lengths) > len(self._new_text(self._held)):
            if len(self._held) < _LONGEST_HELD:
                return ""
            size = len(self._held) - _LONGEST_UNFINISHED
        text = sides[size - 1][0]
        if text:  # ids without text are no context: the blank of the next word would be lost behind them
            self._before = self._held[:size]
        del self._held[:size]
        return text

    def _new_text(self, ids: list[int]) -> str:
        """What these ids add to the text before them."""
        before = self._decode(self._before) if self._before else ""
        both = self._decode(self._before + ids)
        return both[len(before) :] if both.startswith(before) else self._decode(ids)

    def _primed_stream(self) -> Any | None:
        """The library's decoder, placed behind the text given out last; None where there is no such thing."""
        if self._library is None:
            return None
        try:
            from tokenizers.decoders import DecodeStream

            stream = DecodeStream(skip_special_tokens=False)
            for token_id in self._before:
                stream.step(self._library, token_id)
        except Exception:  # a library without it, or "invalid prefix"
            return None
        return stream
