"""Mends the content of ``kv-lines`` regions: only values that have a content parser of their own can be wrong in it."""

from __future__ import annotations

from streamparse.repair.outcome import Damaged, Mended
from streamparse.repair.values import value_mender
from streamparse.stages.content.kv_lines import PARSER


def mend_lines(damaged: Damaged) -> Mended:
    """Read a text as lines, mending their values.

    >>> mend_lines(Damaged("a: {'b': 1}", {"value_parser": {"name": "json"}}))
    Mended(value={'a': {'b': 1}}, repaired=['single quotes'], faults=[])
    """
    repaired: dict[str, None] = {}
    value = PARSER.prepare(damaged.arguments, value_mender(damaged, repaired))(damaged.text)
    return Mended(value, [*repaired])
