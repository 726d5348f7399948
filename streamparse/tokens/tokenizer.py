"""What is asked of a tokenizer, whichever library it comes from: decoding that keeps every token, and its added tokens.

A tokenizer here is a `tokenizers.Tokenizer`, a tokenizer or a processor of transformers, one of mistral-common or
tiktoken, any other object with ``decode(ids) -> str``, or the path of a ``tokenizer.json``. None of these libraries is
imported: whoever passes an object has imported its library already; only a path needs `tokenizers`.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from streamparse.errors import SourceError
from streamparse.tokens.ids import as_ids

Decode = Callable[[list[int]], str]

TOKENIZER_MISSING = "token ids need tokenizer=: a tokenizer object, or the path of a tokenizer.json"

# What keeps decode from dropping or changing anything, by the names that the libraries give it.
_FAITHFUL: dict[str, Any] = {
    "skip_special_tokens": False,  # tokenizers, transformers
    "clean_up_tokenization_spaces": False,  # transformers: would remove blanks before punctuation
    "special_token_policy": "keep",  # mistral-common
}


class AddedToken(NamedTuple):
    """A token that stands beside the vocabulary learnt from text; only special ones go with skip_special_tokens."""

    text: str
    special: bool


def load_tokenizer(source: Any) -> Any:
    """The tokenizer object; a path (of a tokenizer.json, or a folder with one) is loaded with `tokenizers`.

    Raises SourceError where there is no such file, or `tokenizers` is not installed.
    """
    if not isinstance(source, str | os.PathLike):
        return source
    path = Path(source)
    path = path / "tokenizer.json" if path.is_dir() else path
    if not path.is_file():
        raise SourceError(f"no tokenizer at {path}: expected a tokenizer.json or a folder with one")
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise SourceError("a tokenizer.json needs: pip install streamparse-llm[tokenizers]") from error
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise SourceError(f"{path} is not a tokenizer.json: {error}") from error


def library_tokenizer(tokenizer: Any) -> Any | None:
    """The `tokenizers.Tokenizer` that the object is or wraps, or None.

    transformers' fast tokenizers hold it as ``backend_tokenizer``, the library's own older wrappers as ``_tokenizer``,
    and a processor of transformers holds such a tokenizer as ``tokenizer``.
    """
    library = sys.modules.get("tokenizers")
    if library is None:
        return None
    for holder in (tokenizer, getattr(tokenizer, "tokenizer", None)):
        for candidate in (holder, getattr(holder, "backend_tokenizer", None), getattr(holder, "_tokenizer", None)):
            if isinstance(candidate, library.Tokenizer):
                return candidate
    return None


def decode_function(tokenizer: Any) -> Decode:
    """The tokenizer's decoding of a list of ids, with special tokens kept and no cleaning up.

    Raises SourceError where the object can't decode.
    """
    library = library_tokenizer(tokenizer)
    decode = getattr(tokenizer if library is None else library, "decode", None)
    if not callable(decode):
        raise SourceError(
            f"tokenizer={type(tokenizer).__name__} can't turn token ids into text: "
            "pass a tokenizers.Tokenizer, a transformers tokenizer, or any object with decode(ids)"
        )
    faithful = {"skip_special_tokens": False} if library is not None else _understood(tokenizer, decode)

    def decode_ids(ids: list[int]) -> str:
        try:
            return decode(ids, **faithful)  # type: ignore[no-any-return]
        except Exception as error:
            raise SourceError(f"the tokenizer can't decode the ids {ids}: {type(error).__name__}: {error}") from error

    return decode_ids


def decode_prefix(tokenizer: Any, ids: Any) -> str:
    """The text of a prompt given as token ids, special tokens kept; text comes back as it is.

    Raises SourceError for a batch, or where the object can't decode.
    """
    if isinstance(ids, str):
        return ids
    if tokenizer is None:
        raise SourceError(TOKENIZER_MISSING)
    return decode_function(load_tokenizer(tokenizer))(as_ids(ids))


def added_tokens(tokenizer: Any) -> dict[int, AddedToken]:
    """The tokenizer's added tokens by id, as far as the object tells; none for an object that only decodes."""
    library = library_tokenizer(tokenizer)
    for read in (_of_tokenizers, _of_transformers, _of_tiktoken, _of_special_ids):
        tokens = read(tokenizer if library is None else library)
        if tokens is not None:
            return tokens
    return {}


def _understood(tokenizer: Any, decode: Callable[..., Any]) -> dict[str, Any]:
    """Those of the faithful arguments that this decode takes."""
    try:
        parameters = inspect.signature(decode).parameters
    except (TypeError, ValueError):  # some built-in functions have no signature
        return {}
    # transformers' decode takes this one as **kwargs; the attribute of the same name gives its tokenizers away.
    hidden = {"clean_up_tokenization_spaces"} if hasattr(tokenizer, "clean_up_tokenization_spaces") else set()
    return {name: value for name, value in _FAITHFUL.items() if name in parameters or name in hidden}


def _of_tokenizers(tokenizer: Any) -> dict[int, AddedToken] | None:
    """`tokenizers.Tokenizer`."""
    read = getattr(tokenizer, "get_added_tokens_decoder", None)
    return (
        None if read is None else {token_id: AddedToken(t.content, bool(t.special)) for token_id, t in read().items()}
    )


def _of_transformers(tokenizer: Any) -> dict[int, AddedToken] | None:
    """Tokenizers of transformers that are written in Python; their entries are AddedToken objects or plain strings."""
    entries = getattr(tokenizer, "added_tokens_decoder", None)
    if not isinstance(entries, Mapping):
        return None
    return {
        token_id: AddedToken(getattr(token, "content", str(token)), bool(getattr(token, "special", True)))
        for token_id, token in entries.items()
    }


def _of_tiktoken(tokenizer: Any) -> dict[int, AddedToken] | None:
    """`tiktoken.Encoding`."""
    texts = getattr(tokenizer, "special_tokens_set", None)
    if texts is None:
        return None
    return {tokenizer.encode_single_token(text): AddedToken(text, True) for text in texts}


def _of_special_ids(tokenizer: Any) -> dict[int, AddedToken] | None:
    """mistral-common, and whatever else lists the ids of its special tokens: their text is what they decode to."""
    ids = getattr(tokenizer, "special_ids", None) or getattr(tokenizer, "all_special_ids", None)
    if ids is None:
        return None
    decode = decode_function(tokenizer)
    return {token_id: AddedToken(decode([token_id]), True) for token_id in ids}
