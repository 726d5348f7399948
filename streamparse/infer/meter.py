"""What one rendering of a chat template may cost, counted while it runs.

A chat template is a program from a stranger. Jinja's sandbox keeps it away from the interpreter, not from the
processor and the memory. The meter does that, in three counts that no nesting can get around:

- *steps*: every item of every loop, every call, filter and operator; each step also looks at the clock;
- *text*: the characters and items of all values that were made, containers counted in depth;
- *value*: the same for any single value, checked before it is made wherever it could be larger than its parts.

``sandbox`` calls the meter from the compiled template. It knows nothing about Jinja.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RenderLimits:
    """Bounds of one rendering. Real chat templates stay below a hundredth of each."""

    steps: int = 300_000
    """Loop items, calls, filters and operators."""
    text: int = 8_000_000
    """Characters and items of all values made."""
    value: int = 400_000
    """Characters and items of one value."""
    seconds: float = 1.0
    """Processor time of the thread, looked at with each step: how busy the machine is makes no difference."""


class LimitReached(Exception):
    """A rendering went over one of its limits."""


class Meter:
    """Counts what a rendering costs and stops it at its limits."""

    def __init__(self, limits: RenderLimits) -> None:
        self.limits = limits
        self.start()

    def start(self, seconds: float | None = None) -> None:
        """Set all counts back for the next rendering, which may take ``seconds``."""
        self._steps = 0
        self._text = 0
        allowed = self.limits.seconds if seconds is None else min(seconds, self.limits.seconds)
        self._deadline = time.thread_time() + allowed

    def step(self) -> None:
        """Count one step and look at the clock."""
        self._steps += 1
        if self._steps > self.limits.steps:
            raise LimitReached(f"more than {self.limits.steps} steps")
        if time.thread_time() > self._deadline:
            raise LimitReached("out of time")

    def require(self, size: int) -> None:
        """Refuse a value of ``size`` characters before it is made."""
        if size > self.limits.value:
            raise LimitReached(f"a value of more than {self.limits.value} characters")

    def charge(self, value: Any) -> Any:
        """Count a value that was made, and give it back."""
        self._text += self.weigh(value)
        if self._text > self.limits.text:
            raise LimitReached(f"more than {self.limits.text} characters in all values together")
        return value

    def weigh(self, value: Any) -> int:
        """Size of a value: its characters and items, in depth, as often as they would be printed."""
        if isinstance(value, (str, bytes)):
            self.require(len(value))
            return len(value)
        if not isinstance(value, (list, tuple, dict, set, frozenset)):
            return 1
        size = 0
        waiting: list[Any] = [value]
        while waiting:
            item = waiting.pop()
            size += 1
            if isinstance(item, (str, bytes)):
                size += len(item)
            elif isinstance(item, dict):
                waiting.extend(item.keys())
                waiting.extend(item.values())
            elif isinstance(item, (list, tuple, set, frozenset)):
                waiting.extend(item)
            self.require(size + len(waiting))
        return size

    def counted(self, items: Iterable[Any], weight: int = 0) -> CountedItems:
        """The same items, each of which costs a step (and ``weight`` characters) when it is taken."""
        return CountedItems(self, items, weight)

    def collected(self, items: Iterable[Any]) -> list[Any]:
        """The items as a list, counted while it is made."""
        return self.charge(items if isinstance(items, list) else list(self.counted(items)))  # type: ignore[no-any-return]


class CountedItems:
    """The items of a loop, counted as they are taken; has a length if they do."""

    def __init__(self, meter: Meter, items: Iterable[Any], weight: int) -> None:
        self._meter = meter
        self._items = items
        self._weight = weight

    def __iter__(self) -> Iterator[Any]:
        meter, weight = self._meter, self._weight
        for item in self._items:
            meter.step()
            meter._text += weight
            yield item

    def __len__(self) -> int:
        return len(self._items)  # type: ignore[arg-type]


_WIDE = re.compile(r"%[^%a-zA-Z]*(?:\d{4}|\*)|\{[^{}]*:[^{}]*(?:\d{4}|\{)")


def check_format(meter: Meter, pattern: str, values: Any) -> None:
    """Refuse a ``%`` or ``str.format`` pattern that could print more than its values."""
    if _WIDE.search(pattern):
        raise LimitReached("a format with a huge width")
    meter.require(len(pattern) + (pattern.count("%") + pattern.count("{")) * meter.weigh(values))


def check_join(meter: Meter, separator: str, items: list[Any]) -> None:
    """Refuse a join that would be too long."""
    meter.require(sum(meter.weigh(item) for item in items) + len(separator) * len(items))


def check_replace(meter: Meter, text: str, old: str, new: str) -> None:
    """Refuse a replacement that would be too long."""
    found = text.count(old) if old else len(text) + 1
    meter.require(len(text) + found * len(new))


def check_operator(meter: Meter, operator: str, left: Any, right: Any) -> None:
    """Refuse an operation whose result would be too large to make."""
    if operator == "*":
        for one, other in ((left, right), (right, left)):
            if isinstance(one, int) and isinstance(other, (str, bytes, list, tuple)):
                meter.require(meter.weigh(other) * max(0, int(one)))
        if isinstance(left, int) and isinstance(right, int):
            meter.require((left.bit_length() + right.bit_length()) // 8)
    elif operator == "**":
        if isinstance(left, int) and isinstance(right, int):
            meter.require(left.bit_length() * abs(right) // 8)
    elif operator == "+":
        if isinstance(left, (str, bytes, list, tuple)):
            meter.require(meter.weigh(left) + meter.weigh(right))
    elif operator == "%" and isinstance(left, (str, bytes)):
        check_format(meter, left if isinstance(left, str) else left.decode("latin-1"), right)
