"""What the tests of mending share: a field made from its content parser, without the rest of a template."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from streamparse.errors import ContentError
from streamparse.repair import MENDERS, Damaged

Mend = Callable[..., tuple[Any, list[str]]]


@pytest.fixture(scope="session")
def mended() -> Mend:
    """Mend a text by the name of its content parser: the value, and what was mended; None and the reason if nothing."""

    def mend(content: str, text: str, arguments: dict[str, Any] | None = None, **known: Any) -> tuple[Any, list[str]]:
        try:
            outcome = MENDERS[content](Damaged(text, arguments or {}, **known))
        except ContentError as error:
            return None, [error.reason]
        return outcome.value, outcome.repaired

    return mend
