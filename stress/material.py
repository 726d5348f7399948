"""What the generations of a soak are made of: texts that are more or less a model's, in pieces, and options for them.

In: a source of chance and the name of a template. Out: pieces of text, bytes or token ids, as lists or arriving one by
one, and the arguments of the parser that go with them.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from typing import Any

import anyio

from streamparse import Limits, response_template_names
from stress.inputs import TEXT_PARTS, byte_tokenizer, marks_of

NAMES = response_template_names()
PARTS = [part for part in TEXT_PARTS if len(part) < 1000] + ["word ", "some more words. "] * 12
LIMITS = Limits(pattern_seconds=0.5)


class Disconnect(ConnectionError):
    """What a source raises whose other side has gone."""


def text_of(chance: random.Random, name: str) -> str:
    """What a model wrote, more or less."""
    marks = marks_of(name)
    parts = chance.choices([*PARTS, *marks, *marks], k=chance.randrange(1, 40))
    text = "".join(parts)
    return text[: chance.randrange(len(text) + 1)] if chance.random() < 0.3 else text


def pieces_of(chance: random.Random, data: Any) -> list[Any]:
    """A text, bytes or token ids in pieces of one size."""
    size = chance.choice([1, 4, 4, 40, 4000])
    return [data[at : at + size] for at in range(0, len(data), size)]


def material(chance: random.Random, name: str) -> tuple[list[Any], dict[str, Any]]:
    """Pieces of a kind, and the options that go with it."""
    text = text_of(chance, name)
    options: dict[str, Any] = {flag: chance.random() < 0.3 for flag in ("deltas", "spans", "call_ids")}
    options |= {"errors": chance.choice(["strict", "report", "repair"]), "limits": LIMITS}
    kind = chance.random()
    if kind < 0.2:
        return pieces_of(chance, text.encode("utf-8", "replace")), options
    if kind < 0.3:
        ids = byte_tokenizer().encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False).ids
        return pieces_of(chance, ids), {**options, "tokenizer": byte_tokenizer()}
    return pieces_of(chance, text), options


async def arriving(chance: random.Random, pieces: list[Any], fails_at: int | None) -> AsyncIterator[Any]:
    """An asynchronous source that waits now and then, and may fail."""
    for number, piece in enumerate(pieces):
        if number == fails_at:
            raise Disconnect("the other side has gone")
        if chance.random() < 0.1:
            await anyio.sleep(0)
        yield piece
