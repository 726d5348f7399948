"""What the keyed operator takes besides text, bytes and token ids: how a generation begins and how it ends.

In:  a chunk, or a batch of them with their keys.
Out: whether a chunk ends its generation, what is wrong with a batch; the ends that the operator makes itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streamparse.errors import ArgumentError
from streamparse.graph.source import End

EXPIRED = End("expired")
"""The end of a generation that was idle for too long; this very object, as anybody may give that reason."""
CANCELLED = End("cancelled")
FINISHED = End()
"""The end of what is open when the source has ended."""


class Open:
    """A chunk that opens its key: the generation's own options, those of ``ResponseParser``, over the operator's.

    >>> Open(template="gpt_oss", prefix="")
    Open(template='gpt_oss', prefix='')
    """

    __slots__ = ("options",)

    def __init__(self, **options: Any) -> None:
        self.options = options

    def __repr__(self) -> str:
        return f"Open({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"


def is_end(chunk: Any) -> bool:
    """Whether a chunk ends its generation: an ``End``, or the error that the source came to.

    >>> is_end(End("stop")), is_end(OSError("gone")), is_end("text")
    (True, True, False)
    """
    return type(chunk) is End or isinstance(chunk, Exception)


def check_pairs(batch: Iterable[Any]) -> None:
    """Raise ArgumentError for the first item of a batch that is no pair, or has a key that can't be hashed.

    >>> check_pairs([("a", "Hello"), (["b"], "Hi")])
    Traceback (most recent call last):
        ...
    streamparse.errors.ArgumentError: item 1 of the batch is no pair (key, chunk) whose key can be hashed: (['b'], 'Hi')
    """
    for number, item in enumerate(batch):
        try:
            key, _ = item
            hash(key)
        except (TypeError, ValueError) as error:
            raise ArgumentError(
                f"item {number} of the batch is no pair (key, chunk) whose key can be hashed: {item!r:.200}"
            ) from error
