"""What goes into a mender and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from streamparse.errors import ContentError
from streamparse.limits import DEFAULT_LIMITS, Limits


@dataclass(frozen=True, slots=True)
class Damaged:
    """A region's text that its content parser can't read, and what is known about it.

    ``arguments`` are those of the content parser. With ``allow_truncated`` closing brackets and tags may be missing at
    the end: that is for regions whose close delimiter has been seen; ``settled`` says that what follows it shows that
    it can't be a part of the text. ``lists_calls`` says that a list is a list of
    calls, so that several lists are one longer list. ``wrappers`` are names of tags that may close around the text.
    """

    text: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    allow_truncated: bool = False
    lists_calls: bool = False
    wrappers: frozenset[str] = frozenset()
    settled: bool = False
    limits: Limits = DEFAULT_LIMITS


@dataclass(frozen=True, slots=True)
class Unmended:
    """A part of a region that could not be mended although the rest could: one call of a list.

    ``index`` is its place among all the calls, ``name`` the function's name, ``text`` what was written, from
    ``position`` on, and ``arguments`` those that could be read, for display only. ``incomplete`` says that the text was
    cut off there.
    """

    index: int
    name: str
    text: str
    position: int
    error: ContentError
    arguments: dict[str, Any]
    incomplete: bool = False

    def __post_init__(self) -> None:
        """Keep what the error says, and not where it was raised: the frames there have what this is kept in."""
        self.error.__traceback__ = self.error.__cause__ = self.error.__context__ = None


@dataclass(frozen=True, slots=True)
class Mended:
    """A value, what was mended to get it (in words, each kind once), and the parts that are not in it."""

    value: Any
    repaired: list[str] = field(default_factory=list)
    faults: list[Unmended] = field(default_factory=list)


Mender = Callable[[Damaged], Mended]
"""Raises ContentError where nothing safe can be done, or LimitError; nothing else."""
