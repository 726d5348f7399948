"""The tokens that a response template's delimiters are made of: a template and a tokenizer in, added tokens out.

Most delimiters are tokens of their own (``</think>``), or hold some (``<|channel|>analysis<|message|>``). Whoever
decodes must keep these tokens; and only they, not text that looks like them, open and close regions.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from itertools import product
from typing import Any

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
from streamparse.tokens.tokenizer import AddedToken, added_tokens, decode_function, load_tokenizer

# Stands in a spelling for what is not fixed text; in no token's text.
_GAP = "\0"
# A stretch of a pattern is spelled out in at most so many ways; beyond, a new stretch begins.
_MOST_SPELLINGS = 256


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
