"""Text that spells a delimiter's token without being that token.

A model that has ``</think>`` as one token closes its reasoning with that token and with nothing else. The same eight
characters written as ordinary tokens (``</``, ``think``, ``>``) are a quotation. In the decoded text they look alike.
So where the source gives token ids, the last character of each such look-alike is replaced with a mark: one private
character that no delimiter matches. Once the delimiters have been looked for, marks become that character again:

    ids          </think>      </  think  >           the token's own text stays, so every delimiter, literal or
    marked text  </think>      </thinkM               pattern, works as it is; lengths and offsets stay too; and
    unmarked     </think>      </think>               nothing is held back, as only the last character is touched

The marks are lone surrogates (of the block for private use), which decoded text can't contain.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import Any

import regex

from streamparse.tokens.needed import needed_tokens
from streamparse.tokens.tokenizer import library_tokenizer, load_tokenizer

_MARKS = "".join(map(chr, range(0xDB80, 0xDC00)))  # the high surrogates of the private use planes
_FOREIGN_MARK = regex.compile(f"[{_MARKS[0]}-{_MARKS[-1]}]")


def is_mark(character: str) -> bool:
    """Whether a character is the end of a look-alike.

    >>> is_mark(TokenMarks({7: "</think>"}).mark("</think>", "")[-1]), is_mark(">")
    (True, False)
    """
    return _MARKS[0] <= character <= _MARKS[-1]


class TokenMarks:
    """Tells a template's delimiter tokens from text that looks like them.

    Made once for a template and a tokenizer, and shared by all their streams: it keeps nothing of a stream.

    >>> marks = TokenMarks({7: "</think>"})
    >>> marked = marks.mark("`</think>`", "")
    >>> "</think>" in marked, len(marked), marks.unmark(marked)
    (False, 10, '`</think>`')
    """

    def __init__(self, texts: Mapping[int, str]) -> None:
        self.texts = dict(texts)
        """The watched tokens: id → text."""
        last_characters = sorted({text[-1] for text in self.texts.values()})[: len(_MARKS)]
        self.reach = max([1, *(len(text) - 1 for text in self.texts.values())])
        """How many characters before a piece can be part of a look-alike that ends in it."""
        self._marks = dict(zip(last_characters, _MARKS, strict=False))
        self._ending_in = {last: tuple(t for t in self.texts.values() if t[-1] == last) for last in last_characters}

    @staticmethod
    def for_template(template: Mapping[str, Any], tokenizer: Any) -> TokenMarks | None:
        """The marks for a response template (its source, a dict), or None where no delimiter is a token.

        The last few are kept, as a server asks for the same ones with each generation.
        """
        tokenizer = load_tokenizer(tokenizer)
        if not isinstance(tokenizer, Hashable):
            return _marks_for.__wrapped__(json.dumps(template), tokenizer, 0)
        library = library_tokenizer(tokenizer)
        # A tokenizer can be given further tokens at any time.
        size = 0 if library is None else library.get_vocab_size()
        return _marks_for(json.dumps(template), tokenizer, size)

    def mark(self, text: str, before: str) -> str:
        """Ordinary text with its look-alikes marked; ``before`` is the ordinary text right before, `reach` of it.

        Ordinary is what did not come from a watched token; behind one, ``before`` is empty.
        """
        if not text.isascii() and _FOREIGN_MARK.search(text):  # only from an object that decodes to invalid text
            text = _FOREIGN_MARK.sub("\ufffd", text)
        for last in self._ending_in:
            if last in text:
                return self._marked(text, before)
        return text

    def unmark(self, text: str) -> str:
        """The text with every mark turned back into the character that it stands for."""
        for last, mark in self._marks.items():
            text = text.replace(mark, last)
        return text

    def unmark_value(self, value: Any) -> Any:
        """A JSON value (captures, an event, a message) with the marks in its strings turned back."""
        if isinstance(value, str):
            return self.unmark(value)
        if isinstance(value, dict):
            return {self.unmark_value(key): self.unmark_value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.unmark_value(item) for item in value]
        return value

    def _marked(self, text: str, before: str) -> str:
        """The text with the last character of each look-alike replaced."""
        whole, shift = before + text, len(before)
        marked = list(text)
        for last, texts in self._ending_in.items():
            place = text.find(last)
            while place >= 0:
                if whole.endswith(texts, 0, shift + place + 1):
                    marked[place] = self._marks[last]
                place = text.find(last, place + 1)
        return "".join(marked)


@lru_cache(maxsize=16)
def _marks_for(template: str, tokenizer: Any, _size: int) -> TokenMarks | None:
    """The marks for a template, given as JSON, and a tokenizer that has grown to this size."""
    needed = needed_tokens(json.loads(template), tokenizer)
    return TokenMarks({token_id: token.text for token_id, token in needed.items()}) if needed else None
