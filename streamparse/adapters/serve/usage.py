"""The tokens that a request used, out of what the upstream counted for each of its choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def total_usage(usages: Sequence[Any]) -> dict[str, Any] | None:
    """Give the usage of a request with as many choices as there are usages; None where the upstream counted none.

    The prompt counts once, as in OpenAI's API. With one choice all that the upstream says is kept.

    >>> one = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    >>> total_usage([one, one])
    {'prompt_tokens': 5, 'completion_tokens': 4, 'total_tokens': 9}
    """
    counts = [_counts(usage) for usage in usages]
    if not counts or None in counts:
        return None
    if len(usages) == 1:
        return {**usages[0], **_named(*counts[0])}
    return _named(counts[0][0], sum(completion for _, completion in counts))


def _counts(usage: Any) -> Any:
    if not isinstance(usage, dict):
        return None
    counts = usage.get("prompt_tokens"), usage.get("completion_tokens") or 0
    return counts if all(isinstance(count, int) and count >= 0 for count in counts) else None


def _named(prompt: int, completion: int) -> dict[str, int]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
