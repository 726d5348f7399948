r"""Mends a JSON list of calls, one of which can't be read: the others are delivered, and that one is told of.

In comes a text that ``json_repair`` can't read as a whole; out come the calls of its list that can be read by
themselves, and the others as faults. A call that can't be read ends where its brackets and strings say; where these say
nothing, it is the last one, and all that follows is a part of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from streamparse.errors import ContentError
from streamparse.formats.reading import Reading
from streamparse.repair.frame import CLOSERS
from streamparse.repair.outcome import Mended, Unmended

STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"|["\[\]{}]', re.DOTALL)
NAME = re.compile(r'"(?:tool_)?name"\s*+:\s*+"([^"\\]++)"')
END = re.compile(r"\s*+(?:`++\s*+)?\Z")

ReadValue = Callable[[], Any]
"""Reads the value that stands at the present position; raises ContentError."""


def mend_listed_calls(reading: Reading, read: ReadValue, *, closed: bool) -> Mended | None:
    """Read calls from a list that begins here, each by ``read``; None where it is no list with a whole call in it.

    ``closed`` says that the region's close has been seen, so that the list may lack its bracket.
    """
    if not reading.take("["):
        return None
    calls: list[Any] = []
    faults: list[Unmended] = []
    while True:
        reading.blanks()
        if not reading.at("{"):
            break
        start, repaired = reading.position, dict(reading.repaired)
        try:
            calls.append(read())
        except ContentError as found:
            reading.repaired = repaired
            reading.position = end_of_object(reading.text, start)
            faults.append(fault(reading, start, len(calls) + len(faults), found))
        reading.blanks()
        if not reading.take(","):
            break
    ended = reading.take("]") if not reading.ended else bool(faults) or closed
    if not ended or not END.match(reading.text, reading.position) or not (calls and faults):
        return None
    return Mended(calls, [*reading.repaired], faults)


def fault(reading: Reading, start: int, place: int, found: ContentError) -> Unmended:
    """Tell of the call between ``start`` and the present position, with the name that it seems to have."""
    text = reading.text[start : reading.position]
    name = NAME.search(text)
    # Made anew without its traceback, which would keep all that the reader had in hand.
    error = ContentError(found.reason, position=found.position, excerpt=found.excerpt)
    return Unmended(place, name[1] if name else "", text, start, error, {})


def end_of_object(text: str, start: int) -> int:
    """Find where the object that opens at ``start`` ends, by its strings and brackets; the text's end if they fail."""
    due: list[str] = []
    for match in STRING_OR_BRACKET.finditer(text, start):
        found = match[0]
        if found in CLOSERS:
            due.append(CLOSERS[found])
        elif found == '"' or (len(found) == 1 and found != due.pop()):
            break
        if not due:
            return match.end()
    return len(text)
