"""One tool call while it is being read: what is known of it, what has been given out, and what is new.

In: the call's parts, as ``CallDocument`` finds them. Out: deltas, each with what was not given out before.
"""

from __future__ import annotations

from typing import Any

from streamparse.stages.deltas.arguments import Arguments
from streamparse.template.policy import Path

Delta = dict[str, Any]

_PIECES_AT_MOST = 512


class Call:
    """One call: what is known of it, and what has been given out."""

    __slots__ = ("arguments", "ended", "found", "given", "id", "id_given", "id_is_made", "index", "name", "name_given")

    def __init__(self, name: str | None, id: str | None) -> None:
        self.name = name
        self.id = id
        self.ended = False  # nothing more of it will be found
        self.arguments: Arguments | None = None
        self.found: dict[Path, Any] = {}  # what stands at paths that may yet be outranked
        self.index: int | None = None
        self.name_given = self.id_given = self.id_is_made = False
        self.given: list[str] = []

    def delta(self) -> Delta:
        """What is to be given out, which counts as given from here on; empty where there is nothing new."""
        delta: Delta = {}
        if self.name is None:
            return delta
        if self.id is not None and not self.id_given:
            delta["id"] = self.id
            self.id_given = True
        if not self.name_given:
            delta["name"] = self.name
            self.name_given = True
        if self.arguments is not None and self.arguments.out:
            text = "".join(self.arguments.out)
            self.arguments.out.clear()
            if text:
                if len(self.given) > _PIECES_AT_MOST:
                    self.given[:] = ["".join(self.given)]
                self.given.append(text)
                delta["arguments"] = text
        return delta

    def put_out(self, arguments: str) -> None:
        """Let this be all that is new of its arguments."""
        if self.arguments is None:
            self.arguments = Arguments(None)
        self.arguments.out[:] = [arguments]


def id_of(value: Any) -> str | None:
    """The id that a value stands for; None where it stands for none."""
    return None if value in (None, "") else str(value)
