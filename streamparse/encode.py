"""Writes an event as JSON: the one encoder of every sink (command line, sockets, logs).

In:  an event, made of dicts, lists, tuples, strings, numbers, booleans and None.
Out: compact JSON as UTF-8 bytes, such that Python's ``json.loads`` reads the same values back.

A model can write what JSON libraries stumble over, so three things are looked after here. Integers of any
size keep their digits. Lone surrogates (``"\\ud83d"`` without its other half) are written as their JSON
escape. NaN and the infinities are written as ``NaN``, ``Infinity`` and ``-Infinity``, which Python's ``json``
reads and the JSON standard does not know; for readers that hold to the standard, such as a browser's
``JSON.parse``, ``standard=True`` writes them as strings of the same spelling. They never become null.
"""

from __future__ import annotations

import json
import math
from typing import Any

import orjson

from streamparse.errors import StreamparseError

# Only what json.dumps takes too: which of the two encoders is used must not show.
_PLAIN_TYPES_ONLY = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME


def encode_event(event: Any, *, standard: bool = False) -> bytes:
    """Give the event as compact JSON in UTF-8, with no line break in it.

    With ``standard`` the numbers that the JSON standard can't spell are written as strings (``"NaN"``,
    ``"Infinity"``, ``"-Infinity"``). Keys that are numbers, booleans or None become strings as in ``json.dumps``.
    Two neighbouring surrogates that make up a character are written as that character.

    Raises StreamparseError if the event holds something that is no JSON value.

    >>> encode_event({"type": "region_chunk", "field": "content", "text": "é", "dirty": False})
    b'{"type":"region_chunk","field":"content","text":"\\xc3\\xa9","dirty":false}'
    >>> encode_event({"value": [2**64, float("nan")]})
    b'{"value":[18446744073709551616,NaN]}'
    """
    try:
        encoded = orjson.dumps(event, option=_PLAIN_TYPES_ONLY)
    except TypeError:
        return _encode_exactly(event, standard)
    if b"null" in encoded and _has_non_finite(event):
        return _encode_exactly(event, standard)
    return encoded


def encode_line(event: Any, *, standard: bool = False) -> bytes:
    r"""Give the event as one line of JSON, its line break included.

    >>> encode_line({"type": "region_open", "field": "content"})
    b'{"type":"region_open","field":"content"}\n'
    """
    return encode_event(event, standard=standard) + b"\n"


def _encode_exactly(event: Any, standard: bool) -> bytes:
    """Encode what orjson refuses or alters."""
    try:
        text = json.dumps(_spell_non_finite(event) if standard else event, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise StreamparseError(f"an event can't be written as JSON: {error}") from error
    # Surrogates are all that UTF-8 can't encode, and Python's backslash escape of one is also JSON's.
    return _pair_surrogates(text).encode("utf-8", "backslashreplace")


def _pair_surrogates(text: str) -> str:
    """Make one character of each two surrogates that stand for it."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _has_non_finite(value: Any) -> bool:
    """Tell whether NaN or an infinity is anywhere in the value."""
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(map(_has_non_finite, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_has_non_finite, value))
    return False


def _spell_non_finite(value: Any) -> Any:
    """Give the value with NaN and the infinities, as values and as keys, replaced by strings."""
    if isinstance(value, float) and not math.isfinite(value):
        return json.dumps(value)
    if isinstance(value, dict):
        return {_spell_non_finite(key): _spell_non_finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_spell_non_finite(item) for item in value]
    return value
