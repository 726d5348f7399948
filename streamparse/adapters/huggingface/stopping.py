"""The switch that ends a generation: a stopping criterion for ``generate()`` that anyone may set, at any time.

In:  ``set()``, from any thread or task.
Out: ``generate(stopping_criteria=[switch])`` returns after the token that it is writing.

It follows ``transformers.StoppingCriteria``, without importing it: what ``generate()`` asks after each token, with the
ids of every sequence so far, and what answers with one truth value a sequence.
"""

from __future__ import annotations

from typing import Any


class StopSwitch:
    """A stopping criterion that is off until it is set. It needs no torch; a copy of it is the same switch.

    >>> import numpy as np
    >>> switch, ids = StopSwitch(), np.array([[7, 8], [7, 9]])
    >>> switch(ids, None).tolist()
    [False, False]
    >>> switch.set()
    >>> switch(ids, None).tolist()
    [True, True]
    """

    def __init__(self) -> None:
        self.is_set = False
        self.asked = False
        """Whether a generation has asked it: then setting it ends that generation."""

    def set(self) -> None:
        """End the generation."""
        self.is_set = True

    def __call__(self, input_ids: Any, _scores: Any, **_more: Any) -> Any:
        """Say of each sequence whether it ends: ids of shape (sequences, tokens) in, truth values (sequences) out.

        The answer is made by comparing, so it is of the framework of the ids, and on their device.
        """
        self.asked = True
        last = input_ids[:, -1]
        return last == last if self.is_set else last != last

    def __deepcopy__(self, _memo: Any) -> StopSwitch:
        return self  # transformers copies criteria for the draft model of assisted generation, which has to stop too
