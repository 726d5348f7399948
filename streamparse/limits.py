"""The limits that keep a parser within bounds, whatever a template asks for or a model writes.

In: keyword arguments of :class:`Limits`. Out: what every stage asks before it keeps more or works longer. Each error
that reports a reached limit names it; ``docs/security.md`` has them as a table.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from streamparse.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds for one parser. Sizes are in characters of text, or as said.

    Raises :class:`ArgumentError` for a limit that is no positive number.

    >>> Limits(region_text=1_000_000).region_text
    1000000
    """

    held_text: int = 16_000_000
    """Text held back because it may still become part of a delimiter."""

    doubtful_text: int = 262_144
    """Text held back in the lenient modes because what follows decides what it is, such as a call inside reasoning."""

    region_text: int = 64_000_000
    """Text of one region of any kind, which is kept until the region closes, as it is then its value."""

    structured_text: int = 1_000_000
    """Text of one structured region (JSON, tags, Python calls, lines: whatever is parsed when the region has ended)."""

    regions: int = 1_000_000
    """Regions of one generation."""

    calls: int = 100_000
    """Tool calls of one generation."""

    events: int = 20_000_000
    """Events of one generation; counted at least every few hundred events."""

    json_depth: int = 512
    """Lists and objects that may enclose one another in a value."""

    number_length: int = 4_300
    """Digits of a whole number in a region (Python's own limit, ``sys.set_int_max_str_digits``, holds besides)."""

    pattern_seconds: float = 2.0
    """Time for one region's search with a ``tag_pattern`` that has no linear scanner, and for all searches of
    delimiters that only the ``regex`` module can find."""

    pattern_steps: int = 1_000_000
    """Steps that delimiters which have to be tried at each place may take, beyond some for each character."""

    snapshot_size: int = 64_000_000
    """Bytes of a snapshot that is taken or taken up."""

    def __post_init__(self) -> None:
        """Refuse what can't be a limit."""
        for limit in fields(self):
            value = getattr(self, limit.name)
            wanted = (int, float) if limit.type == "float" else (int,)
            if isinstance(value, bool) or not isinstance(value, wanted) or not value > 0:
                raise ArgumentError(f"Limits.{limit.name} must be a number greater than 0, not {value!r}")


DEFAULT_LIMITS = Limits()


def how_to_raise(limit: str) -> str:
    """What to say of a limit that was reached, at the end of an error's message.

    >>> how_to_raise("regions")
    'raise Limits.regions if that is meant'
    """
    return f"raise Limits.{limit} if that is meant"
