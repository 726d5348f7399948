"""Whether a text is only what ends a turn."""

from __future__ import annotations

from streamparse.template.model import ResponseTemplate

SECONDS = 0.1
"""How long the search may take."""


def is_end_mark(template: ResponseTemplate, text: str) -> bool:
    """Whether text between regions is only the mark that ends the implicit field, such as an end of turn."""
    implicit = template.implicit
    if implicit is None or implicit.close is None:
        return False
    try:
        return implicit.close.compiled.fullmatch(text, timeout=SECONDS) is not None
    except TimeoutError:
        return False
