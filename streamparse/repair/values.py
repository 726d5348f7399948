"""Mends the values of dictionaries whose values have a content parser of their own (``value_parser``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.errors import ContentError
from streamparse.repair.json_repair import mend_json
from streamparse.repair.outcome import Damaged
from streamparse.stages.content.table import Preparation


def value_mender(damaged: Damaged, repaired: dict[str, None]) -> Preparation:
    """Make the preparation of a content parser that mends values it can't read, and notes in ``repaired`` what it did.

    Only JSON values can be mended.
    """

    def rescue(name: str, arguments: Mapping[str, Any], text: str) -> Any:
        if name != "json":
            raise ContentError(f"a value can't be read as {name}")
        mended = mend_json(Damaged(text, arguments, limits=damaged.limits))
        repaired.update(dict.fromkeys(mended.repaired))
        return mended.value

    return Preparation(damaged.limits, keep_source=True, rescue=rescue)
