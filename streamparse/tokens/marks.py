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
from collections.abc import Container, Hashable, Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import Any

import regex

from streamparse.errors import SourceError
from streamparse.matching.syntax import (
    Alternatives,
    Assertion,
    Atomic,
    Chars,
    Group,
    Look,
    Node,
    Repeat,
    Sequence,
    UnsupportedSyntax,
    parse,
)
from streamparse.tokens.tokenizer import (
    AddedToken,
    added_tokens,
    decode_function,
    library_tokenizer,
    load_tokenizer,
)

_MARKS = "".join(map(chr, range(0xDB80, 0xDC00)))  # the high surrogates of the private use planes
_FOREIGN_MARK = regex.compile(f"[{_MARKS[0]}-{_MARKS[-1]}]")

# Stands in a spelling for what is not fixed text; in no token's text.
_GAP = "\0"
# A stretch of a pattern is spelled out in at most so many ways; beyond, a new stretch begins.
_MOST_SPELLINGS = 256


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
        self.reach = max(1, *(len(text) - 1 for text in self.texts.values()))
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


def needed_tokens(template: Mapping[str, Any], tokenizer: Any) -> dict[int, AddedToken]:
    """The added tokens that the delimiters of a response template (its source, a dict) are made of, by id.

    The start anchor is no delimiter: it is looked for in the prompt only. A token counts where it is all of a
    delimiter or a part of it; in a pattern, where the pattern spells its text out.
    """
    tokenizer = load_tokenizer(tokenizer)
    markup = {token_id: token for token_id, token in added_tokens(tokenizer).items() if _is_markup(token)}
    texts = {token.text for token in markup.values()}
    lengths = sorted(set(map(len, texts)), reverse=True)
    found = {text for spelling in _spellings(template) for text in _split_off(spelling, texts, lengths)}
    needed = {token_id: token for token_id, token in markup.items() if token.text in found}
    decode = decode_function(tokenizer) if needed else None
    return {token_id: token for token_id, token in needed.items() if decode and decode([token_id]).endswith(token.text)}


def refuse_dropped_tokens(template: Mapping[str, Any], tokenizer: Any) -> None:
    """Raise SourceError if decoding with ``skip_special_tokens=True`` would drop what the template's delimiters need.

    For sources that decode by themselves and were told to skip special tokens, such as transformers' streamers.
    """
    dropped = [token.text for token in needed_tokens(template, tokenizer).values() if token.special]
    if dropped:
        raise SourceError(
            f"skip_special_tokens=True drops {', '.join(map(repr, dropped))}, which the response template's delimiters "
            "are made of: without them, regions can't be told apart. Set skip_special_tokens=False"
        )


def _is_markup(token: AddedToken) -> bool:
    """Whether a token can be markup; many tokenizers also add runs of blanks, or words, for good compression."""
    return bool(token.text.strip()) and (token.special or (len(token.text) > 2 and not token.text.isalnum()))


def _split_off(text: str, token_texts: Container[str], lengths: list[int]) -> Iterator[str]:
    """The tokens in a text as a tokenizer splits it: always the leftmost, and the longest that starts there."""
    place = 0
    while place < len(text):
        found = next((text[place : place + n] for n in lengths if text[place : place + n] in token_texts), None)
        if found is not None:
            yield found
        place += len(found or " ")


def _spellings(template: Mapping[str, Any]) -> Iterator[str]:
    """The texts that the delimiters of all fields can have, as far as they are fixed."""
    for field in template.get("fields", {}).values():
        for key in ("open", "close"):
            literals = field.get(key) or []
            yield from [literals] if isinstance(literals, str) else literals
            pattern = field.get(f"{key}_pattern")
            if pattern:
                yield from _pattern_spellings(pattern)


def _pattern_spellings(pattern: str) -> list[str]:
    """The texts that a pattern can match, as far as they are fixed."""
    try:
        return _spelled(parse(pattern))
    except UnsupportedSyntax:
        return [pattern.replace("\\", "")]


def _spelled(node: Node) -> list[str]:
    """The texts that a part of a pattern can match, gaps in place of what is not fixed."""
    match node:
        case Chars(source=source, literal=literal):
            return [literal or _one_letter(source)]
        case Sequence(items):
            return _joined([_spelled(item) for item in items])
        case Alternatives(branches):
            return [text for branch in branches for text in _spelled(branch)]
        case Group(body=body) | Atomic(body=body):
            return _spelled(body)
        case Repeat(body, minimum, maximum, _):
            once = _spelled(body)
            some = once if maximum == 1 else [_GAP + text + _GAP for text in once]
            return some if minimum else ["", *some]
        case Look(body=body, negative=negative):
            return [""] if negative else [text + _GAP for text in _spelled(body)]
        case Assertion():
            return [""]
    return [_GAP]


def _one_letter(source: str) -> str:
    """The character that a class is written as, where it stands for that character in either case, else a gap."""
    written = source.removeprefix("\\")
    is_letter = len(written) == 1 and source != "." and (written == source or not written.isalnum())
    return written if is_letter else _GAP


def _joined(parts: list[list[str]]) -> list[str]:
    """Each text of the first part followed by each of the second, and so on; in shorter stretches if those are many."""
    stretches, joined = [], [""]
    for part in parts:
        if len(joined) * len(part) > _MOST_SPELLINGS:
            stretches += joined
            joined = [""]
        joined = [head + tail for head, tail in product(joined, part)]
    return stretches + joined
