"""Why a generation ended, told from what ``generate()`` was asked for.

In:  a model's generation config and the arguments of ``generate()``; then how many tokens came, and the last of them.
Out: the finish reason: ``"stop"``, ``"length"``, or None where it can't be known.

``generate()`` itself says nothing about it. It stops at an end-of-sequence token, at a number of tokens
(``max_new_tokens``, or ``max_length`` with the prompt), after a time (``max_time``), at a text (``stop_strings``), or
when a criterion of the caller's says so (transformers, ``GenerationMixin._get_stopping_criteria``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from streamparse.tokens.ids import as_ids


@dataclass(frozen=True)
class Ending:
    """What can end a generation.

    ``eos`` are the ids that end it, ``max_new_tokens`` and ``max_length`` its limits (None where there is none),
    ``timed`` whether it has a time limit, ``other`` whether texts or criteria of the caller's may end it.

    >>> ending = Ending(eos=frozenset({2}), max_new_tokens=5)
    >>> ending.finish_reason(prompt=9, tokens=3, last=2), ending.finish_reason(prompt=9, tokens=5, last=7)
    ('stop', 'length')
    """

    eos: frozenset[int] = frozenset()
    max_new_tokens: int | None = None
    max_length: int | None = None
    timed: bool = False
    other: bool = False

    @classmethod
    def of(cls, model: Any, arguments: Mapping[str, Any]) -> Self:
        """What ends ``model.generate(**arguments)``.

        An argument goes before the ``generation_config`` among the arguments, and that before the model's own.
        """
        configs = (arguments.get("generation_config"), getattr(model, "generation_config", None))

        def asked_for(name: str) -> Any:
            values = (arguments.get(name), *(getattr(config, name, None) for config in configs))
            return next((value for value in values if value is not None), None)

        eos = asked_for("eos_token_id")
        return cls(
            eos=frozenset(() if eos is None else as_ids(eos)),
            max_new_tokens=asked_for("max_new_tokens"),
            max_length=asked_for("max_length"),
            timed=asked_for("max_time") is not None,
            other=bool(asked_for("stop_strings") or arguments.get("stopping_criteria")),
        )

    def finish_reason(self, *, prompt: int, tokens: int, last: int | None) -> str | None:
        """The reason, for a generation of so many tokens behind a prompt of so many, the last of which is given."""
        if last in self.eos:
            return "stop"
        limit = self.max_new_tokens
        if limit is None and self.max_length is not None:
            limit = self.max_length - prompt
        if limit is not None and tokens >= limit:
            return "length"
        if self.timed:
            return None if self.other else "length"
        if self.other:
            return "stop"
        return "length" if limit is None else None
