r"""The marks that are a family's own: no text of an answer, wherever they stand without being quoted.

In comes a template. Out come the delimiters that find its marks: those that its fields' delimiters are made of, such as
``<tool_call>``, and those that it lists under ``streamparse.marks`` and ``streamparse.marks_pattern``,
such as variants that models write by mistake and headers that no field knows.
"""

from __future__ import annotations

from streamparse.matching.delimiter import Delimiter
from streamparse.matching.misspelling import as_misspelt
from streamparse.stages.recovery.terminators import marks_of
from streamparse.template.model import ResponseTemplate

LONGEST = 100
"""Characters of a mark; what is longer is no mark."""

MOST = 256
"""Marks of one template."""


def is_mark(text: str) -> bool:
    """Whether a delimiter's text is never text of an answer; words in square brackets often are (``[ARGS]``)."""
    return len(text) <= LONGEST and not text.startswith("[")


def own_marks(template: ResponseTemplate) -> list[Delimiter]:
    """The delimiters that find a family's own marks; what its template says of them goes before what is only a mark.

    >>> from streamparse import get_response_template
    >>> [marks.literals for marks in own_marks(get_response_template("granite4"))]
    [('</tool_call>', '<tool_call>', '</think>', '<think>')]
    """
    policy = template.policy
    found = [] if policy.marks_pattern is None else [Delimiter.of_pattern(policy.marks_pattern)]
    fields = [field for field in template.fields.values() if field is not template.implicit]
    delimiters = [each for field in fields for each in (field.open, field.close) if each is not None]
    turn_end = None if template.implicit is None else template.implicit.close
    literals = {*policy.marks, *(mark for each in delimiters for mark in marks_of(each) if is_mark(mark))}
    if turn_end is not None:  # with a letter behind it: what closes a turn only before certain text is no end of it
        literals = {mark for mark in literals if turn_end.compiled.match(f"{mark}x") is None}
    if not literals:
        return found
    exact = Delimiter.of_literals(sorted(literals)[:MOST])
    return [*found, exact] if (loose := as_misspelt(exact)) == exact else [*found, exact, loose]
