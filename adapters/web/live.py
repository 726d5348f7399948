"""A model that answers questions on the page.

In:  a question. Out: an input whose pieces come while the model writes them.
"""

from __future__ import annotations

from typing import Protocol

from streamparse.adapters.web.inputs import Input


class Model(Protocol):
    """What the page asks."""

    name: str

    def ask(self, question: str, *, think: bool) -> Input:
        """Give the answer to be; ``think`` has the model reason first. It may block, and is called in a thread."""
