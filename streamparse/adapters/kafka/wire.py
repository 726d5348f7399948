"""The input records: how a generation is written to a topic, and how its records are read.

In:  what a model server has to say of a generation: its beginning, chunks, end or cancellation.
Out: the key, value and headers of a record; and from these what the keyed operator takes, or a BadRecordError.

The key is the generation's id. The value is JSON as in ``records.schema.json``; with a header ``content`` it is the
chunk itself, which costs a fifth. docs/kafka.md has the format whole.
"""

from __future__ import annotations

import base64
import json
import struct
import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from streamparse.adapters.kafka.errors import BadRecordError
from streamparse.encode import encode_event
from streamparse.graph.source import End

VERSION = 1
"""The version of the format."""

TRACE_HEADERS = ("traceparent", "tracestate")
"""The headers of https://www.w3.org/TR/trace-context/, which are passed on to the events."""

CANCELLED = End("cancelled")

_LONGEST_KEY = 1024

Headers = Sequence[tuple[str, bytes | str | None]]


class Record(NamedTuple):
    """A record of the input topic; ``timestamp`` is in seconds."""

    key: bytes | None
    value: bytes | None
    headers: Headers
    offset: int
    timestamp: float = 0.0


class Begin(NamedTuple):
    """A generation begins; ``value`` is the record's, checked against the schema."""

    value: Mapping[str, Any]


def begin_record(
    generation: str,
    *,
    template: str | Mapping[str, Any] | None = None,
    prefix: str | Sequence[int] | None = None,
    tools: Sequence[Mapping[str, Any]] | None = None,
    tokenizer: str | None = None,
    headers: Headers = (),
    **options: Any,
) -> dict[str, Any]:
    """The record that begins a generation: arguments of ``Producer.produce`` beside the topic.

    What is None is left to the worker. ``options`` are ``errors``, ``deltas``, ``spans``, ``call_ids``, ``without``.

    >>> begin_record("5f0c", template="qwen3", prefix="", deltas=True)["value"]
    b'{"type":"begin","version":1,"template":"qwen3","prefix":"","options":{"deltas":true}}'
    """
    given = {"template": template, "prefix": prefix, "tools": tools, "tokenizer": tokenizer, "options": options or None}
    value = {"type": "begin", "version": VERSION, **{name: what for name, what in given.items() if what is not None}}
    return {"key": generation, "value": encode_event(value), "headers": list(headers)}


def chunk_record(generation: str, chunk: str | bytes | Sequence[int], *, headers: Headers = ()) -> dict[str, Any]:
    """The record of a chunk: text, UTF-8 bytes (cut anywhere), or token ids; the value is the chunk itself.

    >>> chunk_record("5f0c", "Hello")
    {'key': '5f0c', 'value': b'Hello', 'headers': [('content', b'text')]}
    >>> chunk_record("5f0c", [9906, 0])["value"].hex()
    'b226000000000000'
    """
    if isinstance(chunk, str):
        try:
            content, value = b"text", chunk.encode()
        except UnicodeEncodeError:  # a lone surrogate, which only JSON can say
            value = encode_event({"type": "chunk", "version": VERSION, "text": chunk})
            return {"key": generation, "value": value, "headers": list(headers)}
    elif isinstance(chunk, bytes):
        content, value = b"bytes", chunk
    else:
        content, value = b"ids", struct.pack(f"<{len(chunk)}I", *chunk)
    return {"key": generation, "value": value, "headers": [("content", content), *headers]}


def end_record(
    generation: str, finish_reason: str | None = None, *, usage: Any = None, headers: Headers = ()
) -> dict[str, Any]:
    """The record that ends a generation.

    >>> end_record("5f0c", "stop")["value"]
    b'{"type":"end","version":1,"finish_reason":"stop"}'
    """
    value = {"type": "end", "version": VERSION, "finish_reason": finish_reason}
    if usage is not None:
        value["usage"] = usage
    return {"key": generation, "value": encode_event(value), "headers": list(headers)}


def cancel_record(generation: str, *, headers: Headers = ()) -> dict[str, Any]:
    """The record that cancels a generation; it changes nothing if the generation is over already.

    >>> cancel_record("5f0c")["value"]
    b'{"type":"cancel","version":1}'
    """
    return {
        "key": generation,
        "value": encode_event({"type": "cancel", "version": VERSION}),
        "headers": list(headers),
    }


