"""The changelog: what of a generation has to be kept so that another worker can go on with it.

In:  where the generation's state was taken up last, and the state.
Out: the value of a record in a compacted topic, under the generation's id; and the same from it.

A value is a line of JSON and, where there is one, the parser's snapshot. ``offset`` says up to where in the input the
state goes: what comes from there on is read again. A generation's first record has no snapshot and the offset at which
it begins; a record without a value takes the generation out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from streamparse.adapters.kafka.errors import KafkaError
from streamparse.adapters.kafka.wire import Headers
from streamparse.encode import encode_event

VERSION = 1


@dataclass(frozen=True, slots=True)
class Saved:
    """A generation as the changelog has it.

    ``offset`` is that of the first record that is not in the state, ``number`` that of the last event. ``begin`` is
    what the generation began with, ``seed`` that of its calls' ids. ``over`` says that it has ended before its time,
    and that what still comes of it is dropped.
    """

    offset: int
    number: int = 0
    timestamp: float = 0.0
    begin: dict[str, Any] | None = None
    seed: str = ""
    trace: Headers = ()
    over: bool = False
    snapshot: bytes | None = None

    def encode(self) -> bytes:
        r"""The value of the record.

        >>> Saved(17).encode()
        b'{"version":1,"offset":17,"number":0,"timestamp":0.0,"begin":null,"seed":"","trace":[],"over":false}\n'
        """
        head = {
            "version": VERSION,
            "offset": self.offset,
            "number": self.number,
            "timestamp": self.timestamp,
            "begin": self.begin,
            "seed": self.seed,
            "trace": [[name, _text(content)] for name, content in self.trace],
            "over": self.over,
        }
        return encode_event(head) + b"\n" + (self.snapshot or b"")

    @classmethod
    def decode(cls, value: bytes) -> Saved:
        """What a record says; raises KafkaError for what is none of this version.

        >>> Saved.decode(Saved(17, number=3, snapshot=b"{}").encode()).snapshot
        b'{}'
        """
        line, _, snapshot = value.partition(b"\n")
        try:
            head = json.loads(line)
            if head.pop("version") != VERSION:
                raise ValueError("it has another version")
            trace = tuple((name, content) for name, content in head.pop("trace"))
            return cls(**head, trace=trace, snapshot=snapshot or None)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise KafkaError(
                f"the changelog has a record that this release can't read: {error}; "
                "give the worker a changelog topic of its own"
            ) from error


def _text(content: bytes | str | None) -> str | None:
    return content.decode("latin-1") if isinstance(content, bytes) else content