def read_key(key: bytes | None) -> str:
    """The generation that a record belongs to; raises BadRecordError.

    >>> read_key(b"5f0c")
    '5f0c'
    """
    if not key:
        raise BadRecordError("the record has no key; the key is the id of its generation")
    if len(key) > _LONGEST_KEY:
        raise BadRecordError(f"the key has {len(key)} bytes; {_LONGEST_KEY} are allowed")
    try:
        return key.decode()
    except UnicodeDecodeError as error:
        raise BadRecordError(f"the key is not UTF-8: {error}") from error


def read_content(record: Record) -> Any:
    """What a record says of its generation: a chunk (text, bytes or a list of token ids), ``Begin`` or ``End``.

    A cancellation is ``CANCELLED``. Raises BadRecordError.

    >>> read_content(Record(b"5f0c", b"Hello", [("content", b"text")], 0))
    'Hello'
    >>> read_content(Record(b"5f0c", b'{"type":"end","finish_reason":"stop"}', [], 1))
    End(finish_reason='stop', usage=None, cut_off=False)
    """
    value = record.value
    if value is None:
        raise BadRecordError("the record has no value")
    for name, content in record.headers or ():
        if name == "content":
            read = _RAW.get(content)
            if read is None:
                raise BadRecordError(f"the header content is one of text, bytes and ids, not {content!r}")
            return read(value)
    return _read_json(value)


def trace_of(headers: Headers | None) -> tuple[tuple[str, bytes | str | None], ...]:
    """The headers that carry a trace context.

    >>> trace_of([("content", b"text"), ("traceparent", b"00-ab-cd-01")])
    (('traceparent', b'00-ab-cd-01'),)
    """
    return tuple([header for header in headers or () if header[0] in TRACE_HEADERS])


@lru_cache(maxsize=1)
def schema() -> dict[str, Any]:
    """The JSON Schema of all records; its ``$defs`` has one of each type."""
    loaded: dict[str, Any] = json.loads((files(__package__) / "records.schema.json").read_text(encoding="utf-8"))
    return loaded


def _validators() -> dict[str, Draft202012Validator]:
    whole = schema()["$defs"]
    types = [each["$ref"].rpartition("/")[2] for each in whole["input"]["oneOf"]]
    return {name: Draft202012Validator({"$defs": whole, **whole[name]}) for name in types}


def _read_json(value: bytes) -> Any:
    try:
        said = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise BadRecordError(f"the value is not JSON, and no header says what else it is: {error}") from error
    kind = said.get("type") if isinstance(said, dict) else None
    validator = _VALIDATORS.get(kind) if isinstance(kind, str) else None
    if validator is None:
        raise BadRecordError(f"the value is an object whose type is one of {', '.join(_VALIDATORS)}, not {kind!r:.80}")
    begins = kind == "begin"
    if said.get("version", VERSION) != VERSION:
        reason = f"the record has version {said['version']!r:.80}; this release reads version {VERSION}"
        raise BadRecordError(reason, begins=begins)
    try:
        fault = best_match(validator.iter_errors(said))
    except RecursionError:
        raise BadRecordError(f"{kind}: it is nested too deep", begins=begins) from None
    if fault is not None:
        where = ".".join(map(str, fault.absolute_path))
        raise BadRecordError(f"{kind}: {where + ': ' if where else ''}{fault.message:.300}", begins=begins)
    return _KINDS[said["type"]](said)


def _chunk(said: dict[str, Any]) -> Any:
    if "bytes" not in said:
        return said["text"] if "text" in said else _whole_numbers(said["ids"])
    try:
        return base64.b64decode(said["bytes"], validate=True)
    except ValueError as error:
        raise BadRecordError(f"chunk: bytes is not base64: {error}") from error


def _whole_numbers(ids: list[Any]) -> list[int]:
    return [int(each) for each in ids]  # the schema's integers may be written as 5.0


def _raw_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise BadRecordError(
            f"the text is not UTF-8: {error}; where characters may be cut, say content=bytes"
        ) from error


def _raw_bytes(value: bytes) -> bytes:
    return value


def _raw_ids(value: bytes) -> list[int]:
    if len(value) % 4:
        raise BadRecordError(f"token ids are little-endian numbers of 4 bytes each, and the value has {len(value)}")
    numbers = array("I", value)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()


_VALIDATORS = _validators()
_KINDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "begin": Begin,
    "chunk": _chunk,
    "end": lambda said: End(said.get("finish_reason"), said.get("usage")),
    "cancel": lambda _said: CANCELLED,
}
_READERS: dict[str, Callable[[bytes], Any]] = {"text": _raw_text, "bytes": _raw_bytes, "ids": _raw_ids}
_RAW: dict[Any, Callable[[bytes], Any]] = {**_READERS, **{name.encode(): read for name, read in _READERS.items()}}
